# SPDX-License-Identifier: MIT
"""Processes that a command has left behind, found by a variable in their environment."""

import time

from harness.process import processes_with

MARK = "HARNESS_TEST_MARK"


def marked(value):
    """The processes whose environment has that mark, zombies not among them."""
    return processes_with(f"{MARK}={value}")


def all_gone(value, seconds=20.0):
    """Whether they end within that time."""
    end = time.monotonic() + seconds
    while marked(value):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
