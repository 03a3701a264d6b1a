# SPDX-License-Identifier: MIT
"""QEMU's monitor (QMP), called synchronously.

The client of qemu.qmp is asynchronous.  Here it has its own event loop, which runs only while a
caller waits for an answer.
"""

import asyncio
import contextlib
import fcntl
import logging
import signal
import socket
import struct
import termios
from collections.abc import Awaitable, Iterator, Mapping
from typing import TypeVar

from qemu.qmp import ExecuteError, Message, QMPClient, QMPError

from harness.errors import HostError
from harness.machine.console import Console
from harness.units import KIB, escape

DEADLINE = 10.0
"""Default timeout of an answer in seconds."""

EVENT_BACKLOG = 32 * KIB
"""Read events from this many bytes on: QEMU buffers unread ones in memory."""

_Result = TypeVar("_Result")

# A closed connection raises exceptions; without a handler it would be printed as well.
logging.getLogger("qemu.qmp").addHandler(logging.NullHandler())


class MonitorLost(HostError):
    """The monitor's connection was closed, or QEMU did not answer in time."""


class _Client(QMPClient):
    """A client that does not print each message for a log that nobody reads.

    Each stop of the guest causes two messages.
    """

    def _cb_outbound(self, msg: Message) -> Message:
        return msg

    def _cb_inbound(self, msg: Message) -> Message:
        return msg


class Monitor:
    """A QMP session on a connected socket.  The console is read while it waits."""

    def __init__(self, connection: socket.socket, console: Console) -> None:
        self._socket = connection
        self._console = console
        self._loop = asyncio.new_event_loop()
        self._client = _Client("harness")
        self._connected = False

    def connect(self, deadline: float = DEADLINE) -> None:
        """Wait at most ``deadline`` seconds for QEMU's greeting."""
        self._run(self._client.connect(self._socket), deadline, "its greeting")
        self._connected = True

    def execute(
        self, command: str, arguments: Mapping[str, object], deadline: float = DEADLINE
    ) -> object:
        """Run a command and return its answer.

        HostError if QEMU refuses, MonitorLost if it does not answer.
        """
        if not self._connected:
            raise MonitorLost("there is no connection to QEMU's monitor")
        self._client.events.clear()
        return self._run(
            self._client.execute(command, dict(arguments)), deadline, f"the answer to {command}"
        )

    def read_events(self) -> None:
        """Discard events if many are waiting: each stop of the guest causes two."""
        if self._connected and _unread(self._socket) > EVENT_BACKLOG:
            with contextlib.suppress(MonitorLost):
                self._run(asyncio.sleep(0), DEADLINE, "its events")
            self._client.events.clear()

    def close(self) -> None:
        """Close the connection."""
        if self._loop.is_closed():
            return
        self._connected = False
        with contextlib.suppress(MonitorLost, HostError):
            self._run(self._client.disconnect(), 1.0, "the end")
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()
        self._socket.close()

    def _run(self, work: Awaitable[_Result], deadline: float, what: str) -> _Result:
        try:
            with self._reading_console(), _signals_blocked():
                return self._loop.run_until_complete(asyncio.wait_for(work, deadline))
        except ExecuteError as error:
            raise HostError(f"QEMU refused {what[len('the answer to ') :]}: {error}") from None
        except TimeoutError:
            raise MonitorLost(f"QEMU did not send {what} within {deadline:g} s") from None
        except (QMPError, OSError, EOFError) as error:
            self._connected = False
            raise MonitorLost(f"QEMU's monitor ended before {what}: {escape(str(error))}") from None

    @contextlib.contextmanager
    def _reading_console(self) -> Iterator[None]:
        descriptor = self._console.fileno()
        if descriptor < 0 or self._console.hung_up:
            yield
            return

        def drain() -> None:
            if not self._console.drain():
                self._loop.remove_reader(descriptor)

        self._loop.add_reader(descriptor, drain)
        try:
            yield
        finally:
            self._loop.remove_reader(descriptor)


def _unread(connection: socket.socket) -> int:
    buffer = fcntl.ioctl(connection, termios.FIONREAD, struct.pack("i", 0))
    return int(struct.unpack("i", buffer)[0])


@contextlib.contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals: an exception in the middle of qemu.qmp would break its state."""
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
