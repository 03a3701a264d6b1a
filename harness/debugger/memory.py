# SPDX-License-Identifier: MIT
"""Guest memory through gdb: small reads from cached blocks, large transfers through files.

MI writes memory as hexadecimal text, which is slow.  gdb's ``dump`` and ``restore`` use a file;
here it is a memfd that gdb inherits, so that no disk is involved and its name needs no quoting
(``dump`` supports none).
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
"""Bytes of a small read, unless changed: at most one packet of QEMU's stub."""

SMALL_READ = 4 * KIB
"""Up to this size -data-read-memory-bytes is as fast as a dump (benchmarks/mi.py)."""

SMALL_WRITE = 256
"""Up to this size -data-write-memory-bytes is as fast as a restore (benchmarks/mi.py)."""

SLOWEST_RATE = 500_000
"""Bytes per second on a loaded host, for the timeout of a large transfer."""


_Result = TypeVar("_Result")


HALF = "mem 0 0x7ffffffffffff000 rw"
"""The lower half of all 64-bit addresses without its last page, as a gdb memory region.  gdb keeps
the distance to the end of a region in a signed 64-bit number.
"""


class TransferFile:
    """An anonymous file that gdb inherits and opens through /proc."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("gdb-transfer")
        self.path = f"/proc/self/fd/{self.descriptor}"

    def take(self) -> bytes:
        """Read and truncate the file."""
        size = os.fstat(self.descriptor).st_size
        parts = []
        offset = 0
        while part := os.pread(self.descriptor, size - offset, offset):
            parts.append(part)
            offset += len(part)
        os.ftruncate(self.descriptor, 0)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def put(self, data: bytes) -> None:
        """Replace the file's contents."""
        os.ftruncate(self.descriptor, 0)
        view = memoryview(data)
        offset = 0
        while offset < len(data):
            offset += os.pwrite(self.descriptor, view[offset:], offset)

    def empty(self) -> None:
        """Free its memory."""
        os.ftruncate(self.descriptor, 0)

    def close(self) -> None:
        """Close and free the file."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1


class Memory:
    """Memory of the stopped target.  Call ``forget`` whenever it may have changed.

    QEMU accesses memory with the privileges of the selected CPU.  If that is in user mode, kernel
    addresses are not accessible, and the physical addresses given by ``linear`` are used.
    """

    def __init__(self, session: MiSession, transfer: TransferFile) -> None:
        self.linear: Callable[[int], int | None] = lambda address: None
        """The physical address of a kernel address, None for others; used if the selected CPU is in
        user mode.
        """
        self.neighbourhood: Callable[[int], tuple[int, bytes] | None] = lambda address: None
        """Several blocks around an address, read in a faster way, and the address of the first."""
        self._block = BLOCK
        self._forbidden: Sequence[range] = ()
        self._session = session
        self._transfer = transfer
        self._blocks: dict[int, bytes] = {}

    def forbid(self, ranges: Iterable[str]) -> None:
        """Make gdb refuse to read these addresses: reading them kills QEMU.

        Each range is ``FIRST-LAST`` in hexadecimal, as in ``qemu.unreadable`` of a config.
        """
        ends = [[int(end, 16) for end in addresses.split("-")] for addresses in ranges]
        regions = [f"mem {first:#x} {last + 1:#x} wo" for first, last in ends]
        self._forbidden = [range(first, last + 1) for first, last in ends]
        if regions:
            # gdb 13 crashes on a read if the next region is more than half of all addresses away.
            for command in ("set mem inaccessible-by-default off", HALF, *regions):
                self._session.console(command)

    def read_blocks_of(self, size: int) -> None:
        """Read and cache so many bytes at once, instead of `BLOCK`."""
        self._block = size
        self.forget()

    def forget(self) -> None:
        """Drop everything that was read."""
        self._blocks.clear()

    def read(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address`` on, from cached blocks if possible."""
        if size <= 0:
            return b""
        step = self._block
        first = address - address % step
        block = self._blocks.get(first)
        if block is not None and address + size <= first + step:
            return block[address - first : address - first + size]
        blocks = range(first, address + size, step)
        missing = [block for block in blocks if block not in self._blocks]
        if len(missing) == 1 and (found := self.neighbourhood(first)) is not None:
            self._keep(*found)
            missing = [block for block in blocks if block not in self._blocks]
        if missing:
            begin, length = missing[0], missing[-1] + step - missing[0]
            try:
                self._keep(begin, self._fetch(begin, length))
            except GdbError:
                # Another part of the block may not be mapped.
                return self._fetch(address, size)
        data = b"".join(self._blocks[block] for block in blocks)
        return data[address - first : address - first + size]

    def _keep(self, start: int, data: bytes) -> None:
        """Cache the blocks from ``start`` on."""
        step = self._block
        for offset in range(0, len(data), step):
            self._blocks[start + offset] = data[offset : offset + step]

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

    def read_physical(self, address: int, size: int) -> bytes:
        """``size`` bytes at a physical address, such as a device register; QEMU's stubs only."""
        with self._physical():
            return self._fetch_at(address, size)

    def dump(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address`` on, not from cached blocks."""
        return self._reach(address, size, lambda where: self._dump_at(where, size))

    def _dump_at(self, address: int, size: int) -> bytes:
        command = f"dump binary memory {self._transfer.path} 0x{address:x} 0x{address + size:x}"
        try:
            self._session.console(command, deadline=transfer_deadline(size))
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
        """Write ``data`` from ``address`` on."""
        self._reach(address, len(data), lambda where: self._restore_at(where, data))

    def _restore_at(self, address: int, data: bytes) -> None:
        # A failed `restore` is only a warning; unreadable memory is not writable either.
        self._fetch_at(address, 1)
        self._transfer.put(data)
        try:
            self._session.console(
                f"restore {self._transfer.path} binary 0x{address:x}",
                deadline=transfer_deadline(len(data)),
            )
        finally:
            self._transfer.empty()

    def _reach(self, address: int, size: int, access: Callable[[int], _Result]) -> _Result:
        """``access`` to an address, or to its physical address if that fails."""
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
        """QEMU treats all addresses as physical, including those of devices."""
        self._session.console("maintenance packet Qqemu.PhyMemMode:1")
        try:
            yield
        finally:
            self._session.console("maintenance packet Qqemu.PhyMemMode:0")


def transfer_deadline(size: int) -> float:
    """The timeout in seconds of a transfer of ``size`` bytes."""
    return 10.0 + size / SLOWEST_RATE


def _unreadable(address: int, size: int, why: str) -> GdbError:
    return GdbError(f"cannot read {size} bytes at 0x{address:x}: {why}")
