# SPDX-License-Identifier: MIT
"""Reads the structures of a stopped kernel.

What a guest's memory says is a stranger's word: sizes and lists are limited, and every address that
cannot be read is a GuestError.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from harness.errors import FormatError, GdbError, GuestError
from harness.linux.image import LinuxImage
from harness.linux.layouts import Layout, LayoutPlace, Layouts
from harness.units import one_line

MAX_TEXT = 64 * 1024
"""Bytes of the longest text that is read; print formats of events have some thousand."""

MAX_CPUS = 4096

_TEXT_PIECE = 128
_TEXT_PAGE = 4096


class KernelMemory(Protocol):
    """The memory of a stopped kernel, by virtual addresses."""

    def read_memory(self, address: int, size: int) -> bytes: ...
    def write_memory(self, address: int, data: bytes) -> None: ...
    def dump_memory(self, address: int, size: int) -> bytes: ...
    def restore_memory(self, address: int, data: bytes) -> None: ...


@dataclass(frozen=True, slots=True)
class View:
    """The contents of one structure at an address."""

    kernel: "Kernel"
    layout: Layout
    address: int
    data: bytes

    def __getitem__(self, path: str) -> int:
        """A number; FormatError as of `Layout.place`."""
        return self.layout.place(path).number(self.data, self.kernel.image.byteorder)

    def get(self, path: str, otherwise: int = 0) -> int:
        """A number; ``otherwise`` if this kernel does not have the member."""
        return self[path] if path in self.layout else otherwise

    def at(self, path: str) -> int:
        """The address of a member."""
        return self.address + self.layout.place(path).offset

    def bytes(self, path: str) -> bytes:
        """The bytes of a member."""
        place = self.layout.place(path)
        return self.data[place.offset : place.offset + place.size]


class Kernel:
    """A stopped Linux kernel: its image, its layouts, its memory."""

    def __init__(self, image: LinuxImage, layouts: Layouts, memory: KernelMemory) -> None:
        self.image = image
        self.layouts = layouts
        self.memory = memory
        self.word = image.isa.word_size

    def read(self, address: int, size: int) -> bytes:
        """Memory; GuestError if it cannot be read."""
        try:
            return self.memory.read_memory(address & self.image.isa.mask, size)
        except GdbError as error:
            raise GuestError(
                f"the kernel's memory at {address:#x} cannot be read: {error.message}",
                "Either its data is damaged, or the CPU is in user mode: let it run on a little.",
            ) from error

    def number(self, address: int, size: int, *, signed: bool = False) -> int:
        """A number in the kernel's byte order."""
        return int.from_bytes(self.read(address, size), self.image.byteorder, signed=signed)

    def pointer(self, address: int) -> int:
        """An ``unsigned long`` or a pointer."""
        return self.number(address, self.word)

    def has(self, symbol: str) -> bool:
        """Whether the kernel has a symbol."""
        return symbol in self.image.symbols

    def symbol(self, name: str, option: str) -> int:
        """The address of a symbol; FormatError with the option that it depends on."""
        if name not in self.image.symbols:
            raise FormatError(
                f"{self.image.name} has no symbol {name}", f"Build it with CONFIG_{option}."
            )
        return self.image.symbols[name]

    @property
    def cpu_count(self) -> int:
        """``nr_cpu_ids``, which is a constant in kernels for one CPU."""
        if not self.has("nr_cpu_ids"):
            return 1
        count = self.number(self.image.symbols["nr_cpu_ids"], 4)
        if not 1 <= count <= MAX_CPUS:
            raise GuestError(f"the kernel has {count} CPUs; its memory is damaged")
        return count

    def view(self, structure: str, address: int) -> View:
        """A structure."""
        layout = self.layouts[structure]
        if not address & self.image.isa.mask:
            raise GuestError(
                f"the kernel has a null pointer where struct {structure} is expected",
                "It has not set it up yet, or its memory is damaged.",
            )
        return View(self, layout, address, self.read(address, layout.size))

    def write(self, structure: str, address: int, path: str, value: int) -> None:
        """Set a number in a structure."""
        self.put(address, self.layouts[structure].place(path), value)

    def put(self, address: int, place: LayoutPlace, value: int) -> None:
        """Set the number at ``place`` of a structure at ``address``."""
        self.store(address + place.offset, value, place.size)

    def store(self, address: int, value: int, size: int = 0) -> None:
        """Store a number, by default of the size of a pointer."""
        size = size or self.word
        data = (value & (1 << 8 * size) - 1).to_bytes(size, self.image.byteorder)
        self.memory.write_memory(address & self.image.isa.mask, data)

    def text(self, address: int, limit: int = MAX_TEXT) -> str:
        """A text up to its NUL; GuestError if it has more than ``limit`` bytes."""
        found = b""
        while len(found) < limit:
            at = address + len(found)
            # Not beyond the page, which may be the last one.
            size = min(_TEXT_PIECE, _TEXT_PAGE - at % _TEXT_PAGE)
            piece, end, _ = self.read(at, size).partition(b"\0")
            found += piece
            if end:
                return found.decode("latin-1")
        raise GuestError(f"the text at {address:#x} has more than {limit} bytes")

    def name(self, address: int, limit: int = 256) -> str:
        """A short text on one line, with other characters than printable ones escaped."""
        return one_line(self.text(address, limit))

    def listed(
        self, head: int, structure: str, path: str, limit: int, *, backwards: bool = False
    ) -> Iterator[int]:
        """The addresses of the structures in a ``list_head`` at ``head``, linked by ``path``.

        GuestError if there are more than ``limit``.
        """
        offset = self.layouts[structure].place(path).offset
        step = self.word if backwards else 0
        if backwards:
            # ``prev`` lies behind ``next``.
            offset = self.layouts[structure].place(path.replace(".prev", ".next")).offset
        head &= self.image.isa.mask
        at = self.pointer(head + step)
        for _ in range(limit):
            if at == head or not at:
                return
            yield (at - offset) & self.image.isa.mask
            at = self.pointer(at + step)
        raise GuestError(
            f"the kernel's list of struct {structure} at {head:#x} has more than {limit} entries",
            "Its memory is damaged.",
        )
