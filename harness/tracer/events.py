# SPDX-License-Identifier: MIT
"""set_event and available_events: the events besides those of the tracer.

The guest tests one bit for each event when it happens (guests/kernel/include/linux/trace_events.h).
"""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import cached_property

from harness.errors import FormatError, UsageError
from harness.image import Image
from harness.patcher import Text
from harness.trace import EventFormat, Syscall, event_formats
from harness.tracer.control_block import ControlBlock
from harness.tracer.event_filters import EventFilters
from harness.tracer.pids import PidControl
from harness.tracer.syscalls import SyscallTable
from harness.tracer.threads import ThreadControl

_SWITCH, _SYSCALLS = "sched:sched_switch", "syscalls"
_BITS = {_SWITCH: 1, "raw_syscalls:sys_enter": 2, "raw_syscalls:sys_exit": 4}
_SINGLE = 8
_ENTER, _EXIT = 1, 2


def event_control(image: Image, memory: Text) -> ControlBlock:
    """The guest's ``struct trace_event_control``."""
    return ControlBlock(image, memory, "trace_event_control")


def declared_syscalls(image: Image) -> list[Syscall]:
    """The system calls with events in an image, by name."""
    return sorted(SyscallTable(image).read(image.read), key=lambda call: call.name)


class EventControl:
    """The events of one guest, named ``SYSTEM:EVENT``."""

    def __init__(self, image: Image, memory: Text, threads: ThreadControl) -> None:
        self._image = image
        self._memory = memory
        self._threads = threads
        self._control = event_control(image, memory)

    @cached_property
    def syscalls(self) -> list[Syscall]:
        """The system calls with events; none if the port has no tracepoints."""
        room = self._control.room("syscalls")
        if self._table.count > room:
            raise FormatError(f"{self._table.count} system calls have room for {room} events")
        found = self._table.read(self._memory.dump_memory)
        return sorted((one for one in found if one.number >= 0), key=lambda one: one.number)

    @cached_property
    def _table(self) -> SyscallTable:
        return SyscallTable(self._image)

    @property
    def available(self) -> list[str]:
        """``available_events``."""
        traced = "trace_sys_enter" in self._image.symbols
        names = [name for name in _BITS if name == _SWITCH or traced]
        for call in self.syscalls:
            names += [f"{_SYSCALLS}:sys_enter_{call.name}", f"{_SYSCALLS}:sys_exit_{call.name}"]
        return names

    @property
    def enabled(self) -> list[str]:
        """``set_event``: the enabled events."""
        chosen = self._chosen
        return [name for name in self.available if name in chosen]

    @property
    def formats(self) -> list[EventFormat]:
        """The formats of the events of single system calls."""
        long_size = self._image.isa.word_size
        return [form for call in self.syscalls for form in call.formats(long_size)]

    @cached_property
    def filters(self) -> EventFilters:
        """The filters of these events."""
        formats = [*event_formats(self._image.isa.word_size), *self.formats]
        pids = PidControl(self._image, self._memory, self._threads)
        return EventFilters(self._image, self._memory, self._control, formats, pids.mark_events)

    def set_event(self, *patterns: str, append: bool = False) -> None:
        """Enable matching events, and disable all others unless ``append``.

        A pattern is ``EVENT``, ``SYSTEM``, ``SYSTEM:EVENT`` or ``SYSTEM:``, each a glob; with a
        leading ``!``  its events are disabled.
        """
        chosen = self._chosen if append else set()
        for pattern in patterns:
            if pattern.startswith("!"):
                chosen -= self._matching(pattern[1:])
            else:
                chosen |= self._matching(pattern)
        self._write(chosen)

    @property
    def _chosen(self) -> set[str]:
        """The events enabled in the guest, by whatever means."""
        enabled = self._control.read("enabled")
        chosen = {name for name, bit in _BITS.items() if enabled & bit}
        if enabled & _SINGLE and self.syscalls:
            wanted = self._control.numbers("syscalls", self._table.count)
            for call in self.syscalls:
                for bit, way in ((_ENTER, "enter"), (_EXIT, "exit")):
                    if wanted[call.index] & bit:
                        chosen.add(f"{_SYSCALLS}:sys_{way}_{call.name}")
        return chosen

    def _matching(self, pattern: str) -> set[str]:
        known = self.available
        found = {name for name in known if matches(name, pattern)}
        if not found:
            raise UsageError(
                f"this guest has no event {pattern!r}", f"It has: {', '.join(known[:40])}."
            )
        return found

    def _write(self, chosen: Iterable[str]) -> None:
        bits = sum(bit for name, bit in _BITS.items() if name in chosen)
        if self.syscalls:
            wanted = [0] * self._table.count
            for call in self.syscalls:
                wanted[call.index] = _ENTER * (
                    f"{_SYSCALLS}:sys_enter_{call.name}" in chosen
                ) + _EXIT * (f"{_SYSCALLS}:sys_exit_{call.name}" in chosen)
            self._control.write(syscalls=wanted)
            bits |= _SINGLE * any(wanted)
        before = self._control.read("enabled")
        self._control.write(enabled=bits)
        # A thread without the flag stays on the fast path of system calls.
        if bool(bits & ~_BITS[_SWITCH]) != bool(before & ~_BITS[_SWITCH]):
            self._threads.set_syscall_tracepoint(bool(bits & ~_BITS[_SWITCH]))


def matches(name: str, pattern: str) -> bool:
    """Whether ``SYSTEM:EVENT`` is one of those that a pattern of `set_event` is about."""
    system, _, event = name.partition(":")
    wanted, colon, rest = pattern.partition(":")
    if colon:
        return fnmatchcase(system, wanted or "*") and fnmatchcase(event, rest or "*")
    return fnmatchcase(event, pattern) or fnmatchcase(system, pattern)
