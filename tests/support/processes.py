# SPDX-License-Identifier: MIT
"""Processes that a command has left behind, told by what their environment says."""

import os
import time
from contextlib import suppress
from pathlib import Path

MARK = "HARNESS_TEST_MARK"


def marked(value):
    """The processes whose environment has that mark, zombies not among them."""
    wanted = f"{MARK}={value}".encode()
    found = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                if wanted in Path(entry.path, "environ").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
    return found


def all_gone(value, seconds=20.0):
    """Whether they end within that time."""
    end = time.monotonic() + seconds
    while marked(value):
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
