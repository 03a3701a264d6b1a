# SPDX-License-Identifier: MIT
"""gdb's own command line, for a person: what it prints, as it comes."""

from collections.abc import Callable

from harness.debugger.session import MiSession
from harness.debugger.threads import Threads
from harness.units import escape


class CommandLine:
    """Commands that a person has typed."""

    def __init__(self, session: MiSession, threads: Threads, changed: Callable[[], None]) -> None:
        """``changed`` is called in front of each command that may change anything."""
        self._session = session
        self._threads = threads
        self._changed = changed
        self.streaming = False
        """Whether a command that was given to `stream` has not ended yet."""
        self.listener: Callable[[str], object] | None = None
        """Told what gdb prints while the target runs, and what a command given to `stream` does."""

    def stream(self, text: str, wake: int) -> None:
        """Give a command, which takes as long as it takes.

        What it prints goes to `listener` as it comes.  When the descriptor ``wake`` becomes
        readable gdb is told to end the command; most then end with a GdbError.
        """
        self._changed()
        self.streaming = True
        try:
            self._session.stream(text, wake)
        finally:
            self.streaming = False

    def selected_thread(self) -> int | None:
        """The thread that a person has selected, which is the debugger's too from now on."""
        return self._threads.look_up()

    def complete(self, text: str, limit: int = 200) -> list[str]:
        """What gdb would complete a command line to; escaped."""
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        matches = self._session.command(f'-complete "{quoted}"').get("matches")
        found = matches if isinstance(matches, list) else []
        return [escape(match, 200) for match in found[:limit] if isinstance(match, str)]
