# SPDX-License-Identifier: MIT
"""Synthetic ELF files: just what a test needs, and whatever lies a test wants told.

Written from the System V ABI, apart from pyelftools: what both agree on is the format.
"""

import struct
from dataclasses import dataclass, field

PROGBITS, SYMTAB, STRTAB, RELA, NOTE, NOBITS, REL = 1, 2, 3, 4, 7, 8, 9
ALLOC, EXEC = 2, 4
NOTYPE, OBJECT, FUNC, SECTION, FILE = 0, 1, 2, 3, 4
LOCAL, GLOBAL, WEAK = 0, 1, 2
MIPS, AARCH64 = 8, 183


@dataclass
class SectionDraft:
    name: str
    type: int
    flags: int
    address: int
    data: bytes
    link: int = 0
    info: int = 0
    entry_size: int = 0


@dataclass
class ElfBuilder:
    """Collects sections, symbols and relocations; ``build`` lays them out."""

    bits: int = 32
    byteorder: str = "big"
    machine: int = MIPS
    type: int = 2
    flags: int = 0
    entry: int = 0
    sections: list[SectionDraft] = field(default_factory=list)
    symbols: list[tuple[str, int, int, int, int, int]] = field(default_factory=list)
    relocations: dict[int, list[tuple[int, str, int]]] = field(default_factory=dict)
    composed: tuple[int, int, int] = (0, 0, 0)
    """The special symbol, third and second type of every relocation of 64-bit MIPS."""

    def pack(self, form: str, *values: int) -> bytes:
        return struct.pack((">" if self.byteorder == "big" else "<") + form, *values)

    def words(self, *words: int) -> bytes:
        return self.pack(f"{len(words)}I", *words)

    def longs(self, *values: int) -> bytes:
        return self.pack(f"{len(values)}{'I' if self.bits == 32 else 'Q'}", *values)

    def section(
        self,
        address: int,
        data: bytes,
        *,
        flags: int = ALLOC | EXEC,
        type: int = PROGBITS,
        name: str = "",
    ) -> int:
        """Add a section; the answer is its index in the file, which has only names given here."""
        self.sections.append(SectionDraft(name, type, flags, address, data))
        return len(self.sections)

    def symbol(
        self,
        name: str,
        address: int,
        size: int = 0,
        *,
        section: int = 1,
        type: int = NOTYPE,
        binding: int = GLOBAL,
    ) -> None:
        self.symbols.append((name, address, size, type, binding, section))

    def function(self, name: str, address: int, size: int, **rest: int) -> None:
        self.symbol(name, address, size, type=FUNC, **rest)

    def relocation(self, section: int, address: int, symbol: str, type: int) -> None:
        """``symbol`` must have been added; of several with the name, the first is meant."""
        self.relocations.setdefault(section, []).append((address, symbol, type))

    def build_id(self, address: int, content: bytes) -> None:
        """A note section with a note of somebody else in front of the build id."""
        other = self.pack("3I", 6, 5, 1) + b"Other\0\0\0" + b"12345\0\0\0"
        note = self.pack("3I", 4, len(content), 3) + b"GNU\0" + content
        self.section(address, other + note, flags=ALLOC, type=NOTE)

    def build(self) -> bytes:
        sections = [*self.sections]
        symtab = len(sections) + 1
        names = b"\0"
        row_size = 16 if self.bits == 32 else 24
        rows = bytes(row_size)
        for name, address, size, kind, binding, section in self.symbols:
            info = binding << 4 | kind
            if self.bits == 32:
                rows += self.pack("IIIBBH", len(names), address, size, info, 0, section)
            else:
                rows += self.pack("IBBHQQ", len(names), info, 0, section, address, size)
            names += name.encode() + b"\0"
        sections.append(SectionDraft(".symtab", SYMTAB, 0, 0, rows, symtab + 1, 1, row_size))
        sections.append(SectionDraft(".strtab", STRTAB, 0, 0, names))
        for target, entries in self.relocations.items():
            data = b"".join(self._relocation(*entry) for entry in entries)
            kind, size = (REL, 8) if self.bits == 32 else (RELA, 24)
            sections.append(SectionDraft(".rel", kind, 0, 0, data, symtab, target, size))
        if any(section.name for section in self.sections):
            sections.append(SectionDraft(".shstrtab", STRTAB, 0, 0, _names(sections)))
        return self._lay_out(sections)

    def _relocation(self, address: int, symbol: str, kind: int) -> bytes:
        index = [row[0] for row in self.symbols].index(symbol) + 1
        if self.bits == 32:
            return self.pack("II", address, index << 8 | kind)
        if self.machine == MIPS:
            return self.pack("QIBBBBq", address, index, *self.composed, kind, 0)
        return self.pack("QQq", address, index << 32 | kind, 0)

    def _lay_out(self, sections: list[SectionDraft]) -> bytes:
        header_size, segment_size, row_size = (52, 32, 40) if self.bits == 32 else (64, 56, 64)
        loaded = [s for s in sections if s.flags & ALLOC]
        body = b""
        start = header_size + segment_size * len(loaded)
        offsets = []
        for section in sections:
            body += bytes(-(start + len(body)) % 8)
            offsets.append(start + len(body))
            body += section.data if section.type != NOBITS else b""
        table = start + len(body)
        segments = b"".join(
            self._segment(s, offset)
            for s, offset in zip(sections, offsets, strict=True)
            if s.flags & ALLOC
        )
        names = _names(sections)
        index = len(sections) if sections[-1].name == ".shstrtab" else 0
        rows = bytes(row_size) + b"".join(
            self.pack(
                "10I" if self.bits == 32 else "IIQQQQIIQQ",
                *(
                    names.index(s.name.encode() + b"\0") if index else 0,
                    s.type,
                    s.flags,
                    s.address,
                    offset,
                    len(s.data),
                ),
                *(s.link, s.info, 1, s.entry_size),
            )
            for s, offset in zip(sections, offsets, strict=True)
        )
        ident = b"\x7fELF" + bytes([self.bits // 32, 2 if self.byteorder == "big" else 1, 1])
        header = self.pack(
            "HHIIIIIHHHHHH" if self.bits == 32 else "HHIQQQIHHHHHH",
            *(self.type, self.machine, 1, self.entry, header_size, table, self.flags),
            *(header_size, segment_size, len(loaded), row_size, len(sections) + 1, index),
        )
        return ident.ljust(16, b"\0") + header + segments + body + rows

    def _segment(self, section: SectionDraft, offset: int) -> bytes:
        size = 0 if section.type == NOBITS else len(section.data)
        address, memory = section.address, len(section.data)
        if self.bits == 32:
            return self.pack("8I", 1, offset, address, address, size, memory, 5, 8)
        return self.pack("IIQQQQQQ", 1, 5, offset, address, address, size, memory, 8)


def _names(sections: list[SectionDraft]) -> bytes:
    return (
        b"\0"
        + b"".join(f"{one.name}\0".encode() for one in sections if one.name != ".shstrtab")
        + b".shstrtab\0"
    )
