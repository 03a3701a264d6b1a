# SPDX-License-Identifier: MIT
"""A module as described by its ELF file: linked to its address, for one kernel."""

from harness.errors import FormatError, GuestError
from harness.image.image import Image
from harness.units import escape

THIS_MODULE = "__this_module"
KERNEL_BUILD_ID = "__vmlinux_build_id"

_BUILD_ID_SIZE = 20
_NAME_LIMIT = 64


class ModuleImage(Image):
    """A module, read from the bytes of its ELF file; ``name`` is for messages.

    FormatError if it is no module, and as of `Image`.
    """

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data, name)
        if THIS_MODULE not in self.symbols:
            raise FormatError(f"{name} is not a module", "Build it with: harness build --module.")

    @property
    def this_module(self) -> int:
        """The address of its ``struct module``."""
        return self.symbols[THIS_MODULE]

    @property
    def module_name(self) -> str:
        """The module's own name, that of its source file."""
        layout = self.structures.struct("module")
        name = layout.member("name").number(self.read(self.this_module, layout.size))
        raw = self._text_at(name)
        return escape(raw.decode("ascii", "backslashreplace"), _NAME_LIMIT)

    @property
    def kernel_build_id(self) -> bytes | None:
        """The build id of the kernel that it was linked against; None if not stored."""
        address = self.symbols.get(KERNEL_BUILD_ID)
        return None if address is None else self.read(address, _BUILD_ID_SIZE)

    @property
    def segments(self) -> list[tuple[int, bytes]]:
        """Addresses and contents of its segments, by address."""
        return [
            (segment.address & self.isa.mask, self._elf.data[segment.offset :][: segment.size])
            for segment in self._elf.segments
        ]

    def _text_at(self, address: int) -> bytes:
        text = b""
        while len(text) < _NAME_LIMIT and (byte := self.read(address + len(text), 1)) != b"\0":
            text += byte
        if not text:
            raise GuestError(f"{self.name} has no name of its own")
        return text
