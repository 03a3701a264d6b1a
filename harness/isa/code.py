# SPDX-License-Identifier: MIT
"""Machine code as byte strings, and its disassembly."""

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from harness.errors import RangeError
from harness.units import ByteOrder

_NAMES = {1: "byte", 2: "short", 4: "word"}
"""The assembler's names for numbers, by their bytes."""


@dataclass(frozen=True, slots=True)
class Instruction:
    """One disassembled instruction; ``text`` is ``.word 0x...``  for an invalid one.

    Branch targets in ``text`` are absolute addresses.  ``calls`` is the target of a direct call
    according to the disassembler, None for all other instructions.
    """

    address: int
    bytes_: bytes
    text: str
    calls: int | None = None

    def __str__(self) -> str:
        return f"{self.address:#x}: {self.text}"


class Code(ABC):
    """The machine code of one architecture in one word size and byte order.

    Addresses may be sign-extended, as gdb's are on 32-bit MIPS; results are masked to ``bits``.
    Instructions are byte strings in memory order.
    """

    unit: ClassVar[int] = 4
    """Bytes: the alignment of instructions; their length is a multiple of it."""
    longest: ClassVar[int] = 4
    """Bytes of the longest instruction."""
    code_bit: ClassVar[int] = 0
    """A bit of a pointer to code that selects the instruction set, and is no part of the place."""
    direct_call: ClassVar[re.Pattern[str]]
    """The text of a direct call; its first group is the target."""

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        self.bits = bits
        self.byteorder: ByteOrder = byteorder
        self.word_size = bits // 8
        self.mask = (1 << bits) - 1
        self._engine: Any = None

    @property
    def code_byteorder(self) -> ByteOrder:
        """The byte order of instructions in memory."""
        return self.byteorder

    def size_of(self, code: bytes) -> int:
        """The size in bytes of the instruction at the beginning of ``code``."""
        return self.unit

    def split(self, code: bytes) -> list[bytes]:
        """The instructions of ``code``, without an incomplete one at its end."""
        found = []
        at = 0
        while at + self.unit <= len(code):
            size = self.size_of(code[at : at + self.unit])
            if at + size > len(code):
                break
            found.append(code[at : at + size])
            at += size
        return found

    def value(self, instruction: bytes) -> int:
        """An instruction as a number, as the manuals print it."""
        return int.from_bytes(instruction, self.code_byteorder)

    def encode(self, *values: int, size: int = 4) -> bytes:
        """Instructions of ``size`` bytes each, given as numbers as the manuals print them."""
        return b"".join(value.to_bytes(size, self.code_byteorder) for value in values)

    def aligned(self, address: int) -> int:
        """A masked address of an instruction; RangeError if it is not aligned."""
        address &= self.mask
        if address % self.unit:
            raise RangeError(f"{self.hex(address)} is not the address of an instruction")
        return address

    def pointed_to(self, pointer: int) -> int:
        """The masked address of the instruction that a pointer to code points to."""
        return pointer & self.mask & ~self.code_bit

    def hex(self, address: int) -> str:
        """An address with all its digits."""
        return f"0x{address & self.mask:0{self.bits // 4}x}"

    def disassemble(self, code: bytes, address: int) -> list[Instruction]:
        """The instructions of ``code`` at ``address``, as capstone reads them.

        Unknown instructions are listed as ``.word``.  An incomplete one at the end is left out.
        """
        listing: list[Instruction] = []
        offset = 0
        while True:
            where = address + offset & self.mask
            for at, size, mnemonic, operands in self._disassembler.disasm_lite(
                code[offset:], where
            ):
                text = self._text(at & self.mask, mnemonic, operands)
                call = self.direct_call.fullmatch(text)
                calls = int(call[1], 16) & self.mask if call else None
                bytes_ = code[offset : offset + size]
                listing.append(Instruction(at & self.mask, bytes_, text, calls))
                offset += size
            # capstone stops at an invalid instruction, and at an incomplete one.
            left = code[offset:]
            if len(left) < self.unit or self.size_of(left) > len(left):
                break
            unknown = left[: self.size_of(left)]
            text = f".{_NAMES.get(len(unknown), 'short')} "
            text += f"0x{self.value(unknown):0{2 * len(unknown)}x}"
            listing.append(Instruction(address + offset & self.mask, unknown, text))
            offset += len(unknown)
        return listing

    def _text(self, address: int, mnemonic: str, operands: str) -> str:
        """The text of an instruction at ``address``, with absolute branch targets."""
        return f"{mnemonic} {operands}".rstrip()

    @abstractmethod
    def _capstone(self) -> tuple[int, int]:
        """capstone's architecture and mode."""

    @property
    def _disassembler(self) -> Any:
        if self._engine is None:
            # Slow to import, and only needed for output.
            import capstone

            self._engine = capstone.Cs(*self._capstone())
        return self._engine
