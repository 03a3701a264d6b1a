# SPDX-License-Identifier: MIT
"""The C types and variables of a guest or of a Linux kernel, from its debug information.

A damaged file raises FormatError: types that contain themselves, members outside of their
structure, sizes and counts that no kernel has.
"""

import struct
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from harness.errors import FormatError
from harness.image.dwarf import DebugInfo, Entry, read_uleb
from harness.image.layout import (
    Array,
    Enumeration,
    Integer,
    Member,
    Opaque,
    Pointer,
    Structure,
    Type,
)
from harness.image.lookup import entries_of, find_entry
from harness.image.objects import variables_in
from harness.units import ByteOrder, escape, one_line

MAX_SIZE = 1 << 24
"""Bytes of a type; the largest one of a Linux kernel has a few hundred KiB."""

MAX_MEMBERS = 4096
"""Members of a structure or enum, with those of its unnamed structures."""

MAX_DEPTH = 64
"""Nesting of types."""

_ENUM = "DW_TAG_enumeration_type"
_STRUCTURES = frozenset({"DW_TAG_structure_type", "DW_TAG_union_type"})
_QUALIFIERS = frozenset(
    f"DW_TAG_{kind}_type" for kind in ("const", "volatile", "restrict", "atomic")
)
_KEYWORDS = {
    "DW_TAG_structure_type": "struct ",
    "DW_TAG_union_type": "union ",
    "DW_TAG_enumeration_type": "enum ",
}
_SIGNED = {5, 6, 0x0D}  # DW_ATE_signed, DW_ATE_signed_char, DW_ATE_signed_fixed
_NUMBERS = {2, 5, 6, 7, 8, 0x10}  # boolean, signed, signed_char, unsigned, unsigned_char, UTF
_PLUS_UCONST = 0x23  # DW_OP_plus_uconst: a member's location in DWARF 2


