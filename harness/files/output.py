# SPDX-License-Identifier: MIT
"""An output file that is either complete under its name or not there at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from harness.errors import HostError, UsageError


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A writable stream that appears as ``path`` when the block ends well, and never otherwise.

    Raises:
        UsageError: the file cannot be made there.
        HostError: the disk is full, or fails.
    """
    try:
        # A link stays one: what it points to is written.
        target = path.resolve()
        if path.is_dir() or (target.exists() and not target.is_file()):
            raise UsageError(f"{path} is not a regular file", "Choose another file.")
        part = target.with_name(f".{target.name}.{os.getpid()}")
        stream = part.open("w+b")
    except (OSError, RuntimeError) as error:
        raise UsageError(
            f"{path} cannot be written: {getattr(error, 'strerror', error)}",
            "Choose another file.",
        ) from error
    try:
        with stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(target)
    except OSError as error:
        advice = "Make room, or choose another place." if _full(error) else ""
        raise HostError(f"{path} cannot be written: {error.strerror}", advice) from error
    finally:
        part.unlink(missing_ok=True)


def _full(error: OSError) -> bool:
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
