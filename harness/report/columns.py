# SPDX-License-Identifier: MIT
"""A trace as columns of numbers: the calls and events of each thread, and who ran on each CPU.

Times are in nanoseconds (or ticks) from the first event.
"""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from harness.report.names import Names
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.calls import Ended, ThreadCalls, ThreadKey, thread_key
from harness.trace.filter import Predicate
from harness.trace.kernel_events import SchedSwitchEvent

MAX_ITEMS = 4_000_000
"""Maximum number of calls and events in a timeline: a browser has some 100 bytes for each."""

WHOLE, UNFINISHED, NO_ENTRY = range(3)
"""The events of a call in the trace: both, no exit, no entry."""

_IDLE = "<idle>"


@dataclass(slots=True)
class CallColumns:
    """Calls in the order of their entries: columns of one length.

    ``depth`` is four times the number of traced calls around a call, plus what of it is in the
    trace.  ``number`` is that of the entry event (of the exit if there is none) in the trace.
    """

    start: "array[float]" = field(default_factory=lambda: array("d"))
    length: "array[float]" = field(default_factory=lambda: array("d"))
    depth: "array[int]" = field(default_factory=lambda: array("H"))
    name: "array[int]" = field(default_factory=lambda: array("I"))
    number: "array[int]" = field(default_factory=lambda: array("I"))

    def add(self, start: int, length: int, depth: int, name: int, number: int) -> int:
        """Append a call; returns its index."""
        self.start.append(start)
        self.length.append(length)
        self.depth.append(depth)
        self.name.append(name)
        self.number.append(number)
        return len(self.start) - 1


@dataclass(slots=True)
class MarkColumns:
    """Events other than calls: ``name`` is the function's or the event's, ``text`` the message,
    or the caller behind ``<-``.
    """

    start: "array[float]" = field(default_factory=lambda: array("d"))
    name: "array[int]" = field(default_factory=lambda: array("I"))
    text: "array[int]" = field(default_factory=lambda: array("I"))
    number: "array[int]" = field(default_factory=lambda: array("I"))


@dataclass(slots=True)
class ThreadColumns:
    """A thread.  ``open`` has the index of its open call at each depth.

    ``last`` is the time stamp of its last event; calls that do not return end there.
    """

    name: str
    calls: CallColumns = field(default_factory=CallColumns)
    marks: MarkColumns = field(default_factory=MarkColumns)
    stack: ThreadCalls = field(default_factory=ThreadCalls)
    open: dict[int, int] = field(default_factory=dict)
    last: int = 0
    cpu: int = -1


@dataclass(slots=True)
class CpuColumns:
    """Who ran from when until when, and the losses: their times and counts (-1: not known)."""

    since: "array[float]" = field(default_factory=lambda: array("d"))
    until: "array[float]" = field(default_factory=lambda: array("d"))
    thread: "array[int]" = field(default_factory=lambda: array("I"))
    lost_at: "array[float]" = field(default_factory=lambda: array("d"))
    lost: "array[float]" = field(default_factory=lambda: array("d"))
    running: ThreadKey | None = None


