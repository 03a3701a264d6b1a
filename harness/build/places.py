# SPDX-License-Identifier: MIT
"""Directories in which make goes on where it left off: of each key as many as are used at a time.

``<key>-<n>/`` is one, ``<key>-<n>.lock`` is locked by who uses it and changed last when it was
claimed.  With more than ``most`` of them, those that nobody has used for longest go.
"""

import os
import shutil
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from harness.build.cache import host_errors
from harness.build.unused import unused
from harness.config import resources
from harness.files import busy, hold


@dataclass(frozen=True, slots=True)
class Places:
    """Such directories, of one kind."""

    name: str
    """The directory's in the cache that they lie in."""
    most: int
    """Directories that are kept."""

    def claim(self, key: str) -> tuple[int, Path]:
        """The first directory of the key that nobody uses, and the lock, which is to be closed.

        HostError when the disk is full.
        """
        base = resources.cache_directory() / self.name
        with host_errors(base):
            base.mkdir(parents=True, exist_ok=True)
            for number in count():
                directory = base / f"{key}-{number}"
                path = Path(f"{directory}.lock")
                with suppress(BlockingIOError):
                    lock = hold(path, busy)
                    break
            try:
                os.utime(lock)
                if not directory.is_dir():
                    directory.mkdir()
                    self._prune(base)
            except BaseException:
                os.close(lock)
                raise
            return lock, directory

    def _prune(self, base: Path) -> None:
        with suppress(OSError):
            used = {path: path.stat().st_mtime for path in base.glob("*.lock")}
            for path in unused(used, self.most):
                with suppress(OSError):
                    _remove(path)


def _remove(path: Path) -> None:
    lock = hold(path, busy)
    try:
        shutil.rmtree(path.with_suffix(""), ignore_errors=True)
        path.unlink()
    finally:
        os.close(lock)
