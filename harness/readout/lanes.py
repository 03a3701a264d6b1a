# SPDX-License-Identifier: MIT
"""Ways to read the memory of a stopped guest."""

from typing import Protocol

from harness.debugger import Debugger


class Lane(Protocol):
    """Reads and writes of guest data (never of guest text: that is the patcher's)."""

    name: str

    def read(self, address: int, size: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...


class StubLane:
    """Through gdb and the debug stub, in whatever form is fastest for the size; for every guest."""

    name = "stub"

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at a virtual address of the guest."""
        return self._debugger.read_memory(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Store ``data`` at a virtual address of the guest."""
        self._debugger.write_memory(address, data)
