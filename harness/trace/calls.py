# SPDX-License-Identifier: MIT
"""Reconstructs calls from graph events: the open calls of each thread, and when they ended.

A call whose entry was lost, or is not in the trace, is a frame without a function.
"""

from dataclasses import dataclass

from harness.trace.events import MAX_DEPTH, FuncgraphEntryEvent, FuncgraphExitEvent, TraceEvent

ThreadKey = tuple[int, int]
"""Process id, and the CPU for idle threads, which all have process id 0; else -1."""


@dataclass(slots=True)
class Frame:
    """An open call.

    ``func`` is its address, ``None`` if its entry is not in the trace.  ``name`` is the function's
    name, ``start`` the time stamp of its entry, ``inside`` the time in nanoseconds of the calls it
    made that have ended.  `harness.trace.statistics` counts ``recursive``, the time of the calls of
    the same function in it, and ``perhaps``, the same for each function while its own is unknown.
    """

    func: int | None
    name: str
    start: int
    inside: int = 0
    recursive: int = 0
    perhaps: dict[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """A call that has ended: ``path`` has the frames around it, with itself last.

    ``exit`` is its exit event, ``None`` if that is not in the trace and a later event shows the
    end.
    """

    path: list[Frame]
    exit: FuncgraphExitEvent | None


def thread_key(event: TraceEvent) -> ThreadKey:
    """The thread that an event belongs to."""
    return event.pid, -1 if event.pid else event.cpu


class ThreadCalls:
    """The open calls of one thread, outermost first; a frame's index is its depth."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def enter(self, event: FuncgraphEntryEvent) -> list[Ended]:
        """A call begins; returns the calls that must have ended before, innermost first."""
        ended = self._down_to(event, None)
        self.frames.append(Frame(event.func, event.function, event.stamp))
        return ended

    def leave(self, event: FuncgraphExitEvent) -> list[Ended]:
        """A call ends: it is the last in the list, which is innermost first.

        If its entry is not in the trace, its frame has no ``func``, and ``start`` is its calltime.
        """
        ended = self._down_to(event, event.func)
        depth = _depth(event)
        if depth == len(self.frames):
            self.frames.append(Frame(None, event.function, event.calltime))
        frame = self.frames[depth]
        if frame.func is None:
            frame.name, frame.start = event.function, event.calltime
        ended.append(Ended(list(self.frames), event))
        self.frames.pop()
        if self.frames:
            self.frames[-1].inside += event.duration
        return ended

    def finish(self, stamp: int) -> list[Ended]:
        """The trace ends at ``stamp``; returns the calls that are still open, innermost first."""
        return self._pop_to(0, stamp)

    def _down_to(
        self, event: FuncgraphEntryEvent | FuncgraphExitEvent, func: int | None
    ) -> list[Ended]:
        """Unwind to the depth of ``event``; its own frame stays if ``func`` is in it."""
        depth = _depth(event)
        keep = depth
        if func is not None and depth < len(self.frames):
            keep += self.frames[depth].func in (func, None)
        ended = self._pop_to(keep, event.stamp)
        while len(self.frames) < depth:
            self.frames.append(Frame(None, UNKNOWN, event.stamp))
        return ended

    def _pop_to(self, count: int, stamp: int) -> list[Ended]:
        ended = []
        while len(self.frames) > count:
            ended.append(Ended(list(self.frames), None))
            frame = self.frames.pop()
            if self.frames:
                self.frames[-1].inside += max(0, stamp - frame.start)
        return ended


UNKNOWN = "[unknown]"
"""The name of a frame whose own events are not in the trace."""


def _depth(event: FuncgraphEntryEvent | FuncgraphExitEvent) -> int:
    return min(max(event.depth, 0), MAX_DEPTH)
