# SPDX-License-Identifier: MIT
"""A trace as tracks of nested slices, for the Chrome and Perfetto views.

There are two groups of tracks.  "threads" has the nested calls of each thread.  "CPUs" has those of
the running thread: at a context switch (a sched_switch event, or the first event of another thread)
the previous thread's slices end, and they begin again where it runs next.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from harness.ring import LOST_UNKNOWN
from harness.trace.calls import Ended, ThreadCalls, ThreadKey, thread_key
from harness.trace.events import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.trace.kernel_events import SchedSwitchEvent

CPUS, THREADS = 1, 2
"""The two groups."""

IDLE = "<idle>"


class PieceKind(Enum):
    """The kind of a piece."""

    GROUP = auto()
    """The name of a group of tracks."""
    TRACK = auto()
    """The name of a track of a group."""
    BEGIN = auto()
    END = auto()
    """The end of the call of the track that began last."""
    WHOLE = auto()
    """A call with only its exit in the trace, which has its duration."""
    INSTANT = auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """An item of a track.  ``stamp`` and ``took`` are in nanoseconds."""

    kind: PieceKind
    group: int
    track: int
    stamp: int
    name: str
    args: Mapping[str, str | int] = field(default_factory=dict)
    took: int = 0


@dataclass(slots=True)
class _ThreadTrack:
    track: int
    thread: ThreadCalls = field(default_factory=ThreadCalls)
    cpu: int = -1


@dataclass(slots=True)
class _CpuTrack:
    """``running`` is the current thread, ``since`` the time of its first event, ``open`` the number
    of its slices on this CPU.
    """

    track: int
    running: ThreadKey | None = None
    since: int = 0
    open: int = 0


class Tracks:
    """Converts events to pieces."""

    def __init__(self, cpus: int) -> None:
        self._cpus = [_CpuTrack(cpu + 1) for cpu in range(cpus)]
        self._threads: dict[ThreadKey, _ThreadTrack] = {}
        self._last = 0

    def pieces(self, events: Iterable[TraceEvent]) -> Iterator[Piece]:
        """All pieces of a trace."""
        for group, name in ((CPUS, "CPUs"), (THREADS, "threads")):
            yield Piece(PieceKind.GROUP, group, 0, 0, name)
        for cpu, cpu_track in enumerate(self._cpus):
            yield Piece(PieceKind.TRACK, CPUS, cpu_track.track, 0, f"CPU {cpu}")
        for event in events:
            self._last = event.stamp
            yield from self._event(event)
        for cpu_track in self._cpus:
            yield from self._leave_cpu(cpu_track, self._last)
        for thread_track in self._threads.values():
            for one in thread_track.thread.finish(self._last):
                if one.path[-1].func is not None:
                    yield _end(THREADS, thread_track.track, self._last, {"unfinished": True})

    def _event(self, event: TraceEvent) -> Iterator[Piece]:
        cpu = self._cpus[event.cpu]
        key = thread_key(event)
        yield from self._meet(key, event.comm, event.cpu)
        thread = self._threads[key]
        if event.lost:
            count = "" if event.lost == LOST_UNKNOWN else f"{event.lost} "
            yield _instant(CPUS, cpu.track, event.stamp, f"LOST {count}EVENTS", {})
        yield from self._place(key, event.cpu, event.stamp)
        if isinstance(event, FuncgraphEntryEvent):
            yield from self._ended(thread.thread.enter(event), cpu, thread, event.stamp)
            yield _begin(THREADS, thread.track, event.stamp, event.function)
            yield _begin(CPUS, cpu.track, event.stamp, event.function)
            cpu.open += 1
        elif isinstance(event, FuncgraphExitEvent):
            yield from self._ended(thread.thread.leave(event), cpu, thread, event.stamp)
        else:
            name, args = _shown(event)
            yield _instant(THREADS, thread.track, event.stamp, name, args)
            yield _instant(CPUS, cpu.track, event.stamp, name, args)
        if isinstance(event, SchedSwitchEvent):
            yield from self._switch(event)

    def _meet(self, key: ThreadKey, comm: str, cpu: int) -> Iterator[Piece]:
        """Make a track for a new thread."""
        if key not in self._threads:
            self._threads[key] = _ThreadTrack(len(self._cpus) + len(self._threads) + 1)
            pid = key[0]
            name = f"{comm}-{pid}" if pid else f"{comm}/{cpu}"
            yield Piece(PieceKind.TRACK, THREADS, self._threads[key].track, 0, name)

    def _switch(self, event: SchedSwitchEvent) -> Iterator[Piece]:
        """The CPU switches to the event's next thread, which has no event yet."""
        pid, comm = event.fields["next_pid"], event.fields["next_comm"]
        if not isinstance(pid, int):
            return
        key = pid, -1 if pid else event.cpu
        yield from self._meet(key, str(comm) if pid else IDLE, event.cpu)
        yield from self._place(key, event.cpu, event.stamp)

    def _place(self, key: ThreadKey, number: int, stamp: int) -> Iterator[Piece]:
        """Show the thread on the CPU's track, and on no other's."""
        cpu, thread = self._cpus[number], self._threads[key]
        if cpu.running == key:
            return
        if thread.cpu not in (-1, number) and self._cpus[thread.cpu].running == key:
            yield from self._leave_cpu(self._cpus[thread.cpu], stamp)
        yield from self._leave_cpu(cpu, stamp)
        cpu.running, cpu.since, thread.cpu = key, stamp, number
        for frame in thread.thread.frames:
            if frame.func is not None:
                yield _begin(CPUS, cpu.track, stamp, frame.name)
                cpu.open += 1

    def _leave_cpu(self, cpu: _CpuTrack, stamp: int) -> Iterator[Piece]:
        for _ in range(cpu.open):
            yield _end(CPUS, cpu.track, stamp, {})
        cpu.open, cpu.running = 0, None

    def _ended(
        self, ended: Iterable[Ended], cpu: _CpuTrack, thread: _ThreadTrack, stamp: int
    ) -> Iterator[Piece]:
        for one in ended:
            frame = one.path[-1]
            args: dict[str, str | int] = {}
            if one.exit is not None:
                args = {"duration_ns": one.exit.duration}
            if frame.func is not None:
                yield _end(THREADS, thread.track, stamp, args)
                yield _end(CPUS, cpu.track, stamp, args)
                cpu.open -= 1
            elif one.exit is not None:
                # Its entry is not in the trace, but the exit has its time.
                seen = max(frame.start, cpu.since)
                yield _whole(THREADS, thread.track, frame.start, stamp, frame.name, args)
                yield _whole(CPUS, cpu.track, seen, stamp, frame.name, args)


def _shown(event: TraceEvent) -> tuple[str, dict[str, str | int]]:
    """Name and arguments of an event other than a call."""
    if isinstance(event, FunctionEvent):
        return event.function, {"parent": event.parent}
    return event.name, {"message": event.message}


def _begin(group: int, track: int, stamp: int, name: str) -> Piece:
    return Piece(PieceKind.BEGIN, group, track, stamp, name)


def _end(group: int, track: int, stamp: int, args: Mapping[str, str | int]) -> Piece:
    return Piece(PieceKind.END, group, track, stamp, "", args)


def _whole(
    group: int, track: int, start: int, stamp: int, name: str, args: Mapping[str, str | int]
) -> Piece:
    return Piece(PieceKind.WHOLE, group, track, start, name, args, max(0, stamp - start))


def _instant(group: int, track: int, stamp: int, name: str, args: Mapping[str, str | int]) -> Piece:
    return Piece(PieceKind.INSTANT, group, track, stamp, name, args)
