# SPDX-License-Identifier: MIT
"""What the two instruction sets of arm have in common."""

import re

from harness.errors import FormatError
from harness.isa.arm.linux import ArmLinux
from harness.isa.base import Isa
from harness.units import ByteOrder


class ArmIsa(Isa):
    """ARMv7-A, little endian."""

    name = "arm"
    elf_machine = 40
    linux_type = ArmLinux
    direct_call = re.compile(r"bl #?((?:0x)?[0-9a-f]+)")

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        if (bits, byteorder) != (32, "little"):
            raise FormatError(
                "the big endian ABI of arm is not supported: see docs/machines-arm.rst"
            )
        super().__init__(bits, byteorder)
