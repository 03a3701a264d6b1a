# SPDX-License-Identifier: MIT
"""Tracing state in the guest's threads: names, flags, whether they are traced.

The guest must be stopped.  New threads take their state from the guest's control structures
(guests/kernel/trace/trace_pid.c).
"""

from collections.abc import Callable
from functools import cached_property

from harness.image import GuestThread, Image, ThreadArray
from harness.patcher import Text

SYSCALL_TRACEPOINT = 0x100
"""``_TIF_SYSCALL_TRACEPOINT``."""

EVENT_IGNORED, EVENT_FILTERS = 1, 2
"""Bits of ``event_ignore`` (guests/kernel/include/linux/trace_events.h)."""


class ThreadControl:
    """The threads of one guest."""

    def __init__(self, image: Image, memory: Text) -> None:
        self._image = image
        self._memory = memory

    @cached_property
    def _array(self) -> ThreadArray:
        return ThreadArray(self._image)

    def threads(self) -> list[GuestThread]:
        """All threads, by index in the array."""
        return self._array.threads(self._entries())

    def names(self) -> dict[int, str]:
        """The names of threads by process id, escaped, with those of some ended threads."""
        return self._array.names(self._entries())

    def set_syscall_tracepoint(self, on: bool) -> None:
        """Set or clear ``TIF_SYSCALL_TRACEPOINT`` of every thread."""
        if on:
            self.change_flags(SYSCALL_TRACEPOINT, 0)
        else:
            self.change_flags(0, SYSCALL_TRACEPOINT)

    def change_flags(self, on: int, off: int) -> None:
        """Set the bits ``on`` in the flags of every thread, and clear the bits ``off``."""
        for thread in self.threads():
            self._write(thread, "flags", thread.flags & ~off | on)

    def set_ftrace_ignore(self, ignored: Callable[[int], bool]) -> None:
        """Do not trace functions of threads for whose process id ``ignored`` is true."""
        for thread in self.threads():
            self._write(thread, "ftrace_ignore", int(ignored(thread.pid)))

    def set_event_ignore(self, ignored: Callable[[int], bool], filters: bool) -> None:
        """As `set_ftrace_ignore`, for events; ``filters``: some events have filters."""
        for thread in self.threads():
            value = EVENT_IGNORED * ignored(thread.pid) | EVENT_FILTERS * filters
            self._write(thread, "event_ignore", value)

    def _entries(self) -> bytes:
        return self._memory.dump_memory(self._array.address, self._array.size)

    def _write(self, thread: GuestThread, name: str, value: int) -> None:
        member = self._array.layout.member(name)
        self._memory.restore_memory(thread.address + member.offset, member.packed(value))
