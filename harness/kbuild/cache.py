# SPDX-License-Identifier: MIT
"""The cache of built files, by key: published atomically, checked when used, limited in number.

``$XDG_CACHE_HOME/ftrace-harness/guests/<key>/`` holds ``vmlinux``, its modules (``<name>.ko``),
and ``vmlinux.sha256`` with the digests of them all; so do ``mutants/<key>/``, and
``kernels/<key>/`` holds ``kernel.a``.  ``<key>.lock`` is locked by a builder and its child
processes, and ``<key>.build`` is its work directory; leftovers of killed builders are removed at
the next use.  The mtime of an entry is its last use: beyond ``most`` entries the least recently
used are evicted.  Everything may be deleted at any time when nothing builds.
"""

import hashlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from harness.config import resources
from harness.errors import HostError, UsageError
from harness.files import busy, hold, sweep
from harness.units import escape


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache of one kind of files."""

    name: str
    """The directory's."""
    result: str
    """The file that each entry has; others may lie next to it."""
    most: int
    """The number of entries beyond which the least recently used are evicted."""
    in_use: float = 24 * 3600.0
    """The minimum seconds from the last use of an entry to its eviction: it may be in use."""

    @property
    def directory(self) -> Path:
        """The directory of all entries; it may not exist yet."""
        return resources.cache_directory() / self.name

    @property
    def _digests(self) -> str:
        return f"{self.result}.sha256"

    def work_directory(self, key: str) -> Path:
        """The work directory of a key."""
        return self.directory / f"{key}.build"

    def find(self, key: str) -> Path | None:
        """The result of a key, if it exists and its digest is that of the published file."""
        entry = self.directory / key
        with suppress(OSError):  # it may be another user's, or missing
            os.utime(entry)
        try:
            lines = (entry / self._digests).read_text(errors="replace").splitlines()
            sound = all(
                line == _digest_line(entry / line.rpartition(" ")[2].rpartition("/")[2])
                for line in lines
            )
        except OSError:
            return None
        return entry / self.result if sound and lines else None

    def obtain(
        self,
        key: str,
        current_key: Callable[[], str],
        waiting: Callable[[], None],
        build: Callable[[Path, int], Sequence[Path]],
    ) -> Path:
        """The result of a key; if it does not exist, ``build`` makes it.

        ``build`` gets a work directory and the lock, for its child processes, and returns the files
        to publish; ``current_key`` returns the key of the sources when it is done.  See `locked`
        for ``waiting``.
        """
        _sweep_once(self)
        if found := self.find(key):
            return found
        with self.locked(key, waiting) as (work, lock):
            if found := self.find(key):
                return found
            files = build(work, lock)
            if current_key() != key:
                raise UsageError("The sources changed while they were compiled.", "Build again.")
            return self.publish(key, files)

    @contextmanager
    def locked(self, key: str, waiting: Callable[[], None]) -> Iterator[tuple[Path, int]]:
        """Lock a key; yields an empty work directory, which is removed at the end, and the lock.

        Processes that work in the directory must inherit the lock, so that it is held until the
        last of them ends.

        ``waiting`` is called if another builder holds the lock.  The wait needs no deadline: a
        build has one, and a dead builder releases the lock.
        """
        work = self.work_directory(key)
        with host_errors(self.directory):
            self.directory.mkdir(parents=True, exist_ok=True)
            lock = hold(self.directory / f"{key}.lock", waiting)
        try:
            with host_errors(self.directory):
                # A killed builder leaves its work directory.
                if work.exists():
                    shutil.rmtree(work)
                work.mkdir()
            yield work, lock
        finally:
            shutil.rmtree(work, ignore_errors=True)
            os.close(lock)

    def publish(self, key: str, files: Sequence[Path]) -> Path:
        """Move finished files, the result among them, into the cache; the key must be locked.

        Returns the path of the result; the other files lie next to it.
        """
        entry = self.directory / key
        with host_errors(self.directory):
            staged = self.work_directory(key) / "publish"
            staged.mkdir()
            published = [file.rename(staged / file.name) for file in files]
            for file in published:
                file.chmod(0o444)  # gdb and users open it; it must not be edited by accident
            lines = "".join(f"{_digest_line(file)}\n" for file in published)
            (staged / self._digests).write_text(lines)
            if entry.exists():
                shutil.rmtree(entry)  # damaged, or `find` would have found it
            staged.rename(entry)
        self.prune(key)
        return entry / self.result

    def prune(self, keep: str) -> None:
        """Evict the least recently used entries beyond ``most``; never ``keep``."""
        with suppress(OSError):
            used = {
                entry.name: entry.stat().st_mtime
                for entry in os.scandir(self.directory)
                if entry.is_dir() and "." not in entry.name and entry.name != keep
            }
            excess = max(0, len(used) - self.most + 1)
            for key in sorted(used, key=lambda one: used[one])[:excess]:
                if used[key] >= time.time() - self.in_use:
                    break
                with suppress(OSError):
                    self.remove(key, used[key])

    def remove(self, key: str, used: float) -> None:
        """Remove an entry, unless it is being built or was used since ``used``.

        OSError if so.
        """
        path = self.directory / f"{key}.lock"
        lock = hold(path, busy)
        try:
            entry, going = self.directory / key, self.work_directory(key)
            entry.rename(going)
            # `find` touches it first; from here on it is not found.
            if going.stat().st_mtime == used:
                shutil.rmtree(going)
                path.unlink()
            else:
                going.rename(entry)
        finally:
            os.close(lock)


@cache
def _sweep_once(swept: Cache) -> None:
    """Remove the work directories of killed builders, and locks without an entry."""

    def remove(lock: Path) -> None:
        key = lock.stem
        with suppress(FileNotFoundError):
            shutil.rmtree(swept.work_directory(key))
        if not (swept.directory / key).exists():
            lock.unlink()

    with suppress(OSError):
        names = {path.name for path in swept.directory.iterdir()}
        builds = {Path(name).stem for name in names if name.endswith(".build")}
        locks = {Path(name).stem for name in names if name.endswith(".lock")}
        left = builds | (locks - names)
        if left:
            pattern = re.compile("|".join(re.escape(f"{key}.lock") for key in left))
            sweep(swept.directory, pattern, remove)


GUESTS = Cache("guests", "vmlinux", 2000)
"""A guest takes some 150 KB."""

MUTANTS = Cache("mutants", "vmlinux", 200, in_use=3600.0)
"""Mutants: there are thousands, and few are used twice."""

KERNELS = Cache("kernels", "kernel.a", 300)
"""The part that guests of one config, with the same features and flags, share; about 1 MB each."""


def _digest_line(file: Path) -> str:
    """A line in the format of sha256sum."""
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}"


@contextmanager
def host_errors(directory: Path) -> Iterator[None]:
    """Turn an OSError in the cache into a HostError."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"Built guests cannot be kept in {escape(str(directory), 500)}: {error.strerror}.",
            "Make room or give permission there, or set XDG_CACHE_HOME to another directory.",
        ) from error
