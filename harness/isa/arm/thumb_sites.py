# SPDX-License-Identifier: MIT
"""``push {lr}; bl __gnu_mcount_nc`` of ``-pg`` in T32, of which the ``bl`` is the call site.

It has two halfwords and may begin at any of them.  A disabled site is ``pop.w {lr}``, or as in
Linux ``add.w sp, sp, #4``, as lr has not changed.  Encodings: Arm Architecture Reference Manual,
ARMv7-A and ARMv7-R edition, A8.8 (ADD, B, BL, MOV, NOP, POP, PUSH).
"""

from harness.isa.arm.branch_sites import BranchSites
from harness.isa.code import Code
from harness.isa.sites import Form

_BL_MASK = 0xF800D000
_NOP_W = 0xF3AF8000
_MOV_W_R0_R0 = 0xEA4F0000
_PUSH_LR = 0xB500
_POP_W_LR = 0xF85DEB04
_ADD_W_SP_4 = 0xF10D0D04

_R_ARM_THM_CALL = 10
_R_ARM_THM_JUMP24 = 30


class ThumbSites(BranchSites):
    """Two halfwords at any of them."""

    bl = 0xF000D000
    b = 0xF0009000
    ahead = 4
    megabytes = 16
    call_relocations = frozenset({_R_ARM_THM_CALL, _R_ARM_THM_JUMP24})
    before = 2

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP_W)
        self._push = code.encode(_PUSH_LR, size=2)
        self.switched_off = code.encode(_POP_W_LR)

    @property
    def idle(self) -> frozenset[bytes]:
        """``nop.w`` and ``mov.w r0, r0``."""
        return frozenset({self.nop, self.code.encode(_MOV_W_R0_R0)})

    @property
    def off(self) -> frozenset[bytes]:
        """``add.w sp, sp, #4``."""
        return frozenset({self.code.encode(_ADD_W_SP_4)})

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``bl``."""
        if len(code) < 4:
            return None
        word = self.code.value(code[:4])
        if word & _BL_MASK != self.bl:
            return None
        sign = word >> 26 & 1
        # Bits 23 and 22 of the distance are inverted where its sign is 0.
        high, low = (~(word >> bit ^ sign) & 1 for bit in (13, 11))
        offset = high << 23 | low << 22 | (word >> 16 & 0x3FF) << 12 | (word & 0x7FF) << 1
        return (pc + self.ahead + offset - (sign << 24)) & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``bl __gnu_mcount_nc`` behind ``push {lr}``."""
        if mcount is None or before[-2:] != self._push:
            return None
        called = self.call_target(address, code)
        return Form.MCOUNT if called == mcount & self.code.mask else None

    def immediate(self, offset: int) -> int:
        """Halfwords, in 24 bits; the two below the sign are inverted where that is 0."""
        sign = int(offset < 0)
        high, low = (~(offset >> bit ^ sign) & 1 for bit in (23, 22))
        parts = sign << 26 | (offset >> 12 & 0x3FF) << 16 | (offset >> 1 & 0x7FF)
        return parts | high << 13 | low << 11
