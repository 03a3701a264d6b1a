# SPDX-License-Identifier: MIT
"""Stacks of the stopped target, unwound by gdb."""

import contextlib
from collections.abc import Callable

from harness.debugger.session import MiSession
from harness.debugger.state import Thread, frame_address
from harness.errors import GdbError
from harness.units import escape


class Frames:
    """Stack frames of threads; backtraces are cached until ``forget``."""

    def __init__(
        self, session: MiSession, threads: Callable[[], list[Thread]], select: Callable[[int], None]
    ) -> None:
        """``threads`` returns all threads, ``select`` selects one of them."""
        self._session = session
        self._threads = threads
        self._select = select
        self._backtraces: dict[int, list[str]] = {}

    def forget(self) -> None:
        """Drop cached values: another thread is selected, or the target has changed."""
        self._backtraces.clear()

    def backtrace(self, limit: int = 20) -> list[str]:
        """The frames of the selected thread, innermost first, escaped.

        If the stack cannot be unwound, the list is gdb's message.
        """
        if limit not in self._backtraces:
            try:
                frames = self._frames(limit)
            except GdbError as error:
                return [f"<{escape(error.message, 200)}>"]
            self._backtraces[limit] = [_text(frame) for frame in frames]
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
        stack = self._session.command(f"-stack-list-frames 0 {limit - 1}").get("stack")
        return stack if isinstance(stack, list) else []


def _text(frame: object) -> str:
    if not isinstance(frame, dict):
        return "?"
    text = f"#{frame.get('level', '?')} {frame.get('addr', '?')} in {frame.get('func', '??')}"
    if "file" in frame:
        text += f" at {frame['file']}:{frame.get('line', '?')}"
    return escape(text, 300)
