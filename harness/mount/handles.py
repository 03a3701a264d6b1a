# SPDX-License-Identifier: MIT
"""Open files: how pieces of reads and writes become whole texts for the table of files."""

import errno
from dataclasses import dataclass

from harness.errors import HarnessError, HostError, UsageError
from harness.guest import TracingOff
from harness.tracefs import UNLIMITED, File, NoFile, Tracefs


class Busy(HostError):
    """The session's thread does something else, and does not answer."""


def errno_of(error: HarnessError) -> int:
    """The errno of an error, as of the kernel in the same case."""
    if isinstance(error, NoFile):
        return errno.ENOENT
    if isinstance(error, Busy):
        return errno.EBUSY
    if isinstance(error, TracingOff):
        return errno.EBADF
    if isinstance(error, UsageError):
        return errno.EINVAL
    return errno.ENODEV if isinstance(error, HostError) else errno.EIO


@dataclass
class Handle:
    """One open file.

    ``replaces``: the next write replaces what the file says, as after ``>``.  ``opener`` is the
    process that opened it; ``waits`` is False if it opened it with O_NONBLOCK.
    """

    path: str
    file: File
    opener: int
    replaces: bool = False
    waits: bool = True
    text: bytes | None = None
    rest: bytes = b""

    def read(self, files: Tracefs, offset: int, size: int) -> bytes:
        """A part of the file's text, which is made at the first read."""
        if self.text is None or offset == 0:
            if self.file.read is None:
                raise UsageError(f"{self.path} cannot be read")
            lines = self.file.read(files.guest)
            self.text = "".join(f"{line}\n" for line in lines).encode(errors="replace")
        return self.text[offset : offset + size]

    def write(self, files: Tracefs, data: bytes) -> None:
        """A part of what is written.

        Where a file takes any number of words, the last one may continue in the next write.
        """
        data, self.rest = self.rest + data, b""
        if self.file.most == UNLIMITED and not self.file.whole:
            cut = 1 + max(data.rfind(space) for space in b" \t\n")
            data, self.rest = data[:cut], data[cut:]
            if not data and self.rest:
                return
        append, self.replaces = not self.replaces, False
        files.write(self.path, data.decode(errors="backslashreplace"), append)

    def flush(self, files: Tracefs) -> None:
        """The end of what is written, or of a part of it: the last word is complete."""
        if self.rest:
            self.write(files, b"\n")

    def release(self, files: Tracefs) -> None:
        """The file is closed: if nothing was written, ``>`` has cleared it."""
        if self.replaces and self.file.clears:
            files.write(self.path, "", False)
