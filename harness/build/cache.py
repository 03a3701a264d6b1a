# SPDX-License-Identifier: MIT
"""Built guests by key: published whole, checked when used, one builder a key, so many at most.

``$XDG_CACHE_HOME/ftrace-harness/guests/<key>/`` holds ``vmlinux``, its modules (``<name>.ko``),
and ``vmlinux.sha256`` with the digests of them all;
``<key>.lock`` is locked by a builder, and ``<key>.build`` is where it works.  The directory's time
of change is when a guest was last used: with more than `MOST` of them, those that nobody has used
for longest go.  Everything may be deleted at any time when nothing builds.
"""

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import HostError
from harness.units import escape

IMAGE = "vmlinux"
DIGESTS = "vmlinux.sha256"

MOST = 2000
"""Guests that are kept; one takes some 150 KB."""

IN_USE = 24 * 3600.0
"""Seconds that a guest is not removed after it was last asked for: it may run, with gdb on it."""


def cache_directory() -> Path:
    """Where guests are kept; not necessarily there yet."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The base directory specification has relative paths ignored.
    root = Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()
    return root / "ftrace-harness" / "guests"


def find(key: str) -> Path | None:
    """The guest of that key, when it is there and is, byte by byte, what was published."""
    entry = cache_directory() / key
    with suppress(OSError):  # it may be another user's, or not there
        os.utime(entry)
    try:
        lines = (entry / DIGESTS).read_text(errors="replace").splitlines()
        sound = all(
            line == _digest_line(entry / line.rpartition(" ")[2].rpartition("/")[2])
            for line in lines
        )
    except OSError:
        return None
    return entry / IMAGE if sound and lines else None


def work_directory(key: str) -> Path:
    """Where the guest of that key is built."""
    return cache_directory() / f"{key}.build"


@contextmanager
def locked(key: str, waiting: Callable[[], None]) -> Iterator[Path]:
    """Be the only builder of a key; gives an empty work directory, which is removed at the end.

    ``waiting`` is called when another builder has to be waited for.  That wait needs no deadline
    of its own: a build has one, and a builder that dies leaves the lock.
    """
    directory = cache_directory()
    work = work_directory(key)
    with host_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
        lock = _lock(directory / f"{key}.lock", waiting)
    try:
        with host_errors(directory):
            # A builder that was killed leaves its work behind.
            if work.exists():
                shutil.rmtree(work)
            work.mkdir()
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(lock)


def publish(key: str, image: Path, modules: Sequence[Path] = ()) -> Path:
    """Move a finished image and its modules into the cache, under the lock of the key.

    Gives the image's path there; the modules lie beside it.
    """
    entry = cache_directory() / key
    with host_errors(entry.parent):
        staged = image.parent / "publish"
        staged.mkdir()
        files = [file.rename(staged / file.name) for file in (image, *modules)]
        for file in files:
            file.chmod(0o444)  # gdb and users open it; nobody edits it by accident
        (staged / DIGESTS).write_text("".join(f"{_digest_line(file)}\n" for file in files))
        if entry.exists():
            shutil.rmtree(entry)  # damaged, or it would have been found
        staged.rename(entry)
    prune(key)
    return entry / IMAGE


def prune(keep: str) -> None:
    """Remove the guests that nobody has used for longest, beyond `MOST`; never ``keep``."""
    directory = cache_directory()
    with suppress(OSError):
        used = {
            entry.name: entry.stat().st_mtime
            for entry in os.scandir(directory)
            if entry.is_dir() and "." not in entry.name and entry.name != keep
        }
        oldest = sorted(used, key=lambda key: used[key])[: max(0, len(used) + 1 - MOST)]
        for key in oldest:
            if used[key] < time.time() - IN_USE:
                with suppress(OSError):
                    _remove(directory, key, used[key])


def _remove(directory: Path, key: str, used: float) -> None:
    """Remove a guest, unless it is being built or was asked for meanwhile.  OSError says so."""

    def busy() -> None:
        raise BlockingIOError

    path = directory / f"{key}.lock"
    lock = _lock(path, busy)
    try:
        entry, going = directory / key, work_directory(key)
        entry.rename(going)
        # Who asks for it touches it first: from here on it is not found.
        if going.stat().st_mtime == used:
            shutil.rmtree(going)
            path.unlink()
        else:
            going.rename(entry)
    finally:
        os.close(lock)


def _lock(path: Path, waiting: Callable[[], None]) -> int:
    """The file's descriptor, locked; ``waiting`` is called when somebody else has it."""
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


def _digest_line(file: Path) -> str:
    """As sha256sum writes it."""
    return f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}"


@contextmanager
def host_errors(directory: Path) -> Iterator[None]:
    """Turn what the file system refuses in the cache into a HostError."""
    try:
        yield
    except OSError as error:
        raise HostError(
            f"Built guests cannot be kept in {escape(str(directory), 500)}: {error.strerror}.",
            "Make room or give permission there, or set XDG_CACHE_HOME to another directory.",
        ) from error
