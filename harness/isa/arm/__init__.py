# SPDX-License-Identifier: MIT
"""Arm with 32 bits: the instruction set A32, little endian."""

import re

from harness.errors import FormatError
from harness.isa.arm.abi import ArmAbi
from harness.isa.arm.asm_syntax import ArmAsmSyntax
from harness.isa.arm.machine import ArmMachine
from harness.isa.arm.sites import ArmSites
from harness.isa.base import Isa
from harness.units import ByteOrder


class Arm(Isa):
    """ARMv7-A, without Thumb."""

    name = "arm"
    elf_machine = 40
    direct_call = re.compile(r"bl #?((?:0x)?[0-9a-f]+)")
    sites_type = ArmSites
    abi_type = ArmAbi
    asm_syntax_type = ArmAsmSyntax
    machine_type = ArmMachine

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        if (bits, byteorder) != (32, "little"):
            raise FormatError(
                "the big endian ABI of arm is not supported: see docs/machines-arm.rst"
            )
        super().__init__(bits, byteorder)

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM
