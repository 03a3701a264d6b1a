# SPDX-License-Identifier: MIT
"""A pipe as a guest's console.

A Unix socket is full after some 300 writes of one byte, as of a UART.  While QEMU logs or repeats a
run, a UART that waits for its console stops, and its log has a gap.  A pipe holds 64 KiB in writes
of any size.
"""

import os
from typing import Protocol


class Connection(Protocol):
    """The methods of a socket that a console needs."""

    def fileno(self) -> int:
        """-1 if it is closed."""

    def setblocking(self, flag: bool, /) -> None:
        """As that of a socket."""

    def recv(self, size: int, /) -> bytes:
        """As that of a socket."""

    def send(self, data: memoryview, /) -> int:
        """As that of a socket."""

    def close(self) -> None:
        """As that of a socket."""


class ReadingEnd:
    """The reading end of a pipe.  Nothing can be sent."""

    def __init__(self, descriptor: int) -> None:
        """Take over ``descriptor``."""
        self._descriptor = descriptor

    def fileno(self) -> int:
        """-1 if it is closed."""
        return self._descriptor

    def setblocking(self, flag: bool, /) -> None:
        """As that of a socket."""
        os.set_blocking(self._descriptor, flag)

    def recv(self, size: int, /) -> bytes:
        """As that of a socket."""
        return os.read(self._descriptor, size)

    def send(self, data: memoryview, /) -> int:
        """BrokenPipeError."""
        raise BrokenPipeError("the console takes no input")

    def close(self) -> None:
        """Once or more often."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
