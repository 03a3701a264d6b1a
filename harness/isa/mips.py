# SPDX-License-Identifier: MIT
"""MIPS o32 and n64: what gcc writes for ``-pg``, with and without ``-mmcount-ra-address``.

A function of the kernel calls ``jal _mcount``.  On o32 the instruction ``addiu sp,sp,-8`` goes
with the call and ``_mcount`` undoes it, so both must go when the call goes (bug B01).  Code that
is too far away loads the address: ``lui v1; addiu v1; move at,ra; jalr v1``, or where addresses
need 64 bits (``-mno-sym32``) ``lui v1; lui at; daddiu v1; daddiu at; dsll32 v1; daddu v1; move
at,ra; jalr v1``.

Encodings: MIPS32 and MIPS64 Architecture for Programmers, volume II.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import ClassVar

from harness.errors import GuestError, RangeError
from harness.isa.base import (
    Abi,
    AtSite,
    CallSite,
    Effect,
    FlowKind,
    FlowPattern,
    Form,
    Isa,
    SiteState,
)

_J = 0x08000000
_JAL = 0x0C000000
_INDEX = 0x03FFFFFF
_REGION = 256 << 20
_SEGMENT = 512 << 20

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

_ADDIU_SP_SP_MINUS_8 = 0x27BDFFF8
_ADDIU_SP_SP_8 = 0x27BD0008
# `move at,ra` is or, addu or daddu with zero, as the assembler likes.
_MOVE_AT_RA = frozenset({0x03E00825, 0x03E00821, 0x03E0082D})
# A nested function hands its static chain, $15, through the call in v0.
_MOVE_V0_CHAIN = frozenset({0x01E01025, 0x01E01021, 0x01E0102D})
_MOVE_CHAIN_V0 = frozenset({0x00407825, 0x00407821, 0x0040782D})

# What sets register 12 (t4 of o32, t0 of n64) to an address in the frame, or to zero.
_SPECIAL = 0x00
_SPECIAL_MOVES = frozenset({0x21, 0x25, 0x2D})  # addu, or, daddu
_IMMEDIATE_MOVES = frozenset({0x09, 0x0D, 0x0F, 0x19})  # addiu, ori, lui, daddiu

_R_MIPS_26 = 4
_R_MIPS_HI16 = 5
_R_MIPS_HIGHEST = 29
_EF_MIPS_ABI2 = 0x20


class Mips(Isa):
    """MIPS with 32-bit instructions; 32 bits is the o32 ABI, 64 bits the n64 ABI."""

    name = "mips"
    elf_machine = 8
    elf_flags_refused: ClassVar[Mapping[int, str]] = {_EF_MIPS_ABI2: "n32"}
    nop = 0
    # HI16 and not LO16: one record for each long call (M3).  Behind HIGHEST it is no lui of v1.
    call_relocations = frozenset({_R_MIPS_26, _R_MIPS_HI16, _R_MIPS_HIGHEST})
    call_return_offset = 8
    words_at_site = 18
    flow_patterns = (
        FlowPattern(0xFC000000, _JAL, FlowKind.CALL),
        FlowPattern(0xFC00F83F, 0x00000009, FlowKind.INDIRECT_JUMP),  # jalr $0: release 6's jr
        FlowPattern(0xFC00003F, 0x00000009, FlowKind.CALL),  # jalr
        FlowPattern(0xFC00003F, 0x00000008, FlowKind.INDIRECT_JUMP),  # jr
        FlowPattern(0xFC1C0000, 0x04100000, FlowKind.CALL),  # bltzal, bgezal and the likely ones
        FlowPattern(0xFFFFFFFF, 0x42000018, FlowKind.EXCEPTION_RETURN),  # eret
    )

    return_register = "ra"
    has_gate = True
    assembly_register = r"\$[a-z0-9]+"
    edge_memory = "256M"
    # gdb's own names: QEMU describes no MIPS registers to it.
    status_registers: ClassVar[tuple[str, ...]] = ("sr", "cause", "bad", "hi", "lo")
    current_register = "gp"
    vectors_symbol = "exception_vectors"
    # TLB refill, of 64-bit addresses, cache error, all others, interrupts where Cause.IV says so.
    vector_offsets: ClassVar[Sequence[int]] = (0, 0x80, 0x100, 0x180, 0x200)
    masks_interrupts = (0xFFE0FFFF, 0x41606000)  # di
    accesses_memory = (0x80000000, 0x80000000)

    def linear_address(self, address: int) -> int | None:
        """Kseg0 and kseg1 are the first 512 MiB, with and without the cache."""
        address &= self.mask
        segment = address & ~(_SEGMENT - 1)
        kseg0 = 0x80000000 if self.bits == 32 else 0xFFFFFFFF80000000
        return address - segment if segment in (kseg0, kseg0 + _SEGMENT) else None

    @property
    def general_registers(self) -> tuple[str, ...]:
        """The 32 registers by the names of the ABI, as gdb has them."""
        if self.bits == 32:
            temporaries = [f"a{n}" for n in range(4)] + [f"t{n}" for n in range(8)]
        else:
            temporaries = [f"a{n}" for n in range(8)] + [f"t{n}" for n in range(4)]
        saved = [f"s{n}" for n in range(8)]
        return (
            *("zero", "at", "v0", "v1"),
            *temporaries,
            *saved,
            *("t8", "t9", "k0", "k1", "gp", "sp", "s8", "ra"),
        )

    @property
    def argument_registers(self) -> tuple[str, ...]:
        """``a0`` to ``a3`` on o32, to ``a7`` on n64."""
        return tuple(f"a{n}" for n in range(4 if self.bits == 32 else 8))

    @cached_property
    def abi(self) -> Abi:
        """o32 and n64 of the MIPS ABI handbooks; ``gp`` is the kernel's thread pointer."""
        arguments = self.argument_registers
        temporaries = tuple(
            name for name in self.general_registers if name[0] == "t" and name[1:].isdigit()
        )
        n64 = self.bits == 64
        saved = range(24, 32) if n64 else range(20, 32)
        return Abi(
            scratch=("at", "v0", "v1", *arguments, *temporaries, "ra", "hi", "lo"),
            saved=(*(f"s{n}" for n in range(9)),),
            fixed=("gp",),
            results=("v0", "v1"),
            float_scratch=tuple(f"f{n}" for n in range(32) if n not in saved),
            float_saved=tuple(f"f{n}" for n in saved),
            float_results=("f0", "f2") if n64 else ("f0", "f1", "f2", "f3"),
            float_arguments=tuple(f"f{n}" for n in range(12, 20 if n64 else 16)),
            status=("fsr",),
            stack_alignment=16 if n64 else 8,
            home_area=0 if n64 else 16,
        )

    def at_site(self, form: Form) -> AtSite:
        """``move at,ra`` stands in front; v0 is a nested function's static chain."""
        return AtSite(
            live=("v0", *self.argument_registers),
            moved={"ra": "at"},
            pinned=("at", "ra", self._ra_address_register, "k0", "k1", "gp", "sp", "zero"),
        )

    @property
    def _ra_address_register(self) -> str:
        return self.general_registers[12]

    def float_assignments(self, register: str, number: int) -> tuple[str, ...]:
        """A number of its own; gdb gives it the format that the register has."""
        return (f"${register} = {number}.5",)

    def delays(self, statement: str) -> bool:
        """All that begin with j and b."""
        return statement[0] in "jb"

    def ends(self, statement: str) -> bool:
        """Jumps and branches without condition that do not link."""
        return statement.partition(" ")[0] in ("j", "b", "jr")

    def effect(self, statement: str) -> Effect | None:
        """Loads, stores, and what works out its first operand from the others."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        names = ("$zero", *(f"${name}" for name in self.general_registers[1:]))
        registers = [
            names[int(found[1:])] if found[1:].isdigit() else found
            for found in re.findall(self.assembly_register, operands)
        ]
        place = re.fullmatch(r"\$\w+, (.*)\((\$\w+)\)", operands)
        size = {"lbu": 1, "lhu": 2, "sw": 4, "lw": 4, "sd": 8, "ld": 8, "sdc1": 8, "ldc1": 8}.get(
            mnemonic
        )
        if place and size:
            memory = (place[2], place[1], size)
            if mnemonic[0] == "s":
                return Effect(reads=frozenset(registers), stores=memory)
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]), loads=memory)
        variable = re.fullmatch(r"\$\w+, ([A-Za-z_]\w*)", operands)
        if variable and mnemonic in ("lw", "ld"):
            return Effect(writes=frozenset(registers), loads=(variable[1], "0", size or 4))
        if mnemonic in ("addiu", "daddiu", "move", "la", "dla", "srl", "xori") and registers:
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]))
        return None

    def another_register(self, register: str) -> str:
        """The even floating-point registers are pairs; every other one has a neighbour."""
        if match := re.fullmatch(r"\$f(\d+)", register):
            return f"$f{(int(match[1]) + 2) % 32}"
        if match := re.fullmatch(r"\$(\d+)", register):
            return f"${(int(match[1]) + 1) % 32}"
        names = ("zero", *self.general_registers[1:])
        name = register[1:]
        return f"${(names.index(name) + 1) % 32 if name in names else 8}"

    def another_offset(self, operands: str) -> str | None:
        """In front of a base register, or the last of three operands."""
        added = f"+ {self.word_size}"
        if match := re.search(r"\(\$\w+\)$", operands):
            return f"{operands[: match.start()]} {added}{match[0]}"
        parts = operands.split(",")
        if len(parts) == 3 and not parts[2].strip().startswith("$"):
            return f"{operands} {added}"
        return None

    def is_return(self, word: int) -> bool:
        """``jr ra`` of every release, with or without a hint: in release 6 ``jalr zero, ra``."""
        return word & 0xFFFFF83E == 0x03E00008

    def is_store(self, word: int) -> bool:
        """sb, sh, sw, sd and the like, also of the coprocessors, and sc."""
        opcode = word >> 26
        return 0x28 <= opcode <= 0x2E or opcode in (0x38, 0x39, 0x3C, 0x3D, 0x3F, 0x2C)

    def has_delay_slot(self, word: int) -> bool:
        """Every branch and jump of these releases."""
        opcode = word >> 26
        if opcode == _SPECIAL:
            return word & 0x3F in (0x08, 0x09)
        if opcode == 1:
            return word >> 16 & 0x1F < 4 or 0x10 <= word >> 16 & 0x1F < 0x14
        return 2 <= opcode <= 7 or 0x14 <= opcode <= 0x17

    def fetch_maintenance(self, word: int, registers: Mapping[str, int]) -> int | None:
        """``synci``, and ``cache`` on the primary instruction cache by address."""
        opcode, base, field = word >> 26, word >> 21 & 31, word >> 16 & 31
        is_synci = opcode == 1 and field == 0x1F
        if not is_synci and not (opcode == 0x2F and field == 0x10):
            return None
        offset = word & _IMMEDIATE
        address = registers[self.general_registers[base]] + offset - (offset >> 15 << 16)
        return address & self.mask

    def fetch_line(self, value: int) -> int:
        """What ``rdhwr`` gives as the step of ``synci`` on QEMU's CPUs of release 2."""
        return 32

    def encode_call(self, pc: int, target: int) -> int:
        """``jal target``, which reaches the 256 MiB region of the delay slot."""
        return _JAL | self._index(pc, target)

    def encode_jump(self, pc: int, target: int) -> int:
        """``j target``, with the reach of ``jal``."""
        return _J | self._index(pc, target)

    def encode_address(self, target: int, wide: bool = False) -> tuple[int, ...]:
        """The instructions that load ``target`` into v1 in a long call; ``wide``: any of 64 bits.

        The low parts are sign-extended, so each higher one carries where bit 15 of the next is
        set (B48).  RangeError for an address that two instructions cannot load: one that is not
        a sign-extended 32-bit one.
        """
        target &= self.mask
        low, high = target & _IMMEDIATE, (target + 0x8000) >> 16 & _IMMEDIATE
        if wide:
            rounded = target + 0x80008000
            return (
                _LUI_V1 | (rounded >> 32) + 0x8000 >> 16 & _IMMEDIATE,
                _LUI_AT | high,
                _DADDIU_V1_V1 | rounded >> 32 & _IMMEDIATE,
                _DADDIU_AT_AT | low,
                _DSLL32_V1_V1_0,
                _DADDU_V1_V1_AT,
            )
        signed = target - (1 << self.bits) if target >> (self.bits - 1) else target
        # 0x7fff8000 and up round to a high half of 0x8000, which a 64-bit lui sign-extends.
        if self.bits == 64 and not -(1 << 31) <= signed < (1 << 31) - 0x8000:
            raise RangeError(f"lui and daddiu cannot load {self._hex(target)}")
        return _LUI_V1 | high, (_ADDIU_V1_V1 if self.bits == 32 else _DADDIU_V1_V1) | low

    @property
    def first_syscall(self) -> int:  # type: ignore[override]
        """o32 and n64 (n32 would have the next thousand)."""
        return 4000 if self.bits == 32 else 5000

    @property
    def edges(self) -> tuple[int, ...]:  # type: ignore[override]
        """The last site of kseg0's first region that stays in it, and the first that does not."""
        base = -(1 << 31) & self.mask
        return base + _REGION - 8, base + _REGION - 4

    def reach(self, pc: int) -> tuple[int, int]:
        """The 256 MiB region of the delay slot."""
        region = (pc + 4) & self.mask & -_REGION
        return region, region + _REGION - 4

    def call_target(self, pc: int, word: int) -> int | None:
        """The target of a ``jal``."""
        if word & ~_INDEX != _JAL:
            return None
        region = (pc + 4) & self.mask & -_REGION
        return region | (word & _INDEX) << 2

    def recognise(
        self, address: int, words: Sequence[int], mcount: int | None, before: Sequence[int] = ()
    ) -> Form | None:
        """``jal _mcount`` with its stack adjustment, or the long call at its ``lui``.

        In front of a call the profiler always writes ``move at,ra``, and with
        ``-mmcount-ra-address`` what sets register 12 between that and the call, or on n64 in its
        delay slot; likewise the copy of a nested function's static chain.  Without ``before`` only
        the delay slot is seen.
        """
        if address % 4 or mcount is None or len(words) < 2:
            return None
        mcount &= self.mask
        if self.call_target(address, words[0]) == mcount:
            return self._recognise_call(words[1], list(before))
        if self._long_call_length(words) and self._loads(words, mcount):
            return Form.LONG_CALL
        return None

    def _recognise_call(self, slot: int, before: list[int]) -> Form | None:
        ra_address = False
        if self.bits == 32:
            if slot == self.nop and before and before[-1] == _ADDIU_SP_SP_MINUS_8:
                before.pop()
            elif slot != _ADDIU_SP_SP_MINUS_8:
                return None
        elif _sets_register_12(slot):
            ra_address = True
        elif slot != self.nop and slot not in _MOVE_V0_CHAIN:
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

    def site_length(self, form: Form, words: Sequence[int]) -> int:
        """The call and its stack adjustment (o32), the call (n64), or the whole long call.

        A long call ends with what undoes its copy of a static chain, if it has one: nobody but
        the call sets v0 to it.
        """
        if form is Form.LONG_CALL:
            return self._long_call_length(words)
        return 2 if self.bits == 32 else 1

    def site_words(self, site: CallSite, state: SiteState, target: int) -> tuple[int, ...]:
        """Two words on o32, one word on n64 and of a long call.

        An assembler that fills no delay slots (gcc -O0) leaves the o32 stack adjustment in front
        of the ``jal``; there the site is switched off by undoing it.
        A long call is switched off by ``b`` over the whole sequence in place of its ``lui`` (M1).
        All else stays, so it has to load ``target`` as it was built: ``_mcount`` and
        ``ftrace_caller`` are one address (M5).
        """
        if site.form is Form.LONG_CALL:
            return (self._long_call_word(site, state, target),)
        if self.bits == 64:
            return (self.nop if state is SiteState.NOP else self.encode_call(site.address, target),)
        slot_filled = len(site.as_built) < 2 or site.as_built[1] == _ADDIU_SP_SP_MINUS_8
        if state is SiteState.NOP:
            return (self.nop if slot_filled else _ADDIU_SP_SP_8), self.nop
        slot = _ADDIU_SP_SP_MINUS_8 if slot_filled else self.nop
        return self.encode_call(site.address, target), slot

    def tracer_words(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, int]:
        """The gate in front of ``ftrace_caller`` (M5) and the two slots behind it."""
        gate = self._symbol(symbols, "ftrace_caller")
        slot = self._symbol(symbols, "ftrace_call")
        closed = self.encode_jump(gate, self._symbol(symbols, "ftrace_stub"))
        return {
            gate: closed if tracer is None and not graph else self.nop,
            slot: self.nop if tracer is None else self.encode_call(slot, tracer),
            **self._graph_words(symbols, graph),
        }

    def _long_call_word(self, site: CallSite, state: SiteState, target: int) -> int:
        length = self._long_call_length(site.as_built)
        if not length:
            raise GuestError(
                f"the long call at {self._hex(site.address)} is not known word for word"
            )
        if state is SiteState.NOP:
            return _B | length - 1
        if not self._loads(site.as_built, target):
            raise RangeError(
                f"the long call at {self._hex(site.address)} does not go to {self._hex(target)}",
                "A port for MIPS has _mcount and ftrace_caller at one address.",
            )
        return site.as_built[0]

    def _loads(self, words: Sequence[int], target: int) -> bool:
        """Whether a long call that begins with ``words`` goes to ``target``."""
        try:
            load = self.encode_address(target, self._load_length(words) == 6)
        except RangeError:
            return False
        return tuple(words[: len(load)]) == load

    def _load_length(self, words: Sequence[int]) -> int:
        return 6 if self.bits == 64 and words[1] & ~_IMMEDIATE == _LUI_AT else 2

    def _long_call_length(self, words: Sequence[int]) -> int:
        """Words from ``lui`` to the delay slot of ``jalr v1`` or further; 0 when it is none."""
        if len(words) < 5 or words[0] & ~_IMMEDIATE != _LUI_V1:
            return 0
        move = self._load_length(words)
        if len(words) <= move or words[move] not in _MOVE_AT_RA:
            return 0
        for at, word in enumerate(words[move + 1 : self.words_at_site - 2], move + 1):
            if word == _JALR_V1 and at + 1 < len(words):
                undone = at + 2 < len(words) and words[at + 2] in _MOVE_CHAIN_V0
                return at + 3 if undone else at + 2
        return 0

    def _index(self, pc: int, target: int) -> int:
        target = self._aligned(target)
        slot = (self._aligned(pc) + 4) & self.mask
        if (target ^ slot) >= _REGION:
            raise RangeError(
                f"a jump at {self._hex(pc)} cannot reach {self._hex(target)}",
                "j and jal stay in the 256 MiB region of their delay slot.",
            )
        return (target & (_REGION - 1)) >> 2

    def _capstone(self) -> tuple[int, int]:
        import capstone

        word = capstone.CS_MODE_MIPS32 if self.bits == 32 else capstone.CS_MODE_MIPS64
        order = (
            capstone.CS_MODE_BIG_ENDIAN
            if self.byteorder == "big"
            else capstone.CS_MODE_LITTLE_ENDIAN
        )
        return capstone.CS_ARCH_MIPS, word | order

    def _text(self, mnemonic: str, operands: str) -> str:
        # capstone prints 64-bit branch targets as negative numbers; no immediate has 5 digits.
        return super()._text(
            mnemonic,
            re.sub(r"-0x[0-9a-f]{5,}", lambda target: self._hex(int(target[0], 16)), operands),
        )


def _sets_register_12(word: int) -> bool:
    opcode = word >> 26
    if opcode == _SPECIAL:
        return word & 0x3F in _SPECIAL_MOVES and word >> 11 & 31 == 12
    return opcode in _IMMEDIATE_MOVES and word >> 16 & 31 == 12
