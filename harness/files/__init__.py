# SPDX-License-Identifier: MIT
"""Files: atomic writes, scratch directories, locks, lines of text, trace.dat."""

from harness.files.atomic import atomic_file
from harness.files.lock import busy, hold, locked, sweep
from harness.files.scratch import ScratchDirectory, remove_stale
from harness.files.text_lines import lines_below
from harness.files.trace_file import trace_file

__all__ = [
    "ScratchDirectory",
    "atomic_file",
    "busy",
    "hold",
    "lines_below",
    "locked",
    "remove_stale",
    "sweep",
    "trace_file",
]
