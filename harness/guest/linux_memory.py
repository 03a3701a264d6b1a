# SPDX-License-Identifier: MIT
"""The memory of a Linux kernel, also where the debug stub finds no page."""

from collections.abc import Callable, Iterator

from harness.debugger import Debugger
from harness.errors import GdbError, GuestError
from harness.linux.vmalloc import MappedMemory
from harness.readout import Lane
from harness.readout.lanes import BULK


class PagedMemory:
    """A debugger's memory; ``find`` translates addresses that it cannot reach, page by page.

    Large reads use a lane, the fastest that the machine allows.
    """

    def __init__(self, debugger: Debugger, lane: Callable[[], Lane]) -> None:
        self._debugger = debugger
        self._lane = lane
        self.find: Callable[[int], MappedMemory | None] = lambda address: None

    def read_memory(self, address: int, size: int) -> bytes:
        """A few bytes; GdbError if they cannot be read."""
        try:
            return self._debugger.read_memory(address, size)
        except GdbError as error:
            return self._read(address, size, error)

    def dump_memory(self, address: int, size: int) -> bytes:
        """``size`` bytes; errors as of `read_memory`."""
        try:
            if size >= BULK:
                return self._lane().read(address, size)
            return self._debugger.dump_memory(address, size)
        except GdbError as error:
            return self._read(address, size, error)

    def write_memory(self, address: int, data: bytes) -> None:
        """Write a few bytes; errors as of `read_memory`."""
        try:
            self._debugger.write_memory(address, data)
        except GdbError as error:
            self._write(address, data, error)

    def restore_memory(self, address: int, data: bytes) -> None:
        """Write ``data``; errors as of `read_memory`."""
        try:
            self._debugger.restore_memory(address, data)
        except GdbError as error:
            self._write(address, data, error)

    def _read(self, address: int, size: int, error: GdbError) -> bytes:
        pages = self._pages(address, size, error)
        read = self._debugger.memory.read_physical
        return b"".join(read(page.physical, page.size) for page in pages)

    def _write(self, address: int, data: bytes, error: GdbError) -> None:
        at = 0
        for page in list(self._pages(address, len(data), error)):
            self._debugger.memory.write_physical(page.physical, data[at : at + page.size])
            at += page.size
        self._debugger.memory.forget()

    def _pages(self, address: int, size: int, error: GdbError) -> Iterator[MappedMemory]:
        end = address + size
        while address < end:
            try:
                found = self.find(address)
            except (GdbError, GuestError):
                raise error from None
            if found is None:
                raise error
            part = min(found.size, end - address)
            yield MappedMemory(found.physical, part)
            address += part
