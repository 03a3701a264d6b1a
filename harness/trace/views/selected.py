# SPDX-License-Identifier: MIT
"""The events that a filter selects, with the lost events of those it hides."""

from collections.abc import Iterable, Iterator

from harness.ring import add_lost
from harness.trace.events import TraceEvent
from harness.trace.filter import Predicate


def selected_events(events: Iterable[TraceEvent], keep: Predicate | None) -> Iterator[TraceEvent]:
    """The selected ``events``; each counts the events its CPU lost since the one shown before."""
    if keep is None:
        yield from events
        return
    lost: dict[int, int] = {}
    for event in events:
        if event.lost:
            lost[event.cpu] = add_lost(lost.get(event.cpu, 0), event.lost)
        if keep(event):
            missing = lost.pop(event.cpu, 0)
            yield event if missing == event.lost else event._replace(lost=missing)
