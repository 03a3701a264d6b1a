# SPDX-License-Identifier: MIT
"""What gcc writes for ``-pg`` on MIPS, with and without ``-mmcount-ra-address``.

A function of the kernel calls ``jal _mcount``.  On o32 the instruction ``addiu sp,sp,-8`` goes
with the call and ``_mcount`` undoes it, so both must go when the call goes (bug B01).  Code that
is too far away loads the address: ``lui v1; addiu v1; move at,ra; jalr v1``, or where addresses
need 64 bits (``-mno-sym32``) ``lui v1; lui at; daddiu v1; daddiu at; dsll32 v1; daddu v1; move
at,ra; jalr v1``.

Encodings: MIPS32 and MIPS64 Architecture for Programmers, volume II.
"""

from collections.abc import Iterator, Mapping, Sequence

from harness.errors import GuestError, RangeError
from harness.isa.code import Code, Instruction
from harness.isa.mips.loads import Loads
from harness.isa.sites import CallSite, Form, Sites, SiteState, symbol_of

_J = 0x08000000
_JAL = 0x0C000000
_INDEX = 0x03FFFFFF
_REGION = 256 << 20

_NOP = 0
_LUI_V1 = 0x3C030000
_LUI_AT = 0x3C010000
_ADDIU_V1_V1 = 0x24630000
_DADDIU_V1_V1 = 0x64630000
_DADDIU_AT_AT = 0x64210000
_DSLL32_V1_V1_0 = 0x0003183C
_DADDU_V1_V1_AT = 0x0061182D
_JALR_V1 = 0x0060F809
_B = 0x10000000
_IMMEDIATE = 0xFFFF

_CARRIES = (0x80127FFC, 0x80128000, 0x8012FFFC)
_WIDE_CARRIES = (
    0xC000000000127FFC,
    0xC00000007FFF8000,
    0xC000000080128000,
    0xC0007FFFFFFF8000,
    0x9000800080008000,
)
"""Targets that carry from no part of the address, from each, and from all."""

_ADDIU_SP_SP_MINUS_8 = 0x27BDFFF8
_ADDIU_SP_SP_8 = 0x27BD0008
# `move at,ra` is or, addu or daddu with zero, as the assembler likes.
_MOVE_AT_RA = frozenset({0x03E00825, 0x03E00821, 0x03E0082D})
# A nested function passes its static chain, $15, through the call in v0.
_MOVE_V0_CHAIN = frozenset({0x01E01025, 0x01E01021, 0x01E0102D})
_MOVE_CHAIN_V0 = frozenset({0x00407825, 0x00407821, 0x0040782D})

# Set register 12 (t4 of o32, t0 of n64) to an address in the frame, or to zero.
_SPECIAL = 0x00
_SPECIAL_MOVES = frozenset({0x21, 0x25, 0x2D})  # addu, or, daddu
_IMMEDIATE_MOVES = frozenset({0x09, 0x0D, 0x0F, 0x19})  # addiu, ori, lui, daddiu

_R_MIPS_26 = 4
_R_MIPS_HI16 = 5
_R_MIPS_HIGHEST = 29

_LONGEST_CALL = 16
"""Instructions of a long call up to its ``jalr``."""


class MipsSites(Sites):
    """32-bit words internally; byte strings in the interface."""

    # HI16, not LO16: one record for each long call (M3).  A HI16 after HIGHEST is no lui of v1.
    call_relocations = frozenset({_R_MIPS_26, _R_MIPS_HI16, _R_MIPS_HIGHEST})
    has_gate = True
    before = 6 * 4
    extent = (_LONGEST_CALL + 2) * 4

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP)

    def encode_call(self, pc: int, target: int) -> bytes:
        """``jal target``, within the 256 MiB region of the delay slot."""
        return self.code.encode(_JAL | self._index(pc, target))

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``j target``, with the range of ``jal``."""
        return self.code.encode(_J | self._index(pc, target))

    def encode_address(self, target: int, wide: bool = False) -> bytes:
        """The instructions of a long call that load ``target`` into v1; ``wide``: 64 bits.

        The low parts are sign-extended, so the next higher part is incremented if bit 15 is set
        (B48).  RangeError if ``target`` is no sign-extended 32-bit address and not ``wide``.
        """
        target &= self.code.mask
        low, high = target & _IMMEDIATE, (target + 0x8000) >> 16 & _IMMEDIATE
        if wide:
            rounded = target + 0x80008000
            return self.code.encode(
                _LUI_V1 | (rounded >> 32) + 0x8000 >> 16 & _IMMEDIATE,
                _LUI_AT | high,
                _DADDIU_V1_V1 | rounded >> 32 & _IMMEDIATE,
                _DADDIU_AT_AT | low,
                _DSLL32_V1_V1_0,
                _DADDU_V1_V1_AT,
            )
        bits = self.code.bits
        signed = target - (1 << bits) if target >> (bits - 1) else target
        # From 0x7fff8000 on the high half is 0x8000, which a 64-bit lui sign-extends.
        if bits == 64 and not -(1 << 31) <= signed < (1 << 31) - 0x8000:
            raise RangeError(f"lui and daddiu cannot load {self.code.hex(target)}")
        add = _ADDIU_V1_V1 if bits == 32 else _DADDIU_V1_V1
        return self.code.encode(_LUI_V1 | high, add | low)

    def difficult_calls(self, site: CallSite) -> Iterator[tuple[int, bytes]]:
        """For long calls: targets with bit 15 clear and set, on n64 with 32 and with 64 bits."""
        if site.form is not Form.LONG_CALL:
            return
        call = site.as_built[4 * _load_length(self._words(site.as_built), self.code.bits) :]
        for target in _CARRIES:
            target -= 1 << 32
            yield target & self.code.mask, self.encode_address(target) + call
        for target in _WIDE_CARRIES if self.code.bits == 64 else ():
            yield target, self.encode_address(target, wide=True) + call

    def reach(self, pc: int) -> tuple[int, int]:
        """The 256 MiB region of the delay slot."""
        region = (pc + 4) & self.code.mask & -_REGION
        return region, region + _REGION - 4

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``jal``."""
        word = self._words(code[:4])
        if not word or word[0] & ~_INDEX != _JAL:
            return None
        return self.reach(pc)[0] | (word[0] & _INDEX) << 2

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``jal _mcount`` with its stack adjustment, or the ``lui`` of a long call.

        The profiler writes ``move at,ra`` before each call.  With ``-mmcount-ra-address`` register
        12 is set between that and the call, or on n64 in its delay slot; likewise the copy of a
        nested function's static chain.  Without ``before`` only the delay slot is checked.
        """
        words = self._words(code)
        if address % 4 or mcount is None or len(words) < 2:
            return None
        mcount &= self.code.mask
        if self.call_target(address, code) == mcount:
            return self._recognise_call(words[1], self._words(before))
        if _long_call_length(words, self.code.bits) and self._loads(code, mcount):
            return Form.LONG_CALL
        return None

    def _recognise_call(self, slot: int, before: list[int]) -> Form | None:
        ra_address = False
        if self.code.bits == 32:
            if slot == _NOP and before and before[-1] == _ADDIU_SP_SP_MINUS_8:
                before.pop()
            elif slot != _ADDIU_SP_SP_MINUS_8:
                return None
        elif _sets_register_12(slot):
            ra_address = True
        elif slot != _NOP and slot not in _MOVE_V0_CHAIN:
            return None
        known = bool(before)
        while before and _sets_register_12(before[-1]):
            before.pop()
            ra_address = True
        if before and before[-1] in _MOVE_V0_CHAIN:
            before.pop()
        if known and (not before or before[-1] not in _MOVE_AT_RA):
            return None
        return Form.MCOUNT_RA_ADDRESS if ra_address else Form.MCOUNT

    def size(self, form: Form, code: bytes) -> int:
        """The call and its stack adjustment (o32), the call (n64), or the whole long call.

        A long call includes the instruction that restores the static chain from v0, if any.
        """
        if form is Form.LONG_CALL:
            return 4 * _long_call_length(self._words(code), self.code.bits)
        return 8 if self.code.bits == 32 else 4

    def resumes(self, site: CallSite) -> int:
        """Behind the site and behind the delay slot of its call."""
        return site.address + max(self.size(site.form, site.as_built), 8)

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """Two instructions on o32, one on n64 and for a long call.

        With gcc -O0 delay slots are not filled, and the o32 stack adjustment comes before the
        ``jal``; such a site is disabled by undoing the adjustment.  A long call is disabled by a
        ``b`` over the whole sequence in place of its ``lui`` (M1).  The rest of it is not changed,
        so it must load ``target`` as built: ``_mcount`` and ``ftrace_caller`` share an address
        (M5).
        """
        if site.form is Form.LONG_CALL:
            return self._long_call(site, state, target)
        off = state is SiteState.NOP
        if self.code.bits == 64:
            return self.nop if off else self.encode_call(site.address, target)
        slot = self._words(site.as_built[4:8]) or [_ADDIU_SP_SP_MINUS_8]
        filled = slot[0] == _ADDIU_SP_SP_MINUS_8
        if off:
            return self.code.encode(_NOP if filled else _ADDIU_SP_SP_8, _NOP)
        behind = self.code.encode(_ADDIU_SP_SP_MINUS_8 if filled else _NOP)
        return self.encode_call(site.address, target) + behind

    def stub_code(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, bytes]:
        """The jump or nop at ``ftrace_caller`` (M5), and the slots."""
        gate = symbol_of(symbols, "ftrace_caller")
        closed = self.encode_jump(gate, symbol_of(symbols, "ftrace_stub"))
        slots = super().stub_code(symbols, tracer, graph)
        return {gate: closed if tracer is None and not graph else self.nop, **slots}

    def find_calls(self, listing: Sequence[Instruction], mcount: int) -> Iterator[int]:
        """Direct calls, and calls through a register that is loaded with the address."""
        loads = Loads()
        by_register = any(one.text.startswith("jalr ") for one in listing)
        for one in listing:
            if one.calls == mcount:
                yield one.address
            if not by_register:
                continue
            mnemonic, _, operands = one.text.partition(" ")
            value = loads.values.get(operands) if mnemonic == "jalr" else None
            if value is not None and value & self.code.mask == mcount:
                yield loads.begin[operands]
            loads.follow(one.address, mnemonic, operands.split(", "))

    def _long_call(self, site: CallSite, state: SiteState, target: int) -> bytes:
        length = _long_call_length(self._words(site.as_built), self.code.bits)
        place = self.code.hex(site.address)
        if not length:
            raise GuestError(f"the long call at {place} has an unknown instruction sequence")
        if state is SiteState.NOP:
            return self.code.encode(_B | length - 1)
        if not self._loads(site.as_built, target):
            raise RangeError(
                f"the long call at {place} does not go to {self.code.hex(target)}",
                "A port for MIPS has _mcount and ftrace_caller at one address.",
            )
        return site.as_built[:4]

    def _loads(self, code: bytes, target: int) -> bool:
        """Whether the long call at the beginning of ``code`` calls ``target``."""
        try:
            wide = _load_length(self._words(code), self.code.bits) == 6
            return code.startswith(self.encode_address(target, wide))
        except RangeError:
            return False

    def _index(self, pc: int, target: int) -> int:
        target = self.code.aligned(target)
        slot = (self.code.aligned(pc) + 4) & self.code.mask
        if (target ^ slot) >= _REGION:
            raise RangeError(
                f"a jump at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "j and jal stay in the 256 MiB region of their delay slot.",
            )
        return (target & (_REGION - 1)) >> 2

    def _words(self, code: bytes) -> list[int]:
        return list(map(self.code.value, self.code.split(code)))


def _load_length(words: Sequence[int], bits: int) -> int:
    return 6 if bits == 64 and words[1] & ~_IMMEDIATE == _LUI_AT else 2


def _long_call_length(words: Sequence[int], bits: int) -> int:
    """Words from ``lui`` to the delay slot of ``jalr v1`` or further; 0 if it is no long call."""
    if len(words) < 5 or words[0] & ~_IMMEDIATE != _LUI_V1:
        return 0
    move = _load_length(words, bits)
    if len(words) <= move or words[move] not in _MOVE_AT_RA:
        return 0
    for at, word in enumerate(words[move + 1 : _LONGEST_CALL], move + 1):
        if word == _JALR_V1 and at + 1 < len(words):
            undone = at + 2 < len(words) and words[at + 2] in _MOVE_CHAIN_V0
            return at + 3 if undone else at + 2
    return 0


def _sets_register_12(word: int) -> bool:
    opcode = word >> 26
    if opcode == _SPECIAL:
        return word & 0x3F in _SPECIAL_MOVES and word >> 11 & 31 == 12
    return opcode in _IMMEDIATE_MOVES and word >> 16 & 31 == 12
