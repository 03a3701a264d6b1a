# SPDX-License-Identifier: MIT
"""Guest memory through gdb: small reads out of cached blocks, large transfers through gdb's files.

MI writes memory as hexadecimal text: it is slow per byte, and slower the more there is.  gdb's own
``dump`` and ``restore`` move the bytes to and from a file.  The file here is a memory file
that gdb inherits: nothing touches a disk, and its name needs no quoting (``dump`` knows none).
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from harness.debugger.records import MemoryBlock
from harness.debugger.session import MiSession
from harness.errors import GdbError, HostError
from harness.units import KIB

BLOCK = 1 * KIB
"""Bytes read at once for a small read: one packet of QEMU's stub carries it."""

SMALL_READ = 4 * KIB
"""Largest read that MI's own command does as fast as a dump (benchmarks/mi.py)."""

SMALL_WRITE = 256
"""Largest write that MI's own command does as fast as a restore (benchmarks/mi.py)."""

SLOWEST_RATE = 500_000
"""Bytes a second that even a loaded host moves: it sets the deadline of a large transfer."""


_Result = TypeVar("_Result")


HALF = "mem 0 0x7ffffffffffff000 rw"
"""A region of gdb's: the lower half of all 64-bit addresses, but for the last page.  gdb counts how
far it is to the end of a region in a signed 64-bit number."""


