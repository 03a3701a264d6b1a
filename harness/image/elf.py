# SPDX-License-Identifier: MIT
"""An ELF file, read by pyelftools.

Its dictionaries become our types here, any exception over a damaged file becomes a FormatError, and
its work is limited by the size of the file.  compile_units.py, lines.py and dwarf.py read debug
information.
"""

import io
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from harness.errors import FormatError, HarnessError, HostError
from harness.image.compile_units import CompileUnit, CompileUnits
from harness.image.lines import SourceLine, SourceLines
from harness.image.symbol_table import Symbol, read_symbols
from harness.units import ByteOrder, align_up, escape

_SHF_ALLOC, _SHF_EXECINSTR, _SHF_COMPRESSED = 2, 4, 0x800

_LIMIT = 4096  # bytes of a name, and of one read


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of a ``PT_LOAD`` segment that is in the file."""

    address: int
    offset: int
    size: int


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

    def unit(self, address: int) -> CompileUnit | None:
        """The compilation unit of an instruction; see `harness.image.compile_units`."""
        with self._reading("its debug information"):
            return self._units.at(address)

    @cached_property
    def _units(self) -> CompileUnits:
        return CompileUnits(self.data)

    def source_line(self, address: int) -> SourceLine | None:
        """The source line of an instruction; see `harness.image.lines`."""
        with self._reading("its line numbers"):
            return self._lines.at(address)

    def inlined_calls(self, address: int) -> list[SourceLine]:
        """Where the inline functions are called that an instruction is in, innermost first."""
        with self._reading("its debug information"):
            return self._lines.calls(address)

    @cached_property
    def _lines(self) -> SourceLines:
        return SourceLines(self.data)

    @cached_property
    def debug_headers(self) -> dict[str, Any]:
        """The headers of the DWARF sections by name; errors as of `debug_sections`."""
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
        return headers

    @cached_property
    def debug_sections(self) -> dict[str, bytes]:
        """The DWARF sections by name; FormatError if there are none, or if they are compressed."""
        return {
            name: self.data[header["sh_offset"] : header["sh_offset"] + header["sh_size"]]
            for name, header in self.debug_headers.items()
            if header["sh_type"] != "SHT_NOBITS"
        }

    @cached_property
    def segments(self) -> list[Segment]:
        """The loaded segments with contents in the file, by address."""
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
        """The symbol table in the file's order, with undefined symbols.

        Names are printable: other characters than printable ASCII are escaped.  FormatError for a
        stripped file.
        """
        table = self._sections[self._symtab]
        with self._reading("its symbol table"):
            return list(
                read_symbols(
                    self._content(table),
                    self._content(table.stringtable),
                    entry_size=table["sh_entsize"],
                    bits=self.bits,
                    byteorder=self.byteorder,
                )
            )

    def relocations(self) -> list[tuple[int, int, int]]:
        """The relocations of loaded executable sections as (offset, symbol index, type).

        64-bit MIPS combines up to three types; the type is the first.
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
        """The loaded segment with contents at ``address``."""
        index = bisect_right(self._segment_starts, address) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        return segment if address - segment.address < segment.size else None

    def build_id(self) -> tuple[int, bytes] | None:
        """Address and bytes of the build id; None if it is not in memory."""
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

    def _content(self, section: Any) -> bytes:
        start, size = section["sh_offset"], section["sh_size"]
        if start + size > len(self.data):
            raise self._broken(f"a section at offset {start} goes beyond its end")
        return self.data[start : start + size]

    def _build_id_of(self, section: Any, note: Any) -> tuple[int, bytes]:
        size: int = note["n_descsz"]
        content = note["n_offset"] + note["n_size"] - align_up(size, 4) - section["sh_offset"]
        if content + size > section["sh_size"]:
            raise self._broken("a note is longer than its section")
        return section["sh_addr"] + content, note["n_descdata"]

    @contextmanager
    def _reading(self, part: str) -> Iterator[None]:
        """Turn any exception of pyelftools over a damaged ``part`` into a FormatError.

        It checks little: besides its own exceptions come those of its parser, of struct, streams,
        lists and dictionaries.
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
    """The bytes of a file; limits the number of reads to their number, and the size of each.

    A valid file needs fewer reads.  Overlapping tables, or tables that name one long string many
    times, need more.
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
    """The file as opened by pyelftools, and its numbers of machines by name."""
    # Imported late, so that a host without it gets a plain error message.
    try:
        from elftools.elf.elffile import ELFFile
        from elftools.elf.enums import ENUM_E_MACHINE
    except ModuleNotFoundError as error:
        raise HostError(
            "The Python package pyelftools is not installed.",
            "Install it with pip, or take a Python that has it: make PYTHON=.venv/bin/python.",
        ) from error
    return ELFFile(_Stream(data)), dict(ENUM_E_MACHINE)
