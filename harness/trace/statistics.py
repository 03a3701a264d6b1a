# SPDX-License-Identifier: MIT
"""What a trace adds up to: counts, rates, the hottest functions, and what was lost."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.ring import add_lost
from harness.trace.calls import Ended, ThreadCalls, ThreadKey, thread_key
from harness.trace.events import (
    FuncgraphEntryEvent,
    FuncgraphExitEvent,
    FunctionEvent,
    TraceEvent,
)
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader

MAX_FUNCTIONS = 1 << 18
"""Names that are told apart; a file that never repeats one must not fill memory."""

OTHERS = "[others]"


@dataclass(slots=True)
class FunctionTotals:
    """How often a function was called, and what its finished calls took, in nanoseconds.

    ``total`` is from entry to return, summed up; a call inside another one of the same function
    counts in both.  ``own`` leaves out what traced functions took that it called.  Both are None
    where only entries were traced.
    """

    calls: int = 0
    total: int | None = None
    own: int | None = None


@dataclass(slots=True)
class CpuTotals:
    """The events of one CPU, and those it lost.

    ``lost`` counts what the pages say is missing between events, or is `LOST_UNKNOWN`;
    ``overrun`` and ``dropped`` are the kernel's own counters, 0 where the file has none.
    ``disabled`` says that its buffer was switched off at times, when nothing was counted.
    """

    events: int = 0
    lost: int = 0
    overrun: int = 0
    dropped: int = 0
    disabled: bool = False


@dataclass(slots=True)
class Statistics:
    """The sums of a trace; time stamps in nanoseconds, or in ticks with a ticking clock."""

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
        """Functions by the time that they took themselves, or else by calls; then by name."""

        def heat(item: tuple[str, FunctionTotals]) -> tuple[int, int, str]:
            name, totals = item
            return -(totals.own or 0), -totals.calls, name

        return sorted(self.functions.items(), key=heat)[:count]


def trace_statistics(reader: TraceDatReader, *, keep: Predicate | None = None) -> Statistics:
    """Add up the events of a file; ``keep`` chooses those that count."""
    sums = Statistics(tracer=reader.tracer)
    for number in range(reader.cpu_count):
        sums.cpus[number] = CpuTotals()
    for number, counted in enumerate(reader.statistics[: reader.cpu_count]):
        cpu = sums.cpus[number]
        cpu.overrun, cpu.dropped = counted.overrun, counted.dropped
        cpu.disabled = counted.disabled
    add_events(sums, reader.events(), keep)
    return sums


def add_events(
    sums: Statistics, events: Iterable[TraceEvent], keep: Predicate | None = None
) -> None:
    """Add ``events``, in the order of their time stamps, to ``sums``."""
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
            threads.setdefault(thread_key(event), ThreadCalls()).enter(event)
        elif isinstance(event, FuncgraphExitEvent):
            thread = threads.setdefault(thread_key(event), ThreadCalls())
            _add_call(sums, event, thread.leave(event)[-1])


def _add_call(sums: Statistics, event: FuncgraphExitEvent, ended: Ended) -> None:
    frame = ended.path[-1]
    totals = _function(sums, event.function)
    # With tracing_thresh there are exits only.
    totals.calls += frame.func is None
    totals.total = (totals.total or 0) + event.duration
    totals.own = (totals.own or 0) + max(0, event.duration - frame.inside)


def _function(sums: Statistics, name: str) -> FunctionTotals:
    if name not in sums.functions and len(sums.functions) >= MAX_FUNCTIONS:
        name = OTHERS
    return sums.functions.setdefault(name, FunctionTotals())
