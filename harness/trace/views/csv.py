# SPDX-License-Identifier: MIT
"""The CSV view (RFC 4180, lines end with LF): one event per row."""

import csv
from collections.abc import Iterator
from io import StringIO

from harness.ring import LOST_UNKNOWN
from harness.trace.events import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.views.selected import selected_events

COLUMNS = (
    "time",
    "cpu",
    "pid",
    "comm",
    "flags",
    "preempt_count",
    "lost",
    "event",
    "function",
    "parent",
    "depth",
    "duration",
    "message",
)

# A spreadsheet treats a text as a formula if it begins with one of these.
_FORMULA = tuple("=+-@\t\r")


def report_csv(reader: TraceDatReader, *, keep: Predicate | None = None) -> Iterator[str]:
    """The header and a row for each event, without line ends; ``keep`` chooses the events."""
    row = StringIO()
    writer = csv.writer(row, lineterminator="")

    def line(cells: tuple[object, ...]) -> str:
        row.seek(0)
        row.truncate()
        writer.writerow(cells)
        return row.getvalue()

    yield line(COLUMNS)
    for event in selected_events(reader.events(), keep):
        yield line(_cells(event))


def _cells(event: TraceEvent) -> tuple[object, ...]:
    function: str = ""
    parent: str = ""
    message: str = ""
    depth: int | str = ""
    duration: int | str = ""
    if isinstance(event, FunctionEvent):
        function, parent = event.function, event.parent
    elif isinstance(event, FuncgraphEntryEvent | FuncgraphExitEvent):
        function, depth = event.function, event.depth
        duration = event.duration if isinstance(event, FuncgraphExitEvent) else ""
    else:
        message = event.message
    return (
        event.stamp,
        event.cpu,
        event.pid,
        _text(event.comm),
        event.flags,
        event.preempt_count,
        "unknown" if event.lost == LOST_UNKNOWN else event.lost,
        _text(event.name),
        _text(function),
        _text(parent),
        depth,
        duration,
        _text(message),
    )


def _text(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text
