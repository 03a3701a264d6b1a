# SPDX-License-Identifier: MIT
"""Processes of the host.  All of them end with this process."""

from harness.process.child import Child
from harness.process.pdeathsig import find_program, with_pdeathsig
from harness.process.run import NotRun, TimedOut, run, stream
from harness.process.tree import kill_tree, process_tree, processes, processes_with
from harness.process.workers import workers

__all__ = [
    "Child",
    "NotRun",
    "TimedOut",
    "find_program",
    "kill_tree",
    "process_tree",
    "processes",
    "processes_with",
    "run",
    "stream",
    "with_pdeathsig",
    "workers",
]
