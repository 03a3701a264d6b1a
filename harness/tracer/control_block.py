# SPDX-License-Identifier: MIT
"""A structure in the guest that the harness writes."""

from collections.abc import Mapping, Sequence

from harness.errors import FormatError
from harness.image import Image, Member
from harness.patcher import Text


class ControlBlock:
    """The variable NAME of type ``struct NAME``.  The guest must be stopped.

    FormatError if its size differs between symbol table and debug information.
    """

    def __init__(self, image: Image, memory: Text, name: str) -> None:
        self._memory = memory
        self._address = image.address_of(name)
        self._layout = image.structures.struct(name)
        if self._layout.size != image.size_of(name):
            raise FormatError(
                f"{name} of {image.name} has {image.size_of(name)} bytes, "
                f"and its type {self._layout.size}"
            )

    def read(self, name: str) -> int:
        """A number."""
        member = self._layout.member(name)
        return member.number(self._read(member, member.size), -member.offset)

    def write(self, **changes: int | Sequence[int]) -> None:
        """Write numbers, or the first elements of arrays."""
        for name, value in changes.items():
            member = self._layout.member(name)
            self._write(member, member.packed(*([value] if isinstance(value, int) else value)))

    def room(self, name: str) -> int:
        """The number of elements of an array."""
        return self._layout.member(name).count

    def numbers(self, name: str, count: int) -> list[int]:
        """The first ``count`` elements of an array, or all if there are fewer."""
        member = self._layout.member(name)
        return member.unpacked(self._read(member, self._length(member, count)))

    def structures(self, name: str, count: int) -> list[dict[str, int]]:
        """As `numbers` for an array of structures: the numbers in each by name."""
        member = self._layout.member(name)
        element = member.structure
        data = self._read(member, self._length(member, count))
        return [element.unpacked(data, at) for at in range(0, len(data), element.size)]

    def write_structures(self, name: str, values: Sequence[Mapping[str, int]]) -> None:
        """Write the first structures of an array; unnamed members become 0."""
        member = self._layout.member(name)
        self._write(member, b"".join(member.structure.packed(**value) for value in values))

    def _length(self, member: Member, count: int) -> int:
        """The size in bytes of some elements."""
        return member.size // max(1, member.count) * min(count, member.count)

    def _read(self, member: Member, size: int) -> bytes:
        address = self._address + member.offset
        return self._memory.dump_memory(address, size) if size else b""

    def _write(self, member: Member, data: bytes) -> None:
        if len(data) > member.size:
            raise FormatError(f"{member.name} has room for {member.size} bytes, not {len(data)}")
        if data:
            self._memory.restore_memory(self._address + member.offset, data)
