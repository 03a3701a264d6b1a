# SPDX-License-Identifier: MIT
"""What RISC-V with and without compressed instructions has in common."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from harness.errors import FormatError
from harness.isa.base import Isa
from harness.isa.code import Instruction
from harness.isa.riscv64.abi import RiscV64Abi
from harness.isa.riscv64.asm_syntax import RiscV64AsmSyntax
from harness.isa.riscv64.cpu import RiscV64Cpu
from harness.isa.riscv64.linux import RiscV64Linux
from harness.units import ByteOrder

_RELATIVE = re.compile(r"((?:jal|(?:c\.)?(?:j|b\w+)) (?:\w+, )*)(-?(?:0x)?[0-9a-f]+)")

_AUIPC = re.compile(r"auipc (\w+), ((?:0x)?[0-9a-f]+)")
# capstone leaves out ra, and then an offset of 0.
_JALR = re.compile(r"jalr (?:(ra|t0), )?(\w+)(?:, (-?(?:0x)?[0-9a-f]+))?")


class RiscV64Isa(Isa):
    """RV64G, little endian."""

    name = "riscv64"
    elf_machine = 243
    elf_flags_refused: ClassVar[Mapping[int, str]] = {8: "RVE"}
    direct_call = re.compile(r"jal (?:ra, )?(0x[0-9a-f]+)")
    abi_type = RiscV64Abi
    asm_syntax_type = RiscV64AsmSyntax
    cpu_type = RiscV64Cpu
    linux_type = RiscV64Linux

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        if bits != 64:
            raise FormatError("the 32-bit ABIs of riscv64 are not supported")
        super().__init__(bits, byteorder)

    @property
    def code_byteorder(self) -> ByteOrder:
        """Always little endian."""
        return "little"

    def disassemble(self, code: bytes, address: int) -> list[Instruction]:
        """As of `Code`; of two instructions that call, linking in ra or t0, the second."""
        listing = super().disassemble(code, address)
        for at in range(1, len(listing)):
            target = self._far_call(*listing[at - 1 : at + 1])
            if target is not None:
                listing[at] = replace(listing[at], calls=target)
        return listing

    def _far_call(self, first: Instruction, second: Instruction) -> int | None:
        """The target of ``auipc`` and ``jalr`` by the same register; None for all else."""
        high, low = _AUIPC.fullmatch(first.text), _JALR.fullmatch(second.text)
        if not high or not low or high[1] != low[2]:
            return None
        upper = int(high[2], 0)
        upper -= (upper >> 19) << 20
        return first.address + (upper << 12) + int(low[3] or "0", 0) & self.mask

    def _text(self, address: int, mnemonic: str, operands: str) -> str:
        """capstone gives the distance of a branch; here it has its target."""
        text = super()._text(address, mnemonic, operands)
        if match := _RELATIVE.fullmatch(text):
            return f"{match[1]}{address + int(match[2], 0) & self.mask:#x}"
        return text
