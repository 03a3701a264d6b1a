# SPDX-License-Identifier: MIT
"""Ways to read the memory of a stopped guest."""

from collections.abc import Callable
from typing import Protocol

from harness.debugger import Debugger
from harness.errors import HostError
from harness.machine import Machine
from harness.units import KIB

BULK = 64 * KIB
"""From this size on a file written by QEMU is faster than packets (benchmarks/readout.py)."""


class Lane(Protocol):
    """Reads and writes of guest data; text is written by the patcher."""

    name: str

    def read(self, address: int, size: int) -> bytes: ...
    def write(self, address: int, data: bytes) -> None: ...


class StubLane:
    """Through gdb and the debug stub, for every guest."""

    name = "stub"

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at a virtual address of the guest."""
        return self._debugger.read_memory(address, size)

    def write(self, address: int, data: bytes) -> None:
        """Write ``data`` at a virtual address of the guest."""
        self._debugger.write_memory(address, data)


class MonitorLane:
    """Bulk reads by QEMU's ``pmemsave``, everything else through the stub.

    For machines started by the harness.  QEMU writes physical memory to a file in the machine's
    private directory instead of packets of hexadecimal digits.  ``linear`` gives the physical
    address of a kernel address, None for others.
    """

    name = "monitor"

    def __init__(
        self, machine: Machine, stub: StubLane, linear: Callable[[int], int | None]
    ) -> None:
        self._machine = machine
        self._stub = stub
        self._linear = linear
        self._file = machine.directory / "memory"

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes at a virtual address of the guest."""
        physical = self._linear(address)
        if size < BULK or physical is None:
            return self._stub.read(address, size)
        try:
            self._machine.qmp("pmemsave", val=physical, size=size, filename=str(self._file))
        except HostError as error:
            if self._machine.alive:
                error.advice = f"Make room in {self._file.parent.parent}, or use --lane stub."
            raise
        return self._file.read_bytes()

    def write(self, address: int, data: bytes) -> None:
        """Write ``data`` at a virtual address of the guest."""
        self._stub.write(address, data)
