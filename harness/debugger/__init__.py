# SPDX-License-Identifier: MIT
"""gdb, driven through its machine interface: memory, registers and run control."""

from harness.debugger.debugger import Debugger, return_address
from harness.debugger.state import Stop

__all__ = ["Debugger", "Stop", "return_address"]
