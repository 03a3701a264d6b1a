# SPDX-License-Identifier: MIT
"""Compares the events of ``function`` and ``function_graph`` with the execution record.

`expect` derives the events from the oracle's records alone.  It follows the calls of each thread
and, for ``function_graph``, the stack of return addresses of each thread.  An event is placed where
the tracer masks interrupts for it (`Mark`): an interrupt before that is traced first, and the
thread may have moved to another CPU since it executed the call site.  A call has no event if a
setting excludes it, if the stack of return addresses is full, or if the tracer was switched off
between the call site and the tracer.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from harness.oracle.recorder import Call, Mark, Return, Window
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent

MAX_DEPTH = 50
"""FTRACE_RETFUNC_DEPTH: entries in a thread's stack of return addresses."""

SHOWN = 6
"""Events shown from the first difference on."""

KINDS: dict[type[TraceEvent], str] = {
    FunctionEvent: "function",
    FuncgraphEntryEvent: "entry",
    FuncgraphExitEvent: "exit",
}


_Key = tuple[int, str, int, int]

LEAVE = ("ftrace_return_to_handler", "graph_leave_untraced")
"""Marks at a return: with an exit event, and without."""


@dataclass(frozen=True)
class Settings:
    """The controls of the tracer.  The sets hold names of functions; None means all of them."""

    graph_tracer: bool = True
    filter: Collection[str] | None = None
    graph: Collection[str] | None = None
    graph_notrace: Collection[str] = frozenset()
    max_depth: int = MAX_DEPTH


class Expected(NamedTuple):
    """An event to be recorded; ``kind`` is a value of `KINDS`."""

    cpu: int
    kind: str
    call: Call
    depth: int = 0

    @property
    def key(self) -> _Key:
        """The part that a recorded event must have too: CPU, kind, call site, depth."""
        return self.cpu, self.kind, self.call.site, self.depth


@dataclass
class Expectation:
    """The expected events, and counts of calls without them.

    ``too_deep``: the stack was full.  ``given_up``: the tracer was switched off meanwhile.
    ``left``: ``longjmp()`` went past the return.  ``coming``: not in the tracer yet.  ``open``: not
    returned yet.
    """

    settings: Settings
    events: list[Expected] = field(default_factory=list)
    too_deep: int = 0
    given_up: int = 0
    left: int = 0
    coming: int = 0
    open: int = 0


@dataclass(frozen=True)
class EventComparison:
    """Expected and recorded events, CPU by CPU, those of each CPU in order."""

    expected: Sequence[Expected]
    events: Sequence[TraceEvent]

    @cached_property
    def _keys(self) -> tuple[list[_Key], list[_Key]]:
        return [one.key for one in self.expected], [_key(event) for event in self.events]

    @property
    def same(self) -> bool:
        """Whether CPUs, kinds, call sites and depths are the same."""
        expected, found = self._keys
        return expected == found

    @property
    def missing(self) -> Call | None:
        """The first expected call of a site that has no event at all."""
        found = {site for _, _, site, _ in self._keys[1]}
        return next((one.call for one in self.expected if one.call.site not in found), None)

    def shown(self, symbolize: Callable[[int], str]) -> dict[str, list[str]]:
        """Both lists around the first difference, as text."""
        pairs = enumerate(zip(*self._keys, strict=False))
        shorter = min(map(len, self._keys))
        first = next((n for n, (one, other) in pairs if one != other), shorter)
        window = slice(max(0, first - 2), first + SHOWN)
        expected, found = (keys[window] for keys in self._keys)
        several = len({cpu for cpu, *_ in (*expected, *found)}) > 1

        def text(cpu: int, kind: str, site: int, depth: int) -> str:
            place = symbolize(site)
            what = place if kind == "function" else f"{kind} {place} depth {depth}"
            return f"{what} on CPU {cpu}" if several else what

        return {"expected": [text(*k) for k in expected], "found": [text(*k) for k in found]}


def compare(
    expectation: Expectation, events: Iterable[TraceEvent], running: Iterable[int] = ()
) -> EventComparison:
    """Compare the expected events with those recorded, which are in the order of time.

    ``running`` are CPUs that were stopped at an arbitrary instruction: the last event of each may
    not be written yet, and is then left out.
    """
    kinds = {"entry", "exit"} if expectation.settings.graph_tracer else {"function"}
    chosen = (event for event in events if KINDS.get(type(event)) in kinds)
    found = sorted(chosen, key=lambda event: event.cpu)
    expected = sorted(expectation.events, key=lambda event: event.cpu)
    for cpu in running:
        own = [number for number, one in enumerate(expected) if one.cpu == cpu]
        if len(own) == sum(event.cpu == cpu for event in found) + 1:
            del expected[own[-1]]
    return EventComparison(expected, found)


