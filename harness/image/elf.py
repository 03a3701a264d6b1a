# SPDX-License-Identifier: MIT
"""What tracing needs to know of an ELF file, as pyelftools reads it.

This is the border to pyelftools: here its dictionaries become types of ours, a file that lies
becomes a FormatError, whatever pyelftools raises over it, and the work that it can cause is bounded
by its size.  Debug information is left to assembly.py
and dwarf.py.
"""

import io
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.errors import FormatError, HarnessError, HostError
from harness.image.assembly import assembled
from harness.units import ByteOrder, align_up, escape

_SHF_ALLOC, _SHF_EXECINSTR, _SHF_COMPRESSED = 2, 4, 0x800

_LIMIT = 4096  # bytes of a name, and of whatever is read at once


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of one ``PT_LOAD`` segment that the file holds."""

    address: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One entry of the symbol table.

    ``type``, ``binding`` and ``section`` are the names of ELF constants (``STT_FUNC``,
    ``STB_WEAK``, ``SHN_ABS``) or numbers; a section that exists is always a number.
    """

    name: str
    address: int
    size: int
    type: str | int
    binding: str | int
    section: str | int


class Elf:
    """An ELF file of 32 or 64 bits in either byte order; ``name`` is for messages.

    ``type`` is the name of an ELF constant, as ``ET_EXEC``, or a number.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        if data[:4] != b"\x7fELF":
            raise FormatError(f"{name} is not an ELF file")
        with self._reading("its header"):
            self._file, machines = _open(data)
            header = self._file.header
            self.bits: int = self._file.elfclass
            self.byteorder: ByteOrder = "little" if self._file.little_endian else "big"
            self.type: str | int = header["e_type"]
            self.machine: int = machines.get(header["e_machine"], header["e_machine"])
            self.entry: int = header["e_entry"]
            self.flags: int = header["e_flags"]

    @cached_property
    def executable(self) -> frozenset[int]:
        """The indices of the sections that hold instructions and are loaded."""
        wanted = _SHF_ALLOC | _SHF_EXECINSTR
        return frozenset(
            index
            for index, section in enumerate(self._sections)
            if section["sh_flags"] & wanted == wanted
        )

    @cached_property
    def assembled(self) -> list[range]:
        """See `harness.image.assembly.assembled`."""
        with self._reading("its debug information"):
            return assembled(self.data)

    @cached_property
    def debug_sections(self) -> dict[str, bytes]:
        """The sections of DWARF by name; FormatError if there are none that can be read."""
        with self._reading("its list of sections"):
            headers = {
                section.name: section.header
                for section in self._sections
                if section.name.startswith(".debug_")
            }
        if not {".debug_info", ".debug_abbrev"} <= headers.keys():
            raise FormatError(
                f"{self.name} has no debug information, which says how its structures are laid out",
                "Compile all of it with -g, and do not strip it.",
            )
        if any(header["sh_flags"] & _SHF_COMPRESSED for header in headers.values()):
            raise FormatError(
                f"the debug information of {self.name} is compressed",
                "Link with -gz=none, or use objcopy --decompress-debug-sections.",
            )
        return {
            name: self.data[header["sh_offset"] : header["sh_offset"] + header["sh_size"]]
            for name, header in headers.items()
            if header["sh_type"] != "SHT_NOBITS"
        }

    @cached_property
    def segments(self) -> list[Segment]:
        """The loaded segments that have bytes in the file, by address."""
        with self._reading("its list of segments"):
            found = [
                Segment(segment["p_vaddr"], segment["p_offset"], segment["p_filesz"])
                for segment in self._file.iter_segments("PT_LOAD")
                if segment["p_filesz"]
            ]
        for segment in found:
            if segment.offset + segment.size > len(self.data):
                raise self._broken(f"a segment at offset {segment.offset} goes beyond its end")
        return sorted(found, key=lambda segment: segment.address)

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The whole symbol table in the file's order, undefined symbols included.

        Names are fit to print: what is not printable ASCII is escaped.  FormatError when the
        file is stripped.
        """
        table = self._sections[self._symtab]
        with self._reading("its symbol table"):
            return [
                Symbol(
                    self._name_of(symbol, table.stringtable["sh_size"]),
                    symbol["st_value"],
                    symbol["st_size"],
                    symbol["st_info"]["type"],
                    symbol["st_info"]["bind"],
                    symbol["st_shndx"],
                )
                for symbol in table.iter_symbols()
            ]

    def relocations(self) -> list[tuple[int, int, int]]:
        """Each relocation of a loaded, executable section as (offset, symbol index, type).

        Those of 64-bit MIPS compose up to three types; the type is then the first one.
        """
        tables = [s for s in self._sections if s["sh_type"] in ("SHT_REL", "SHT_RELA")]
        if sum(table["sh_size"] for table in tables) > len(self.data):
            raise self._broken("its relocations are larger than the file")
        found = []
        for table in tables:
            if table["sh_info"] not in self.executable:
                continue
            if table["sh_link"] != self._symtab:
                raise self._broken("relocations refer to another symbol table")
            with self._reading("a table of relocations"):
                found += [
                    (entry["r_offset"], entry["r_info_sym"], entry["r_info_type"])
                    for entry in table.iter_relocations()
                ]
        return found

    def segment_at(self, address: int) -> Segment | None:
        """The loaded segment of which the file holds the byte at ``address``."""
        index = bisect_right(self._segment_starts, address) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        return segment if address - segment.address < segment.size else None

    def build_id(self) -> tuple[int, bytes] | None:
        """Address and bytes of the linker's build id; None when there is none in memory."""
        with self._reading("a note"):
            for section in self._sections:
                if section["sh_type"] != "SHT_NOTE" or not section["sh_flags"] & _SHF_ALLOC:
                    continue
                for note in section.iter_notes():
                    if (note["n_name"], note["n_type"]) == ("GNU", "NT_GNU_BUILD_ID"):
                        return self._build_id_of(section, note)
        return None

    @cached_property
    def _sections(self) -> list[Any]:
        with self._reading("its list of sections"):
            return list(self._file.iter_sections())

    @cached_property
    def _symtab(self) -> int:
        for index, section in enumerate(self._sections):
            if section["sh_type"] == "SHT_SYMTAB":
                return index
        raise FormatError(f"{self.name} has no symbol table", "Do not strip the guest.")

    @cached_property
    def _segment_starts(self) -> list[int]:
        return [segment.address for segment in self.segments]

    def _name_of(self, symbol: Any, table_size: int) -> str:
        name: str = symbol.name
        # pyelftools looks for the end of a name as far as the file goes.
        if symbol["st_name"] + len(name) >= table_size or len(name) >= _LIMIT:
            raise self._broken("a symbol's name is not in the string table")
        text = name.encode().decode("ascii", "backslashreplace")
        return text if text.isprintable() else text.encode("unicode_escape").decode()

    def _build_id_of(self, section: Any, note: Any) -> tuple[int, bytes]:
        size: int = note["n_descsz"]
        content = note["n_offset"] + note["n_size"] - align_up(size, 4) - section["sh_offset"]
        if content + size > section["sh_size"]:
            raise self._broken("a note is longer than its section")
        return section["sh_addr"] + content, note["n_descdata"]

    @contextmanager
    def _reading(self, part: str) -> Iterator[None]:
        """Turn what pyelftools raises over a damaged ``part`` of the file into a FormatError.

        It checks little, so that a lie comes out as any exception: its own, those of its parser,
        of struct, of the stream, of a list or a dictionary.
        """
        try:
            yield
        except HarnessError:
            raise
        except Exception as error:
            detail = escape(str(error) or type(error).__name__, 200)
            raise self._broken(f"{part} is damaged ({detail})") from error

    def _broken(self, what: str) -> FormatError:
        return FormatError(f"{self.name} is a damaged ELF file: {what}")


class _Stream(io.BytesIO):
    """A file's bytes, of which pyelftools takes no more reads than there are bytes, each small.

    What an honest file holds is larger than the number of reads that it takes.  Tables that
    overlap, or that name one long string again and again, are not.
    """

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self._reads = len(data) + 1000

    def read(self, size: int | None = -1, /) -> bytes:
        self._reads -= 1
        if self._reads < 0:
            raise ValueError("it takes more work than its size can explain")
        if size is None or not 0 <= size <= _LIMIT:
            raise ValueError(f"it has a part of {size} bytes")
        return super().read(size)


def _open(data: bytes) -> tuple[Any, dict[str, int]]:
    """The file as pyelftools sees it, and the numbers of the machines it has names for."""
    # Imported late, so that a host without it is told so in a sentence.
    try:
        from elftools.elf.elffile import ELFFile
        from elftools.elf.enums import ENUM_E_MACHINE
    except ModuleNotFoundError as error:
        raise HostError(
            "The Python package pyelftools is not installed.",
            "Install it with pip, or take a Python that has it: make PYTHON=.venv/bin/python.",
        ) from error
    return ELFFile(_Stream(data)), dict(ENUM_E_MACHINE)
