# SPDX-License-Identifier: MIT
"""Built guests by key: published whole, checked when used, one builder a key.

``$XDG_CACHE_HOME/ftrace-harness/guests/<key>/`` holds ``vmlinux`` and ``vmlinux.sha256``;
``<key>.lock`` is locked by a builder, and ``<key>.build`` is where it works.  Everything may be
deleted at any time when nothing builds.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import HostError
from harness.units import escape

IMAGE = "vmlinux"
DIGEST = "vmlinux.sha256"


def cache_directory() -> Path:
    """Where guests are kept; not necessarily there yet."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    # The base directory specification has relative paths ignored.
    root = Path(base) if Path(base).is_absolute() else Path("~/.cache").expanduser()
    return root / "ftrace-harness" / "guests"


def find(key: str) -> Path | None:
    """The guest of that key, when it is there and is, byte by byte, what was published."""
    entry = cache_directory() / key
    try:
        expected = (entry / DIGEST).read_text(errors="replace").split()
        found = hashlib.sha256((entry / IMAGE).read_bytes()).hexdigest()
    except OSError:
        return None
    return entry / IMAGE if expected[:1] == [found] else None


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
        lock = os.open(directory / f"{key}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        with host_errors(directory):
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                waiting()
                fcntl.flock(lock, fcntl.LOCK_EX)
            # A builder that was killed leaves its work behind.
            if work.exists():
                shutil.rmtree(work)
            work.mkdir()
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
        os.close(lock)


def publish(key: str, image: Path) -> Path:
    """Move a finished image into the cache, under the lock of its key; gives its path there."""
    entry = cache_directory() / key
    with host_errors(entry.parent):
        staged = image.parent / "publish"
        staged.mkdir()
        digest = hashlib.sha256(image.read_bytes()).hexdigest()
        (staged / DIGEST).write_text(f"{digest}  {IMAGE}\n")
        image.rename(staged / IMAGE)
        (staged / IMAGE).chmod(0o444)  # gdb and users open it; nobody edits it by accident
        if entry.exists():
            shutil.rmtree(entry)  # damaged, or it would have been found
        staged.rename(entry)
    return entry / IMAGE


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
