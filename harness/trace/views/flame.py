# SPDX-License-Identifier: MIT
"""The flame view: folded stacks for flamegraph.pl, ``task-pid;outer;inner number``.

The number is the innermost function's own time in nanoseconds from a function_graph trace, and the
number of calls from a function trace, which has no more than the caller.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from harness.trace.calls import Ended, ThreadCalls, ThreadKey, thread_key
from harness.trace.events import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader

# Limits memory; far more than a real guest needs.
MAX_STACKS = 1 << 18
OTHERS = "[others]"

Stack = tuple[str, ...]


def report_flame(reader: TraceDatReader, *, keep: Predicate | None = None) -> Iterator[str]:
    """The folded stacks by name, without line ends.

    ``keep`` chooses the events.  A call without an exit in the trace ends at the event of its
    thread that shows it, or at the thread's last event.
    """
    events = (event for event in reader.events() if keep is None or keep(event))
    fold = _self_times if reader.tracer == "function_graph" else _call_counts
    for stack, number in sorted(fold(events).items()):
        if number:
            yield f"{';'.join(map(_frame, stack))} {number}"


def _self_times(events: Iterable[TraceEvent]) -> Counter[Stack]:
    times: Counter[Stack] = Counter()
    threads: dict[ThreadKey, tuple[ThreadCalls, str]] = {}
    last: dict[ThreadKey, int] = {}

    def count(root: str, ended: Iterable[Ended], stamp: int) -> None:
        for one in ended:
            frame = one.path[-1]
            took = stamp - frame.start if one.exit is None else one.exit.duration
            stack = (root, *(frame.name for frame in one.path))
            _add(times, stack, max(0, took - frame.inside))

    for event in events:
        if not isinstance(event, FuncgraphEntryEvent | FuncgraphExitEvent):
            continue
        key = thread_key(event)
        if key not in threads:
            threads[key] = ThreadCalls(), _root(event)
        thread, root = threads[key]
        if isinstance(event, FuncgraphEntryEvent):
            count(root, thread.enter(event), event.stamp)
        else:
            count(root, thread.leave(event), event.stamp)
        last[key] = event.stamp
    for key, (thread, root) in threads.items():
        count(root, thread.finish(last[key]), last[key])
    return times


def _call_counts(events: Iterable[TraceEvent]) -> Counter[Stack]:
    counts: Counter[Stack] = Counter()
    for event in events:
        if isinstance(event, FunctionEvent):
            _add(counts, (_root(event), event.parent, event.function), 1)
    return counts


def _add(counter: Counter[Stack], stack: Stack, number: int) -> None:
    if stack not in counter and len(counter) >= MAX_STACKS:
        stack = (stack[0], OTHERS)
    counter[stack] += number


def _root(event: TraceEvent) -> str:
    return f"{event.comm}-{event.pid}"


def _frame(name: str) -> str:
    """A name without the separator."""
    return name.replace(";", ":")