class TraceColumns:
    """The columns of a trace.

    ``names`` has the texts, ``threads`` are in order of appearance.  ``first`` is the time stamp of
    the first event, ``last`` the time of the last one, ``left_out`` the number of events that came
    after `MAX_ITEMS`.
    """

    def __init__(self, cpus: int) -> None:
        self.names = Names()
        self.cpus = [CpuColumns() for _ in range(cpus)]
        self.threads: list[ThreadColumns] = []
        self.first = 0
        self.last = 0
        self.left_out = 0
        self._numbers: dict[ThreadKey, int] = {}
        self._items = 0

    def add(self, events: Iterable[TraceEvent], keep: Predicate | None = None) -> None:
        """Add all ``events`` of a trace in order of time; ``keep`` chooses those that are shown."""
        begun = False
        for number, event in enumerate(events):
            if event.lost:
                self._lost(event, begun)
            if keep is not None and not keep(event):
                continue
            if not begun:
                self.first, begun = event.stamp, True
            if self._items >= MAX_ITEMS:
                self.left_out += 1
                continue
            self._event(event, number)
        for cpu in self.cpus:
            self._leave(cpu)
        for thread in self.threads:
            self._ended(thread, thread.stack.finish(thread.last), thread.last)

    def _event(self, event: TraceEvent, number: int) -> None:
        self.last = max(self.last, event.stamp - self.first)
        key = thread_key(event)
        thread = self._run(key, event.comm, event.cpu)
        thread.last = event.stamp
        if isinstance(event, FuncgraphEntryEvent):
            self._ended(thread, thread.stack.enter(event), event.stamp)
            depth = len(thread.stack.frames) - 1
            name = self.names.number(event.function)
            start = event.stamp - self.first
            thread.open[depth] = thread.calls.add(start, 0, depth * 4 + UNFINISHED, name, number)
            self._items += 1
        elif isinstance(event, FuncgraphExitEvent):
            self._ended(thread, thread.stack.leave(event), event.stamp, number)
        else:
            self._mark(thread, event, number)
        if isinstance(event, SchedSwitchEvent):
            self._switch(event)

    def _ended(
        self, thread: ThreadColumns, ended: Sequence[Ended], stamp: int, number: int = 0
    ) -> None:
        for one in ended:
            depth, frame = len(one.path) - 1, one.path[-1]
            calls = thread.calls
            if frame.func is not None:
                index = thread.open.pop(depth)
                seen = stamp - frame.start
                calls.length[index] = seen if one.exit is None else one.exit.duration
                if one.exit is not None:
                    calls.depth[index] = depth * 4 + WHOLE
            elif one.exit is not None:
                name = self.names.number(frame.name)
                start = frame.start - self.first
                calls.add(start, one.exit.duration, depth * 4 + NO_ENTRY, name, number)
                self._items += 1

    def _mark(self, thread: ThreadColumns, event: TraceEvent, number: int) -> None:
        marks = thread.marks
        marks.start.append(event.stamp - self.first)
        marks.number.append(number)
        marks.name.append(self.names.number(event.function or event.name))
        text = f"<-{event.parent}" if isinstance(event, FunctionEvent) else event.message
        marks.text.append(self.names.number(text))
        self._items += 1

    def _lost(self, event: TraceEvent, begun: bool) -> None:
        cpu = self.cpus[event.cpu]
        cpu.lost_at.append(event.stamp - self.first if begun else 0)
        cpu.lost.append(event.lost)

    def _run(self, key: ThreadKey, comm: str, number: int) -> ThreadColumns:
        """The thread of an event, which runs on CPU ``number`` from now on."""
        thread = self._thread(key, comm, number)
        cpu = self.cpus[number]
        if cpu.running != key:
            if thread.cpu not in (-1, number) and self.cpus[thread.cpu].running == key:
                self._leave(self.cpus[thread.cpu])
            self._leave(cpu)
            cpu.running, thread.cpu = key, number
            cpu.since.append(self.last)
            cpu.thread.append(self._numbers[key])
        return thread

    def _thread(self, key: ThreadKey, comm: str, cpu: int) -> ThreadColumns:
        if key not in self._numbers:
            self._numbers[key] = len(self.threads)
            pid = key[0]
            self.threads.append(ThreadColumns(f"{comm}-{pid}" if pid else f"{comm}/{cpu}"))
        return self.threads[self._numbers[key]]

    def _switch(self, event: SchedSwitchEvent) -> None:
        """The CPU switches to the event's next thread, which has no event yet."""
        pid, comm = event.fields["next_pid"], event.fields["next_comm"]
        if isinstance(pid, int):
            key = pid, -1 if pid else event.cpu
            self._run(key, str(comm) if pid else _IDLE, event.cpu)

    def _leave(self, cpu: CpuColumns) -> None:
        if cpu.running is not None:
            cpu.until.append(self.last)
            cpu.running = None
