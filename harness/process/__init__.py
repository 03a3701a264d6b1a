# SPDX-License-Identifier: MIT
"""Processes of the host.  All of them end when this process does, however it ends."""

from harness.process.child import Child
from harness.process.guard import dying_with_us, find_program, group_dying_with_us
from harness.process.run import Late, NotRun, run, stream
from harness.process.workers import Workers, workers

__all__ = [
    "Child",
    "Late",
    "NotRun",
    "Workers",
    "dying_with_us",
    "find_program",
    "group_dying_with_us",
    "run",
    "stream",
    "workers",
]
