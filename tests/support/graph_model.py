# SPDX-License-Identifier: MIT
"""What function_graph has to record, worked out from what the oracle saw.

A list for each CPU of (kind, site, depth): "entry" or "exit", the call site of the function, and
how many places of the thread's stack of return addresses lie below its own.  Both sides bring it
into this form, so that one comparison holds the events, their order, their pairing and their
nesting.

The model has such a stack for each thread, and makes of every record what the guest has to make of
it.  A place is taken, and given up, where the tracer has masked interrupts for it
(`harness.oracle.Mark`): its event stands there, and what an interrupt calls before that is not
inside of the function.  A call takes no place if the stack is full, or a setting says so, and for
one reason more: the tracer was switched off while the call was on its way there.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.oracle import Call, Mark, Return, Window
from support.function_model import check_threads

MAX_DEPTH = 50
"""FTRACE_RETFUNC_DEPTH: calls that a thread has room for."""

ENTER, LEAVE = "function_graph_enter", "ftrace_return_to_handler"
LEAVE_UNTRACED = "graph_leave_untraced"
KINDS = {"funcgraph_entry": "entry", "funcgraph_exit": "exit"}


@dataclass(frozen=True)
class Settings:
    """The controls of the tracer; the sets hold names of functions, None for all of them."""

    filter: frozenset[str] | None = None
    graph: frozenset[str] | None = None
    graph_notrace: frozenset[str] = frozenset()
    max_depth: int = MAX_DEPTH


ALL = Settings()


class Expected(NamedTuple):
    """One event."""

    kind: str
    site: int
    depth: int
    thread: int


@dataclass(eq=False)
class _Open:
    """A call that has not returned."""

    record: Call
    due: bool  # to come to the tracer, which has not happened yet
    excused: bool = False  # from that: the tracer was switched off meanwhile
    depth: int = 0
    inside: bool = False  # of a function of set_graph_function
    silent: bool = False  # of set_graph_notrace, or called by one


@dataclass
class _Thread:
    calls: list[_Open] = field(default_factory=list)
    places: list[_Open] = field(default_factory=list)


class Lost(AssertionError):
    """A function did not come to the tracer, or did not come back to it."""


@dataclass
class Model:
    """The events of each CPU, and how many calls found the stack full, were given up, were left,
    and at the end are on their way to the tracer, or open.
    """

    settings: Settings
    events: dict[int, list[Expected]] = field(default_factory=lambda: defaultdict(list))
    too_deep: int = 0
    given_up: int = 0
    left: int = 0
    coming: int = 0
    open: int = 0


def follow(records, settings=ALL):
    """The model, after everything that the oracle recorded."""
    model = Model(settings)
    threads = defaultdict(_Thread)
    for record in records:
        match record:
            case Call():
                _call(model, threads[record.thread], record)
            case Return():
                _return(model, threads[record.thread], record)
            case Mark(function=name) if name == ENTER:
                _enter(model, threads[record.thread], record)
            case Mark(function=name) if name in (LEAVE, LEAVE_UNTRACED):
                _leave(model, threads[record.thread], record)
            case Window(open=False):
                for thread in threads.values():
                    for call in thread.calls:
                        call.excused |= call.due
    model.coming = sum(call.due for thread in threads.values() for call in thread.calls)
    model.open = sum(len(thread.places) for thread in threads.values())
    return model


def _call(model, thread, record):
    named = model.settings.filter is None or record.function in model.settings.filter
    before = next((c for c in reversed(thread.calls) if c.record.level == record.level), None)
    if before is not None:
        _arrived(model, before)
    room = len(thread.places) < MAX_DEPTH
    model.too_deep += named and not room
    thread.calls.append(_Open(record, due=named and room))


def _arrived(model, call):
    """It goes on, so it has been to the tracer if it had to."""
    if call.due and not call.excused:
        raise Lost(call)
    model.given_up += call.due
    call.due = False


def _enter(model, thread, mark):
    """The tracer has masked interrupts to take a place."""
    call = next(c for c in reversed(thread.calls) if c.record.level == mark.level)
    assert call.due, call
    call.due = False
    settings, name = model.settings, call.record.function
    below = thread.places[-1] if thread.places else None
    if below is not None and below.silent:
        return
    call.depth = len(thread.places)
    # A function of set_graph_notrace is hijacked, to be silent itself; what it calls is not.
    call.silent = name in settings.graph_notrace
    call.inside = (below is not None and below.inside) or (
        settings.graph is None or name in settings.graph
    )
    if call.silent or (call.inside and call.depth < settings.max_depth):
        thread.places.append(call)
        if not call.silent:
            model.events[mark.cpu].append(_event("entry", call))


def _leave(model, thread, mark):
    """The tracer has masked interrupts to give the newest place up."""
    call = thread.places.pop()
    assert call.record.level == mark.level, "a return takes the place of its own function"
    if mark.function == LEAVE and not call.silent:
        model.events[mark.cpu].append(_event("exit", call))


def _event(kind, call):
    return Expected(kind, call.record.site, call.depth, call.record.thread)


def _return(model, thread, record):
    call = thread.calls.pop()
    assert call.record.site == record.site, "the oracle pairs its own records"
    _arrived(model, call)
    if call not in thread.places:
        return
    if not record.left:
        raise Lost(call)
    # longjmp() has gone past it: setjmp() had remembered how many places lay below.
    assert thread.places.pop() is call
    model.left += 1


def recorded(events):
    """The graph events of a trace, in order for each CPU."""
    per_cpu = defaultdict(list)
    for event in events:
        if event.name in KINDS:
            per_cpu[event.cpu].append(event)
    return dict(per_cpu)


def check(events, records, settings=ALL, running=()):
    """The trace is what the oracle says it has to be; gives the events and the model.

    ``running`` are CPUs that were stopped anywhere: their last event may not be written yet.
    """
    events = list(events)
    model, found = follow(records, settings), recorded(events)
    for cpu in running:
        if len(model.events[cpu]) == len(found.get(cpu, ())) + 1:
            model.events[cpu].pop()
    wanted = {cpu: each for cpu, each in model.events.items() if each}
    assert {
        cpu: [(KINDS[event.name], event.func, event.depth) for event in each]
        for cpu, each in found.items()
    } == {cpu: [event[:3] for event in each] for cpu, each in wanted.items()}
    check_threads(
        (event.pid, one.thread)
        for cpu, each in found.items()
        for event, one in zip(each, wanted[cpu], strict=True)
    )
    check_times(events)
    return events, model


def check_times(events):
    """An exit has its entry's time, and what the function called lies between the two."""
    threads = defaultdict(dict)
    for event in events:
        if event.name not in KINDS:
            continue
        # Idle threads, one for each CPU, have one process id.
        places = threads[event.pid, event.cpu if event.pid == 0 else None]
        if KINDS[event.name] == "entry":
            places[event.depth] = (event, [])
            continue
        entry, inner = places.pop(event.depth)
        assert entry.func == event.func
        assert entry.stamp == event.calltime <= event.rettime == event.stamp
        assert all(event.calltime <= child.calltime for child in inner)
        assert all(child.rettime <= event.rettime for child in inner)
        if event.depth - 1 in places:
            places[event.depth - 1][1].append(event)
