# SPDX-License-Identifier: MIT
"""File locks.  A lock file without a holder marks something whose owner has died.

The kernel releases a lock when its last holder ends.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


def hold(path: Path, waiting: Callable[[], None]) -> int:
    """Create the file if needed, lock it, and return its descriptor; closing that unlocks it.

    ``waiting`` is called if another process holds the lock; pass `busy` to fail instead.
    """
    while True:
        lock = os.open(path, _FLAGS | os.O_CREAT, 0o600)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_there(path, lock):
                return lock
        except BaseException:
            os.close(lock)
            raise
        # It was removed during the wait, and may have been created again.
        os.close(lock)


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Only one process at a time is in this block with the same directory."""
    lock = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Not every file system has locks.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)


def busy() -> None:
    """Raises BlockingIOError."""
    raise BlockingIOError


def hold_new(directory: Path, prefix: str, suffix: str, mode: int = 0o600) -> tuple[int, Path]:
    """Create and lock a new file with eight random digits in its name."""
    while True:
        path = directory / f"{prefix}{secrets.token_hex(4)}{suffix}"
        try:
            lock = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            continue
        # Without locks on the file system, sweep() removes nothing either.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        # A sweep() elsewhere may have removed it before it was locked.
        if _is_there(path, lock):
            return lock, path
        os.close(lock)


def sweep(directory: Path, name: re.Pattern[str], remove: Callable[[Path], object]) -> None:
    """Call ``remove``, under the lock, for each lock file without a holder.

    Only this user's files whose whole name matches.  Failures are left for the next time.
    """
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            # Another process may remove it at any moment.
            with suppress(OSError):
                if name.fullmatch(entry.name) and _is_own_file(entry):
                    _remove_unowned(Path(entry.path), remove)


def _remove_unowned(path: Path, remove: Callable[[Path], object]) -> None:
    lock = os.open(path, _FLAGS | os.O_NONBLOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_there(path, lock):
            remove(path)
    finally:
        os.close(lock)


def _is_own_file(entry: os.DirEntry[str]) -> bool:
    own = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    return own and entry.is_file(follow_symlinks=False)


def _is_there(path: Path, lock: int) -> bool:
    try:
        return os.path.samestat(os.fstat(lock), path.lstat())
    except FileNotFoundError:
        return False
