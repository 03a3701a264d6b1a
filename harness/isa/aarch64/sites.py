# SPDX-License-Identifier: MIT
"""``bl _mcount`` of ``-pg``, and the two nops of ``-fpatchable-function-entry=2``.

Encodings: Arm Architecture Reference Manual, C6.2 (B, BL, NOP, ORR).
"""

from collections.abc import Sequence

from harness.errors import RangeError
from harness.isa.code import Code, Instruction
from harness.isa.sites import CallSite, Form, Sites, SiteState

_BL = 0x94000000
_B = 0x14000000
_IMM26 = 0x03FFFFFF
_NOP = 0xD503201F
_BTI_C = 0xD503245F
_MOV_X9_X30 = 0xAA1E03E9
_REACH = 128 << 20

_R_AARCH64_CALL26 = 283


class AArch64Sites(Sites):
    """Both forms; the call is the second instruction of a patchable entry."""

    call_relocations = frozenset({_R_AARCH64_CALL26})

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP)
        self._keep_return = code.encode(_MOV_X9_X30)

    def encode_call(self, pc: int, target: int) -> bytes:
        """``bl target``, which reaches from -128 MiB to +128 MiB - 4."""
        return self.code.encode(_BL | self._imm26(pc, target))

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``b target``, with the reach of ``bl``."""
        return self.code.encode(_B | self._imm26(pc, target))

    def reach(self, pc: int) -> tuple[int, int]:
        """128 MiB backward, and one instruction less forward."""
        return (pc - _REACH) & self.code.mask, (pc + _REACH - 4) & self.code.mask

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``bl``."""
        word = self.code.value(code[:4])
        if len(code) < 4 or word & ~_IMM26 != _BL:
            return None
        offset = (word & _IMM26) * 4
        if offset >= _REACH:
            offset -= 2 * _REACH
        return (pc + offset) & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``bl _mcount``, or two nops at a patchable entry."""
        if address % 4:
            return None
        if mcount is not None and self.call_target(address, code) == mcount & self.code.mask:
            return Form.MCOUNT
        return Form.PATCHABLE_ENTRY if code.startswith(2 * self.nop) else None

    def behind_landing_pad(self, address: int, code: bytes) -> int:
        """``bti c``."""
        return address + 4 * code.startswith(self.code.encode(_BTI_C))

    def size(self, form: Form, code: bytes) -> int:
        """Two instructions for a patchable entry, one otherwise."""
        return 8 if form is Form.PATCHABLE_ENTRY else 4

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """At a patchable entry ``x9`` has the caller's ``x30`` after boot."""
        if site.form is not Form.PATCHABLE_ENTRY:
            return self.nop if state is SiteState.NOP else self.encode_call(site.address, target)
        if state is SiteState.BOOT:
            return 2 * self.nop
        off = state is SiteState.NOP
        call = self.nop if off else self.encode_call(self.call_address(site), target)
        return self._keep_return + call

    def call_address(self, site: CallSite) -> int:
        """The second instruction of a patchable entry."""
        return site.address + 4 * (site.form is Form.PATCHABLE_ENTRY)

    def find_entry(self, listing: Sequence[Instruction]) -> tuple[int, int] | None:
        """Two nops, behind a landing pad if any."""
        texts = [one.text for one in listing]
        first = 1 if texts and texts[0].startswith(("bti", "hint")) else 0
        if texts[first : first + 2] != ["nop", "nop"]:
            return None
        return listing[first].address, listing[first + 1].address

    def _imm26(self, pc: int, target: int) -> int:
        offset = self.code.aligned(target) - self.code.aligned(pc)
        if not -_REACH <= offset < _REACH:
            raise RangeError(
                f"a branch at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "bl reaches 128 MiB in either direction; link the code closer together.",
            )
        return offset // 4 & _IMM26
