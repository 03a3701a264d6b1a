# SPDX-License-Identifier: MIT
"""The JSON view: the whole trace as one document, one event per line."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import starmap
from json import dumps

from harness.ring import LOST_UNKNOWN
from harness.trace.events import FieldValue, FuncgraphExitEvent, TraceEvent
from harness.trace.field_access import ADDRESSES
from harness.trace.filter import Predicate
from harness.trace.kernel_events import KernelStackEvent
from harness.trace.reader import TraceDatReader
from harness.trace.views.selected import numbered_events
from harness.trace.writer import CpuStatistics

VERSION = 1


def report_json(reader: TraceDatReader, *, keep: Predicate | None = None) -> Iterator[str]:
    """The lines of the document without line ends; ``keep`` chooses the events.

    ``events`` is the last key, so that readers know its description first.
    """
    head = {
        "format": "ftrace-harness-trace",
        "version": VERSION,
        "tracer": reader.tracer,
        "clock": reader.clock,
        "machine": reader.machine,
        "cpus": reader.cpu_count,
        "statistics": [_counted(one) for one in reader.statistics],
    }
    yield from document(head, "events", starmap(_object, numbered_events(reader.events(), keep)))


def document(head: dict[str, object], key: str, items: Iterable[object]) -> Iterator[str]:
    """A JSON object whose last key is ``key``, an array with one item per line."""
    yield f'{dumps(head)[:-1]}, "{key}": ['
    before = ""
    for item in items:
        if before:
            yield f"{before},"
        before = dumps(item)
    if before:
        yield before
    yield "]}"


def _counted(one: CpuStatistics) -> dict[str, object]:
    made = asdict(one)
    if not one.disabled:
        del made["disabled"]
    return made


def _object(number: int, event: TraceEvent) -> dict[str, object]:
    made: dict[str, object] = {
        "time": event.stamp,
        "cpu": event.cpu,
        "pid": event.pid,
        "comm": event.comm,
        "flags": event.flags,
        "preempt_count": event.preempt_count,
        "lost": None if event.lost == LOST_UNKNOWN else event.lost,
        "event": event.name,
        "fields": {name: _value(name, value) for name, value in event.fields.items()},
        "symbols": {
            name: event.symbols.name(value)
            for name, value in event.fields.items()
            if name in ADDRESSES and isinstance(value, int)
        },
    }
    if isinstance(event, KernelStackEvent):
        made["fields"] = {"caller": [f"{address:#x}" for address in event.callers]}
        made["symbols"] = {"caller": list(event.functions)}
    if isinstance(event, FuncgraphExitEvent):
        made["duration"] = event.duration
    made["number"] = number
    return made


def _value(name: str, value: FieldValue) -> object:
    """Addresses and bytes as hexadecimal text: many JSON readers limit numbers to 53 bits."""
    if isinstance(value, bytes):
        return value.hex()
    return f"{value:#x}" if name in ADDRESSES and isinstance(value, int) else value
