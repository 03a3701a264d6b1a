# SPDX-License-Identifier: MIT
"""The text view: the kernel's ``trace`` file of the same events."""

from collections.abc import Callable, Iterator

from harness.trace.events import TraceEvent, lost_line
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.views.graph import DEFAULT_OPTIONS, GraphOptions, report_graph
from harness.trace.views.latency import report_latency
from harness.trace.views.selected import number_column, numbered_header

# The legend of the flags, above the events.
_RULER = (
    "  _-----=> irqs-off/BH-disabled",
    " / _----=> need-resched",
    "| / _---=> hardirq/softirq",
    "|| / _--=> preempt-depth",
    "||| / _-=> migrate-disable",
    "|||| /     delay",
)
_FLAGS_COLUMN = 31

HEAD = 4
"""Lines of a header in front of the legend."""


def header_lines(tracer: str, entries: int, written: int, cpus: int) -> list[str]:
    """The lines above the events: tracer, counts, and the legend of the columns."""
    return [
        f"# tracer: {tracer}",
        "#",
        f"# entries-in-buffer/entries-written: {entries}/{written}   #P:{cpus}",
        "#",
        *("#".ljust(_FLAGS_COLUMN) + stroke for stroke in _RULER),
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION",
        "#              | |         |   |||||     |         |",
    ]


def report_text(
    reader: TraceDatReader,
    *,
    tracer: str = "",
    keep: Predicate | None = None,
    options: GraphOptions = DEFAULT_OPTIONS,
    number: bool = False,
) -> Iterator[str]:
    """The lines of a whole trace without line ends; ``keep`` chooses the events.

    With ``number`` an event has its number in front, from 0 in the order of
    `TraceDatReader.events`.

    ``tracer`` is by default the one that wrote the file.  As in the kernel, the format depends on
    it: ``function_graph`` has the graph view, with ``options``, and ``irqsoff`` the latency view.
    Lost events have a line, whatever ``keep`` says.
    """
    tracer = tracer or reader.tracer
    if tracer == "function_graph":
        yield from report_graph(reader, keep=keep, options=options, number=number)
        return
    if tracer == "irqsoff":
        yield from report_latency(reader, tracer=tracer, keep=keep, number=number)
        return
    entries = reader.count_events()
    missing = sum(cpu.overrun + cpu.dropped for cpu in reader.statistics)
    header = header_lines(tracer, entries, entries + missing, reader.cpu_count)
    yield from header[:HEAD]
    yield from map(numbered_header, header[HEAD:]) if number else header[HEAD:]
    show: Callable[[TraceEvent], str] = str if reader.clock_in_nanoseconds else in_ticks
    for at, event in enumerate(reader.events()):
        if event.lost:
            yield (number_column(None) if number else "") + lost_line(event.cpu, event.lost)
        if keep is None or keep(event):
            yield (number_column(at) if number else "") + show(event)


def in_ticks(event: TraceEvent) -> str:
    """An event's line with a time stamp in ticks."""
    return f"{event.context} {event.stamp:12}: {event.line}"
