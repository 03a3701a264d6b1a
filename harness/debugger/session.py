# SPDX-License-Identifier: MIT
"""The conversation with one gdb: commands with tokens, one pump, a deadline for every wait.

There is no reader thread.  Whoever waits reads what gdb says, handles the news in it, and feeds
gdb's input; so nothing happens behind anybody's back and an answer costs no hand-over.
"""

import contextlib
import fcntl
import os
import select
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.debugger.records import Kind, MiRecord, parse_record
from harness.errors import DebuggerDied, GdbError
from harness.process import Child
from harness.units import MIB, escape

STREAM_LIMIT = 4 * MIB
LINE_LIMIT = 512 * MIB
PIPE_SIZE = MIB

# gdb must neither ask questions, nor read anybody's settings, nor fetch or run anything on its own.
START_OPTIONS = (
    "-nx",
    "-nh",
    "-q",
    "--interpreter=mi3",
    "-iex",
    "set auto-load no",
    "-iex",
    "set debuginfod enabled off",
)

DEADLINE = 10.0
"""Seconds a command may take unless its caller says otherwise."""

LONG = 3600.0
"""Seconds of one wait where whoever waits can be told to stop."""

REMOTE_TIMEOUT = 15
"""Seconds that gdb waits for the stub."""

# Who is told of a port that nobody listens on need not wait for gdb to try again for 15 s.
#
# Breakpoints stay out of the stub while the target is stopped (gdb's default): a raw step from the
# address of an inserted one would hit it again and get nowhere.
SETTINGS = (
    "confirm off",
    "pagination off",
    "width 0",
    "height 0",
    "mi-async on",
    f"remotetimeout {REMOTE_TIMEOUT}",
    "tcp auto-retry off",
    "history save off",
    "auto-solib-add off",
    "backtrace limit 64",
    "print frame-info location",
    "breakpoint always-inserted off",
)

Attendant = Callable[[], object]
Results = dict[str, Any]