class TransferFile:
    """A file without a name that gdb inherits and opens through /proc."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("gdb-transfer")
        self.path = f"/proc/self/fd/{self.descriptor}"

    def take(self) -> bytes:
        """Everything in the file, which is empty afterwards."""
        size = os.fstat(self.descriptor).st_size
        parts = []
        offset = 0
        while part := os.pread(self.descriptor, size - offset, offset):
            parts.append(part)
            offset += len(part)
        os.ftruncate(self.descriptor, 0)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def put(self, data: bytes) -> None:
        """Replace what is in the file."""
        os.ftruncate(self.descriptor, 0)
        view = memoryview(data)
        offset = 0
        while offset < len(data):
            offset += os.pwrite(self.descriptor, view[offset:], offset)

    def empty(self) -> None:
        """Give the memory back."""
        os.ftruncate(self.descriptor, 0)

    def close(self) -> None:
        """Close the file, which frees it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class Memory:
    """Memory of the stopped target.  ``forget`` has to be called whenever it may have changed.

    QEMU reads and writes with the rights of the selected CPU: while that is in user mode, the
    kernel is not to be reached by its own addresses.  Then it is by the physical ones that
    ``linear`` gives for them.
    """

    def __init__(self, session: MiSession, transfer: TransferFile) -> None:
        self.linear: Callable[[int], int | None] = lambda address: None
        """Where the target's own addresses lie physically, None for those that do not.

        It is asked for addresses that the selected CPU cannot reach because it is in user mode.
        """
        self._forbidden: Sequence[range] = ()
        self._session = session
        self._transfer = transfer
        self._blocks: dict[int, bytes] = {}

    def forbid(self, ranges: Iterable[str]) -> None:
        """Have gdb refuse to read these addresses, whoever asks: the stub would not survive it.

        Each range is ``FIRST-LAST``, both hexadecimal, as ``qemu.unreadable`` of a config has it.
        """
        ends = [[int(end, 16) for end in addresses.split("-")] for addresses in ranges]
        regions = [f"mem {first:#x} {last + 1:#x} wo" for first, last in ends]
        self._forbidden = [range(first, last + 1) for first, last in ends]
        if regions:
            # gdb 13 dies of a read where the next region is more than half of all addresses away.
            for command in ("set mem inaccessible-by-default off", HALF, *regions):
                self._session.console(command)

    def forget(self) -> None:
        """Drop everything that was read."""
        self._blocks.clear()

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address`` on, out of blocks already read where possible."""
        if size <= 0:
            return b""
        first = address - address % BLOCK
        blocks = range(first, address + size, BLOCK)
        missing = [block for block in blocks if block not in self._blocks]
        if missing:
            begin, length = missing[0], missing[-1] + BLOCK - missing[0]
            try:
                data = self._fetch(begin, length)
            except GdbError:
                # A neighbour in the block may not be mapped; what was asked for may well be.
                return self._fetch(address, size)
            for offset in range(0, length, BLOCK):
                self._blocks[begin + offset] = data[offset : offset + BLOCK]
        data = b"".join(self._blocks[block] for block in blocks)
        return data[address - first : address - first + size]

    def _fetch(self, address: int, size: int) -> bytes:
        return self._reach(address, size, lambda where: self._fetch_at(where, size))

    def _fetch_at(self, address: int, size: int) -> bytes:
        try:
            answer = self._session.command(f"-data-read-memory-bytes 0x{address:x} {size}")
        except GdbError as error:
            raise _unreadable(address, size, error.message) from None
        found = answer.get("memory")
        if (
            not isinstance(found, list)
            or len(found) != 1
            or not isinstance(found[0], MemoryBlock)
            or len(found[0].data) != size
        ):
            raise _unreadable(address, size, "a part of it is not mapped")
        return found[0].data

    def write(self, address: int, data: bytes) -> None:
        """Write a few bytes."""
        self._reach(
            address,
            len(data),
            lambda where: self._session.command(
                f"-data-write-memory-bytes 0x{where:x} {data.hex()}"
            ),
        )

    def write_physical(self, address: int, data: bytes) -> None:
        """Write a few bytes at a physical address."""
        with self._physical():
            self._session.command(f"-data-write-memory-bytes 0x{address:x} {data.hex()}")

    def dump(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address`` on, fresh from the target, in one go."""
        return self._reach(address, size, lambda where: self._dump_at(where, size))

    def _dump_at(self, address: int, size: int) -> bytes:
        command = f"dump binary memory {self._transfer.path} 0x{address:x} 0x{address + size:x}"
        try:
            self._session.console(command, transfer_deadline(size))
        except GdbError as error:
            self._transfer.empty()
            raise _unreadable(address, size, error.message) from None
        data = self._transfer.take()
        if len(data) != size:
            raise HostError(
                f"gdb wrote {len(data)} of {size} bytes of guest memory at 0x{address:x}",
                "The host may be out of memory.",
            )
        return data

    def restore(self, address: int, data: bytes) -> None:
        """Write ``data`` from ``address`` on, in one go."""
        self._reach(address, len(data), lambda where: self._restore_at(where, data))

    def _restore_at(self, address: int, data: bytes) -> None:
        # Only a warning tells of a `restore` that fails, and what cannot be read cannot be written.
        self._fetch_at(address, 1)
        self._transfer.put(data)
        try:
            self._session.console(
                f"restore {self._transfer.path} binary 0x{address:x}", transfer_deadline(len(data))
            )
        finally:
            self._transfer.empty()

    def _reach(self, address: int, size: int, access: Callable[[int], _Result]) -> _Result:
        """What ``access`` gives for an address, or for the physical one where that fails."""
        try:
            return access(address)
        except GdbError as error:
            physical = self.linear(address)
            end = address + size
            held = any(one.start < end and address < one.stop for one in self._forbidden)
            if physical is None or held:
                raise
            try:
                with self._physical():
                    return access(physical)
            except GdbError:
                raise error from None

    @contextmanager
    def _physical(self) -> Iterator[None]:
        """QEMU takes all addresses for physical ones, devices included."""
        self._session.console("maintenance packet Qqemu.PhyMemMode:1")
        try:
            yield
        finally:
            self._session.console("maintenance packet Qqemu.PhyMemMode:0")


def transfer_deadline(size: int) -> float:
    """Seconds that a transfer of ``size`` bytes may take."""
    return 10.0 + size / SLOWEST_RATE


def _unreadable(address: int, size: int, why: str) -> GdbError:
    return GdbError(f"cannot read {size} bytes at 0x{address:x}: {why}")