def _key(event: TraceEvent) -> _Key:
    if isinstance(event, FuncgraphEntryEvent | FuncgraphExitEvent):
        return event.cpu, KINDS[type(event)], event.func, event.depth
    return event.cpu, KINDS[type(event)], int(event.fields["ip"]), 0  # type: ignore[arg-type]


@dataclass(eq=False)
class _Open:
    """A call that has not returned."""

    record: Call
    due: bool  # to reach the tracer
    excused: bool = False  # the tracer was switched off while it was due
    depth: int = 0
    inside: bool = False  # of a function of set_graph_function
    silent: bool = False  # of set_graph_notrace, or called by one


@dataclass
class _Thread:
    calls: list[_Open] = field(default_factory=list)
    stack: list[_Open] = field(default_factory=list)  # of return addresses


def expect(
    records: Iterable[Call | Return | Mark | Window], settings: Settings, *, marked: bool = True
) -> Expectation:
    """The events to be recorded.

    With ``marked`` the records are those of `Oracle.everything`.  Without it they are those of
    `Oracle.flow`, and each event is placed at its call or return: exact where no interrupt comes,
    and independent of the tracer.
    """
    return _Follower(settings, marked).follow(records)


class _Follower:
    def __init__(self, settings: Settings, marked: bool) -> None:
        self._settings, self._marked = settings, marked
        self._entered = "function_graph_enter" if settings.graph_tracer else "function_trace_call"
        self._expectation = Expectation(settings)
        self._threads: defaultdict[int, _Thread] = defaultdict(_Thread)

    def follow(self, records: Iterable[Call | Return | Mark | Window]) -> Expectation:
        for record in records:
            match record:
                case Call():
                    self._call(self._threads[record.thread], record)
                case Return():
                    self._return(self._threads[record.thread], record)
                case Mark():
                    self._mark(self._threads[record.thread], record)
                case Window(open=False):
                    for call in self._calls():
                        call.excused |= call.due
        self._expectation.coming = sum(call.due for call in self._calls())
        self._expectation.open = sum(len(thread.stack) for thread in self._threads.values())
        return self._expectation

    def _calls(self) -> Iterable[_Open]:
        return (call for thread in self._threads.values() for call in thread.calls)

    def _call(self, thread: _Thread, record: Call) -> None:
        chosen = self._settings.filter is None or record.function in self._settings.filter
        before = next((c for c in reversed(thread.calls) if c.record.level == record.level), None)
        if before is not None:
            self._overdue(thread, before, record.cpu)
        room = len(thread.stack) < MAX_DEPTH
        self._expectation.too_deep += chosen and not room
        call = _Open(record, due=chosen and room)
        thread.calls.append(call)
        if call.due and not self._marked:
            self._enter(thread, call, record.cpu)

    def _overdue(self, thread: _Thread, call: _Open, cpu: int) -> None:
        """The function runs on: its event is missing unless the tracer was switched off."""
        if call.excused and call.due:
            self._expectation.given_up += 1
            call.due = False
        elif call.due:
            self._enter(thread, call, cpu)

    def _mark(self, thread: _Thread, mark: Mark) -> None:
        """The tracer has masked interrupts for an event."""
        if mark.function == self._entered:
            call = next((c for c in reversed(thread.calls) if c.record.level == mark.level), None)
            if call is not None and call.due:
                self._enter(thread, call, mark.cpu)
        elif mark.function in LEAVE and mark.level in [c.record.level for c in thread.stack[-1:]]:
            call = thread.stack.pop()
            if mark.function == LEAVE[0]:
                self._exit(call, mark.cpu)

    def _enter(self, thread: _Thread, call: _Open, cpu: int) -> None:
        call.due = False
        settings, name = self._settings, call.record.function
        if not settings.graph_tracer:
            self._expectation.events.append(Expected(cpu, "function", call.record))
            return
        below = thread.stack[-1] if thread.stack else None
        if below is not None and below.silent:
            return
        call.depth = len(thread.stack)
        # The return address of a function of set_graph_notrace is replaced as well, to know where
        # it ends; the functions that it calls have none on the stack.
        call.silent = name in settings.graph_notrace
        call.inside = (below is not None and below.inside) or (
            settings.graph is None or name in settings.graph
        )
        if call.silent or (call.inside and call.depth < settings.max_depth):
            thread.stack.append(call)
            if not call.silent:
                self._expectation.events.append(Expected(cpu, "entry", call.record, call.depth))

    def _exit(self, call: _Open, cpu: int) -> None:
        if not call.silent:
            self._expectation.events.append(Expected(cpu, "exit", call.record, call.depth))

    def _return(self, thread: _Thread, record: Return) -> None:
        if not thread.calls:
            return  # Its call was recorded before a reset.
        call = thread.calls.pop()
        self._overdue(thread, call, record.cpu)
        if call not in thread.stack:
            return
        thread.stack.remove(call)
        if record.left:
            self._expectation.left += 1
        elif not record.late:
            self._exit(call, record.cpu)
