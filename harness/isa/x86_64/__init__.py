# SPDX-License-Identifier: MIT
"""x86-64: 64-bit mode, little endian.  Instructions have 1 to 15 bytes, at any address."""

import re

from harness.errors import FormatError
from harness.isa.base import Isa
from harness.isa.x86_64.abi import X8664Abi
from harness.isa.x86_64.asm_syntax import X8664AsmSyntax
from harness.isa.x86_64.cpu import X8664Cpu
from harness.isa.x86_64.sites import X8664Sites
from harness.units import ByteOrder

_FILLER = b"\x90" * 15


class X8664(Isa):
    """The psABI with 64-bit pointers."""

    name = "x86_64"
    elf_machine = 62
    unit = 1
    longest = 15
    direct_call = re.compile(r"call (0x[0-9a-f]+)")
    sites_type = X8664Sites
    abi_type = X8664Abi
    asm_syntax_type = X8664AsmSyntax
    cpu_type = X8664Cpu

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        if bits != 64 or byteorder != "little":
            raise FormatError("of x86_64 only the ABI with 64 bits, little endian, is supported")
        super().__init__(bits, byteorder)

    def size_of(self, code: bytes) -> int:
        """By the disassembler; an unknown instruction has one byte.

        More than ``len(code)`` if the instruction goes on behind it.
        """
        for _, size, _, _ in self._disassembler.disasm_lite(code + _FILLER, 0, 1):
            return int(size)
        return 1

    def split(self, code: bytes) -> list[bytes]:
        """As the base class, which asks for the size by the first byte alone."""
        found = []
        at = 0
        while at < len(code):
            size = self.size_of(code[at : at + self.longest])
            if at + size > len(code):
                break
            found.append(code[at : at + size])
            at += size
        return found

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_X86, capstone.CS_MODE_64
