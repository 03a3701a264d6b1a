# SPDX-License-Identifier: MIT
"""The statistics of a trace: counts, rates, hottest functions, lost events."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.ring import add_lost
from harness.trace.calls import Ended, Frame, ThreadCalls, ThreadKey, thread_key
from harness.trace.events import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader

MAX_FUNCTIONS = 1 << 18
"""Maximum number of function names, to limit memory."""

OTHERS = "[others]"


@dataclass(slots=True)
class FunctionTotals:
    """The calls of a function, and the time of the finished ones in nanoseconds.

    ``total`` is the sum from entry to return, of the outermost of recursive calls.  ``own`` is
    without traced callees.  Both are None if only entries were traced.
    """

    calls: int = 0
    total: int | None = None
    own: int | None = None


@dataclass(slots=True)
class CpuTotals:
    """The events of one CPU, and those it lost.

    ``lost`` is counted from the pages, or is `LOST_UNKNOWN`.  ``overrun`` and ``dropped`` are the
    kernel's counters, 0 if the file has none.  ``disabled``: its buffer was disabled at times, and
    events were not counted then.
    """

    events: int = 0
    lost: int = 0
    overrun: int = 0
    dropped: int = 0
    disabled: bool = False


@dataclass(slots=True)
class Statistics:
    """The totals of a trace; time stamps in nanoseconds, or in ticks."""

    tracer: str = "nop"
    first: int = 0
    last: int = 0
    cpus: dict[int, CpuTotals] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    tasks: Counter[tuple[int, str]] = field(default_factory=Counter)
    functions: dict[str, FunctionTotals] = field(default_factory=dict)

    @property
    def events(self) -> int:
        """Events of all CPUs."""
        return sum(cpu.events for cpu in self.cpus.values())

    @property
    def span(self) -> int:
        """Nanoseconds from the first event to the last."""
        return self.last - self.first

    @property
    def rate(self) -> float | None:
        """Events in a second of the guest's clock; None if no time went by."""
        return self.events * 1e9 / self.span if self.span > 0 else None

    def hottest(self, count: int | None = None) -> list[tuple[str, FunctionTotals]]:
        """Functions by their own time, or by calls if there is no time; then by name."""

        def heat(item: tuple[str, FunctionTotals]) -> tuple[int, int, str]:
            name, totals = item
            return -(totals.own or 0), -totals.calls, name

        return sorted(self.functions.items(), key=heat)[:count]


def trace_statistics(reader: TraceDatReader, *, keep: Predicate | None = None) -> Statistics:
    """The statistics of a file; ``keep`` chooses the events."""
    sums = empty_statistics(reader)
    add_events(sums, reader.events(), keep)
    return sums


def empty_statistics(reader: TraceDatReader) -> Statistics:
    """The statistics of a file before its first event: its CPUs, and the kernel's counters."""
    sums = Statistics(tracer=reader.tracer)
    for number in range(reader.cpu_count):
        sums.cpus[number] = CpuTotals()
    for number, counted in enumerate(reader.statistics[: reader.cpu_count]):
        cpu = sums.cpus[number]
        cpu.overrun, cpu.dropped = counted.overrun, counted.dropped
        cpu.disabled = counted.disabled
    return sums


def add_events(
    sums: Statistics, events: Iterable[TraceEvent], keep: Predicate | None = None
) -> None:
    """Add ``events``, in order of time, to ``sums``."""
    threads: dict[ThreadKey, ThreadCalls] = {}
    for event in events:
        cpu = sums.cpus.setdefault(event.cpu, CpuTotals())
        if event.lost:
            cpu.lost = add_lost(cpu.lost, event.lost)
        if keep is not None and not keep(event):
            continue
        if not sums.kinds:
            sums.first = sums.last = event.stamp
        sums.first, sums.last = min(sums.first, event.stamp), max(sums.last, event.stamp)
        cpu.events += 1
        sums.kinds[event.name] += 1
        sums.tasks[event.pid, event.comm] += 1
        if isinstance(event, FunctionEvent):
            _function(sums, event.function).calls += 1
        elif isinstance(event, FuncgraphEntryEvent):
            _function(sums, event.function).calls += 1
            thread = threads.setdefault(thread_key(event), ThreadCalls())
            _pass_on(thread.enter(event))
        elif isinstance(event, FuncgraphExitEvent):
            thread = threads.setdefault(thread_key(event), ThreadCalls())
            *unfinished, last = thread.leave(event)
            _pass_on(unfinished)
            _add_call(sums, event, last)


def _add_call(sums: Statistics, event: FuncgraphExitEvent, ended: Ended) -> None:
    *around, frame = ended.path
    totals = _function(sums, event.function)
    # With tracing_thresh there are exits only.
    totals.calls += frame.func is None
    _pass_on_perhaps(around, frame)
    # An outer call of the same function has the time of the inner ones.
    totals.total = (totals.total or 0) + max(0, event.duration - frame.recursive)
    _add_recursive(around, event.function, event.duration)
    totals.own = (totals.own or 0) + max(0, event.duration - frame.inside)


def _pass_on(unfinished: Iterable[Ended]) -> None:
    """Calls without an exit event: the recursive calls in them are those of an outer call."""
    for ended in unfinished:
        *around, frame = ended.path
        _pass_on_perhaps(around, frame)
        _add_recursive(around, frame.name, frame.recursive)


def _pass_on_perhaps(around: Sequence[Frame], frame: Frame) -> None:
    """The function of a call without an entry is known at its end."""
    for name, duration in (frame.perhaps or {}).items():
        if name == frame.name:
            frame.recursive += duration
        else:
            _add_recursive(around, name, duration)
    frame.perhaps = None


def _add_recursive(around: Sequence[Frame], name: str, duration: int) -> None:
    """Add to the innermost open call that is of a function, or may be."""
    for frame in reversed(around):
        if frame.name == name:
            frame.recursive += duration
            return
        if frame.func is None:
            frame.perhaps = frame.perhaps or {}
            frame.perhaps[name] = frame.perhaps.get(name, 0) + duration
            return


def _function(sums: Statistics, name: str) -> FunctionTotals:
    if name not in sums.functions and len(sums.functions) >= MAX_FUNCTIONS:
        name = OTHERS
    return sums.functions.setdefault(name, FunctionTotals())
