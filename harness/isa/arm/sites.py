# SPDX-License-Identifier: MIT
"""``push {lr}; bl __gnu_mcount_nc`` of ``-pg``, of which the ``bl`` is the call site.

``__gnu_mcount_nc`` takes the pushed word away, so a disabled site is ``pop {lr}``, or as in Linux
``add sp, sp, #4``, as lr has not changed.  Encodings: Arm Architecture Reference Manual, ARMv7-A
and ARMv7-R edition, A8.8 (ADD, B, BL, LDM, MOV, NOP, PUSH).
"""

from harness.errors import RangeError
from harness.isa.code import Code
from harness.isa.sites import CallSite, Form, Sites, SiteState

_BL = 0xEB000000
_B = 0xEA000000
_IMM24 = 0x00FFFFFF
_NOP = 0xE320F000
_PUSH_LR = (0xE52DE004, 0xE92D4000)
"""As gcc and as clang write it: a store of one register, and of several."""
_POP_LR = 0xE8BD4000
_ADD_SP_4 = 0xE28DD004
_MOV_R0_R0 = 0xE1A00000
"""What was the nop before there was one, and in Linux still is."""
_REACH = 32 << 20

_AHEAD = 8
"""What the pc is ahead of the instruction that reads it."""

_R_ARM_PC24 = 1
_R_ARM_CALL = 28
_R_ARM_JUMP24 = 29


class ArmSites(Sites):
    """One form; a disabled site is another instruction than the nop of a slot."""

    mcount = "__gnu_mcount_nc"
    call_relocations = frozenset({_R_ARM_PC24, _R_ARM_CALL, _R_ARM_JUMP24})
    before = 4

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP)
        self._pushes = {code.encode(push) for push in _PUSH_LR}
        self._off = code.encode(_POP_LR)

    @property
    def idle(self) -> frozenset[bytes]:
        """``nop`` and ``mov r0, r0``."""
        return frozenset({self.nop, self.code.encode(_MOV_R0_R0)})

    @property
    def off(self) -> frozenset[bytes]:
        """``add sp, sp, #4``."""
        return frozenset({self.code.encode(_ADD_SP_4)})

    def encode_call(self, pc: int, target: int) -> bytes:
        """``bl target``, which reaches 32 MiB in either direction from eight bytes ahead."""
        return self.code.encode(_BL | self._imm24(pc, target))

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``b target``, with the reach of ``bl``."""
        return self.code.encode(_B | self._imm24(pc, target))

    def reach(self, pc: int) -> tuple[int, int]:
        """32 MiB backward, and one instruction less forward, from eight bytes ahead."""
        ahead = pc + _AHEAD
        return (ahead - _REACH) & self.code.mask, (ahead + _REACH - 4) & self.code.mask

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``bl`` without condition."""
        word = self.code.value(code[:4])
        if len(code) < 4 or word & ~_IMM24 != _BL:
            return None
        offset = (word & _IMM24) * 4
        if offset >= _REACH:
            offset -= 2 * _REACH
        return (pc + _AHEAD + offset) & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``bl __gnu_mcount_nc`` behind ``push {lr}``."""
        if address % 4 or mcount is None or before[-4:] not in self._pushes:
            return None
        called = self.call_target(address, code)
        return Form.MCOUNT if called == mcount & self.code.mask else None

    def size(self, form: Form, code: bytes) -> int:
        """One instruction."""
        return 4

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """``pop {lr}`` or a call."""
        return self._off if state is SiteState.NOP else self.encode_call(site.address, target)

    def _imm24(self, pc: int, target: int) -> int:
        offset = self.code.aligned(target) - self.code.aligned(pc) - _AHEAD
        if not -_REACH <= offset < _REACH:
            raise RangeError(
                f"a branch at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "bl reaches 32 MiB in either direction; link the code closer together.",
            )
        return offset // 4 & _IMM24