class Structures:
    """Types by name, each found on demand and cached."""

    def __init__(
        self, sections: Mapping[str, bytes], byteorder: ByteOrder, name: str, bits: int
    ) -> None:
        self._name = name
        self._byteorder: ByteOrder = byteorder
        self._address_size = bits // 8
        self._known: dict[int, Type] = {}
        self._structures: dict[str, Structure] = {}
        self.constants: dict[str, int] = {}
        self._building: set[int] = set()
        with self._reading():
            self._debug = DebugInfo(sections, byteorder)

    def struct(self, name: str) -> Structure:
        """``struct name`` or ``union name``; FormatError if it is not defined."""
        if name not in self._structures:
            found = self._find(name, _STRUCTURES, "struct")
            assert isinstance(found, Structure)
            self._structures[name] = found
        return self._structures[name]

    def learn(
        self, names: Collection[str], files: Collection[str], constants: Collection[str] = ()
    ) -> bool:
        """Find structures in the units of some source files, in one pass over these.

        Those found are then known to `struct`, and constants of enums to `constants`.  False if
        there are no such units.
        """
        wanted = {name.encode(): name for name in names}
        entries = 0
        with self._reading():
            for entry in entries_of(self._debug, files):
                entries += 1
                if entry.tag in _STRUCTURES:
                    name = wanted.pop(self._debug.name(entry), None)
                    known = self._type(entry) if name is not None else None
                    if name is not None and isinstance(known, Structure):
                        self._structures[name] = known
                elif entry.tag == _ENUM and len(self.constants) < len(constants):
                    self._keep_constants(entry, constants)
        return entries > 0

    def _keep_constants(self, entry: Entry, constants: Collection[str]) -> None:
        found = self._type(entry)
        assert isinstance(found, Enumeration)
        self.constants.update((one, found.values[one]) for one in constants if one in found.values)

    def knows(self, name: str) -> bool:
        """Whether a structure was found already."""
        return name in self._structures

    def enum(self, name: str) -> Enumeration:
        """``enum name``; errors as of `struct`."""
        found = self._find(name, frozenset({_ENUM}), "enum")
        assert isinstance(found, Enumeration)
        return found

    def typedef(self, name: str) -> Type:
        """The type of a typedef; errors as of `struct`."""
        return self._find(name, frozenset({"DW_TAG_typedef"}), "typedef")

    def variables_in(self, wanted: Callable[[str], bool]) -> set[int]:
        """The addresses of the variables that are defined in these source files."""
        with self._reading():
            return variables_in(self._debug, wanted)

    def _find(self, name: str, tags: frozenset[str], kind: str) -> Type:
        with self._reading():
            entry = find_entry(self._debug, name, tags)
            if entry is not None:
                return self._type(entry)
        raise FormatError(
            f"the debug information of {self._name} has no {kind} {name}",
            "Build all of the guest with -g, with this version of the harness.",
        )

    def _type(self, entry: Entry) -> Type:
        known = self._known.get(entry.offset)
        if known is None:
            if entry.offset in self._building or len(self._building) >= MAX_DEPTH:
                raise FormatError(f"the type at {entry.offset:#x} contains itself")
            self._building.add(entry.offset)
            try:
                known = self._made(entry)
            finally:
                self._building.discard(entry.offset)
            if not 0 <= known.size <= MAX_SIZE:
                raise FormatError(f"the type at {entry.offset:#x} has {known.size} bytes")
            self._known[entry.offset] = known
        return known

    def _made(self, entry: Entry) -> Type:
        elsewhere = entry.number("DW_AT_signature")
        if elsewhere is not None:
            return self._type(self._debug.entry(elsewhere))
        size = entry.number("DW_AT_byte_size") or 0
        tag, name = entry.tag, self._named(entry)
        if tag == "DW_TAG_typedef" or tag in _QUALIFIERS:
            return self._type_of(entry)
        if tag in _STRUCTURES:
            return Structure(name, size, self._members(entry, size))
        if tag == "DW_TAG_array_type":
            return self._array(entry)
        if tag == "DW_TAG_pointer_type":
            size = size or self._address_size
            return Pointer(_number_size(size), self._spelled(entry.number("DW_AT_type")))
        if tag == _ENUM:
            return self._enumeration(entry, name, size)
        encoding = entry.number("DW_AT_encoding")
        if tag == "DW_TAG_base_type" and encoding in _NUMBERS:
            return Integer(name, _number_size(size), encoding in _SIGNED)
        return Opaque(name, size)

    def _type_of(self, entry: Entry) -> Type:
        target = entry.number("DW_AT_type")
        return Opaque("void", 0) if target is None else self._type(self._debug.entry(target))

    def _members(self, structure: Entry, size: int) -> dict[str, Member]:
        found: dict[str, Member] = {}
        count = 0
        for entry in self._debug.children(structure):
            if entry.tag != "DW_TAG_member":
                continue
            member = self._member(entry)
            if member.offset < 0 or member.offset + member.size > size:
                raise FormatError(f"{member.name} lies outside of the structure that it is in")
            inner = [member]
            if not member.name and isinstance(member.type, Structure):
                inner = [
                    replace(one, offset=member.offset + one.offset)
                    for one in member.type.members.values()
                ]
            count += len(inner)
            if count > MAX_MEMBERS:
                raise FormatError(f"a structure has more than {MAX_MEMBERS} members")
            found.update((one.name, one) for one in inner)
        return found

    def _member(self, entry: Entry) -> Member:
        kind, offset = self._type_of(entry), _location(entry)
        bits = entry.number("DW_AT_bit_size") or 0
        first = 0
        if bits:
            first = entry.number("DW_AT_data_bit_offset") or 0
            before = entry.number("DW_AT_bit_offset")
            if before is not None:
                # DWARF 3: counted from the highest bit of the storage unit.
                unit = 8 * (entry.number("DW_AT_byte_size") or kind.size)
                first = before if self._byteorder == "big" else unit - before - bits
            offset, first = offset + first // 8, first % 8
            if not 0 < bits <= 8 * kind.size:
                raise FormatError(f"a bit-field of {bits} bits has a type of {kind.size} bytes")
        return Member(self._named(entry), offset, kind, self._byteorder, first, bits)

    def _array(self, entry: Entry) -> Type:
        kind = self._type_of(entry)
        counts = [
            _count(child)
            for child in self._debug.children(entry)
            if child.tag in ("DW_TAG_subrange_type", "DW_TAG_enumeration_type")
        ]
        if len(counts) > MAX_DEPTH:
            raise FormatError(f"an array has {len(counts)} dimensions")
        for count in reversed(counts):
            if not 0 <= count <= MAX_SIZE or kind.size * count > MAX_SIZE:
                raise FormatError(f"an array has {count} elements of {kind.size} bytes")
            kind = Array(kind, count)
        return kind

    def _enumeration(self, entry: Entry, name: str, size: int) -> Enumeration:
        values: dict[str, int] = {}
        for child in self._debug.children(entry):
            if child.tag == "DW_TAG_enumerator":
                values[self._named(child)] = child.number("DW_AT_const_value") or 0
            if len(values) > MAX_MEMBERS:
                raise FormatError(f"an enum has more than {MAX_MEMBERS} constants")
        signed = any(value < 0 for value in values.values())
        if "DW_AT_type" in entry.attributes:
            underlying = self._type_of(entry)
            signed = isinstance(underlying, Integer) and underlying.signed
        return Enumeration(name, _number_size(size), signed, values)

    def _spelled(self, target: int | None) -> str:
        """A type in C, without qualifiers."""
        stars = ""
        for _ in range(MAX_DEPTH):
            if target is None:
                return f"void{stars}"
            entry = self._debug.entry(target)
            if entry.tag == "DW_TAG_pointer_type":
                stars = stars or " "
                stars += "*"
            elif entry.tag not in _QUALIFIERS:
                return _KEYWORDS.get(entry.tag, "") + self._named(entry) + stars
            target = entry.number("DW_AT_type")
        raise FormatError("a pointer leads to itself")

    def _named(self, entry: Entry) -> str:
        return one_line(self._debug.name(entry).decode("ascii", "backslashreplace"), 200)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (FormatError, IndexError, KeyError, ValueError, struct.error) as error:
            detail = error.message if isinstance(error, FormatError) else repr(error)
            raise FormatError(
                f"the debug information of {self._name} is damaged: {escape(detail, 200)}"
            ) from error


def _location(entry: Entry) -> int:
    value = entry.attributes.get("DW_AT_data_member_location", 0)
    if isinstance(value, int):
        return value
    if value[:1] != bytes([_PLUS_UCONST]):
        raise FormatError("a member has a computed location")
    return read_uleb(value, 1)[0]


def _count(subrange: Entry) -> int:
    """The number of elements of one dimension; 0 if unknown."""
    count, last = subrange.number("DW_AT_count"), subrange.number("DW_AT_upper_bound")
    if count is not None:
        return count
    # -1, of 32 or 64 bits, for an array without elements.
    return 0 if last is None or last in (0xFFFFFFFF, (1 << 64) - 1) else last + 1


def _number_size(size: int) -> int:
    if size not in (1, 2, 4, 8, 16):
        raise FormatError(f"a number has {size} bytes")
    return size
