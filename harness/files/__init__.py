# SPDX-License-Identifier: MIT
"""Files: outputs that are whole or not there, private directories, locks, trace.dat."""

from harness.files.lock import busy, hold, sweep
from harness.files.output import whole_file
from harness.files.private import PrivateDirectory, remove_left
from harness.files.trace_file import trace_file

__all__ = ["PrivateDirectory", "busy", "hold", "remove_left", "sweep", "trace_file", "whole_file"]
