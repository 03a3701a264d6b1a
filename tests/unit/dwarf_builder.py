# SPDX-License-Identifier: MIT
"""One unit of debug information of DWARF 4, with whatever lies a test wants told."""

import struct
from dataclasses import dataclass, field

ARRAY, ENUM, MEMBER, POINTER, UNIT, STRUCT, TYPEDEF = 0x01, 0x04, 0x0D, 0x0F, 0x11, 0x13, 0x16
SUBRANGE, BASE, ENUMERATOR = 0x21, 0x24, 0x28
SIBLING, NAME, SIZE, BITS, VALUE, UPPER, COUNT, AT = 0x01, 0x03, 0x0B, 0x0D, 0x1C, 0x2F, 0x37, 0x38
ENCODING, TYPE, DATA_BIT = 0x3E, 0x49, 0x6B
_UDATA, _STRING, _REF4, _STRP = 0x0F, 0x08, 0x13, 0x0E
HEADER = 11


def uleb(number: int) -> bytes:
    data = b""
    while number > 0x7F:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


@dataclass
class DwarfBuilder:
    """Entries in their order; an attribute is a number, a text, or ``@label`` for an entry."""

    byteorder: str = "big"
    bits: int = 32
    info: bytes = b""
    abbrev: bytes = b""
    strings: bytes = b"\0"
    count: int = 0
    labels: dict[str, int] = field(default_factory=dict)
    references: list[tuple[int, str]] = field(default_factory=list)

    def entry(
        self, tag: int, attributes: dict[int, int | str], *, label: str = "", children: bool = False
    ) -> None:
        self.count += 1
        self.labels[label] = HEADER + len(self.info)
        self.info += uleb(self.count)
        self.abbrev += uleb(self.count) + uleb(tag) + bytes([children])
        for attribute, value in attributes.items():
            if isinstance(value, int):
                form, data = _UDATA, uleb(value)
            elif value.startswith("@"):
                self.references.append((len(self.info), value[1:]))
                form, data = _REF4, bytes(4)
            elif attribute == NAME and len(value) > 3:
                form, data = _STRP, self._pack("I", len(self.strings))
                self.strings += value.encode() + b"\0"
            else:
                form, data = _STRING, value.encode() + b"\0"
            self.abbrev += uleb(attribute) + uleb(form)
            self.info += data
        self.abbrev += b"\0\0"

    def _pack(self, form: str, *values: int) -> bytes:
        return struct.pack((">" if self.byteorder == "big" else "<") + form, *values)

    def end(self) -> None:
        self.info += b"\0"

    def sections(self) -> dict[str, bytes]:
        info = bytearray(self.info)
        for at, label in self.references:
            info[at : at + 4] = self._pack("I", self.labels[label])
        header = self._pack("IHIB", len(info) + HEADER - 4, 4, 0, self.bits // 8)
        return {
            ".debug_info": header + bytes(info),
            ".debug_abbrev": self.abbrev + b"\0",
            ".debug_str": self.strings,
        }


def sample() -> DwarfBuilder:
    """``struct sample`` with a bit-field, an unnamed struct, an array, a pointer and an enum."""
    draft = DwarfBuilder()
    draft.entry(UNIT, {NAME: "sample.c"}, children=True)
    draft.entry(BASE, {NAME: "int", SIZE: 4, ENCODING: 5}, label="int")
    draft.entry(ENUM, {NAME: "color", SIZE: 4}, label="color", children=True)
    draft.entry(ENUMERATOR, {NAME: "GREEN", VALUE: 7})
    draft.end()
    draft.entry(ARRAY, {TYPE: "@int"}, label="array", children=True)
    draft.entry(SUBRANGE, {UPPER: 2})
    draft.end()
    draft.entry(POINTER, {SIZE: 4, TYPE: "@sample"}, label="pointer")
    draft.entry(STRUCT, {SIZE: 4}, label="unnamed", children=True)
    draft.entry(MEMBER, {NAME: "field", TYPE: "@int", DATA_BIT: 5, BITS: 9})
    draft.end()
    draft.entry(TYPEDEF, {NAME: "color_t", TYPE: "@color"}, label="typedef")
    draft.entry(STRUCT, {NAME: "sample", SIZE: 24}, label="sample", children=True)
    draft.entry(MEMBER, {NAME: "list", TYPE: "@array", AT: 0})
    draft.entry(MEMBER, {NAME: "next", TYPE: "@pointer", AT: 12})
    draft.entry(MEMBER, {TYPE: "@unnamed", AT: 16})
    draft.entry(MEMBER, {NAME: "shade", TYPE: "@typedef", AT: 20})
    draft.end()
    draft.end()
    return draft
