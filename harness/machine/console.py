# SPDX-License-Identifier: MIT
"""The guest's console: logged to a file, with its tail in memory, and a check for panics."""

import contextlib
import io
import re
import select
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import pexpect
from pexpect.socket_pexpect import SocketSpawn

from harness.errors import DeadlineMissed, GuestDied
from harness.machine.pipe import Connection
from harness.units import KIB, MIB, escape

WINDOW = 64 * KIB
"""Bytes of output in memory, for searches."""

LOG_LIMIT = 256 * MIB
"""Maximum size of the log file."""

DRAIN_LIMIT = 1 * MIB
"""Maximum number of bytes read at once."""

TAIL_LIMIT = 8 * KIB
"""Maximum number of characters of a tail."""

DEATH_STRINGS = (b"Kernel panic - not syncing", b"Unhandled exception")

LAST_WORDS = 1.0
"""Timeout in seconds for the dump of a panic."""

SILENCE = 0.05
"""Seconds without output after which a dump is complete."""

_CHUNK = 64 * KIB
_DEATH = re.compile(b"|".join(map(re.escape, DEATH_STRINGS)))
_LONGEST_DEATH = max(map(len, DEATH_STRINGS))


@dataclass(frozen=True, slots=True)
class ConsoleState:
    """What a guest has printed by a point in time: its last output, and its death string."""

    window: bytes = b""
    died: str | None = None


