# SPDX-License-Identifier: MIT
"""Private directories that go with their owner, or, where that was killed, with the next one.

Whoever makes such a directory holds a lock on a file in it until it is removed or the process
ends.  So a directory whose lock can be had belongs to nobody any more.
"""

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path

from harness.errors import HostError

PREFIX = "harness-"
LOCK = "lock"

SOCKET_PATH_LIMIT = 107
"""Longest path that a unix socket can have."""

_OURS = re.compile(rf"{PREFIX}\w{{8}}", re.ASCII)  # as tempfile fills a name up


class PrivateDirectory:
    """A new directory of mode 0700 with a path that leaves room for sockets; ``close`` removes it.

    In ``$XDG_RUNTIME_DIR``, or where temporary files go.  HostError where none can be made.
    """

    def __init__(self) -> None:
        self.path, self._lock = _make()

    def close(self) -> None:
        """Remove the directory with all that is in it; harmless when it is gone already."""
        if self._lock >= 0:
            shutil.rmtree(self.path, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1


def _make() -> tuple[Path, int]:
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        # Room for the random part and the names of the sockets.
        if base and len(os.fsencode(base)) < SOCKET_PATH_LIMIT - 40:
            with contextlib.suppress(OSError):
                _sweep_once(base)
            with contextlib.suppress(OSError):
                return _make_in(base)
    raise HostError("no directory for sockets can be made", "Set TMPDIR to a short, writable path.")


def _make_in(base: str) -> tuple[Path, int]:
    while True:
        path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=base))
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Somebody who sweeps may have had the lock first, and removed what nobody held.
        with contextlib.suppress(FileNotFoundError):
            if (path / LOCK).samefile(f"/proc/self/fd/{lock}"):
                return path, lock
        os.close(lock)


@cache
def _sweep_once(base: str) -> None:
    """Remove what killed owners have left there.  What is another user's is not looked at."""
    for entry in os.scandir(base):
        # Others come and go meanwhile, so that what was listed may be gone at any moment.
        with contextlib.suppress(OSError):
            if _OURS.fullmatch(entry.name) and _is_own_directory(entry):
                _remove_if_left(Path(entry.path))


def _is_own_directory(entry: os.DirEntry[str]) -> bool:
    own = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
    return own and entry.is_dir(follow_symlinks=False)


def _remove_if_left(path: Path) -> None:
    lock = os.open(path / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    finally:
        os.close(lock)
