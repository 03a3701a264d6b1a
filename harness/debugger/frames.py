# SPDX-License-Identifier: MIT
"""Stacks of the stopped target, unwound by gdb."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import zip_longest

from harness.debugger.session import MiSession
from harness.debugger.state import Thread, frame_address, number
from harness.errors import GdbError
from harness.units import escape

SIGNED = (1 << 32) - 1
"""The bits of an address that a signature never has."""

NAME = 200
"""Maximum number of characters of a function's or a file's name."""


@dataclass(frozen=True, slots=True)
class StackFrame:
    """One frame, with names escaped; ``file`` is empty and ``line`` is 0 if gdb knows none.

    ``address`` is where the frame continues.  The name of the file is that in the debug
    information.
    """

    level: int
    address: int
    function: str
    file: str
    line: int

    def __str__(self) -> str:
        place = f" at {self.file}:{self.line}" if self.file else ""
        return f"#{self.level} {self.address:#x} in {self.function}{place}"


class Frames:
    """Stack frames of threads; backtraces are cached until ``forget``."""

    def __init__(
        self,
        session: MiSession,
        threads: Callable[[], list[Thread]],
        select: Callable[[int], None],
        registers: Callable[[int, int], dict[str, int]],
    ) -> None:
        """``threads`` returns all threads, ``select`` selects one of them.

        ``registers`` are those of a thread and a level, see the attribute of that name.
        """
        self.registers = registers
        """The general registers, as far as gdb knows them, in a thread's frame of a level."""
        self._session = session
        self._threads = threads
        self._select = select
        self._backtraces: dict[int, list[StackFrame]] = {}

    def forget(self) -> None:
        """Drop cached values: another thread is selected, or the target has changed."""
        self._backtraces.clear()

    def backtrace(self, limit: int = 20) -> list[StackFrame]:
        """The frames of the selected thread, innermost first.

        GdbError if the stack cannot be unwound.
        """
        if limit not in self._backtraces:
            self._backtraces[limit] = [_frame(frame) for frame in self._frames(limit)]
        return list(self._backtraces[limit])

    def addresses(self, limit: int = 100) -> list[int]:
        """The return addresses of the innermost frames of all threads, as far as gdb unwinds them.

        Selects the last thread.
        """
        found = []
        for thread in self._threads():
            self._select(thread.id)
            with contextlib.suppress(GdbError):
                found += [frame_address(frame) for frame in self._frames(limit)]
        return [address for address in found if address]

    def _frames(self, limit: int) -> list[object]:
        # Each frame may come with a step.
        stack = self._session.command(f"-stack-list-frames 0 {2 * limit - 1}").get("stack")
        frames = stack if isinstance(stack, list) else []
        return [
            frame
            for frame, outer in zip_longest(frames, frames[1:])
            if not _is_step(frame_address(frame), frame_address(outer))
        ][:limit]


def _is_step(address: int | None, outer: int | None) -> bool:
    """Whether a frame is only a step of an unwinder that takes a signature from an address."""
    if address is None or outer is None or address == outer:
        return False
    return address & SIGNED == outer & SIGNED


def _frame(frame: object) -> StackFrame:
    values = frame if isinstance(frame, dict) else {}
    return StackFrame(
        number(values.get("level")),
        frame_address(values) or 0,
        escape(str(values.get("func", "??")), NAME),
        escape(str(values.get("file", "")), NAME),
        number(values.get("line")),
    )
