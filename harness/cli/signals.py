# SPDX-License-Identifier: MIT
"""Signals that end a recording in order."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def orderly_end() -> Iterator[Callable[[], int]]:
    """Handle SIGINT, SIGTERM and SIGHUP: raise KeyboardInterrupt until the recording begins.

    The returned function marks that beginning: the next signal only makes the descriptor that it
    returns readable, and the one after that raises again.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    orderly = False

    def arm() -> int:
        nonlocal orderly
        orderly = True
        return reader.fileno()

    def handle(number: int, frame: object) -> None:
        nonlocal orderly
        if not orderly:
            raise KeyboardInterrupt
        orderly = False

    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup sets it
        wanted.append(signal.SIGHUP)
    saved = {number: signal.signal(number, handle) for number in wanted}
    previous = signal.set_wakeup_fd(writer.fileno())
    try:
        yield arm
    finally:
        signal.set_wakeup_fd(previous)
        for number, handler in saved.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()
