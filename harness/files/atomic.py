# SPDX-License-Identifier: MIT
"""An output file that is either complete or not there."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from harness.errors import HostError, UsageError
from harness.files.lock import hold_new, sweep

PREFIX = ".harness-"
PART = ".part"

MAX_LINKS = 40
"""Symbolic links to follow at most, as in the kernel."""

_OURS = re.compile(rf"{re.escape(PREFIX)}[0-9a-f]{{8}}{re.escape(PART)}")


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """A writable stream that is renamed to ``path`` if the block ends without an exception.

    The temporary file lies in the same directory under a random name.  It gets the mode of the file
    that it replaces.  Temporary files of killed writers are removed.

    Raises:
        UsageError: the file cannot be created.
        HostError: the disk is full or fails.
    """
    try:
        # A symbolic link stays; its target is written.
        target = _followed(path)
        descriptor, part = _make_part(path, target)
    except OSError as error:
        raise UsageError(
            f"{path} cannot be written: {error.strerror}", "Choose another file."
        ) from error
    try:
        # Locked until it is renamed, so that no other writer removes it.
        with os.fdopen(descriptor, "w+b") as stream:
            yield stream
            stream.flush()
            os.fsync(descriptor)
            part.replace(target)
    except OSError as error:
        part.unlink(missing_ok=True)
        advice = "Make room, or choose another place." if _full(error) else ""
        raise HostError(f"{path} cannot be written: {error.strerror}", advice) from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def _make_part(path: Path, target: Path) -> tuple[int, Path]:
    try:
        old = target.lstat()
    except FileNotFoundError:
        mode = None
    else:
        if not stat.S_ISREG(old.st_mode):
            raise UsageError(f"{path} is not a regular file", "Choose another file.")
        mode = stat.S_IMODE(old.st_mode) & 0o777
    sweep(target.parent, _OURS, Path.unlink)
    descriptor, part = hold_new(target.parent, PREFIX, PART, 0o666 if mode is None else 0o600)
    if mode is not None:
        os.fchmod(descriptor, mode)
    return descriptor, part


def _followed(path: Path) -> Path:
    """Follow symbolic links, but not where the kernel would not.

    See protected_symlinks in proc(5): another user's link in a sticky world-writable directory.
    """
    for _ in range(MAX_LINKS):
        try:
            link = path.lstat()
        except FileNotFoundError:
            return path
        if not stat.S_ISLNK(link.st_mode):
            return path
        directory = path.parent.stat()
        shared = stat.S_ISVTX | stat.S_IWOTH
        if directory.st_mode & shared == shared and link.st_uid not in (
            os.geteuid(),
            directory.st_uid,
        ):
            raise PermissionError(errno.EACCES, "it is another user's link")
        path = path.parent / path.readlink()
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
