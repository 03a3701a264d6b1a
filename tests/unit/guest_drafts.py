# SPDX-License-Identifier: MIT
"""Small synthetic guests, one for each kind of instruction set, with two traced functions."""

from dataclasses import dataclass

from tests.unit.elf_builder import AARCH64, ALLOC, MIPS, NOTYPE, ElfBuilder

BUILD_ID = bytes(range(20))
ADJUST, MOVE_AT_RA = 0x27BDFFF8, 0x03E00825
A64_NOP, A64_RET = 0xD503201F, 0xD65F03C0


@dataclass
class Kind:
    """How one kind of guest writes its call sites; ``site`` is what a call site looks like."""

    name: str
    machine: int
    bits: int
    byteorder: str
    base: int
    form: str
    prologue: tuple[int, ...]
    call_relocation: int

    def call(self, pc: int, target: int) -> tuple[int, ...]:
        """The words of a call site at ``pc``, the call first."""
        if self.form == "patchable-entry":
            return A64_NOP, A64_NOP
        if self.machine == AARCH64:
            return (0x94000000 | (target - pc) // 4 & 0x3FFFFFF,)
        slot = ADJUST if self.bits == 32 else 0
        return 0x0C000000 | target // 4 & 0x3FFFFFF, slot


KSEG0, XKSEG0, RAM = 0x80100000, 0xFFFFFFFF80100000, 0x40200000
KINDS = [
    Kind("mips", MIPS, 32, "big", KSEG0, "mcount", (0x27BDFFE8, MOVE_AT_RA), 4),
    Kind("mipsel", MIPS, 32, "little", KSEG0, "mcount", (0x27BDFFE8, MOVE_AT_RA), 4),
    Kind("mips64", MIPS, 64, "big", XKSEG0, "mcount", (0x67BDFFF0, MOVE_AT_RA), 4),
    Kind("mips64el", MIPS, 64, "little", XKSEG0, "mcount", (0x67BDFFF0, MOVE_AT_RA), 4),
    Kind("aarch64", AARCH64, 64, "little", RAM, "mcount", (0xA9BF7BFD, 0xAA1E03E0), 283),
    Kind("patchable", AARCH64, 64, "little", RAM, "patchable-entry", (), 283),
]

SIZE = 0x40
"""Bytes of each of the functions ``_mcount``, ``first``, ``second``, and of the gap behind."""


class Draft:
    """A guest of one kind: ``_mcount``, two traced functions, a gap, and a table of sites.

    ``entries`` is what the table names; ``site`` gives the address of a function's call.
    """

    def __init__(self, kind: Kind, entries: list[int] | None = None) -> None:
        self.kind = kind
        self.elf = ElfBuilder(kind.bits, kind.byteorder, kind.machine, entry=kind.base)
        base = kind.base
        self.mcount, self.first, self.second, self.gap = (base + SIZE * n for n in range(4))
        text = bytearray(SIZE)
        for function in (self.first, self.second, self.gap):
            text += self._body(function)
        self.text = self.elf.section(base, bytes(text))
        self.elf.function("_mcount", self.mcount, SIZE)
        self.elf.function("first", self.first, SIZE)
        self.elf.function("second", self.second, SIZE)
        self.elf.symbol("_text", base)
        self.elf.symbol("_etext", base + 4 * SIZE)
        self.table = base + 0x1000
        sites = [self.site(self.first), self.site(self.second)] if entries is None else entries
        data = self.elf.longs(*sites)
        self.elf.section(self.table, data, flags=ALLOC)
        self.elf.symbol("__start_mcount_loc", self.table, section=2)
        self.elf.symbol("__stop_mcount_loc", self.table + len(data), section=2)
        self.elf.build_id(base + 0x2000, BUILD_ID)
        self.elf.symbol("_end", base + 0x4000, section=0xFFF1, type=NOTYPE)

    def site(self, function: int) -> int:
        return function + 4 * len(self.kind.prologue)

    def relocate(self, *functions: int) -> None:
        """Add what ``ld --emit-relocs`` leaves for the calls in ``functions``."""
        for function in functions:
            address, kind = self.site(function), self.kind.call_relocation
            self.elf.relocation(self.text, address, "_mcount", kind)

    def words(self, function: int) -> tuple[int, ...]:
        return (*self.kind.prologue, *self.kind.call(self.site(function), self.mcount))

    def _body(self, function: int) -> bytes:
        words = self.words(function)
        if self.kind.machine == AARCH64:
            return b"".join(
                w.to_bytes(4, "little") for w in (*words, A64_RET, *(16 - len(words) - 1) * (0,))
            )
        return self.elf.words(*words).ljust(SIZE, b"\0")
