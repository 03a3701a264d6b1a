# SPDX-License-Identifier: MIT
"""Reads numbers and texts from an untrusted file, within its size."""

import struct
from typing import BinaryIO

from harness.errors import FormatError
from harness.units import ByteOrder, escape

MAX_NAME = 256
_BROKEN = "The file is damaged, or its recording was cut short."


class BinaryReader:
    """Reads a seekable binary stream; a `FormatError` names the item and its offset.

    The caller sets ``byteorder`` once it is known.  ``size`` is that of the file.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.size = stream.seek(0, 2)
        stream.seek(0)
        self.byteorder: ByteOrder = "little"

    @property
    def order(self) -> str:
        """The byte order as `struct` writes it."""
        return ">" if self.byteorder == "big" else "<"

    def take(self, length: int, what: str) -> bytes:
        """The next ``length`` bytes."""
        position = self._stream.tell()
        if length > self.size - position:
            raise self.error(f"{what} has {length} bytes, more than the rest of the file", position)
        data = self._stream.read(length)
        if len(data) != length:
            raise self.error(f"{what} is cut short", position)
        return data

    def at(self, position: int, length: int, what: str) -> bytes:
        """``length`` bytes at ``position``."""
        self._stream.seek(position)
        return self.take(length, what)

    def u16(self, what: str) -> int:
        """An unsigned number of two bytes."""
        return int(struct.unpack(f"{self.order}H", self.take(2, what))[0])

    def u32(self, what: str) -> int:
        """An unsigned number of four bytes."""
        return int(struct.unpack(f"{self.order}I", self.take(4, what))[0])

    def u64(self, what: str) -> int:
        """An unsigned number of eight bytes."""
        return int(struct.unpack(f"{self.order}Q", self.take(8, what))[0])

    def text(self, length: int, what: str) -> str:
        """A text of known length, not escaped."""
        return decode_text(self.take(length, what))

    def name(self, what: str) -> str:
        """A short NUL-terminated text, escaped."""
        position = self._stream.tell()
        data, end, _ = self._stream.read(MAX_NAME).partition(b"\0")
        if not end:
            raise self.error(f"the {what} does not end", position)
        self._stream.seek(position + len(data) + 1)
        return escape(decode_text(data), MAX_NAME)

    def expect(self, expected: bytes) -> None:
        """Read ``expected``; `FormatError` for anything else."""
        position = self._stream.tell()
        found = self.take(len(expected), shown(expected))
        if found != expected:
            raise self.error(f"{shown(expected)} was expected, found {shown(found)}", position)

    def error(self, message: str, position: int | None = None) -> FormatError:
        """An error with the offset in the file."""
        where = self._stream.tell() if position is None else position
        return FormatError(f"trace.dat, at byte {where}: {message}", _BROKEN)


def decode_text(data: bytes) -> str:
    """Text up to the first NUL; invalid UTF-8 is escaped."""
    return data.split(b"\0", 1)[0].decode("utf-8", "backslashreplace")


def shown(data: bytes) -> str:
    """Bytes as printable text."""
    return repr(data.rstrip(b"\0 ").decode("ascii", "backslashreplace"))
