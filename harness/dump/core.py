# SPDX-License-Identifier: MIT
"""An ELF core of a machine, as QEMU's ``dump-guest-memory`` writes it without paging.

Its segments are physical memory.  It has a note ``NT_PRSTATUS`` for each CPU.
"""

import mmap
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, cast

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from harness.errors import FormatError, GuestError, UsageError

_ADVICE = (
    "Give a file of QEMU's dump-guest-memory: an ELF core, without -p, neither kdump nor zipped."
)

MAX_SEGMENTS = 1 << 14
MAX_CPUS = 4096
MAX_STATUS = 4096
"""Bytes of the registers of a CPU."""


@dataclass(frozen=True, slots=True)
class _Part:
    """Physical memory that is in the file."""

    address: int
    offset: int
    size: int


class ElfCore:
    """A memory dump; its file stays open until `close`.

    Raises:
        UsageError: the file cannot be read.
        FormatError: it is not the core of a machine.
    """

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        try:
            with path.open("rb") as stream:
                self._memory = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise FormatError(f"{self.name} is empty") from error
        except OSError as error:
            raise UsageError(f"{self.name} cannot be read: {error.strerror}") from error
        try:
            self._read_headers()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _read_headers(self) -> None:
        if self._memory[:4] != b"\x7fELF":
            raise FormatError(f"{self.name} is not an ELF file", _ADVICE)
        try:
            # A map reads and seeks like a stream.
            file: Any = ELFFile(cast(IO[bytes], self._memory))
            if file.header["e_type"] != "ET_CORE":
                raise FormatError(f"{self.name} is not a memory dump", _ADVICE)
            self.bits: int = file.elfclass
            self.machine: str | int = file.header["e_machine"]
            self._parts = sorted(self._segments(file), key=lambda part: part.address)
            self.cpus = self._statuses(file)
        except (ELFError, ConstructError, ValueError, OverflowError, AttributeError) as error:
            raise FormatError(f"{self.name} is damaged: {error}", _ADVICE) from error
        if not self._parts:
            raise FormatError(f"{self.name} has no memory in it", _ADVICE)
        self._starts = [part.address for part in self._parts]

    def _segments(self, file: Any) -> Iterator[_Part]:
        if file.num_segments() > MAX_SEGMENTS:
            raise FormatError(f"{self.name} has {file.num_segments()} segments")
        for segment in file.iter_segments("PT_LOAD"):
            offset, size = segment["p_offset"], segment["p_filesz"]
            size = min(size, len(self._memory) - offset)
            if size > 0:
                yield _Part(segment["p_paddr"], offset, size)

    def _statuses(self, file: Any) -> list[bytes]:
        found: list[bytes] = []
        for segment in file.iter_segments("PT_NOTE"):
            for note in segment.iter_notes():
                if note["n_type"] == "NT_PRSTATUS" and note["n_descsz"] <= MAX_STATUS:
                    found.append(bytes(note["n_descdata"]))
                if len(found) > MAX_CPUS:
                    raise FormatError(f"{self.name} has more than {MAX_CPUS} CPUs")
        if not found:
            raise FormatError(f"{self.name} has the registers of no CPU", _ADVICE)
        return found

    def read(self, address: int, size: int) -> bytes:
        """Physical memory; GuestError if the dump does not have it."""
        part = self._parts[max(0, bisect_right(self._starts, address) - 1)]
        begin = address - part.address
        if begin < 0 or begin + size > part.size:
            raise GuestError(f"{self.name} does not have the {size} bytes at {address:#x}")
        return self._memory[part.offset + begin : part.offset + begin + size]

    def find(self, text: bytes) -> Iterator[int]:
        """The physical addresses at which the memory has these bytes."""
        for part in self._parts:
            at, end = part.offset, part.offset + part.size
            while (at := self._memory.find(text, at, end)) >= 0:
                yield part.address + at - part.offset
                at += 1
