# SPDX-License-Identifier: MIT
"""One architecture: its machine code and the four interfaces."""

from collections.abc import Mapping
from typing import ClassVar

from harness.isa.abi import Abi
from harness.isa.asm_syntax import AsmSyntax
from harness.isa.code import Code
from harness.isa.machine import Machine
from harness.isa.sites import Sites
from harness.units import ByteOrder


class Isa(Code):
    """One instruction set in one word size and byte order."""

    name: ClassVar[str]
    """The architecture's name in ``guests/arch/`` and in the machine configs."""
    elf_machine: ClassVar[int]
    """``e_machine`` of its ELF files."""
    elf_flags_refused: ClassVar[Mapping[int, str]] = {}
    """Bits of ``e_flags`` of unsupported ABIs, and their names."""
    sites_type: ClassVar[type[Sites]]
    abi_type: ClassVar[type[Abi]]
    asm_syntax_type: ClassVar[type[AsmSyntax]]
    machine_type: ClassVar[type[Machine]]

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        super().__init__(bits, byteorder)
        self.sites = self.sites_type(self)
        self.abi = self.abi_type(self)
        self.asm_syntax = self.asm_syntax_type(self)
        self.machine = self.machine_type(self)

    def __repr__(self) -> str:
        return f"<Isa {self.name} {self.bits} bits, {self.byteorder} endian>"
