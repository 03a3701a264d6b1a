# SPDX-License-Identifier: MIT
"""Locks on files that may be removed with what they protect."""

import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


def hold(path: Path, waiting: Callable[[], None]) -> int:
    """The file's descriptor, locked until it is closed; the file is made if it is not there.

    ``waiting`` is called when somebody else has it; `busy` there gives up instead.
    """
    while True:
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(lock), path.stat()):
                    return lock
        except BaseException:
            os.close(lock)
            raise
        # It was removed while it was waited for, and may be another file by now.
        os.close(lock)


def busy() -> None:
    """Raises BlockingIOError."""
    raise BlockingIOError
