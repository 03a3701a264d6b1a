# SPDX-License-Identifier: MIT
"""The execution record: what the guest executed according to QEMU, not to the tested tracer.

A TCG plugin (plugin.c) records each execution of a call site with its CPU and its caller, and each
return, and counts guest instructions.  The sites are found by disassembling the image, not in the
guest's table.
"""

from harness.oracle.compile import build_plugin
from harness.oracle.recorder import Call, Mark, Oracle, Return, Window
from harness.oracle.sites import find_sites
from harness.oracle.watch import find_marks

__all__ = ["Call", "Mark", "Oracle", "Return", "Window", "build_plugin", "find_marks", "find_sites"]
