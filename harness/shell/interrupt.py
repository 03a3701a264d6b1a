# SPDX-License-Identifier: MIT
"""Ctrl-C while a command runs: it stops the guest, or ends what is printed; never the session."""

import select
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Interrupted(Exception):
    """The user has had enough of a command's output."""


class Interrupt:
    """SIGINT as a file descriptor and a flag.

    An exception out of a signal handler would tear a conversation with gdb apart; so whoever waits
    looks at the descriptor, and whoever prints calls ``check``.
    """

    def __init__(self) -> None:
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)

    def fileno(self) -> int:
        """Readable when Ctrl-C was pressed and nobody has taken notice yet."""
        return self._reader.fileno()

    @property
    def waiting(self) -> bool:
        """Whether Ctrl-C was pressed since the last look, of which nobody takes notice here."""
        return bool(select.select([self._reader], [], [], 0)[0])

    @property
    def pressed(self) -> bool:
        """Whether Ctrl-C was pressed since the last look; taking notice of it."""
        with suppress(BlockingIOError):
            return bool(self._reader.recv(4096))
        return False

    def check(self) -> None:
        """Raise Interrupted if Ctrl-C was pressed."""
        if self.pressed:
            raise Interrupted

    @contextmanager
    def armed(self) -> Iterator[None]:
        """While the block runs Ctrl-C only does what this class says."""
        _ = self.pressed
        saved = signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, saved)

    def close(self) -> None:
        """Give the descriptors back."""
        self._reader.close()
        self._writer.close()

    def _handle(self, number: int, frame: object) -> None:
        with suppress(BlockingIOError):
            self._writer.send(b"!")
