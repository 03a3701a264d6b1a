# SPDX-License-Identifier: MIT
"""Built guests by key: published whole, checked when used, one builder a key.

``$XDG_CACHE_HOME/ftrace-harness/guests/<key>/`` holds ``vmlinux``, its modules (``<name>.ko``),
and ``vmlinux.sha256`` with the digests of them all;
``<key>.lock`` is locked by a builder, and ``<key>.build`` is where it works.  Everything may be
deleted at any time when nothing builds.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.errors import HostError
from harness.units import escape

IMAGE = "vmlinux"
DIGESTS = "vmlinux.sha256"


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
    return entry / IMAGE


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
