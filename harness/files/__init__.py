# SPDX-License-Identifier: MIT
"""Files that the user names: outputs that are whole or not there, and trace.dat."""

from harness.files.output import whole_file
from harness.files.trace_file import trace_file

__all__ = ["trace_file", "whole_file"]
