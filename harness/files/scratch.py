# SPDX-License-Identifier: MIT
"""Scratch directories, removed by their owner, or after its death by the next process.

``harness-<digits>.lock`` is locked from before ``harness-<digits>`` is made until it is removed.
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
    """A new directory of mode 0700, with a path short enough for unix sockets.

    It is made in ``$XDG_RUNTIME_DIR`` or the directory of temporary files, and removed by
    ``close``.  HostError if none can be made.
    """

    def __init__(self, base: Path | None = None) -> None:
        """Make it in ``base`` if that is given; OSError if that fails."""
        self.path, self._lock = _make() if base is None else _make_in(base)

    def close(self) -> None:
        """Remove the directory and its contents; harmless if already removed."""
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
    """Remove directories of this user whose owners were killed."""
    sweep(base, _OURS, _remove)


def _remove(lock: Path) -> None:
    """Remove the lock last: on failure the next process tries again."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(lock.with_suffix(""))
    lock.unlink()


def _lock_of(directory: Path) -> Path:
    return directory.with_name(f"{directory.name}{LOCK}")
