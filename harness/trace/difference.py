# SPDX-License-Identifier: MIT
"""What differs between two traces of one workload: calls, times, call paths, and their order."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Self

from harness.errors import UsageError
from harness.trace.call_profile import CallProfile, PathNumbers, ThreadOrder, call_profile
from harness.trace.call_steps import CallPath, CallSteps
from harness.trace.calls import ThreadKey
from harness.trace.events import TraceEvent
from harness.trace.filter import Predicate, parse_filters
from harness.trace.reader import TraceDatReader
from harness.trace.statistics import FunctionTotals

AROUND = 2
"""Calls shown before a divergence, and behind the first that differs."""


@dataclass(frozen=True, slots=True)
class FunctionChange:
    """The totals of a function in both traces."""

    name: str
    a: FunctionTotals
    b: FunctionTotals

    @property
    def calls(self) -> int:
        """Calls in B more than in A."""
        return self.b.calls - self.a.calls

    @property
    def own(self) -> int:
        """The increase of self time from A to B in nanoseconds."""
        return (self.b.own or 0) - (self.a.own or 0)


@dataclass(frozen=True, slots=True)
class PathChange:
    """The calls of one path in both traces."""

    path: CallPath
    a: int
    b: int


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two threads called something different for the first time.

    ``same`` is the number of calls before.  ``before``, ``a`` and ``b`` are the events around it:
    the last ones of A that are the same, and the next ones of each trace, none where the thread
    ends.
    """

    thread: str
    same: int
    before: tuple[TraceEvent, ...] = ()
    a: tuple[TraceEvent, ...] = ()
    b: tuple[TraceEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """Traces A and B.

    ``functions`` are those whose calls or times differ, the largest difference first, and ``paths``
    those whose calls differ.  ``divergences`` are in order of time in A.  ``only_a`` and ``only_b``
    are the names of threads without a counterpart, ``compared`` is the number of calls whose order
    is the same.
    """

    a: CallProfile
    b: CallProfile
    functions: list[FunctionChange]
    paths: list[PathChange]
    divergences: list[Divergence]
    only_a: list[str]
    only_b: list[str]
    compared: int

    @property
    def same(self) -> bool:
        """Whether both traces have the same calls in the same order; times may differ."""
        return not (
            self.paths
            or self.divergences
            or self.only_a
            or self.only_b
            or any(change.calls for change in self.functions)
        )


def trace_difference(
    a: TraceDatReader, b: TraceDatReader, filters: tuple[str, ...] = ()
) -> Difference:
    """Compare two files; ``filters`` choose the events of both (`parse_filters`).

    Raises:
        UsageError: the files are of different tracers, or a filter is invalid.
    """
    if a.tracer != b.tracer:
        raise UsageError(
            f"the first trace is of the {a.tracer} tracer, the second of {b.tracer}",
            "Record both with the same -p.",
        )
    keep_a, keep_b = (parse_filters(filters, one.formats.values()) for one in (a, b))
    numbers = PathNumbers()
    left = call_profile(a, numbers, keep=keep_a)
    right = call_profile(b, numbers, keep=keep_b)
    pairs = [_Pair.of(one, two) for one, two in _pairs(left.threads, right.threads)]
    found = [pair for pair in pairs if pair.diverges(left, right)]
    events_a = _around(a, keep_a, {pair.a.key: pair.same for pair in found})
    events_b = _around(b, keep_b, {pair.b.key: pair.same for pair in found})
    return Difference(
        left,
        right,
        _functions(left, right),
        _paths(left, right),
        sorted((pair.divergence(events_a, events_b) for pair in found), key=_moment),
        _others(left.threads, (pair.a for pair in pairs)),
        _others(right.threads, (pair.b for pair in pairs)),
        sum(pair.same for pair in pairs),
    )


Events = Mapping[ThreadKey, list[tuple[int, TraceEvent]]]
"""The events of some calls of threads, each with the number of its call."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """A thread of both traces; its first ``same`` calls are the same."""

    a: ThreadOrder
    b: ThreadOrder
    same: int

    @classmethod
    def of(cls, a: ThreadOrder, b: ThreadOrder) -> Self:
        both = enumerate(zip(a.steps, b.steps, strict=False))
        shorter = min(len(a.steps), len(b.steps))
        return cls(a, b, next((at for at, (one, two) in both if one != two), shorter))

    def diverges(self, a: CallProfile, b: CallProfile) -> bool:
        """Whether the next calls are known and differ, or one of the threads has ended."""
        ends_a, ends_b = (self.same == len(thread.steps) for thread in (self.a, self.b))
        if ends_a and ends_b:
            return False
        return (a.complete or not ends_a) and (b.complete or not ends_b)

    def divergence(self, a: Events, b: Events) -> Divergence:
        around, other = a[self.a.key], b[self.b.key]
        return Divergence(
            self.a.name,
            self.same,
            tuple(event for at, event in around if at < self.same),
            tuple(event for at, event in around if at >= self.same),
            tuple(event for at, event in other if at >= self.same),
        )


def _pairs(
    a: Mapping[ThreadKey, ThreadOrder], b: Mapping[ThreadKey, ThreadOrder]
) -> Iterator[tuple[ThreadOrder, ThreadOrder]]:
    """The threads with one name and number; then those of one name, in order of appearance."""
    left = {key: order for key, order in a.items() if key not in b or b[key].comm != order.comm}
    right = {key: order for key, order in b.items() if key not in a or a[key].comm != order.comm}
    yield from ((order, b[key]) for key, order in a.items() if key not in left)
    by_name: dict[str, list[ThreadOrder]] = {}
    for order in right.values():
        by_name.setdefault(order.comm, []).append(order)
    for order in left.values():
        if by_name.get(order.comm):
            yield order, by_name[order.comm].pop(0)


def _others(threads: Mapping[ThreadKey, ThreadOrder], paired: Iterable[ThreadOrder]) -> list[str]:
    """The names of the threads that have no counterpart."""
    known = {order.key for order in paired}
    return [order.name for key, order in threads.items() if key not in known]


def _functions(a: CallProfile, b: CallProfile) -> list[FunctionChange]:
    left, right = a.statistics.functions, b.statistics.functions
    none = FunctionTotals()
    changes = (
        FunctionChange(name, left.get(name, none), right.get(name, none))
        for name in left.keys() | right.keys()
    )
    return sorted(
        (one for one in changes if one.calls or one.own or one.a.total != one.b.total),
        key=lambda one: (-abs(one.calls), -abs(one.own), one.name),
    )


def _paths(a: CallProfile, b: CallProfile) -> list[PathChange]:
    """Shorter paths first, so that calls made by a new call come after it."""
    return [
        PathChange(path, a.paths[path], b.paths[path])
        for path in sorted(a.paths.keys() | b.paths.keys())
        if a.paths[path] != b.paths[path]
    ]


def _around(
    reader: TraceDatReader, keep: Predicate | None, places: Mapping[ThreadKey, int]
) -> dict[ThreadKey, list[tuple[int, TraceEvent]]]:
    """The calls around one of each thread, by its number."""
    found: dict[ThreadKey, list[tuple[int, TraceEvent]]] = {key: [] for key in places}
    if not places:
        return found
    counts = Counter[ThreadKey]()
    for thread, _, event in CallSteps(reader.symbols).steps(reader.events(), keep):
        number = counts[thread]
        counts[thread] += 1
        if thread in places and -AROUND <= number - places[thread] <= AROUND:
            found[thread].append((number, event))
    return found


def _moment(one: Divergence) -> int:
    """The time of the last event of A that is the same in B, or of A's first one."""
    return next((event.stamp for event in (*one.before[::-1], *one.a)), 0)
