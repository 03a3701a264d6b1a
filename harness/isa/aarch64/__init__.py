# SPDX-License-Identifier: MIT
"""AArch64: the 64-bit Arm instruction set, A64."""

import re

from harness.errors import FormatError
from harness.isa.aarch64.abi import AArch64Abi
from harness.isa.aarch64.asm_syntax import AArch64AsmSyntax
from harness.isa.aarch64.cpu import AArch64Cpu
from harness.isa.aarch64.linux import AArch64Linux
from harness.isa.aarch64.sites import AArch64Sites
from harness.isa.base import Isa
from harness.units import ByteOrder


class AArch64(Isa):
    """Instructions are little endian in either byte order of data."""

    name = "aarch64"
    elf_machine = 183
    direct_call = re.compile(r"bl #?(0x[0-9a-f]+)")
    sites_type = AArch64Sites
    abi_type = AArch64Abi
    asm_syntax_type = AArch64AsmSyntax
    cpu_type = AArch64Cpu
    linux_type = AArch64Linux

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        if bits != 64:
            raise FormatError("the ILP32 ABI of aarch64 is not supported")
        super().__init__(bits, byteorder)

    @property
    def code_byteorder(self) -> ByteOrder:
        """Always little endian."""
        return "little"

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN
