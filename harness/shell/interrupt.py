# SPDX-License-Identifier: MIT
"""Ctrl-C during a command: stops the guest or ends the output, never the session."""

import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Interrupted(Exception):
    """Ctrl-C was pressed during the output of a command."""


class Interrupt:
    """SIGINT as a file descriptor and a flag.

    An exception in a signal handler would break the gdb session, so waits poll the descriptor and
    output calls ``check``.
    """

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def fileno(self) -> int:
        """Readable after Ctrl-C, until `pressed` is read."""
        return self._reader.fileno()

    @property
    def waiting(self) -> bool:
        """Whether Ctrl-C was pressed; does not reset the flag."""
        return bool(select.select([self._reader], [], [], 0)[0])

    @property
    def pressed(self) -> bool:
        """Whether Ctrl-C was pressed; resets the flag."""
        with suppress(BlockingIOError):
            return bool(self._reader.recv(4096))
        return False

    def check(self) -> None:
        """Raise Interrupted if Ctrl-C was pressed."""
        if self.pressed:
            raise Interrupted

    @contextmanager
    def armed(self) -> Iterator[None]:
        """Handle SIGINT by this class during the block."""
        _ = self.pressed
        saved = signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, saved)

    @contextmanager
    def raised(self) -> Iterator[None]:
        """Raise Interrupted wherever the block is: for work without the session's gdb and guest."""
        saved = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            self.check()
            yield
        except KeyboardInterrupt:
            raise Interrupted from None
        finally:
            signal.signal(signal.SIGINT, saved)

    def close(self) -> None:
        """Close the sockets."""
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: object) -> None:
        with suppress(BlockingIOError):
            self._writer.send(b"!")
