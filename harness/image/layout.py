# SPDX-License-Identifier: MIT
"""C types as a compiler has laid them out in memory, and values in that layout.

Sizes and offsets are bytes; numbers are in the byte order of the guest.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from harness.errors import FormatError
from harness.units import ByteOrder


@dataclass(frozen=True, slots=True)
class Integer:
    """A number, a character or a truth value."""

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
    """An address; ``target`` is the type there as C spells it, as ``struct module``."""

    size: int
    target: str
    signed: bool = False


@dataclass(frozen=True, slots=True)
class Opaque:
    """What is neither of the others: a floating-point number, a function."""

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

    A bit-field has ``bits``, from bit number ``first_bit`` behind ``offset`` on: the lowest bit of
    a byte comes first in little endian, the highest in big endian.
    """

    name: str
    offset: int
    type: "Type"
    byteorder: ByteOrder
    first_bit: int = 0
    bits: int = 0

    @property
    def size(self) -> int:
        """Bytes that it takes a part of."""
        return (self.first_bit + self.bits + 7) // 8 if self.bits else self.type.size

    @property
    def count(self) -> int:
        """How many elements an array has; 1 for everything else."""
        return self.type.count if isinstance(self.type, Array) else 1

    def number(self, data: bytes, start: int = 0) -> int:
        """The value in a structure that begins at ``data[start]``."""
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
        """What an array of characters holds in front of its first NUL."""
        return self.raw(data, start).partition(b"\0")[0]

    def raw(self, data: bytes, start: int = 0) -> bytes:
        """The bytes of it; FormatError if ``data`` is too short for it."""
        at = start + self.offset
        if at < 0 or at + self.size > len(data):
            raise FormatError(f"{self.name} lies behind the {len(data)} bytes that were read")
        return data[at : at + self.size]

    def packed(self, *values: int) -> bytes:
        """The bytes of a number, or of the first elements of an array of numbers."""
        size, signed = self._element()
        return b"".join(value.to_bytes(size, self.byteorder, signed=signed) for value in values)

    def unpacked(self, data: bytes) -> list[int]:
        """The numbers that `packed` makes these bytes of."""
        size, signed = self._element()
        return [
            int.from_bytes(data[at : at + size], self.byteorder, signed=signed)
            for at in range(0, len(data), size)
        ]

    @property
    def structure(self) -> "Structure":
        """The type of it, or of its elements, which must be a struct or union."""
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
    """A struct or union.  Members of unnamed ones inside it are among its own."""

    name: str
    size: int
    members: Mapping[str, Member]

    def member(self, path: str) -> Member:
        """A member, or a member of one: ``thread.pc``.  FormatError if there is none."""
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
        """A structure with these numbers in it and zeros everywhere else."""
        data = bytearray(self.size)
        for name, value in values.items():
            member = self.member(name)
            data[member.offset : member.offset + member.size] = member.packed(value)
        return bytes(data)

    def unpacked(self, data: bytes, start: int = 0) -> dict[str, int]:
        """The numbers in a structure that begins at ``data[start]``, by their names."""
        return {
            name: member.number(data, start)
            for name, member in self.members.items()
            if isinstance(member.type, Integer | Enumeration | Pointer)
        }


Type: TypeAlias = Integer | Enumeration | Pointer | Opaque | Array | Structure
