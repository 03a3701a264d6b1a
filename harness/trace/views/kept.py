# SPDX-License-Identifier: MIT
"""Events that a filter lets through, with the losses of those it hides."""

from collections.abc import Iterable, Iterator

from harness.ring import add_lost
from harness.trace.events import TraceEvent
from harness.trace.filter import Predicate


def kept_events(events: Iterable[TraceEvent], keep: Predicate | None) -> Iterator[TraceEvent]:
    """``events`` that are shown; each counts what its CPU lost since the one shown before it."""
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
