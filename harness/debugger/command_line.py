# SPDX-License-Identifier: MIT
"""gdb's command line for a user, with its output."""

from collections.abc import Callable

from harness.debugger.session import MiSession
from harness.debugger.threads import Threads
from harness.units import escape


class CommandLine:
    """Commands typed by a user."""

    def __init__(self, session: MiSession, threads: Threads, changed: Callable[[], None]) -> None:
        """``changed`` is called before each command that may change anything."""
        self._session = session
        self._threads = threads
        self._changed = changed
        self.streaming = False
        """Whether `stream` is running a command."""
        self.listener: Callable[[str], object] | None = None
        """Called with gdb's output while the target or `stream` runs."""

    def stream(self, text: str, wake: int) -> None:
        """Run a command without a timeout.

        Its output goes to `listener` at once.  When the descriptor ``wake`` becomes readable, gdb
        is interrupted; most commands then end with a GdbError.
        """
        self._changed()
        self.streaming = True
        try:
            self._session.stream(text, wake)
        finally:
            self.streaming = False

    def selected_thread(self) -> int | None:
        """The thread selected by the user, which is the debugger's too from now on."""
        return self._threads.look_up()

    def complete(self, text: str, limit: int = 200) -> list[str]:
        """gdb's completions of a command line, escaped."""
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        matches = self._session.command(f'-complete "{quoted}"').get("matches")
        found = matches if isinstance(matches, list) else []
        return [escape(match, 200) for match in found[:limit] if isinstance(match, str)]
