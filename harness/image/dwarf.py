# SPDX-License-Identifier: MIT
"""DWARF debug information entries, versions 2 to 5 in the 32-bit format.

pyelftools makes an object of each entry and each attribute.  That is too slow to find a name among
the ten million entries of a Linux kernel, and its lists of siblings may be endless in a damaged
file.  The numbers are from the DWARF standard, version 5, chapter 7.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from struct import Struct

from harness.errors import FormatError
from harness.units import ByteOrder

STRING_INDEX = {"DW_FORM_strx", *(f"DW_FORM_strx{size}" for size in (1, 2, 3, 4))}
"""Forms of an index into .debug_str_offsets."""

_CODES = {1: "B", 2: "H", 4: "I", 8: "Q"}
_SIZES = {
    f"DW_FORM_{kind}{size}": size
    for kind in ("data", "ref", "strx", "addrx", "ref_sup")
    for size in _CODES
}
_SIZES |= dict.fromkeys(
    (
        *("DW_FORM_strp", "DW_FORM_line_strp", "DW_FORM_strp_sup", "DW_FORM_GNU_strp_alt"),
        *("DW_FORM_sec_offset", "DW_FORM_ref_addr", "DW_FORM_GNU_ref_alt"),
    ),
    4,
)
_SIZES |= {"DW_FORM_flag": 1, "DW_FORM_ref_sig8": 8}
_TRIPLES = {"DW_FORM_strx3", "DW_FORM_addrx3"}
_ULEB = {
    *("DW_FORM_udata", "DW_FORM_ref_udata", "DW_FORM_strx", "DW_FORM_addrx", "DW_FORM_loclistx"),
    *("DW_FORM_rnglistx", "DW_FORM_GNU_addr_index", "DW_FORM_GNU_str_index"),
}
# Size of the length field; 0: LEB128.
_BLOCKS = {"DW_FORM_block1": 1, "DW_FORM_block2": 2, "DW_FORM_block4": 4}
_BLOCKS |= {"DW_FORM_block": 0, "DW_FORM_exprloc": 0}
_IN_UNIT = {"DW_FORM_ref_udata", *(f"DW_FORM_ref{size}" for size in _CODES)}
_ELSEWHERE = {
    *("DW_FORM_ref_sup4", "DW_FORM_ref_sup8", "DW_FORM_GNU_ref_alt"),
    *("DW_FORM_strp_sup", "DW_FORM_GNU_strp_alt"),
}
_TYPE_UNIT = 2
# Bytes of a version 5 header behind the common part: signature and offset, or a unit id.
_UNIT_HEADERS = {_TYPE_UNIT: 12, 4: 8, 5: 8, 6: 12}

Value = int | bytes
"""The value of an attribute: a number, an offset into .debug_info, or bytes."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit of .debug_info: ``start`` to ``end``, with entries from ``first`` on."""

    start: int
    first: int
    end: int
    version: int
    address_size: int
    table: int


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """The attributes of entries with one code: (name, form, constant of DW_FORM_implicit_const)."""

    tag: str
    has_children: bool
    attributes: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A debugging information entry.  At ``end`` are its children or the next entry.

    Attributes whose values are in another file are left out.
    """

    unit: Unit
    offset: int
    end: int
    tag: str
    has_children: bool
    attributes: Mapping[str, Value]
    name_form: str

    def number(self, attribute: str) -> int | None:
        """A constant or a reference; None without it."""
        value = self.attributes.get(attribute)
        return value if isinstance(value, int) else None


class DebugInfo:
    """The entries of one file, given its sections by name.

    Reads stay within the sections, and the work of each method is limited by their size.  Damage
    raises FormatError, IndexError, KeyError, ValueError or struct.error.
    """

    def __init__(self, sections: Mapping[str, bytes], byteorder: ByteOrder) -> None:
        # Imported late: a host without it gets a message.
        from elftools.dwarf.enums import ENUM_DW_AT, ENUM_DW_FORM, ENUM_DW_TAG

        self._tags, self._names, self._forms = (
            {number: name for name, number in one.items()}
            for one in (ENUM_DW_TAG, ENUM_DW_AT, ENUM_DW_FORM)
        )
        self.info = sections[".debug_info"]
        self.strings = sections.get(".debug_str", b"")
        self.line_strings = sections.get(".debug_line_str", b"")
        self.string_offsets = sections.get(".debug_str_offsets", b"")
        self.addresses = sections.get(".debug_addr", b"")
        self.byteorder: ByteOrder = byteorder
        self._abbrev = sections[".debug_abbrev"]
        self._unread = len(self._abbrev)
        self._tables: dict[int, dict[int, Abbreviation]] = {}
        self._signatures: dict[int, int] = {}
        order = ">" if byteorder == "big" else "<"
        self._numbers = {size: Struct(order + code) for size, code in _CODES.items()}
        self.units = list(self._read_units())
        self._starts = [unit.start for unit in self.units]

    def unit_at(self, offset: int) -> Unit:
        """The unit that contains an offset into .debug_info."""
        return self.units[max(0, bisect_right(self._starts, offset) - 1)]

    def top(self, unit: Unit) -> Entry:
        """The unit's own entry."""
        return self.entry(unit.first)

    def entry(self, offset: int) -> Entry:
        """The entry at an offset into .debug_info."""
        found = self._entry(self.unit_at(offset), offset)
        if found is None:
            raise FormatError(f"there is no entry at {offset:#x}")
        return found

    def children(self, parent: Entry) -> Iterator[Entry]:
        """The direct children of an entry, in order."""
        if parent.has_children:
            at = parent.end
            while (child := self._entry(parent.unit, at)) is not None:
                yield child
                at = self._behind(child)

    def name(self, entry: Entry) -> bytes:
        """DW_AT_name; empty without it."""
        value = entry.attributes.get("DW_AT_name", b"")
        if isinstance(value, bytes):
            return value
        if entry.name_form in STRING_INDEX:
            (value,) = self._numbers[4].unpack_from(
                self.string_offsets, self.string_base(entry.unit) + 4 * value
            )
        strings = self.line_strings if entry.name_form == "DW_FORM_line_strp" else self.strings
        return strings[value : strings.index(b"\0", value)]

    def string_base(self, unit: Unit) -> int:
        """The offset of a unit's part of .debug_str_offsets."""
        return self.top(unit).number("DW_AT_str_offsets_base") or 0

    def address(self, unit: Unit, index: int) -> int:
        """An address of .debug_addr, where DWARF 5 has those of a unit."""
        size = unit.address_size
        at = (self.top(unit).number("DW_AT_addr_base") or 0) + index * size
        return int(self._numbers[size].unpack_from(self.addresses, at)[0])

    def table(self, unit: Unit) -> Mapping[int, Abbreviation]:
        """The abbreviations of a unit by code."""
        known = self._tables.get(unit.table)
        if known is None:
            known, end = self._read_table(unit.table)
            # Overlapping tables would take more work than their size allows.
            self._unread -= end - unit.table
            if self._unread < 0:
                raise FormatError("the tables of abbreviations overlap")
            self._tables[unit.table] = known
        return known

    def _behind(self, entry: Entry) -> int:
        """The offset of the next entry of the same level."""
        if not entry.has_children:
            return entry.end
        sibling = entry.number("DW_AT_sibling")
        if sibling is not None:
            if sibling < entry.end:
                raise FormatError(f"the entry behind that at {entry.offset:#x} lies before it")
            return sibling
        at, depth = entry.end, 1
        while depth:
            child = self._entry(entry.unit, at)
            at = at + 1 if child is None else child.end
            depth += -1 if child is None else child.has_children
        return at

    def _read_units(self) -> Iterator[Unit]:
        at = 0
        while at < len(self.info):
            length, version = self._number(at, 4), self._number(at + 4, 2)
            end = at + 4 + length
            if end > len(self.info) or not 2 <= version <= 5:
                raise FormatError(f"the unit at {at:#x} is not of 32-bit DWARF 2 to 5")
            if version == 5:
                kind, size, table = self.info[at + 6], self.info[at + 7], self._number(at + 8, 4)
                first = at + 12 + _UNIT_HEADERS.get(kind, 0)
                if kind == _TYPE_UNIT:
                    self._signatures[self._number(at + 12, 8)] = at + self._number(at + 20, 4)
            else:
                table, size, first = self._number(at + 6, 4), self.info[at + 10], at + 11
            if size not in (4, 8) or first > end:
                raise FormatError(f"the unit at {at:#x} has a header that cannot be right")
            if first < end:
                yield Unit(at, first, end, version, size, table)
            at = end

    def _read_table(self, at: int) -> tuple[dict[int, Abbreviation], int]:
        data = self._abbrev
        table: dict[int, Abbreviation] = {}
        while True:
            code, at = read_uleb(data, at)
            if not code:
                return table, at
            tag, at = read_uleb(data, at)
            has_children = bool(data[at])
            at += 1
            attributes = []
            while True:
                attribute, at = read_uleb(data, at)
                number, at = read_uleb(data, at)
                form = self._forms.get(number, str(number))
                constant = 0
                if form == "DW_FORM_implicit_const":
                    constant, at = _read_sleb(data, at)
                if not attribute and not number:
                    break
                attributes.append((self._names.get(attribute, ""), form, constant))
            table[code] = Abbreviation(self._tags.get(tag, ""), has_children, tuple(attributes))

    def _entry(self, unit: Unit, offset: int) -> Entry | None:
        """The entry at ``offset``; None at the end of a list of entries."""
        if not unit.first <= offset < unit.end:
            raise FormatError(f"a list of entries does not end in the unit at {unit.start:#x}")
        code, at = read_uleb(self.info, offset)
        if not code:
            return None
        abbreviation = self.table(unit)[code]
        values: dict[str, Value] = {}
        name_form = ""
        for attribute, form, constant in abbreviation.attributes:
            while form == "DW_FORM_indirect":
                number, at = read_uleb(self.info, at)
                form = self._forms.get(number, "")
            value, at = self._value(unit, form, constant, at)
            if value is not None:
                values[attribute] = value
            if attribute == "DW_AT_name":
                name_form = form
        tag, has_children = abbreviation.tag, abbreviation.has_children
        return Entry(unit, offset, at, tag, has_children, values, name_form)

    def _value(self, unit: Unit, form: str, constant: int, at: int) -> tuple[Value | None, int]:
        """The value of an attribute, None if it is in another file, and the offset behind it."""
        size = _SIZES.get(form)
        if size is not None:
            if form == "DW_FORM_ref_addr" and unit.version == 2:
                size = unit.address_size
            return self._meaning(unit, form, self._number(at, size)), at + size
        if form in _ULEB:
            number, at = read_uleb(self.info, at)
            return self._meaning(unit, form, number), at
        if form in ("DW_FORM_flag_present", "DW_FORM_implicit_const"):
            return (constant if form == "DW_FORM_implicit_const" else 1), at
        if form == "DW_FORM_string":
            end = self.info.index(b"\0", at)
            return self.info[at:end], end + 1
        if form == "DW_FORM_sdata":
            return _read_sleb(self.info, at)
        if form == "DW_FORM_addr":
            return self._number(at, unit.address_size), at + unit.address_size
        if form in _TRIPLES:
            return int.from_bytes(self.info[at : at + 3], self.byteorder), at + 3
        if form == "DW_FORM_data16":
            return self.info[at : at + 16], at + 16
        if form in _BLOCKS:
            size = _BLOCKS[form]
            length, at = (self._number(at, size), at + size) if size else read_uleb(self.info, at)
            return self.info[at : at + length], at + length
        raise FormatError(f"an attribute has a form that is not known: {form!r}")

    def _meaning(self, unit: Unit, form: str, value: int) -> Value | None:
        if form in _IN_UNIT:
            return unit.start + value
        if form == "DW_FORM_ref_sig8":
            return self._signatures.get(value)
        return None if form in _ELSEWHERE else value

    def _number(self, at: int, size: int) -> int:
        return int(self._numbers[size].unpack_from(self.info, at)[0])


def read_uleb(data: bytes, at: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and the offset behind it."""
    value = data[at]
    at += 1
    if value < 0x80:
        return value, at
    value &= 0x7F
    for shift in range(7, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise FormatError("a number is longer than 64 bits")


def _read_sleb(data: bytes, at: int) -> tuple[int, int]:
    value, end = read_uleb(data, at)
    bits = 7 * (end - at)
    return value - (1 << bits) if value >> (bits - 1) else value, end
