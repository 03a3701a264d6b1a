# SPDX-License-Identifier: MIT
"""``push {lr}; bl __gnu_mcount_nc`` of ``-pg`` in T32, of which the ``bl`` is the call site.

It has two halfwords and may begin at any of them.  A disabled site is ``pop.w {lr}``, as in Linux.
Encodings: Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition, A8.8 (B, BL, MOV, NOP,
POP, PUSH).
"""

from harness.errors import RangeError
from harness.isa.code import Code
from harness.isa.sites import CallSite, Form, Sites, SiteState

_BL = 0xF000D000
_BL_MASK = 0xF800D000
_B = 0xF0009000
_NOP_W = 0xF3AF8000
_MOV_W_R0_R0 = 0xEA4F0000
_PUSH_LR = 0xB500
_POP_W_LR = 0xF85DEB04
_REACH = 16 << 20

_AHEAD = 4
"""What the pc is ahead of the instruction that reads it."""

_R_ARM_THM_CALL = 10
_R_ARM_THM_JUMP24 = 30


class ThumbSites(Sites):
    """One form; a disabled site is another instruction than the nop of a slot."""

    mcount = "__gnu_mcount_nc"
    call_relocations = frozenset({_R_ARM_THM_CALL, _R_ARM_THM_JUMP24})
    before = 2

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP_W)
        self._push = code.encode(_PUSH_LR, size=2)
        self._off = code.encode(_POP_W_LR)

    @property
    def idle(self) -> frozenset[bytes]:
        """``nop.w`` and ``mov.w r0, r0``."""
        return frozenset({self.nop, self.code.encode(_MOV_W_R0_R0)})

    def encode_call(self, pc: int, target: int) -> bytes:
        """``bl target``, which reaches 16 MiB in either direction from four bytes ahead."""
        return self.code.encode(_BL | self._distance(pc, target))

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``b.w target``, with the reach of ``bl``."""
        return self.code.encode(_B | self._distance(pc, target))

    def reach(self, pc: int) -> tuple[int, int]:
        """16 MiB backward, and one halfword less forward, from four bytes ahead."""
        ahead = pc + _AHEAD
        return (ahead - _REACH) & self.code.mask, (ahead + _REACH - 2) & self.code.mask

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``bl``."""
        if len(code) < 4:
            return None
        word = self.code.value(code[:4])
        if word & _BL_MASK != _BL:
            return None
        sign = word >> 26 & 1
        # Bits 23 and 22 of the distance are inverted where its sign is 0.
        high, low = (~(word >> bit ^ sign) & 1 for bit in (13, 11))
        offset = high << 23 | low << 22 | (word >> 16 & 0x3FF) << 12 | (word & 0x7FF) << 1
        return (pc + _AHEAD + offset - (sign << 24)) & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``bl __gnu_mcount_nc`` behind ``push {lr}``."""
        if mcount is None or before[-2:] != self._push:
            return None
        called = self.call_target(address, code)
        return Form.MCOUNT if called == mcount & self.code.mask else None

    def size(self, form: Form, code: bytes) -> int:
        """One instruction of two halfwords."""
        return 4

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """``pop.w {lr}`` or a call."""
        return self._off if state is SiteState.NOP else self.encode_call(site.address, target)

    def _distance(self, pc: int, target: int) -> int:
        offset = self.code.aligned(target) - self.code.aligned(pc) - _AHEAD
        if not -_REACH <= offset < _REACH:
            raise RangeError(
                f"a branch at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "bl reaches 16 MiB in either direction; link the code closer together.",
            )
        sign = int(offset < 0)
        high, low = (~(offset >> bit ^ sign) & 1 for bit in (23, 22))
        parts = sign << 26 | (offset >> 12 & 0x3FF) << 16 | (offset >> 1 & 0x7FF)
        return parts | high << 13 | low << 11
