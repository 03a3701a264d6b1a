# SPDX-License-Identifier: MIT
"""Processes of the host.  All of them end with this process."""

from harness.process.child import Child
from harness.process.pdeathsig import find_program, with_pdeathsig
from harness.process.run import Late, NotRun, run, stream
from harness.process.workers import workers

__all__ = [
    "Child",
    "Late",
    "NotRun",
    "find_program",
    "run",
    "stream",
    "with_pdeathsig",
    "workers",
]
