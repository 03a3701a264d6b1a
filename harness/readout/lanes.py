# SPDX-License-Identifier: MIT
"""Ways to read the memory of a stopped guest."""

from typing import Protocol

from harness.debugger import Debugger

BULK = 512
"""From this size on gdb's ``dump binary memory`` costs less than hexadecimal MI (benchmarks/mi.py)."""


class Lane(Protocol):
    """Reads and writes of guest data (never of guest text: that is the patcher's)."""

    name: str

    def read(self, address: int, size: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...


class StubLane:
    """Through gdb and the debug stub: works on every guest."""

    name = "stub"

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at a virtual address of the guest."""
        if size < BULK:
            return self._debugger.read_memory(address, size)
        return self._debugger.dump_memory(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Store ``data`` at a virtual address of the guest."""
        if len(data) < BULK:
            self._debugger.write_memory(address, data)
        else:
            self._debugger.restore_memory(address, data)
