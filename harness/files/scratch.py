# SPDX-License-Identifier: MIT
"""Scratch directories that go with their owner, or, where that was killed, with the next one.

``harness-<digits>.lock`` is there, and locked, from before ``harness-<digits>`` is made until it
has been removed.
"""

import contextlib
import os
import re
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Self

from harness.errors import HostError
from harness.files.lock import hold_new, sweep

PREFIX = "harness-"
LOCK = ".lock"

SOCKET_PATH_LIMIT = 107
"""Longest path that a unix socket can have."""

_OURS = re.compile(rf"{PREFIX}[0-9a-f]{{8}}{re.escape(LOCK)}")


class ScratchDirectory:
    """A new directory of mode 0700 with a path that leaves room for sockets; ``close`` removes it.

    In ``$XDG_RUNTIME_DIR``, or where temporary files go.  HostError where none can be made.
    """

    def __init__(self, base: Path | None = None) -> None:
        """With ``base`` it is made there; OSError where it cannot be."""
        self.path, self._lock = _make() if base is None else _make_in(base)

    def close(self) -> None:
        """Remove the directory with all that is in it; harmless when it is gone already."""
        if self._lock >= 0:
            with contextlib.suppress(OSError):
                _remove(_lock_of(self.path))
            os.close(self._lock)
            self._lock = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()


def _make() -> tuple[Path, int]:
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):
        # Room for the random part and the names of the sockets.
        if base and len(os.fsencode(base)) < SOCKET_PATH_LIMIT - 40:
            with contextlib.suppress(OSError):
                return _make_in(Path(base))
    raise HostError("no directory for sockets can be made", "Set TMPDIR to a short, writable path.")


def _make_in(base: Path) -> tuple[Path, int]:
    remove_stale(base)
    while True:
        lock, path = hold_new(base, PREFIX, LOCK)
        directory = path.with_suffix("")
        try:
            directory.mkdir(0o700)
        except BaseException as error:
            path.unlink()
            os.close(lock)
            if not isinstance(error, FileExistsError):
                raise
        else:
            return directory, lock


@cache
def remove_stale(base: Path) -> None:
    """Remove what killed owners have left there.  What is another user's is not looked at."""
    sweep(base, _OURS, _remove)


def _remove(lock: Path) -> None:
    """The lock goes last: what could not be removed is removed the next time."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(lock.with_suffix(""))
    lock.unlink()


def _lock_of(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}{LOCK}")
