# SPDX-License-Identifier: MIT
"""One gdb over its machine interface: commands with tokens, and a deadline for every wait.

There is no reader thread.  The waiting thread itself reads gdb's output, handles asynchronous
records and writes gdb's input, so an answer needs no hand-over between threads.
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
from typing import Any

from harness.debugger.records import Kind, MiRecord, parse_record
from harness.errors import DebuggerDied, GdbError
from harness.process import Child
from harness.units import MIB, escape

STREAM_LIMIT = 4 * MIB
LINE_LIMIT = 512 * MIB
PIPE_SIZE = MIB

# No questions, no .gdbinit, no auto-loaded scripts, no downloads, and no worker threads: those
# of gdb 13 damage its heap now and then while they read the symbols of an added file.
START_OPTIONS = (
    "-nx",
    "-nh",
    "-q",
    "--interpreter=mi3",
    "-iex",
    "set auto-load no",
    "-iex",
    "set debuginfod enabled off",
    "-iex",
    "maint set worker-threads 0",
)

DEADLINE = 10.0
"""Default timeout of a command in seconds."""

LONG = 3600.0
"""Seconds of one wait that can be interrupted."""

REMOTE_TIMEOUT = 15
"""Seconds that gdb waits for the stub."""

# With tcp auto-retry gdb would try for 15 s to connect to a port without a listener.
#
# Breakpoints are not inserted while the target is stopped (gdb's default): a raw step from the
# address of an inserted one would hit it again.
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
    "breakpoint always-inserted off",
)

ReadCallback = Callable[[], object]
Results = dict[str, Any]


class MiSession:
    """A running gdb.

    ``on_news`` is called with every asynchronous record, in order.  ``on_text`` is called with all
    text that gdb or the target prints; text for which it returns False goes into the next answer.
    """

    def __init__(
        self,
        gdb: str,
        on_news: Callable[[MiRecord], None],
        on_text: Callable[[str], bool] = lambda text: False,
        *,
        pass_fds: Sequence[int] = (),
    ) -> None:
        self._on_news = on_news
        self._on_text = on_text
        self._child = Child(
            [gdb, *START_OPTIONS],
            package="gdb-multiarch",
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=pass_fds,
        )
        self._output = self._child.stdout.fileno()
        self._input = self._child.stdin.fileno()
        for descriptor in (self._output, self._input):
            os.set_blocking(descriptor, False)
            # Larger pipes save wake-ups; they may be refused.
            with contextlib.suppress(OSError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
        self._poll = select.poll()
        self._poll.register(self._output, select.POLLIN)
        self._readers: dict[int, ReadCallback] = {}
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
        # Without it the list of breakpoints is not valid MI if one of them has commands (dprintf).
        # gdb before 13 refuses, so the answer is not waited for.
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
        """Readable when gdb has written something."""
        return self._output

    def add_reader(self, descriptor: int, callback: ReadCallback) -> None:
        """Call ``callback`` whenever ``descriptor`` is readable during a wait for gdb.

        QEMU, and its stub with it, can block on a console that is not read.  A callback that
        returns False is not called again.
        """
        self._readers[descriptor] = callback
        self._poll.register(descriptor, select.POLLIN)

    def remove_reader(self, descriptor: int) -> None:
        """Undo `add_reader`."""
        if self._readers.pop(descriptor, None) is not None:
            self._poll.unregister(descriptor)

    def command(self, mi: str, deadline: float = DEADLINE) -> Results:
        """Run one MI command and return its results.  ``deadline`` is in seconds from now."""
        return self.exchange([mi], deadline)[0][0]

    def console(self, *commands: str, deadline: float = DEADLINE) -> str:
        """Run CLI commands of gdb, up to the first that fails, and return their output."""
        return self.exchange([console_command(*commands)], deadline)[0][1]

    def stream(self, text: str, wake: int) -> Results:
        """Run one CLI command of gdb without a timeout.

        Its output goes to ``on_text`` at once.  When the descriptor ``wake`` becomes readable, gdb
        is interrupted; most commands then end with a GdbError.
        """
        token = self.send(console_command(text))
        warnings: list[str] = []
        self._warnings = warnings
        also = [wake]
        try:
            while token not in self._answers:
                if self.pump(LONG, also) and also:
                    self.press_ctrl_c()
                    also = []
            results = results_of(self._answers.pop(token)[0])
        finally:
            self._warnings = None
            self._expected.discard(token)
        # Before an error they only repeat its message.
        for warning in warnings:
            self._on_text(warning)
        return results

    @property
    def directory(self) -> str:
        """gdb's working directory: the user's, which ``cd`` changes."""
        return str(self.command("-environment-pwd").get("cwd", ""))

    @directory.setter
    def directory(self, path: str) -> None:
        quoted = path.replace("\\", "\\\\").replace('"', '\\"')
        self.command(f'-environment-cd "{quoted}"')

    def press_ctrl_c(self) -> None:
        """End a CLI command, or stop the target that it has started.

        gdb reads no MI command while the target runs because of a CLI command.
        """
        os.kill(self.pid, signal.SIGINT)

    def exchange(
        self, commands: Sequence[str], deadline: float = DEADLINE
    ) -> list[tuple[Results, str]]:
        """Send commands without waiting in between; return results and console text of each.

        Raises:
            GdbError: gdb refused one; raised for the first, after all answers have come.
            DebuggerDied: gdb ended, or did not answer all of them in time.
        """
        if self._starting:
            starting, self._starting = self._starting, []
            end = time.monotonic() + 30.0
            for token in starting:
                results_of(self.collect(token, end, "-gdb-set")[0])
        end = time.monotonic() + deadline
        tokens = [self._enqueue(text) for text in commands]
        self._feed()
        answers = [
            self.collect(token, end, text) for token, text in zip(tokens, commands, strict=True)
        ]
        return [(results_of(record), text) for record, text in answers]

    def send(self, command: str) -> int:
        """Send a command without waiting; return the token for `collect`."""
        token = self._enqueue(command)
        self._feed()
        return token

    def post(self, command: str) -> None:
        """Send a command together with the next one; its answer is not waited for."""
        self._expected.discard(self._enqueue(command))

    def _enqueue(self, command: str) -> int:
        """Send a command together with the next one; returns its token."""
        if "\n" in command or "\r" in command:
            raise ValueError("an MI command is one line")
        if self.ended:
            raise self._died()
        self._token += 1
        self._expected.add(self._token)
        self._unsent += f"{self._token}{command}\n".encode()
        return self._token

    def collect(self, token: int, deadline: float, command: str) -> tuple[MiRecord, str]:
        """The answer to the command with ``token``, and the console text before it.

        Raises DebuggerDied if gdb ends or ``time.monotonic()`` reaches ``deadline``.
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
        """Wait at most ``seconds`` for input and handle it.

        Returns the descriptors of ``also`` that are readable.  Raises DebuggerDied if gdb ends.
        """
        if self.ended:
            raise self._died()
        extra = [fd for fd in also if fd >= 0 and fd not in self._readers]
        for descriptor in extra:
            self._poll.register(descriptor, select.POLLIN)
        try:
            # Rounded up: rounded down, the last millisecond would be a busy loop.
            events = dict(self._poll.poll(int(max(0.0, seconds) * 1000 + 0.999)))
        finally:
            for descriptor in extra:
                self._poll.unregister(descriptor)
        for descriptor in [fd for fd in events if fd in self._readers]:
            if self._readers[descriptor]() is False:
                self.remove_reader(descriptor)
        if self._input in events:
            self._feed()
        if self._output in events:
            self._read()
        return [descriptor for descriptor in also if descriptor in events]

    def last_words(self) -> str:
        """The tail of gdb's standard error and log, for a report."""
        tail = self._child.stderr_tail()
        log = escape("".join(self.messages).strip())
        return "\n".join(part for part in (tail, log) if part)

    def close(self) -> None:
        """Ask gdb to exit, and kill it if it does not."""
        if not self.ended and self._child.alive:
            self._unsent.clear()
            with contextlib.suppress(OSError):
                os.write(self._input, b"-gdb-exit\n")
            # gdb detaches before it exits.
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
            # Its output may still be in the other pipe; end of file there ends the session.
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
            # A stop may follow in the same read and must be handled after ^running.
            if record.message == "running":
                self._on_news(record)
            text = "".join(self._stream)
            self._stream.clear()
            self._stream_size = 0
            if record.token in self._expected and record.token is not None:
                self._answers[record.token] = (record, text)
            elif record.kind is Kind.MALFORMED:
                self.messages.append(record.text + "\n")


def console_command(*commands: str) -> str:
    """The MI command that runs CLI commands."""
    escaped = (text.replace("\\", "\\\\").replace('"', '\\"') for text in commands)
    return " ".join(["-interpreter-exec console", *(f'"{text}"' for text in escaped)])


def results_of(record: MiRecord) -> Results:
    """The results of an answer; GdbError with gdb's message for ``^error``."""
    if record.kind is Kind.MALFORMED:
        raise GdbError(f"gdb's answer is not valid MI: {escape(record.text, 200)}")
    if record.message == "error":
        message = record.payload.get("msg")
        raise GdbError(escape(message, 1000) if isinstance(message, str) else "gdb gave no reason")
    return record.payload
