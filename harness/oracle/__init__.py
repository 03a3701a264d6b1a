# SPDX-License-Identifier: MIT
"""What the guest really executed, told by QEMU and not by the tracer under test.

A TCG plugin (plugin.c) records each execution of a call site with its CPU and its caller, and each
return, and counts guest instructions exactly.  The sites come from a disassembly of the image, not
from the guest's table.
"""

from harness.oracle.compile import build_plugin
from harness.oracle.recorder import Call, Mark, Oracle, Return, Window
from harness.oracle.sites import find_sites
from harness.oracle.watch import find_marks

__all__ = ["Call", "Mark", "Oracle", "Return", "Window", "build_plugin", "find_marks", "find_sites"]