class Console:
    """One end of a socket or a pipe whose other end is the guest's UART.

    Output is not trusted: its size is limited, and ``tail`` escapes it.
    """

    def __init__(self, connection: Connection, log: Path) -> None:
        """Take over ``connection``; raw output is written to ``log``."""
        connection.setblocking(False)
        self._socket = connection
        self.log = log
        self._log_file: IO[bytes] | None = log.open("wb", buffering=0)
        self._log_size = 0
        self._window = bytearray()
        self._unmatched = bytearray()
        self._expecter = _Expecter(self)
        self._hung_up = False
        self.received = 0
        """Bytes printed by the guest."""
        self.died: str | None = None
        """The first death string printed by the guest."""

    def fileno(self) -> int:
        """Readable when there is output, or the other end is closed; see drain()."""
        return self._socket.fileno()

    @property
    def hung_up(self) -> bool:
        """Whether the other end is closed and all output has been read."""
        return self._hung_up

    def drain(self) -> bool:
        """Read the available output without waiting.

        Returns False after end of file.
        """
        self._take(DRAIN_LIMIT)
        return not self._hung_up

    def tail(self, lines: int = 20) -> str:
        """The last lines of output, escaped."""
        text = self._window.decode(errors="replace").replace("\r\n", "\n")
        last = "\n".join(text.rstrip().split("\n")[-lines:])
        return escape(last if len(last) <= TAIL_LIMIT else "..." + last[-TAIL_LIMIT:], limit=WINDOW)

    @property
    def state(self) -> ConsoleState:
        """The state for a snapshot."""
        self.drain()
        return ConsoleState(bytes(self._window), self.died)

    def restore(self, state: ConsoleState) -> None:
        """Return to a saved state.  The log keeps what was printed since."""
        self.drain()
        self._window[:] = state.window
        self._unmatched.clear()
        self.died = state.died

    def send(self, data: bytes, deadline: float = 10.0) -> None:
        """Write ``data`` to the guest's console; ``deadline`` is in seconds."""
        end = time.monotonic() + deadline
        view = memoryview(data)
        while view:
            try:
                view = view[self._socket.send(view) :]
            except BlockingIOError:
                self._wait(select.POLLOUT, end, "take what is typed on its console")
            except OSError as error:
                raise GuestDied("the guest's console is gone", "", self.tail()) from error

    def expect(self, pattern: str | bytes, deadline: float) -> re.Match[bytes]:
        """Wait at most ``deadline`` seconds for output that matches ``pattern``.

        The search begins behind the last match.  Raises DeadlineMissed, or GuestDied if the guest
        prints a death string or is gone.
        """
        shown = pattern if isinstance(pattern, str) else pattern.decode(errors="replace")
        try:
            self._expecter.expect(re.compile(_to_bytes(pattern), re.MULTILINE), timeout=deadline)
        except pexpect.TIMEOUT:
            raise DeadlineMissed(
                f"the guest did not print {escape(shown, 200)!r} within {deadline:g} s",
                "",
                f"Console:\n{self.tail()}",
            ) from None
        except pexpect.EOF:
            raise GuestDied(
                f"the guest's console ended before it printed {escape(shown, 200)!r}",
                "",
                f"Console:\n{self.tail()}",
            ) from None
        return cast(re.Match[bytes], self._expecter.match)

    def close(self) -> None:
        """Read the available output, and close socket and log."""
        if self._socket.fileno() >= 0:
            self._take(DRAIN_LIMIT)
            self._socket.close()
        self._hung_up = True
        self._close_log()

    def read_for_expect(self, seconds: float) -> bytes:
        """Output not searched yet, waiting for it if needed; for `_Expecter` only."""
        end = time.monotonic() + seconds
        while not self._unmatched:
            if self.died is not None:
                self._read_dump()
                raise GuestDied(f"the guest died: {self.died}", "", f"Console:\n{self.tail()}")
            if self._hung_up:
                raise pexpect.EOF("the console is gone")
            if not self._readable(end - time.monotonic()):
                raise pexpect.TIMEOUT("nothing came")
            self._take(_CHUNK)
        data = bytes(self._unmatched)
        self._unmatched.clear()
        return data

    def _read_dump(self) -> None:
        """Wait until a dying guest has printed its dump."""
        end = time.monotonic() + LAST_WORDS
        while time.monotonic() < end and not self._hung_up and self._readable(SILENCE):
            self._take(_CHUNK)

    def _readable(self, seconds: float) -> bool:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(int(max(0.0, seconds) * 1000 + 0.999)))

    def _wait(self, event: int, end: float, what: str) -> None:
        poll = select.poll()
        poll.register(self._socket, event | select.POLLIN)
        if not poll.poll(int(max(0.0, end - time.monotonic()) * 1000 + 0.999)):
            raise DeadlineMissed(f"the guest did not {what} in time", "", self.tail())
        # A guest that echoes its input would otherwise block.
        self.drain()

    def _take(self, limit: int) -> None:
        taken = 0
        while taken < limit and not self._hung_up:
            try:
                data = self._socket.recv(_CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._hung_up = True
                return
            taken += len(data)
            self._keep(data)

    def _keep(self, data: bytes) -> None:
        self.received += len(data)
        if self.died is None:
            # A death string may be split.
            death = _DEATH.search(bytes(self._window[-_LONGEST_DEATH:]) + data)
            self.died = death[0].decode() if death else None
        for buffer in (self._window, self._unmatched):
            buffer += data
            if len(buffer) > 2 * WINDOW:
                del buffer[:-WINDOW]
        self._write_log(data)

    def _write_log(self, data: bytes) -> None:
        if self._log_file is None:
            return
        try:
            self._log_file.write(data)
        except OSError:
            # A full disk ends the log, not the session.
            self._close_log()
            return
        self._log_size += len(data)
        if self._log_size >= LOG_LIMIT:
            with contextlib.suppress(OSError):
                self._log_file.write(b"\n[the log ends here: the guest prints too much]\n")
            self._close_log()

    def _close_log(self) -> None:
        if self._log_file is not None:
            self._log_file.close()
            self._log_file = None


class _Expecter(SocketSpawn):  # type: ignore[misc] # pexpect has no types
    """pexpect's matching on a console's output, with limited memory."""

    def __init__(self, console: Console) -> None:
        self._before: io.BytesIO
        super().__init__(console, maxread=_CHUNK, searchwindowsize=WINDOW)
        # pexpect would sleep after every read.
        self.delayafterread = None
        self._console = console

    def read_nonblocking(self, size: int = 1, timeout: Any = -1) -> bytes:
        """Called by pexpect for more output; ``size`` is ignored."""
        # pexpect's buffer for `before` would grow until a match.
        if self._before.tell() > 2 * WINDOW:
            end = self._before.getvalue()[-WINDOW:]
            self._before = self.buffer_type()
            self._before.write(end)
        return self._console.read_for_expect(timeout)


def _to_bytes(pattern: str | bytes) -> bytes:
    return pattern.encode() if isinstance(pattern, str) else pattern
