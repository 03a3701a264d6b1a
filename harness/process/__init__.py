# SPDX-License-Identifier: MIT
"""Processes of the host.  All of them end with this process."""

from harness.process.child import Child
from harness.process.pdeathsig import find_program, with_pdeathsig
from harness.process.run import NotRun, TimedOut, run, stream
from harness.process.workers import workers

__all__ = [
    "Child",
    "NotRun",
    "TimedOut",
    "find_program",
    "run",
    "stream",
    "with_pdeathsig",
    "workers",
]
