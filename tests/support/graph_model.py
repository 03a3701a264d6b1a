# SPDX-License-Identifier: MIT
"""What function_graph has to record, worked out from what the oracle saw.

A list for each CPU of (kind, site, depth): "entry" or "exit", the call site of the function, and
how many recorded calls it is inside of.  Both sides bring it into this form, so that one comparison
holds the events, their order, their pairing and their nesting.

An event stands where the tracer masked interrupts for it (`harness.oracle.Mark`).
"""

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count

from harness.oracle import Call, Mark

MAX_DEPTH = 50
"""FTRACE_RETFUNC_DEPTH: calls that a thread has room for."""

ENTER, LEAVE = "function_graph_enter", "ftrace_return_to_handler"


@dataclass(frozen=True)
class Settings:
    """The controls of the tracer; the sets hold names of functions, None for all of them."""

    filter: frozenset[str] | None = None
    graph: frozenset[str] | None = None
    graph_notrace: frozenset[str] = frozenset()
    max_depth: int = MAX_DEPTH


ALL = Settings()


@dataclass
class _Open:
    record: Call | None
    depth: int
    hijacked: bool
    inside: bool  # of a function of set_graph_function
    silent: bool  # of set_graph_notrace, or called by one
    # Of an interrupt that came while the place of the interrupted call was being taken or given
    # up: whether it lies one deeper than that call is for the trace to say.
    unsure: int | None
    entered: bool = False
    left: bool = False


@dataclass
class _Thread:
    calls: list[_Open] = field(default_factory=list)


@dataclass(frozen=True)
class Expected:
    """One event; ``unsure`` is the same number for all events of one interrupt, or None."""

    kind: str
    site: int
    depth: int
    thread: int
    unsure: int | None


def expected(records, settings=ALL):
    """The events of each CPU, for everything that the oracle recorded."""
    threads = defaultdict(_Thread)
    events = defaultdict(list)
    numbers = count()
    for record in records:
        calls = threads[record.thread].calls
        if isinstance(record, Call):
            calls.append(_enter(record, calls, settings, numbers))
        elif isinstance(record, Mark):
            call = _marked(record, calls)
            if call is not None and call.hijacked and not call.silent:
                kind = "entry" if record.function == ENTER else "exit"
                events[record.cpu].append(
                    Expected(kind, call.record.site, call.depth, record.thread, call.unsure)
                )
        else:
            call = calls.pop()
            assert call.record.site == record.site, "the oracle pairs its own records"
            assert record.late or not call.hijacked or (call.entered and call.left), call
    return dict(events)


def _enter(record, calls, settings, numbers):
    root = _Open(None, -1, False, settings.graph is None, False, None)
    # A tail call and its caller return together: both may have been left when an interrupt comes.
    at = len(calls) - 1
    while at > 0 and calls[at].left and calls[at - 1].left:
        at -= 1
    parent = calls[at] if calls else root
    unsure = parent.unsure
    if parent.hijacked and record.level > parent.record.level and parent.entered == parent.left:
        unsure = next(numbers)
    depth = parent.depth + 1
    named = settings.filter is None or record.function in settings.filter
    inside = parent.inside or (named and record.function in settings.graph)
    silent = parent.silent or (named and record.function in settings.graph_notrace)
    # A function of set_graph_notrace is hijacked, to be silent itself; what it calls is not.
    hijacked = (
        named
        and depth < MAX_DEPTH
        and not parent.silent
        and (silent or (inside and depth < settings.max_depth))
    )
    # What is not hijacked takes no place: whatever it calls is as deep as itself.
    return _Open(record, depth if hijacked else parent.depth, hijacked, inside, silent, unsure)


def _marked(mark, calls):
    """The call that the tracer is about to write an event of; None if it was not recorded."""
    here = [call for call in calls if call.record.level == mark.level]
    if mark.function == ENTER:
        if here and not here[-1].entered:
            here[-1].entered = True
            return here[-1]
    elif mark.function == LEAVE:
        for call in reversed(here):
            if call.hijacked and not call.left:
                call.left = True
                return call
    return None


def recorded(events):
    """The events of a trace in the same form, for each CPU."""
    kinds = {"funcgraph_entry": "entry", "funcgraph_exit": "exit"}
    per_cpu = defaultdict(list)
    for event in events:
        if event.name in kinds:
            per_cpu[event.cpu].append((kinds[event.name], event.func, event.depth))
    return dict(per_cpu)


def check(events, records, settings=ALL, running=()):
    """The trace is what the oracle says it has to be; gives the events.

    ``running`` are CPUs that were stopped anywhere: their last event may not be written yet.
    """
    events = list(events)
    wanted, found = expected(records, settings), recorded(events)
    for cpu in running:
        if len(wanted.get(cpu, ())) == len(found.get(cpu, ())) + 1:
            wanted[cpu].pop()
    wanted = {cpu: each for cpu, each in wanted.items() if each}
    offsets = {}
    for cpu, each in found.items():
        for (_, _, depth), event in zip(each, wanted.get(cpu, []), strict=False):
            if event.unsure is not None:
                offsets.setdefault(event.unsure, depth - event.depth)
    assert all(offset in (0, -1) for offset in offsets.values())
    assert found == {
        cpu: [(e.kind, e.site, e.depth + offsets.get(e.unsure, 0)) for e in each]
        for cpu, each in wanted.items()
    }
    check_pairs(events)
    return events


def check_pairs(events):
    """In each thread an exit lies behind its entry, and what it called between the two."""
    threads = defaultdict(list)
    for event in events:
        # Idle threads, one for each CPU, have one process id.
        open_calls = threads[event.pid, event.cpu if event.pid == 0 else None]
        if event.name == "funcgraph_entry":
            open_calls.append((event, []))
        elif event.name == "funcgraph_exit":
            entry, inner = open_calls.pop()
            assert (entry.func, entry.depth) == (event.func, event.depth)
            assert entry.stamp == event.calltime <= event.rettime == event.stamp
            assert all(event.calltime <= child.calltime for child in inner)
            assert all(child.rettime <= event.rettime for child in inner)
            if open_calls:
                open_calls[-1][1].append(event)
