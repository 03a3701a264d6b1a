# SPDX-License-Identifier: MIT
"""The fields of an event by name, as filters and tables ask for them: a number, a text, or both."""

from collections.abc import Callable
from dataclasses import dataclass

from harness.trace.events import FuncgraphExitEvent, TraceEvent
from harness.trace.formats import EventFormat, Field, c_type_size
from harness.trace.kernel_events import event_class

ADDRESSES = frozenset({"ip", "parent_ip", "func", "retaddr", "start_ip", "end_ip"})
"""Fields that hold an address of code, and have the name of its function as their text."""


@dataclass(frozen=True, slots=True)
class Bound:
    """How to read a field; what it cannot be read as is ``None``."""

    number: Callable[[TraceEvent], int] | None = None
    text: Callable[[TraceEvent], str] | None = None


_PSEUDO = {
    "COMM": Bound(text=lambda event: event.comm),
    "PID": Bound(number=lambda event: event.pid),
    "CPU": Bound(number=lambda event: event.cpu),
    "common_pid": Bound(number=lambda event: event.pid),
    "common_flags": Bound(number=lambda event: event.flags),
    "common_preempt_count": Bound(number=lambda event: event.preempt_count),
}


def _duration(event: TraceEvent) -> int:
    return event.duration if isinstance(event, FuncgraphExitEvent) else 0


def bind_field(form: EventFormat, name: str) -> Bound | None:
    """The field ``name`` of an event, ``None`` if it has no such field or cannot compare it."""
    if name in _PSEUDO:
        return _PSEUDO[name]
    if name == "duration" and _has_duration(form):
        return Bound(number=_duration)
    for field in form.fields:
        if field.name == name:
            return _bind(field)
    return None


def field_names(form: EventFormat) -> list[str]:
    """Every name that `bind_field` takes for this event."""
    own = [one.name for one in form.fields if bind_field(form, one.name) is not None]
    return [*own, *(["duration"] if _has_duration(form) else []), "COMM", "PID", "CPU"]


def function_name(event: TraceEvent, address: int) -> str:
    """The name of a function without its module."""
    return event.symbols.name(address).partition(" ")[0]


def _has_duration(form: EventFormat) -> bool:
    return event_class(form) is FuncgraphExitEvent


def _bind(field: Field) -> Bound | None:
    name = field.name
    if name.startswith("common_"):
        return None
    # Texts are what the decoder makes of arrays of char; numbers are the types that have a size.
    element = field.type_name.partition(" ")[2]
    bare = element.removesuffix("[]").strip() if field.is_located else field.type_name
    if (field.is_array or field.is_located) and bare in ("char", "const char"):
        return Bound(text=lambda event: str(event.fields[name]))
    if not field.is_integer:
        return None

    def number(event: TraceEvent) -> int:
        value = event.fields[name]
        return value if isinstance(value, int) else 0

    if name in ADDRESSES and c_type_size(field.type_name, 8) == 8:
        return Bound(number, lambda event: function_name(event, number(event)))
    return Bound(number)
