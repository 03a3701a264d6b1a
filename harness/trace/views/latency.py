# SPDX-License-Identifier: MIT
"""The latency view: the kernel's ``trace`` file of the irqsoff tracer."""

from collections.abc import Iterator
from itertools import chain, pairwise

from harness.trace.events import OVERHEAD_MARKS, TraceEvent, latency_flags, lost_line
from harness.trace.filter import Predicate
from harness.trace.kernel_events import LatencyEvent
from harness.trace.reader import TraceDatReader
from harness.trace.views.selected import number_column, numbered_header

_RULE = "# " + "-" * 68
_BOX = "#    " + "-" * 17

_COLUMNS = (
    "                    _------=> CPU#            ",
    "                   / _-----=> irqs-off/BH-disabled",
    "                  | / _----=> need-resched    ",
    "                  || / _---=> hardirq/softirq ",
    "                  ||| / _--=> preempt-depth   ",
    "                  |||| / _-=> migrate-disable ",
    "                  ||||| /     delay           ",
    "  cmd     pid     |||||| time  |   caller     ",
    "     \\   /        ||||||  \\    |    /       ",
)


def report_latency(
    reader: TraceDatReader, *, tracer: str, keep: Predicate | None = None, number: bool = False
) -> Iterator[str]:
    """The lines of the whole trace without line ends; ``keep`` chooses the events.

    ``number`` is that of `report_text`.

    Times are in microseconds from the beginning of the section.  Lost events have a line.
    """
    found: LatencyEvent | None = None
    first: int | None = None
    entries = 0
    for event in reader.events():
        first = event.stamp if first is None else first
        if isinstance(event, LatencyEvent):
            found = event
        else:
            entries += 1
    yield from _header(reader, tracer, found, entries)
    yield from (numbered_header(f"#{column}") if number else f"#{column}" for column in _COLUMNS)
    shown = (one for one in enumerate(reader.events()) if not isinstance(one[1], LatencyEvent))
    for one, following in pairwise(chain(shown, (None,))):
        if one is None:
            break
        at, event = one
        if event.lost:
            yield (number_column(None) if number else "") + lost_line(event.cpu, event.lost)
        if keep is None or keep(event):
            delay = following[1].stamp - event.stamp if following else 0
            line = _line(event, event.stamp - (first or 0), delay)
            yield (number_column(at) if number else "") + line


def _header(
    reader: TraceDatReader, tracer: str, found: LatencyEvent | None, entries: int
) -> Iterator[str]:
    missing = sum(cpu.overrun + cpu.dropped for cpu in reader.statistics)
    latency, cpu, comm, pid = (
        (found.latency, found.cpu, found.comm, found.pid) if found else (0, 0, "", 0)
    )
    yield f"# tracer: {tracer}"
    yield "#"
    yield f"# {tracer} latency trace v1.1.5 on {reader.machine or 'an unknown machine'}"
    yield _RULE
    yield (
        f"# latency: {_microseconds(latency)} us, #{entries}/{entries + missing}, CPU#{cpu} | "
        f"(M:preempt VP:0, KP:0, SP:0 HP:0 #P:{reader.cpu_count})"
    )
    yield _BOX
    yield f"#    | task: {comm:.16}-{pid} (uid:0 nice:0 policy:0 rt_prio:0)"
    yield _BOX
    if found is not None:
        yield f"#  => started at: {found.started_at}"
        yield f"#  => ended at:   {found.ended_at}"
        yield "#"
    yield "#"


def _line(event: TraceEvent, since: int, delay: int) -> str:
    flags = latency_flags(event.flags, event.preempt_count)
    context = f"{event.comm:>8.8}-{event.pid:<7} {event.cpu:3}{flags}"
    mark = next((mark for limit, mark in OVERHEAD_MARKS if delay > limit), " ")
    return f"{context} {_microseconds(since):4}us{mark}: {event.line}"


def _microseconds(nanoseconds: int) -> int:
    return (nanoseconds + 500) // 1000
