# SPDX-License-Identifier: MIT
"""A memory dump of a machine: its physical memory, the kernel in it, and a debug stub for gdb."""

from harness.dump.core import ElfCore
from harness.dump.kernel import DumpedKernel
from harness.dump.stub import DumpStub

__all__ = ["DumpStub", "DumpedKernel", "ElfCore"]
