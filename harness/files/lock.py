# SPDX-License-Identifier: MIT
"""Locked files.  What a lock file that nobody holds stands for has no owner any more.

The kernel lets go of a lock when its last holder ends, however it ends.
"""

import fcntl
import os
import re
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


def hold(path: Path, waiting: Callable[[], None]) -> int:
    """The file's descriptor, locked until it is closed; the file is made if it is not there.

    ``waiting`` is called when somebody else has it; `busy` there gives up instead.
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
        # It was removed while it was waited for, and may be another file by now.
        os.close(lock)


def busy() -> None:
    """Raises BlockingIOError."""
    raise BlockingIOError


def hold_new(directory: Path, prefix: str, suffix: str, mode: int = 0o600) -> tuple[int, Path]:
    """A new file with eight random digits in its name, locked until the descriptor is closed."""
    while True:
        path = directory / f"{prefix}{secrets.token_hex(4)}{suffix}"
        try:
            lock = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            continue
        # A file system without locks is one where nobody sweeps either.
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX)
        # Somebody who sweeps may have had it first, and removed what nobody held.
        if _is_there(path, lock):
            return lock, path
        os.close(lock)


def sweep(directory: Path, name: re.Pattern[str], remove: Callable[[Path], object]) -> None:
    """Have ``remove`` called, under its lock, with each lock file that nobody holds.

    Those are meant whose whole name matches, and that are this user's own.  What cannot be removed
    stays for the next time.
    """
    with suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            # Others come and go meanwhile, so that what was listed may be gone at any moment.
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
