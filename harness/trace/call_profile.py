# SPDX-License-Identifier: MIT
"""The calls of a trace: the totals, the call paths, and the order of each thread's calls."""

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from harness.trace.call_steps import CallPath, CallSteps
from harness.trace.calls import ThreadKey
from harness.trace.events import TraceEvent
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.statistics import OTHERS, Statistics, add_events, empty_statistics

MAX_PATHS = 1 << 18
"""Maximum number of call paths of one trace, to limit memory."""

MAX_STEPS = 1 << 25
"""Maximum number of calls of one trace whose order is remembered: 128 MiB."""


class PathNumbers:
    """A number for each call path, the same in both traces of a comparison."""

    def __init__(self) -> None:
        self._numbers: dict[CallPath, int] = {}

    def number(self, path: CallPath) -> int:
        """The number of ``path``; 0 if there are too many."""
        found = self._numbers.get(path)
        if found is None:
            if len(self._numbers) >= 2 * MAX_PATHS:
                return 0
            found = self._numbers[path] = len(self._numbers) + 1
        return found


@dataclass(slots=True)
class ThreadOrder:
    """The calls of a thread in order, as numbers of their paths."""

    key: ThreadKey
    comm: str
    steps: "array[int]" = field(default_factory=lambda: array("I"))

    @property
    def name(self) -> str:
        """``comm-pid``, or ``comm/cpu`` of an idle thread."""
        pid, cpu = self.key
        return f"{self.comm}-{pid}" if pid else f"{self.comm}/{cpu}"


@dataclass(slots=True)
class CallProfile:
    """The calls of one trace.

    ``interrupted`` is the number of calls in interrupts, which are left out.  The order in
    ``threads`` ends at the first lost event (``lost``) and after `MAX_STEPS` calls (``shortened``).
    """

    statistics: Statistics
    paths: Counter[CallPath] = field(default_factory=Counter)
    threads: dict[ThreadKey, ThreadOrder] = field(default_factory=dict)
    interrupted: int = 0
    lost: bool = False
    shortened: bool = False

    @property
    def complete(self) -> bool:
        """Whether ``threads`` has all calls."""
        return not (self.lost or self.shortened)


def call_profile(
    reader: TraceDatReader, numbers: PathNumbers, *, keep: Predicate | None = None
) -> CallProfile:
    """The profile of a file; ``keep`` chooses the events."""
    made = CallProfile(empty_statistics(reader))
    add_events(made.statistics, _profiled(made, reader, numbers, keep), keep)
    return made


def _profiled(
    made: CallProfile, reader: TraceDatReader, numbers: PathNumbers, keep: Predicate | None
) -> Iterator[TraceEvent]:
    """The events; their calls are added to ``made``."""
    finder = CallSteps(reader.symbols)
    remembered = 0
    for event in reader.events():
        made.lost = made.lost or bool(event.lost)
        for thread, path, _ in finder.steps((event,), keep):
            if path not in made.paths and len(made.paths) >= MAX_PATHS:
                path = (OTHERS,)
            made.paths[path] += 1
            if thread not in made.threads:
                made.threads[thread] = ThreadOrder(thread, event.comm)
            made.shortened = remembered == MAX_STEPS
            if made.complete:
                made.threads[thread].steps.append(numbers.number(path))
                remembered += 1
        yield event
    made.interrupted = finder.interrupted
