# SPDX-License-Identifier: MIT
"""Arm with 32 bits: the instruction set T32 (Thumb-2), little endian.

A kernel is all in T32 or all in A32.  A pointer to a function of T32 and a return address into one
have bit 0 set.
"""

from dataclasses import replace

from harness.isa.abi import AtSite
from harness.isa.arm.abi import ArmAbi
from harness.isa.arm.asm_syntax import ArmAsmSyntax
from harness.isa.arm.base import ArmIsa
from harness.isa.arm.thumb_cpu import ThumbCpu
from harness.isa.arm.thumb_sites import ThumbSites
from harness.isa.asm_syntax import Effect
from harness.isa.sites import Form

_LONG = (0b11101, 0b11110, 0b11111)
"""The first five bits of instructions of two halfwords."""


class ThumbAbi(ArmAbi):
    """r7 is the frame pointer of gcc."""

    # ip alone is free, and no instruction compares it with an address that the linker knows.
    compares_by_stack = True
    leaf_returns_by_register = True

    def at_site(self, form: Form) -> AtSite:
        """As of `ArmAbi`; tables find what a function has stored by r7."""
        return replace(super().at_site(form), pinned=("r7", "lr", "sp"))


class ThumbAsmSyntax(ArmAsmSyntax):
    """With widths of instructions."""

    def ends(self, statement: str) -> bool:
        """As of `ArmAsmSyntax`, whatever the width."""
        return super().ends(_without_width(statement))

    def effect(self, statement: str) -> Effect | None:
        """As of `ArmAsmSyntax`, whatever the width."""
        return super().effect(_without_width(statement))


def _without_width(statement: str) -> str:
    mnemonic, space, operands = statement.partition(" ")
    return mnemonic.removesuffix(".w") + space + operands


class Thumb(ArmIsa):
    """ARMv7-A, with Thumb-2 alone."""

    unit = 2
    code_bit = 1
    sites_type = ThumbSites
    abi_type = ThumbAbi
    asm_syntax_type = ThumbAsmSyntax
    cpu_type = ThumbCpu

    def size_of(self, code: bytes) -> int:
        """Two or four bytes, by the first five bits."""
        return 4 if code[1] >> 3 in _LONG else 2

    def value(self, instruction: bytes) -> int:
        """The first halfword above the second."""
        if len(instruction) == 4:
            instruction = instruction[2:] + instruction[:2]
        return super().value(instruction)

    def encode(self, *values: int, size: int = 4) -> bytes:
        """Of two halfwords the upper one comes first."""
        if size != 4:
            return super().encode(*values, size=size)
        halves = (half for value in values for half in (value >> 16, value & 0xFFFF))
        return super().encode(*halves, size=2)

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB
