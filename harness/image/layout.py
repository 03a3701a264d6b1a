# SPDX-License-Identifier: MIT
"""C types as laid out in memory by a compiler, and values of these types.

Sizes and offsets are in bytes; numbers are in the guest's byte order.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.errors import FormatError
from harness.units import ByteOrder


@dataclass(frozen=True, slots=True)
class Integer:
    """An integer, a character or a boolean."""

    name: str
    size: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Enumeration:
    """An enum; ``values`` are its constants by name."""

    name: str
    size: int
    signed: bool
    values: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Pointer:
    """An address; ``target`` is the type in C, as ``struct module``."""

    size: int
    target: str
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """Any other type: a floating-point number, a function."""

    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Array:
    """``count`` elements; 0 in a flexible array member."""

    element: "Type"
    count: int

    @property
    def size(self) -> int:
        """Bytes of all elements."""
        return self.element.size * self.count


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a structure, ``offset`` bytes from its beginning.

    A bit-field has ``bits`` bits from bit ``first_bit`` behind ``offset`` on: the lowest bit of a
    byte is first in little endian, the highest in big endian.
    """

    name: str
    offset: int
    type: "Type"
    byteorder: ByteOrder
    first_bit: int = 0
    bits: int = 0

    @property
    def size(self) -> int:
        """Its size in bytes, for a bit-field with all bytes that it touches."""
        return (self.first_bit + self.bits + 7) // 8 if self.bits else self.type.size

    @property
    def count(self) -> int:
        """The number of elements of an array; 1 otherwise."""
        return self.type.count if isinstance(self.type, Array) else 1

    def number(self, data: bytes, start: int = 0) -> int:
        """The value in a structure at ``data[start]``."""
        whole, signed = self._scalar()
        data = self.raw(data, start)
        if not self.bits:
            return int.from_bytes(data, self.byteorder, signed=signed)
        low = self.first_bit
        if self.byteorder == "big":
            low = 8 * whole - self.first_bit - self.bits
        value = int.from_bytes(data, self.byteorder) >> low & (1 << self.bits) - 1
        return value - (1 << self.bits) if signed and value >> (self.bits - 1) else value

    def numbers(self, data: bytes, start: int = 0) -> list[int]:
        """The elements of an array of numbers."""
        return self.unpacked(self.raw(data, start))

    def text(self, data: bytes, start: int = 0) -> bytes:
        """The characters of an array before the first NUL."""
        return self.raw(data, start).partition(b"\0")[0]

    def raw(self, data: bytes, start: int = 0) -> bytes:
        """Its bytes; FormatError if ``data`` is too short."""
        at = start + self.offset
        if at < 0 or at + self.size > len(data):
            raise FormatError(f"{self.name} lies behind the {len(data)} bytes that were read")
        return data[at : at + self.size]

    def packed(self, *values: int) -> bytes:
        """The bytes of a number, or of the first numbers of an array."""
        size, signed = self._element()
        return b"".join(value.to_bytes(size, self.byteorder, signed=signed) for value in values)

    def unpacked(self, data: bytes) -> list[int]:
        """The inverse of `packed`."""
        size, signed = self._element()
        return [
            int.from_bytes(data[at : at + size], self.byteorder, signed=signed)
            for at in range(0, len(data), size)
        ]

    @property
    def structure(self) -> "Structure":
        """The struct or union that it is, or that its elements are."""
        kind = self.type.element if isinstance(self.type, Array) else self.type
        if not isinstance(kind, Structure) or not kind.size:
            raise FormatError(f"{self.name} does not consist of structures")
        return kind

    def _scalar(self) -> tuple[int, bool]:
        if not isinstance(self.type, Integer | Enumeration | Pointer):
            raise FormatError(f"{self.name} is not a number")
        return self.size, self.type.signed

    def _element(self) -> tuple[int, bool]:
        kind = self.type.element if isinstance(self.type, Array) else self.type
        if not isinstance(kind, Integer | Enumeration | Pointer) or self.bits:
            raise FormatError(f"{self.name} does not consist of numbers")
        return kind.size, kind.signed


@dataclass(frozen=True, slots=True)
class Structure:
    """A struct or union.  The members of its unnamed structures are among its own."""

    name: str
    size: int
    members: Mapping[str, Member]

    def member(self, path: str) -> Member:
        """A member, or one of a nested structure as ``thread.pc``; FormatError if there is none."""
        name, dot, rest = path.partition(".")
        found = self.members.get(name)
        if found is None:
            raise FormatError(
                f"struct {self.name} of the guest has no member {name}",
                "The guest was built for another version of the harness.",
            )
        if not dot:
            return found
        if not isinstance(found.type, Structure):
            raise FormatError(f"{name} of struct {self.name} is not a structure")
        inner = found.type.member(rest)
        return replace(inner, name=path, offset=found.offset + inner.offset)

    def packed(self, **values: int) -> bytes:
        """The structure with these members, and zeros elsewhere."""
        data = bytearray(self.size)
        for name, value in values.items():
            member = self.member(name)
            data[member.offset : member.offset + member.size] = member.packed(value)
        return bytes(data)

    def unpacked(self, data: bytes, start: int = 0) -> dict[str, int]:
        """The numeric members of a structure at ``data[start]``, by name."""
        return {
            name: member.number(data, start)
            for name, member in self.members.items()
            if isinstance(member.type, Integer | Enumeration | Pointer)
        }


Type: TypeAlias = Integer | Enumeration | Pointer | Opaque | Array | Structure
