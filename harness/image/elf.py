# SPDX-License-Identifier: MIT
"""A reader of the few parts of an ELF file that tracing needs, straight from its bytes.

Not a general ELF library: it reads headers, one symbol table, relocations and notes, in one pass
each and without a look at debug information, so that opening a guest takes milliseconds.  Every
offset and count of the file is checked before use; a file that lies gets a FormatError.

Layouts: System V ABI, chapter 4 and 5; the split ``r_info`` of 64-bit MIPS: MIPS 64-bit ELF object
file specification, 2.9.1.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from harness.errors import FormatError
from harness.units import ByteOrder

ET_EXEC = 2
PT_LOAD = 1
SHT_SYMTAB, SHT_RELA, SHT_NOTE, SHT_REL = 2, 4, 7, 9
SHF_ALLOC, SHF_EXECINSTR = 2, 4
SHN_UNDEF = 0
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_FUNC, STT_SECTION, STT_FILE = 2, 3, 4
NT_GNU_BUILD_ID = 3

_NAME_LIMIT = 4096


@dataclass(frozen=True, slots=True)
class Section:
    """One section header; ``address`` is where it lies in the guest's memory."""

    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int

    @property
    def executable(self) -> bool:
        """Whether it holds instructions that are loaded."""
        return self.flags & (SHF_ALLOC | SHF_EXECINSTR) == SHF_ALLOC | SHF_EXECINSTR


@dataclass(frozen=True, slots=True)
class Segment:
    """The part of one ``PT_LOAD`` segment that the file holds."""

    address: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """One entry of the symbol table; ``section`` is an index, or a reserved ``SHN_*``."""

    name: str
    address: int
    size: int
    type: int
    binding: int
    section: int


