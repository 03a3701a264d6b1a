# SPDX-License-Identifier: MIT
"""Arm with 32 bits: the instruction set A32, little endian, and beside it T32."""

from harness.isa.arm.abi import ArmAbi
from harness.isa.arm.asm_syntax import ArmAsmSyntax
from harness.isa.arm.base import ArmIsa
from harness.isa.arm.cpu import ArmCpu
from harness.isa.arm.sites import ArmSites
from harness.isa.arm.thumb import Thumb


class Arm(ArmIsa):
    """ARMv7-A, without Thumb."""

    marked = Thumb
    sites_type = ArmSites
    abi_type = ArmAbi
    asm_syntax_type = ArmAsmSyntax
    cpu_type = ArmCpu

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM
