# SPDX-License-Identifier: MIT
"""``call __fentry__`` of ``-pg -mfentry``, the first instruction of a function, with five bytes.

Encodings: AMD64 Architecture Programmer's Manual, volume 3, "CALL (Near)", "JMP (Near)", "NOP".
"""

from harness.errors import RangeError
from harness.isa.code import Code
from harness.isa.sites import CallSite, Form, Sites, SiteState

_CALL, _JUMP = 0xE8, 0xE9
_SIZE = 5
_REACH = 1 << 31
_WRAP = 1 << 63
_NOP = bytes.fromhex("0f1f440000")

_R_X86_64_PC32 = 2
_R_X86_64_PLT32 = 4


class X8664Sites(Sites):
    """Byte strings at any address, which may cross cache lines and pages."""

    mcount = "__fentry__"
    call_relocations = frozenset({_R_X86_64_PC32, _R_X86_64_PLT32})
    relocation_offset = 1
    while_changed = b"\xcc"
    unhandled = "breakpoint"

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = _NOP

    def encode_call(self, pc: int, target: int) -> bytes:
        """``call target``, whose distance counts from its end."""
        return bytes([_CALL]) + self._distance(pc, target)

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``jmp target``, with the length and the reach of the call."""
        return bytes([_JUMP]) + self._distance(pc, target)

    def reach(self, pc: int) -> tuple[int, int]:
        """2 GiB to either side of the end of the call."""
        end = pc + _SIZE
        return end - _REACH & self.code.mask, end + _REACH - 1 & self.code.mask

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``call rel32``."""
        if len(code) < _SIZE or code[0] != _CALL:
            return None
        distance = int.from_bytes(code[1:_SIZE], "little", signed=True)
        return pc + _SIZE + distance & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``call __fentry__``."""
        if mcount is not None and self.call_target(address, code) == mcount & self.code.mask:
            return Form.MCOUNT
        return None

    def size(self, form: Form, code: bytes) -> int:
        """Of a call."""
        return _SIZE

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """One instruction in each state."""
        return self.nop if state is SiteState.NOP else self.encode_call(site.address, target)

    def _distance(self, pc: int, target: int) -> bytes:
        # Addresses wrap around.
        distance = (target - pc - _SIZE + _WRAP & self.code.mask) - _WRAP
        if not -_REACH <= distance < _REACH:
            raise RangeError(
                f"a call at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "call reaches 2 GiB in either direction; link the code closer together.",
            )
        return distance.to_bytes(4, "little", signed=True)