class Elf:
    """An ELF file of 32 or 64 bits in either byte order; ``name`` is for messages."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        if data[:4] != b"\x7fELF":
            raise FormatError(f"{name} is not an ELF file")
        ident = data[4:6]
        if len(data) < 52 or ident[0] not in (1, 2) or ident[1] not in (1, 2):
            raise self._broken("its header is damaged")
        self.bits = 32 * ident[0]
        self.byteorder: ByteOrder = "little" if ident[1] == 1 else "big"
        self._order = "<" if ident[1] == 1 else ">"
        word = "I" if self.bits == 32 else "Q"
        header = self._unpack(f"HH4x3{word}I2x4H", 16)
        self.type, self.machine, self.entry, segments, sections, self.flags = header[:6]
        self._program_headers = segments, *header[6:8]
        self._section_headers = sections, *header[8:10]

    @cached_property
    def sections(self) -> list[Section]:
        """All section headers, in the file's order."""
        offset, stride, count = self._section_headers
        form = "4xI" + ("4I2I" if self.bits == 32 else "4Q2I")
        rows = self._table(form, offset, stride, count, "section headers")
        return [
            Section(kind, flags, address, start, size, link, info)
            for kind, flags, address, start, size, link, info in rows
        ]

    @cached_property
    def segments(self) -> list[Segment]:
        """The loaded segments that have bytes in the file, by address."""
        offset, stride, count = self._program_headers
        form = "3I4xI" if self.bits == 32 else "I4xQQ8xQ"
        found = [
            Segment(address, start, size)
            for kind, start, address, size in self._table(
                form, offset, stride, count, "program headers"
            )
            if kind == PT_LOAD and size
        ]
        for segment in found:
            self._check(segment.offset, segment.size, "a segment")
        return sorted(found, key=lambda segment: segment.address)

    @cached_property
    def symtab(self) -> int:
        """The index of the section that is the symbol table; FormatError when stripped."""
        for index, section in enumerate(self.sections):
            if section.type == SHT_SYMTAB:
                return index
        raise FormatError(f"{self.name} has no symbol table", "Do not strip the guest.")

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The whole symbol table in the file's order, undefined symbols included.

        Names are fit to print: what is not printable ASCII is escaped.
        """
        table = self.sections[self.symtab]
        if table.link >= len(self.sections):
            raise self._broken("its symbol table names no string table")
        names = self.sections[table.link]
        self._check(names.offset, names.size, "the string table")
        end = names.offset + names.size
        find, data = self.data.find, self.data
        symbols = []
        wide = self.bits == 64
        for row in self._rows("IBxHQQ" if wide else "IIIBxH", table, "symbols"):
            if wide:
                name, info, section, value, size = row
            else:
                name, value, size, info, section = row
            start = names.offset + name
            stop = find(b"\0", start, min(end, start + _NAME_LIMIT))
            if stop < 0:
                raise self._broken("a symbol's name is not in the string table")
            text = data[start:stop].decode("ascii", "backslashreplace")
            if not text.isprintable():
                text = text.encode("unicode_escape").decode()
            symbols.append(Symbol(text, value, size, info & 15, info >> 4, section))
        return symbols

    def relocations(self, composed: bool) -> Iterator[tuple[int, int, int]]:
        """Each relocation of a loaded, executable section as (offset, symbol index, type).

        ``composed`` says that those of 64-bit files compose up to three types; the type is then
        the first one.
        """
        tables = [s for s in self.sections if s.type in (SHT_REL, SHT_RELA)]
        if sum(table.size for table in tables) > len(self.data):
            raise self._broken("its relocations are larger than the file")
        for table in tables:
            if table.info >= len(self.sections) or not self.sections[table.info].executable:
                continue
            if table.link != self.symtab:
                raise self._broken("relocations refer to another symbol table")
            addend = table.type == SHT_RELA
            if self.bits == 32:
                for offset, info in self._rows("II" + "4x" * addend, table, "relocations"):
                    yield offset, info >> 8, info & 0xFF
            elif composed:
                for offset, symbol, kind in self._rows(
                    "QI3xB" + "8x" * addend, table, "relocations"
                ):
                    yield offset, symbol, kind
            else:
                for offset, info in self._rows("QQ" + "8x" * addend, table, "relocations"):
                    yield offset, info >> 32, info & 0xFFFFFFFF

    def segment_at(self, address: int) -> Segment | None:
        """The loaded segment of which the file holds the byte at ``address``."""
        index = bisect_right(self._segment_starts, address) - 1
        if index < 0:
            return None
        segment = self.segments[index]
        return segment if address - segment.address < segment.size else None

    @cached_property
    def _segment_starts(self) -> list[int]:
        return [segment.address for segment in self.segments]

    def build_id(self) -> tuple[int, bytes] | None:
        """Address and bytes of the linker's build id; None when there is none in memory."""
        for section in self.sections:
            if section.type == SHT_NOTE and section.flags & SHF_ALLOC:
                self._check(section.offset, section.size, "a note")
                found = self._find_build_id(section)
                if found is not None:
                    return found
        return None

    def _find_build_id(self, section: Section) -> tuple[int, bytes] | None:
        note, end = section.offset, section.offset + section.size
        while note + 12 <= end:
            name_size, size, kind = self._unpack("3I", note)
            name = note + 12
            content = name + (name_size + 3) // 4 * 4
            following = content + (size + 3) // 4 * 4
            if content + size > end:
                raise self._broken("a note is longer than its section")
            if kind == NT_GNU_BUILD_ID and self.data[name : name + name_size] == b"GNU\0":
                address = section.address + content - section.offset
                return address, self.data[content : content + size]
            note = following
        return None

    def _rows(self, form: str, table: Section, what: str) -> Iterator[tuple[int, ...]]:
        layout = struct.Struct(self._order + form)
        self._check(table.offset, table.size, what)
        count = table.size // layout.size
        return layout.iter_unpack(
            memoryview(self.data)[table.offset : table.offset + count * layout.size]
        )

    def _table(
        self, form: str, offset: int, stride: int, count: int, what: str
    ) -> Iterator[tuple[int, ...]]:
        layout = struct.Struct(self._order + form)
        if count == 0:
            return
        if stride < layout.size:
            raise self._broken(f"its {what} are too short")
        self._check(offset, stride * count, what)
        for index in range(count):
            yield layout.unpack_from(self.data, offset + index * stride)

    def _unpack(self, form: str, offset: int) -> tuple[int, ...]:
        layout = struct.Struct(self._order + form)
        self._check(offset, layout.size, "a header")
        return layout.unpack_from(self.data, offset)

    def _check(self, offset: int, size: int, what: str) -> None:
        if offset + size > len(self.data):
            raise self._broken(f"{what} at offset {offset} goes beyond its end")

    def _broken(self, what: str) -> FormatError:
        return FormatError(f"{self.name} is a damaged ELF file: {what}")