class MiSession:
    """A running gdb.  ``on_news`` is called with every asynchronous record, in gdb's order, and
    ``on_text`` with every piece of text that gdb or the target prints; what that does not take is
    part of the next answer.
    """

    def __init__(
        self,
        gdb: str,
        on_news: Callable[[MiRecord], None],
        on_text: Callable[[str], bool] = lambda text: False,
        *,
        directory: Path | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._on_news = on_news
        self._on_text = on_text
        self._child = Child(
            [gdb, *START_OPTIONS],
            package="gdb-multiarch",
            directory=directory,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=pass_fds,
        )
        self._output = self._child.stdout.fileno()
        self._input = self._child.stdin.fileno()
        for descriptor in (self._output, self._input):
            os.set_blocking(descriptor, False)
            # Larger pipes save wake-ups; without the right to them the default does.
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._attended: dict[int, Attendant] = {}
        self._unsent = bytearray()
        self._unread = bytearray()
        self._token = 0
        self._expected: set[int] = set()
        self._answers: dict[int, tuple[MiRecord, str]] = {}
        self._stream: list[str] = []
        self._stream_size = 0
        self.messages: deque[str] = deque(maxlen=50)
        self._warnings: list[str] | None = None
        self.ended = False
        self._starting = [self.send(f"-gdb-set {setting}") for setting in SETTINGS]
        # Otherwise the list of breakpoints is no MI while one of them has commands (dprintf).  A
        # gdb older than 13 refuses, and nobody waits for its answer.
        self._expected.discard(self.send("-fix-breakpoint-script-output"))

    @property
    def pid(self) -> int:
        """gdb's process id."""
        return self._child.pid

    @property
    def process_fd(self) -> int:
        """Readable when gdb has ended."""
        return self._child.process_fd

    def fileno(self) -> int:
        """Readable when gdb has said something."""
        return self._output

    def attend(self, descriptor: int, attendant: Attendant) -> None:
        """Call ``attendant`` whenever ``descriptor`` is readable while something waits for gdb.

        A console that nobody reads can stop QEMU, and with it the stub that gdb talks to.  An
        attendant that returns False is not called again.
        """
        self._attended[descriptor] = attendant
        self._poll.register(descriptor, select.POLLIN)

    def leave(self, descriptor: int) -> None:
        """Stop attending to ``descriptor``."""
        if self._attended.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def command(self, mi: str, deadline: float = DEADLINE) -> Results:
        """Give one MI command; its results.  ``deadline`` is in seconds from now."""
        return self.exchange([mi], deadline)[0][0]

    def console(self, text: str, deadline: float = DEADLINE) -> str:
        """Give one command of gdb's own command line; what it prints."""
        return self.exchange([console_command(text)], deadline)[0][1]

    def stream(self, text: str, wake: int) -> Results:
        """Give one command of gdb's own command line, however long it takes.

        What it prints goes to ``on_text`` as it comes.  When the descriptor ``wake`` becomes
        readable gdb is told to end the command, which most then do with a GdbError.
        """
        token = self.send(console_command(text))
        warnings: list[str] = []
        self._warnings = warnings
        also = [wake]
        try:
            while token not in self._answers:
                if self.pump(LONG, also) and also:
                    os.kill(self.pid, signal.SIGINT)
                    also = []
            results = results_of(self._answers.pop(token)[0])
        finally:
            self._warnings = None
            self._expected.discard(token)
        # In front of an error they are its own words.
        for warning in warnings:
            self._on_text(warning)
        return results

    def exchange(
        self, commands: Sequence[str], deadline: float = DEADLINE
    ) -> list[tuple[Results, str]]:
        """Give commands without waiting in between; the results and the console text of each.

        GdbError for the first that gdb refused, after all have been answered.  DebuggerDied when
        gdb ends or has not answered all of them in time.
        """
        if self._starting:
            starting, self._starting = self._starting, []
            end = time.monotonic() + 30.0
            for token in starting:
                results_of(self.collect(token, end, "-gdb-set")[0])
        end = time.monotonic() + deadline
        tokens = [self.send(text) for text in commands]
        answers = [
            self.collect(token, end, text) for token, text in zip(tokens, commands, strict=True)
        ]
        return [(results_of(record), text) for record, text in answers]

    def send(self, command: str) -> int:
        """Hand a command to gdb without waiting; the token to collect its answer with."""
        if "\n" in command or "\r" in command:
            raise ValueError("an MI command is one line")
        if self.ended:
            raise self._died()
        self._token += 1
        self._expected.add(self._token)
        self._unsent += f"{self._token}{command}\n".encode()
        self._feed()
        return self._token

    def collect(self, token: int, deadline: float, command: str) -> tuple[MiRecord, str]:
        """The answer to the command with ``token`` and the console text before it.

        Raises DebuggerDied when gdb ends, or when ``time.monotonic()`` reaches ``deadline`` first.
        """
        try:
            while token not in self._answers:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise DebuggerDied(
                        f"gdb did not answer {escape(command, 200)!r} in time",
                        "",
                        self.last_words(),
                    )
                self.pump(left)
            return self._answers.pop(token)
        finally:
            self._expected.discard(token)

    def pump(self, seconds: float, also: Sequence[int] = ()) -> list[int]:
        """Wait at most ``seconds`` for anything to happen and handle it.

        Returns those of ``also`` that are readable.  Raises DebuggerDied when gdb ends.
        """
        if self.ended:
            raise self._died()
        extra = [fd for fd in also if fd >= 0 and fd not in self._attended]
        for descriptor in extra:
            self._poll.register(descriptor, select.POLLIN)
        try:
            # Rounded up: rounded down, the last millisecond would be spent spinning.
            events = dict(self._poll.poll(int(max(0.0, seconds) * 1000 + 0.999)))
        finally:
            for descriptor in extra:
                self._poll.unregister(descriptor)
        for descriptor in [fd for fd in events if fd in self._attended]:
            if self._attended[descriptor]() is False:
                self.leave(descriptor)
        if self._input in events:
            self._feed()
        if self._output in events:
            self._read()
        return [descriptor for descriptor in also if descriptor in events]

    def last_words(self) -> str:
        """What gdb said last on standard error and in its log, for a report."""
        tail = self._child.stderr_tail()
        log = escape("".join(self.messages).strip())
        return "\n".join(part for part in (tail, log) if part)

    def close(self) -> None:
        """Ask gdb to go, and make it."""
        if not self.ended and self._child.alive:
            self._unsent.clear()
            with contextlib.suppress(OSError):
                os.write(self._input, b"-gdb-exit\n")
            # gdb detaches before it ends; a gdb that waits for a dead stub would not.
            self._child.wait(1.0)
        self.ended = True
        self._child.close()

    def _died(self) -> DebuggerDied:
        self.ended = True
        self._child.wait(1.0)
        return DebuggerDied(self._child.ending(), "", self.last_words())

    def _feed(self) -> None:
        if not self._unsent:
            return
        try:
            written = os.write(self._input, self._unsent)
        except BlockingIOError:
            written = 0
        except BrokenPipeError:
            # Its last words may still be in the other pipe; the end of that one tells.
            written = len(self._unsent)
        del self._unsent[:written]
        if self._unsent:
            self._poll.register(self._input, select.POLLOUT)
        else:
            with contextlib.suppress(KeyError):
                self._poll.unregister(self._input)

    def _read(self) -> None:
        try:
            data = os.read(self._output, PIPE_SIZE)
        except BlockingIOError:
            return
        if not data:
            raise self._died()
        self._unread += data
        if len(self._unread) > LINE_LIMIT:
            self._child.end(0)
            raise self._died()
        if b"\n" not in data:
            return
        *lines, rest = self._unread.split(b"\n")
        self._unread = rest
        for line in lines:
            self._handle(parse_record(bytes(line)))

    def _handle(self, record: MiRecord) -> None:
        if record.kind is Kind.ASYNC:
            self._on_news(record)
        elif record.kind in (Kind.CONSOLE, Kind.TARGET):
            if not self._on_text(record.text) and self._stream_size < STREAM_LIMIT:
                self._stream.append(record.text)
                self._stream_size += len(record.text)
        elif record.kind in (Kind.LOG, Kind.OTHER):
            self.messages.append(record.text[:2000])
            if self._warnings is not None:
                self._warnings.append(record.text)
        elif record.kind in (Kind.RESULT, Kind.MALFORMED):
            # A fast stop may follow in the same read: what the answer says has to count before it.
            if record.message == "running":
                self._on_news(record)
            text = "".join(self._stream)
            self._stream.clear()
            self._stream_size = 0
            if record.token in self._expected and record.token is not None:
                self._answers[record.token] = (record, text)
            elif record.kind is Kind.MALFORMED:
                self.messages.append(record.text + "\n")


def console_command(text: str) -> str:
    """The MI command that runs a command of gdb's own command line."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'-interpreter-exec console "{quoted}"'


def results_of(record: MiRecord) -> Results:
    """The results in an answer; GdbError with gdb's words if it is a refusal."""
    if record.kind is Kind.MALFORMED:
        raise GdbError(f"gdb's answer makes no sense: {escape(record.text, 200)}")
    if record.message == "error":
        message = record.payload.get("msg")
        raise GdbError(escape(message, 1000) if isinstance(message, str) else "gdb gave no reason")
    return record.payload
