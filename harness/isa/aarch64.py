# SPDX-License-Identifier: MIT
"""AArch64: ``bl _mcount`` of ``-pg``, and the two nops of ``-fpatchable-function-entry=2``.

Encodings: Arm Architecture Reference Manual, C6.2 (B, BL, BLR, BR, ERET, NOP, ORR, RET).
Instructions are little endian whatever the byte order of data.
"""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar

from harness.errors import FormatError, RangeError
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
from harness.units import ByteOrder

_BL = 0x94000000
_B = 0x14000000
_IMM26 = 0x03FFFFFF
_MOV_X9_X30 = 0xAA1E03E9
_REACH = 128 << 20
_MEMORY = range(1 << 30, 2 << 30)

_R_AARCH64_CALL26 = 283


class AArch64(Isa):
    """The 64-bit Arm instruction set, A64."""

    name = "aarch64"
    elf_machine = 183
    nop = 0xD503201F
    call_relocations = frozenset({_R_AARCH64_CALL26})
    call_return_offset = 4
    flow_patterns = (
        FlowPattern(0xFC000000, _BL, FlowKind.CALL),
        FlowPattern(0xFEE00000, 0xD6200000, FlowKind.CALL),  # blr, blraa and the like
        FlowPattern(0xFEE00000, 0xD6000000, FlowKind.INDIRECT_JUMP),  # br, braa
        FlowPattern(0xFEE00000, 0xD6400000, FlowKind.INDIRECT_JUMP),  # ret, retaa
        FlowPattern(0xFFE00000, 0xD6800000, FlowKind.EXCEPTION_RETURN),  # eret
    )

    return_register = "x30"
    assembly_register = r"\b(?:[xwqd]\d+|sp)\b"
    status_registers: ClassVar[tuple[str, ...]] = ("cpsr",)
    current_register = "SP_EL0"
    vectors_symbol = "vectors"
    vector_offsets: ClassVar[Sequence[int]] = range(0, 0x800, 0x80)
    masks_interrupts = (0xFFFFF0FF, 0xD50340DF)  # msr daifset, #imm
    accesses_memory = (0x0A000000, 0x08000000)

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        if bits != 64:
            raise FormatError("the ILP32 ABI of aarch64 is not supported")
        super().__init__(bits, byteorder)

    @property
    def code_byteorder(self) -> ByteOrder:
        """Always little, also where data is big endian."""
        return "little"

    def linear_address(self, address: int) -> int | None:
        """The guests map memory where it lies (guests/arch/aarch64/mmu.S)."""
        return address if address in _MEMORY else None

    @property
    def general_registers(self) -> tuple[str, ...]:
        """``x0`` to ``x30`` and ``sp``."""
        return (*(f"x{n}" for n in range(31)), "sp")

    @property
    def argument_registers(self) -> tuple[str, ...]:
        """``x0`` to ``x7`` (AAPCS64)."""
        return tuple(f"x{n}" for n in range(8))

    @property
    def abi(self) -> Abi:
        """AAPCS64; the kernel has its thread pointer in ``SP_EL0``, and of x18 nothing."""
        return Abi(
            scratch=(*(f"x{n}" for n in range(19)), "x30"),
            saved=tuple(f"x{n}" for n in range(19, 30)),
            fixed=("SP_EL0",),
            results=tuple(f"x{n}" for n in range(8)),
            float_scratch=tuple(f"q{n}" for n in range(32) if not 8 <= n < 16),
            # Only their lower halves have to be kept, but nobody writes upper ones alone.
            float_saved=tuple(f"q{n}" for n in range(8, 16)),
            float_results=tuple(f"q{n}" for n in range(8)),
            float_arguments=tuple(f"q{n}" for n in range(8)),
            status=("fpsr", "fpcr"),
            stack_alignment=16,
        )

    def at_site(self, form: Form) -> AtSite:
        """A call of ``_mcount`` is one like any other; a patchable entry has all arguments live."""
        if form is not Form.PATCHABLE_ENTRY:
            return AtSite(live=(), moved={}, pinned=("x29", "x30", "sp"))
        live = tuple(f"x{n}" for n in range(9))
        return AtSite(live=live, moved={"x30": "x30"}, pinned=("x29", "x30", "sp"))

    def float_assignments(self, register: str, number: int) -> tuple[str, ...]:
        """Both halves of all 128 bits: gdb knows no larger constants."""
        low = 0x0123456789ABCDEF * (2 * number + 1) & (1 << 63) - 1
        halves = (low, low ^ 0x70E1D2C3B4A59687)
        vector = f"$v{register[1:]}"
        return tuple(f"{vector}.d.u[{at}] = 0x{half:x}" for at, half in enumerate(halves))

    def ends(self, statement: str) -> bool:
        """Branches without condition that do not link."""
        return statement.partition(" ")[0] in ("ret", "b", "br")

    def effect(self, statement: str) -> Effect | None:
        """Loads and stores without write-back, and what works out its first operand."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        # w9 is a part of x9.
        registers = [re.sub("^w", "x", one) for one in re.findall(self.assembly_register, operands)]
        place = re.fullmatch(r"[^\[]*\[(\w+)(?:, (#[^\]]*))?\]", operands)
        pair = mnemonic in ("ldp", "stp")
        if place and (pair or mnemonic in ("ldr", "str")):
            memory = (place[1], place[2] or "#0", (16 if operands[0] == "q" else 8) * (1 + pair))
            if mnemonic[0] == "s":
                return Effect(reads=frozenset(registers), stores=memory)
            into = registers[: 1 + pair]
            return Effect(frozenset(registers[len(into) :]), frozenset(into), loads=memory)
        literal = re.fullmatch(r"x\d+, (\w+)", operands)
        if literal and mnemonic == "ldr":
            return Effect(writes=frozenset(registers), loads=(literal[1], "0", 8))
        if mnemonic in ("add", "sub", "mov", "adrp") and registers:
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]))
        if mnemonic == "cmp":
            return Effect(frozenset(registers), frozenset({"flags"}))
        return None

    def another_register(self, register: str) -> str:
        """The next number; x0 where that would be no register."""
        if register == "sp":
            return "x16"
        number = int(register[1:]) + 1
        return f"{register[0]}{number if number <= 30 else 0}"

    def another_offset(self, operands: str) -> str | None:
        """Behind the last ``#``, or with a base register that has no offset yet."""
        head, mark, tail = operands.rpartition("#")
        step = 16 if operands.startswith("q") else 8
        if mark:
            return f"{head}#{step} + {tail}"
        return operands.replace("]", f", #{step}]") if operands.endswith("]") else None

    def is_return(self, word: int) -> bool:
        """``ret`` with any register, and those that authenticate x30."""
        return word & 0xFFFFFC1F == 0xD65F0000 or word in (0xD65F0BFF, 0xD65F0FFF)

    def is_store(self, word: int) -> bool:
        """The group of loads and stores, less what is a load for certain."""
        if word & 0x0A000000 != 0x08000000:
            return False
        return not (word & 0x38000000 == 0x18000000 or word & 0x00400000)

    def fetch_maintenance(self, word: int, registers: Mapping[str, int]) -> int | None:
        """``ic ivau``."""
        if word & ~31 != 0xD50B7520:
            return None
        number = word & 31
        return registers[f"x{number}"] & self.mask if number < 31 else 0

    frame_register = "x29"
    address_bits = 39

    def after_indirect_branch(self, registers: Mapping[str, int]) -> dict[str, int]:
        """PSTATE.BTYPE as after ``br x16``."""
        return {"cpsr": registers["cpsr"] & ~0xC00 | 0x400}

    fetch_line_register = "CTR_EL0"

    def fetch_line(self, value: int) -> int:
        """IminLine of CTR_EL0 is the logarithm of the words."""
        return 4 << (value & 15)

    def encode_call(self, pc: int, target: int) -> int:
        """``bl target``, which reaches from -128 MiB to +128 MiB - 4."""
        return _BL | self._imm26(pc, target)

    def encode_jump(self, pc: int, target: int) -> int:
        """``b target``, with the reach of ``bl``."""
        return _B | self._imm26(pc, target)

    def reach(self, pc: int) -> tuple[int, int]:
        """128 MiB back, and one instruction less forward."""
        return (pc - _REACH) & self.mask, (pc + _REACH - 4) & self.mask

    def call_target(self, pc: int, word: int) -> int | None:
        """The target of a ``bl``."""
        if word & ~_IMM26 != _BL:
            return None
        offset = (word & _IMM26) * 4
        if offset >= _REACH:
            offset -= 2 * _REACH
        return (pc + offset) & self.mask

    def recognise(
        self, address: int, words: Sequence[int], mcount: int | None, before: Sequence[int] = ()
    ) -> Form | None:
        """``bl _mcount``, or two nops at a patchable entry."""
        if address % 4 or not words:
            return None
        if mcount is not None and self.call_target(address, words[0]) == mcount & self.mask:
            return Form.MCOUNT
        if tuple(words[:2]) == (self.nop, self.nop):
            return Form.PATCHABLE_ENTRY
        return None

    def site_length(self, form: Form, words: Sequence[int]) -> int:
        """Two words at a patchable entry, one elsewhere."""
        return 2 if form is Form.PATCHABLE_ENTRY else 1

    def site_words(self, site: CallSite, state: SiteState, target: int) -> tuple[int, ...]:
        """One word, or two at a patchable entry: there ``x9`` carries the caller's ``x30``."""
        if site.form is not Form.PATCHABLE_ENTRY:
            if state is SiteState.NOP:
                return (self.nop,)
            return (self.encode_call(site.address, target),)
        if state is SiteState.BOOT:
            return self.nop, self.nop
        if state is SiteState.NOP:
            return _MOV_X9_X30, self.nop
        return _MOV_X9_X30, self.encode_call(site.address + 4, target)

    def tracer_words(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, int]:
        """The slots ``ftrace_call`` (``bl tracer``) and ``ftrace_graph_call``."""
        slot = self._symbol(symbols, "ftrace_call")
        return {
            slot: self.nop if tracer is None else self.encode_call(slot, tracer),
            **self._graph_words(symbols, graph),
        }

    def _imm26(self, pc: int, target: int) -> int:
        offset = self._aligned(target) - self._aligned(pc)
        if not -_REACH <= offset < _REACH:
            raise RangeError(
                f"a branch at {self._hex(pc)} cannot reach {self._hex(target)}",
                "bl reaches 128 MiB in either direction; link the code closer together.",
            )
        return offset // 4 & _IMM26

    def _capstone(self) -> tuple[int, int]:
        import capstone

        return capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN
