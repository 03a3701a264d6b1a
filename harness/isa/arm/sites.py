# SPDX-License-Identifier: MIT
"""``push {lr}; bl __gnu_mcount_nc`` of ``-pg``, of which the ``bl`` is the call site.

``__gnu_mcount_nc`` takes the pushed word away, so a disabled site is ``pop {lr}``, or as in Linux
``add sp, sp, #4``, as lr has not changed.  Encodings: Arm Architecture Reference Manual, ARMv7-A
and ARMv7-R edition, A8.8 (ADD, B, BL, LDM, MOV, NOP, PUSH).
"""

from harness.isa.arm.branch_sites import BranchSites
from harness.isa.code import Code
from harness.isa.sites import Form

_IMM24 = 0x00FFFFFF
_NOP = 0xE320F000
_PUSH_LR = (0xE52DE004, 0xE92D4000)
"""As gcc and as clang write it: a store of one register, and of several."""
_POP_LR = 0xE8BD4000
_ADD_SP_4 = 0xE28DD004
_MOV_R0_R0 = 0xE1A00000
"""What was the nop before there was one, and in Linux still is."""

_R_ARM_PC24 = 1
_R_ARM_CALL = 28
_R_ARM_JUMP24 = 29


class ArmSites(BranchSites):
    """One word at a multiple of four."""

    bl = 0xEB000000
    b = 0xEA000000
    ahead = 8
    megabytes = 32
    call_relocations = frozenset({_R_ARM_PC24, _R_ARM_CALL, _R_ARM_JUMP24})
    before = 4

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP)
        self._pushes = {code.encode(push) for push in _PUSH_LR}
        self.switched_off = code.encode(_POP_LR)

    @property
    def idle(self) -> frozenset[bytes]:
        """``nop`` and ``mov r0, r0``."""
        return frozenset({self.nop, self.code.encode(_MOV_R0_R0)})

    @property
    def off(self) -> frozenset[bytes]:
        """``add sp, sp, #4``."""
        return frozenset({self.code.encode(_ADD_SP_4)})

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``bl`` without condition."""
        word = self.code.value(code[:4])
        if len(code) < 4 or word & ~_IMM24 != self.bl:
            return None
        offset = (word & _IMM24) * 4
        if offset >= self.megabytes << 20:
            offset -= 2 * self.megabytes << 20
        return (pc + self.ahead + offset) & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``bl __gnu_mcount_nc`` behind ``push {lr}``."""
        if address % 4 or mcount is None or before[-4:] not in self._pushes:
            return None
        called = self.call_target(address, code)
        return Form.MCOUNT if called == mcount & self.code.mask else None

    def immediate(self, offset: int) -> int:
        """Words, in 24 bits."""
        return offset // 4 & _IMM24
