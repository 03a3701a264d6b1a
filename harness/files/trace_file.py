# SPDX-License-Identifier: MIT
"""Opening a trace.dat that the user names."""

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import FormatError, UsageError
from harness.trace import TraceDatReader


@contextmanager
def trace_file(file: Path) -> Iterator[TraceDatReader]:
    """A reader of ``file``; errors in its contents are reported with its name."""
    try:
        # Opening a FIFO would wait for a writer.
        if not stat.S_ISREG(file.stat().st_mode):
            raise UsageError(f"{file} is not a file that can hold a trace")
        stream = file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
    with stream:
        try:
            try:
                reader = TraceDatReader(stream)
            except OSError as error:
                raise UsageError(f"{file} cannot be read: {error.strerror}") from error
            yield reader
        except FormatError as error:
            raise FormatError(f"{file}: {error.message}", error.advice, error.evidence) from error
