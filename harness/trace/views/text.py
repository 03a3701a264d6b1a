# SPDX-License-Identifier: MIT
"""The text view: what the kernel's ``trace`` file would show of the same events."""

from collections.abc import Callable, Iterator

from harness.trace.events import TraceEvent, lost_line
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.views.graph import DEFAULT_OPTIONS, GraphOptions, report_graph
from harness.trace.views.latency import report_latency

# The ruler above the events: each stroke leads from a meaning to its character of the flags.
_RULER = (
    "  _-----=> irqs-off/BH-disabled",
    " / _----=> need-resched",
    "| / _---=> hardirq/softirq",
    "|| / _--=> preempt-depth",
    "||| / _-=> migrate-disable",
    "|||| /     delay",
)
_FLAGS_COLUMN = 31


def header_lines(tracer: str, entries: int, written: int, cpus: int) -> list[str]:
    """The lines above the events: tracer, counts, and the ruler of the columns."""
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
) -> Iterator[str]:
    """The lines of a whole trace without line ends; ``keep`` chooses the events that are shown.

    ``tracer`` is the one that wrote the trace, found in the file if it is not given.  The kernel
    leaves the form to the tracer: for ``function_graph`` it is the graph view, with ``options``,
    for ``irqsoff`` the latency view.
    Lost events are told where they are missing, whatever ``keep`` says.
    """
    tracer = tracer or reader.tracer
    if tracer == "function_graph":
        yield from report_graph(reader, keep=keep, options=options)
        return
    if tracer == "irqsoff":
        yield from report_latency(reader, tracer=tracer, keep=keep)
        return
    entries = reader.count_events()
    missing = sum(cpu.overrun + cpu.dropped for cpu in reader.statistics)
    yield from header_lines(tracer, entries, entries + missing, reader.cpu_count)
    show: Callable[[TraceEvent], str] = str if reader.clock_in_nanoseconds else in_ticks
    for event in reader.events():
        if event.lost:
            yield lost_line(event.cpu, event.lost)
        if keep is None or keep(event):
            yield show(event)


def in_ticks(event: TraceEvent) -> str:
    """An event's line where time stamps are plain numbers."""
    return f"{event.context} {event.stamp:12}: {event.line}"
