# SPDX-License-Identifier: MIT
"""MIPS with 32-bit instructions, releases 1 to 6: o32 and n64."""

import re
from collections.abc import Mapping
from typing import ClassVar

from harness.isa.base import Isa
from harness.isa.mips.abi import MipsAbi
from harness.isa.mips.asm_syntax import MipsAsmSyntax
from harness.isa.mips.cpu import MipsCpu
from harness.isa.mips.linux import MipsLinux
from harness.isa.mips.sites import MipsSites

_EF_MIPS_ABI2 = 0x20
_NEGATIVE = re.compile(r"-0x[0-9a-f]{5,}")


class Mips(Isa):
    """32 bits is the o32 ABI, 64 bits the n64 ABI."""

    name = "mips"
    elf_machine = 8
    elf_flags_refused: ClassVar[Mapping[int, str]] = {_EF_MIPS_ABI2: "n32"}
    direct_call = re.compile(r"(?:jal|bal) (0x[0-9a-f]+)")
    sites_type = MipsSites
    abi_type = MipsAbi
    asm_syntax_type = MipsAsmSyntax
    cpu_type = MipsCpu
    linux_type = MipsLinux

    def _capstone(self) -> tuple[int, int]:
        import capstone

        word = capstone.CS_MODE_MIPS32 if self.bits == 32 else capstone.CS_MODE_MIPS64
        order = (
            capstone.CS_MODE_BIG_ENDIAN
            if self.byteorder == "big"
            else capstone.CS_MODE_LITTLE_ENDIAN
        )
        return capstone.CS_ARCH_MIPS, word | order

    def _text(self, address: int, mnemonic: str, operands: str) -> str:
        # capstone prints 64-bit branch targets as negative numbers; no immediate has 5 digits.
        if "-0x" in operands:
            operands = _NEGATIVE.sub(lambda target: self.hex(int(target[0], 16)), operands)
        return super()._text(address, mnemonic, operands)
