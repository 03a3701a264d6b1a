# SPDX-License-Identifier: MIT
"""What tracing reads and writes in the guest's threads: names, flags, whether they are traced.

The guest must be stopped.  New threads take what they need from the guest's own control structures
(guests/kernel/trace/trace_pid.c).
"""

from collections.abc import Callable
from functools import cached_property

from harness.errors import FormatError, GuestError
from harness.image import Image
from harness.patcher import Text
from harness.ring import TABLE_SIZE, GuestThread, ThreadTable

SYSCALL_TRACEPOINT = 0x100
"""``_TIF_SYSCALL_TRACEPOINT``."""


class ThreadControl:
    """The threads of one guest."""

    def __init__(self, image: Image, memory: Text) -> None:
        self._image = image
        self._memory = memory

    @cached_property
    def _table(self) -> ThreadTable:
        data = self._memory.dump_memory(self._image.address_of("thread_table"), TABLE_SIZE)
        try:
            return ThreadTable.parse(data, self._image.byteorder, self._image.size_of("threads"))
        except FormatError as error:
            raise GuestError(f"the guest's threads cannot be read: {error.message}") from error

    def threads(self) -> list[GuestThread]:
        """Every thread that there is, by its place in the table."""
        return self._table.threads(*self._entries())

    def names(self) -> dict[int, str]:
        """The names of threads by process id, escaped; also of some that have ended."""
        return self._table.names(self._entries()[0])

    def set_syscall_tracepoint(self, on: bool) -> None:
        """Set or clear ``TIF_SYSCALL_TRACEPOINT`` of every thread."""
        if on:
            self.change_flags(SYSCALL_TRACEPOINT, 0)
        else:
            self.change_flags(0, SYSCALL_TRACEPOINT)

    def change_flags(self, on: int, off: int) -> None:
        """Set the bits of ``on`` in the flags of every thread, and clear those of ``off``."""
        for thread in self.threads():
            self._write(thread, self._table.offsets["flags"], thread.flags & ~off | on)

    def set_ftrace_ignore(self, ignored: Callable[[int], bool]) -> None:
        """Leave out the functions of threads whose process id ``ignored`` says so of."""
        for thread in self.threads():
            self._write(thread, self._table.offsets["ftrace_ignore"], int(ignored(thread.pid)))

    def set_event_ignore(self, ignored: Callable[[int], bool]) -> None:
        """Likewise for events."""
        for thread in self.threads():
            self._write(thread, self._table.offsets["ftrace_ignore"] + 4, int(ignored(thread.pid)))

    def _entries(self) -> tuple[bytes, int]:
        address = self._image.address_of("threads")
        return self._memory.dump_memory(address, self._table.size), address

    def _write(self, thread: GuestThread, offset: int, value: int) -> None:
        data = value.to_bytes(4, self._image.byteorder)
        self._memory.restore_memory(thread.address + offset, data)
