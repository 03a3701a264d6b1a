# SPDX-License-Identifier: MIT
"""The formats of events as a running kernel has them, built from its lists of fields.

As ``f_show()`` of kernel/trace/trace_events.c prints them.
"""

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from harness.errors import GuestError
from harness.linux.kernel import Kernel, View
from harness.trace import EventFormat
from harness.trace.formats import Field

MAX_EVENTS = 1 << 14
MAX_FIELDS = 512
MAX_NUMBER = 0xFFFF

ENABLED = 1
"""EVENT_FILE_FL_ENABLED."""


@dataclass(frozen=True, slots=True)
class LinuxEvent:
    """An event: its ``struct trace_event_call``, system, name and number.

    The kernel's own texts of system and name are at ``system_address`` and ``name_address``.
    """

    address: int
    system: str
    name: str
    number: int
    system_address: int
    name_address: int


class LinuxEvents:
    """The events of a stopped kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._common: tuple[Field, ...] | None = None

    def all(self, *, known: Container[int] = ()) -> list[LinuxEvent]:
        """The events in the list ``ftrace_events``; none before trace_event_init().

        Those with the numbers in ``known`` are left out.
        """
        kernel = self._kernel
        if not kernel.has("ftrace_events") or "trace_event_call" not in kernel.layouts:
            return []
        head = kernel.image.symbols["ftrace_events"]
        found = []
        for address in kernel.listed(head, "trace_event_call", "list.next", MAX_EVENTS):
            view = kernel.view("trace_event_call", address)
            number = view["event.type"]
            if 0 < number <= MAX_NUMBER and number not in known:
                where = self._system(view), self._name(view)
                system, name = kernel.name(where[0], 64), kernel.name(where[1], 128)
                found.append(LinuxEvent(address, system, name, number, *where))
        return sorted(found, key=lambda one: one.number)

    def formats(self, known: Sequence[EventFormat] = ()) -> list[EventFormat]:
        """Those that are known, and the format of each other event, by number."""
        numbers = {one.id for one in known}
        return [*known, *(self.format(event) for event in self.all(known=numbers))]

    def format(self, event: LinuxEvent) -> EventFormat:
        """The format of an event."""
        view = self._kernel.view("trace_event_call", event.address)
        layout = self._kernel.layouts["trace_event_class"]
        head = view["class"] + layout.place("fields.next").offset
        text = self._kernel.text(view["print_fmt"]) if view["print_fmt"] else ""
        fields = (*self._common_fields(), *self._fields(head))
        return EventFormat(event.name, event.number, event.system, fields, text)

    def _common_fields(self) -> tuple[Field, ...]:
        if self._common is None:
            head = self._kernel.symbol("ftrace_common_fields", "EVENT_TRACING")
            self._common = tuple(self._fields(head))
        return self._common

    def _fields(self, head: int) -> Iterator[Field]:
        """The fields of a list, which the kernel adds to in front."""
        kernel = self._kernel
        for address in kernel.listed(
            head, "ftrace_event_field", "link.prev", MAX_FIELDS, backwards=True
        ):
            view = kernel.view("ftrace_event_field", address)
            kind, name = kernel.name(view["type"]), kernel.name(view["name"])
            offset, size = view["offset"], view["size"]
            if not 0 <= offset <= MAX_NUMBER or not 0 <= size <= MAX_NUMBER:
                raise GuestError(f"the kernel has an event with {size} bytes at {offset}")
            base, bracket, count = kind.partition("[")
            if bracket and not kind.startswith("__data_loc"):
                length = view.get("len", _number(count))
                declared = f"{base} {name}[{length or ''}]"
            else:
                declared = f"{kind} {name}"
            yield Field(declared, offset, size, bool(view["is_signed"]))

    def enabled(self) -> set[int]:
        """The addresses of the events that are enabled."""
        kernel = self._kernel
        if "trace_event_file" not in kernel.layouts:
            return set()
        head = kernel.symbol("global_trace", "TRACING")
        head += kernel.layouts["trace_array"].place("events").offset
        if not kernel.pointer(head):
            return set()
        found = set()
        for address in kernel.listed(head, "trace_event_file", "list.next", MAX_EVENTS):
            view = kernel.view("trace_event_file", address)
            if view["flags"] & ENABLED:
                found.add(view["event_call"])
        return found

    def _system(self, view: View) -> int:
        place = self._kernel.layouts["trace_event_class"].place("system")
        return self._kernel.pointer(view["class"] + place.offset)

    def _name(self, view: View) -> int:
        """Of an event of a tracepoint the union with its name has the tracepoint."""
        kernel = self._kernel
        pointer = view["name"]
        of_tracepoint = kernel.layouts.constant("TRACE_EVENT_FL_TRACEPOINT")
        if view["flags"] & of_tracepoint and "tracepoint" in kernel.layouts:
            return kernel.pointer(pointer + kernel.layouts["tracepoint"].place("name").offset)
        return pointer


def _number(text: str) -> int:
    digits = text.partition("]")[0].strip()
    return int(digits) if digits.isdecimal() and len(digits) < 6 else 0
