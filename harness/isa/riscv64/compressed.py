# SPDX-License-Identifier: MIT
"""RISC-V with 64 bits and compressed instructions, of two bytes, among those of four.

Encodings: The RISC-V Instruction Set Manual, volume I, chapter "C".
"""

from collections.abc import Sequence

from harness.isa.code import Code, Instruction
from harness.isa.riscv64.base import RiscV64Isa
from harness.isa.riscv64.sites import RiscV64Sites

_C_NOP = 0x0001
_C_J_OVER = (0xA011).to_bytes(2, "little")
"""``c.j`` over the two bytes behind it."""

_LONG = 0b11
"""The last two bits of instructions of four bytes."""


class RiscV64CompressedSites(RiscV64Sites):
    """The same instructions at any even address; a patchable entry is four nops as built.

    A port that changes one across a multiple of four bytes has a jump over the second half in
    place of the first one meanwhile.
    """

    while_changed = _C_J_OVER

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.entry = 4 * code.encode(_C_NOP, size=2)

    def find_entry(self, listing: Sequence[Instruction]) -> tuple[int, int] | None:
        """Four nops of two bytes."""
        if [one.text for one in listing[:4]] != 4 * ["c.nop"]:
            return None
        return listing[0].address, listing[2].address


class RiscV64Compressed(RiscV64Isa):
    """RV64GC."""

    unit = 2
    sites_type = RiscV64CompressedSites

    def size_of(self, code: bytes) -> int:
        """Two or four bytes, by the last two bits."""
        return 4 if code[0] & _LONG == _LONG else 2

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV64 | capstone.CS_MODE_RISCVC
