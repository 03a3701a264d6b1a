# SPDX-License-Identifier: MIT
"""Access to an event's fields by name, for filters: as a number, a text, or both."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.trace.events import FuncgraphExitEvent, TraceEvent
from harness.trace.formats import EventFormat, Field, c_type_size
from harness.trace.kernel_events import event_class

ADDRESSES = frozenset({"ip", "parent_ip", "func", "retaddr", "start_ip", "end_ip"})
"""Fields with a code address; their text is the function's name."""


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """Functions that read a field as a number and as a text; ``None`` if not possible."""

    number: Callable[[TraceEvent], int] | None = None
    text: Callable[[TraceEvent], str] | None = None


_PSEUDO = {
    "COMM": FieldAccess(text=lambda event: event.comm),
    "PID": FieldAccess(number=lambda event: event.pid),
    "CPU": FieldAccess(number=lambda event: event.cpu),
    "common_pid": FieldAccess(number=lambda event: event.pid),
    "common_flags": FieldAccess(number=lambda event: event.flags),
    "common_preempt_count": FieldAccess(number=lambda event: event.preempt_count),
}


def _duration(event: TraceEvent) -> int:
    return event.duration if isinstance(event, FuncgraphExitEvent) else 0


def field_access(form: EventFormat, name: str) -> FieldAccess | None:
    """The access to the field ``name``; ``None`` if the event has no such field, or none to
    compare.
    """
    if name in _PSEUDO:
        return _PSEUDO[name]
    if name == "duration" and _has_duration(form):
        return FieldAccess(number=_duration)
    for field in form.fields:
        if field.name == name:
            return _access(field)
    return None


def field_names(form: EventFormat) -> list[str]:
    """Every name that `field_access` knows for this event."""
    own = [one.name for one in form.fields if field_access(form, one.name) is not None]
    return [*own, *(["duration"] if _has_duration(form) else []), "COMM", "PID", "CPU"]


def function_name(event: TraceEvent, address: int) -> str:
    """A function's name without its module."""
    return event.symbols.name(address).partition(" ")[0]


def _has_duration(form: EventFormat) -> bool:
    return event_class(form) is FuncgraphExitEvent


def _access(field: Field) -> FieldAccess | None:
    name = field.name
    if name.startswith("common_"):
        return None
    # The decoder makes texts of char arrays; numbers have a size.
    element = field.type_name.partition(" ")[2]
    bare = element.removesuffix("[]").strip() if field.is_located else field.type_name
    if (field.is_array or field.is_located) and bare in ("char", "const char"):
        return FieldAccess(text=lambda event: str(event.fields[name]))
    if not field.is_integer:
        return None

    def number(event: TraceEvent) -> int:
        value = event.fields[name]
        return value if isinstance(value, int) else 0

    if name in ADDRESSES and c_type_size(field.type_name, 8) == 8:
        return FieldAccess(number, lambda event: function_name(event, number(event)))
    return FieldAccess(number)
