# SPDX-License-Identifier: MIT
"""The events that a filter selects, with the lost events of those it hides."""

from collections.abc import Iterable, Iterator

from harness.ring import add_lost
from harness.trace.events import TraceEvent
from harness.trace.filter import Predicate

NUMBER_WIDTH = 9
"""Characters of the column of events' numbers, with the space behind it."""


def number_column(number: int | None) -> str:
    """The column in front of a line; None: a line that is no event."""
    return f"{'' if number is None else number:{NUMBER_WIDTH - 1}} "


def numbered_header(line: str) -> str:
    """A line of a header, shifted by the column."""
    return "#" + " " * NUMBER_WIDTH + line[1:]


def selected_events(events: Iterable[TraceEvent], keep: Predicate | None) -> Iterator[TraceEvent]:
    """The selected ``events``; each counts the events its CPU lost since the one shown before."""
    return (event for _, event in numbered_events(events, keep))


def numbered_events(
    events: Iterable[TraceEvent], keep: Predicate | None
) -> Iterator[tuple[int, TraceEvent]]:
    """The same with the number of each among all ``events``, from 0."""
    if keep is None:
        yield from enumerate(events)
        return
    lost: dict[int, int] = {}
    for number, event in enumerate(events):
        if event.lost:
            lost[event.cpu] = add_lost(lost.get(event.cpu, 0), event.lost)
        if keep(event):
            missing = lost.pop(event.cpu, 0)
            yield number, event if missing == event.lost else event._replace(lost=missing)
