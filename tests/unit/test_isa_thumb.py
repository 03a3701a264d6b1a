# SPDX-License-Identifier: MIT
"""T32, the other instruction set of arm; capstone is the judge of every encoding."""

import re

import capstone
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from harness.errors import RangeError
from harness.isa import CallSite, FlowKind, Form, SiteState, for_elf
from harness.mutation.assembly import statements
from harness.mutation.operators import IDEMPOTENT, faults

MACHINE = 40
ISA = for_elf(MACHINE, 32, "little", marked=True)
REACH = 16 << 20
PC = 0x40200012

NOP_W, POP_LR, PUSH_LR = 0xF3AF8000, 0xF85DEB04, 0xB500

addresses = st.integers(0, 1 << 28).map(lambda index: index * 2)
in_reach = st.integers(-REACH // 2, REACH // 2 - 1).map(lambda index: index * 2)
halves = st.integers(0, 0xFFFF)


def code(*values: int) -> bytes:
    """Instructions as they lie in memory, of one halfword or of two."""
    return b"".join(ISA.encode(value, size=4 if value >> 16 else 2) for value in values)


def text(value: int) -> str:
    return ISA.disassemble(code(value), PC)[0].text


def judge(instruction: bytes, address: int) -> tuple[str, int]:
    """Mnemonic and target according to capstone."""
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB)
    engine.detail = True
    (found,) = engine.disasm(instruction, address)
    return found.mnemonic, found.operands[0].imm & ISA.mask


def flow(instruction: bytes) -> FlowKind | None:
    """By the patterns, of the number that the oracle's plugin compares."""
    word = int.from_bytes(instruction, "little")
    kinds = [p.kind for p in ISA.cpu.flow_patterns if word & p.mask == p.value]
    return kinds[0] if kinds else None


@given(addresses, in_reach)
def test_encoded_branches_go_where_they_should(pc: int, offset: int) -> None:
    target = pc + 4 + REACH + offset
    pc += REACH
    call, jump = ISA.sites.encode_call(pc, target), ISA.sites.encode_jump(pc, target)
    assert judge(call, pc) == ("bl", target)
    assert judge(jump, pc) == ("b.w", target)
    assert ISA.sites.call_target(pc, call) == target
    assert ISA.sites.call_target(pc, jump) is None
    assert ISA.disassemble(call, pc)[0].calls == target


@pytest.mark.parametrize("offset", [-REACH - 2, -REACH, REACH - 2, REACH])
def test_reach_at_its_ends(offset: int) -> None:
    ahead = PC + 4
    assert ISA.sites.reach(PC) == (ahead - REACH, ahead + REACH - 2)
    for encode, name in ((ISA.sites.encode_call, "bl"), (ISA.sites.encode_jump, "b.w")):
        if offset in (-REACH, REACH - 2):
            assert judge(encode(PC, ahead + offset), PC) == (name, ahead + offset)
        else:
            with pytest.raises(RangeError, match="cannot reach"):
                encode(PC, ahead + offset)


def test_site() -> None:
    site = CallSite(PC, Form.MCOUNT, "f", PC - 16)
    mcount, caller = PC + 0x1000, PC - 0x800
    assert (text(POP_LR), text(NOP_W), text(PUSH_LR)) == ("ldr lr, [sp], #4", "nop.w", "push {lr}")
    on = ISA.sites.encode_call(PC, caller)
    for state, target, found in (
        (SiteState.BOOT, mcount, ISA.sites.encode_call(PC, mcount)),
        (SiteState.CALL, caller, on),
        (SiteState.NOP, 0, code(POP_LR)),
    ):
        assert ISA.sites.code_for(site, state, target) == found
        assert ISA.sites.state(site, found, mcount, caller) is state
    # The nop of a slot leaves the pushed word where it is.
    assert ISA.sites.state(site, code(NOP_W), mcount, caller) is SiteState.UNKNOWN
    assert (ISA.sites.call_address(site), ISA.sites.resumes(site)) == (PC, PC + 4)
    assert {ISA.disassemble(one, PC)[0].text for one in ISA.sites.idle} == {"nop.w", "mov.w r0, r0"}
    assert [ISA.disassemble(one, PC)[0].text for one in ISA.sites.off] == ["add.w sp, sp, #4"]


@pytest.mark.parametrize(
    ("before", "target", "form"),
    [
        ((PUSH_LR,), 0x1000, Form.MCOUNT),
        ((NOP_W, PUSH_LR), 0x1000, Form.MCOUNT),
        ((0xB510,), 0x1000, None),  # push {r4, lr}
        ((), 0x1000, None),
        ((PUSH_LR,), 0x1002, None),
    ],
)
def test_recognise(before: tuple[int, ...], target: int, form: Form | None) -> None:
    found = ISA.sites.encode_call(PC, PC + target)
    assert ISA.sites.recognise(PC, found, PC + 0x1000, code(*before)) is form
    assert ISA.sites.recognise(PC, found, None, code(*before)) is None
    assert ISA.sites.recognise(PC, found[:2], PC + 0x1000, code(*before)) is None


@given(st.binary(min_size=2, max_size=64))
def test_instructions_are_as_long_as_the_disassembler_says(data: bytes) -> None:
    assert [len(one) for one in ISA.split(data)] == [
        len(one.bytes_) for one in ISA.disassemble(data, PC)
    ]
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_THUMB)
    for one in ISA.split(data):
        assert {size for _, size, _, _ in engine.disasm_lite(one, PC)} <= {len(one)}


def kind_by_capstone(said: str) -> FlowKind | None:
    name, _, operands = said.partition(" ")
    name = name.removesuffix(".w")
    if name.startswith("rfe") or said.startswith("subs pc, lr"):
        return FlowKind.EXCEPTION_RETURN
    if name in ("bl", "blx"):
        return FlowKind.CALL
    loads = name in ("pop", "ldm", "ldmdb") and operands.endswith("pc}")
    plain = name in ("ldr", "mov") and operands.startswith("pc, ")
    return FlowKind.INDIRECT_JUMP if name == "bx" or loads or plain else None


# Around what transfers control or accesses memory, of one halfword and of two.
ONE = st.one_of(
    halves.map(lambda low: 0x4400 | low & 0x3FF),
    halves.map(lambda low: 0x5000 | low & 0x4FFF),
    halves.map(lambda low: 0xB000 | low & 0xFFF),
    halves.map(lambda low: 0xC000 | low & 0x1FFF),
)
TWO = st.builds(
    lambda first, second: first << 16 | second,
    st.one_of(
        halves.map(lambda low: 0xE800 | low & 0x7FF),
        halves.map(lambda low: 0xF000 | low & 0x7FF),
        halves.map(lambda low: 0xF800 | low & 0x1FF),
        st.sampled_from([0xE8BD, 0xF85D, 0xF3DE, 0xE99D, 0xE81D]),
    ),
    halves,
)


@given(st.one_of(ONE, TWO))
def test_transfers_of_control(value: int) -> None:
    said = text(value)
    # Bits of bx and blx that should be zero.
    assume(value & 0xFF00 != 0x4700 or not value & 7)
    if not said.startswith("."):
        assert flow(code(value)) == kind_by_capstone(said), said


@given(st.one_of(ONE, TWO))
def test_stores_are_what_the_disassembler_takes_for_them(value: int) -> None:
    said = text(value)
    name = said.partition(" ")[0]
    # Those of other coprocessors do not exist on these CPUs.
    if not said.startswith(".") and not name.startswith("stc"):
        stores = name.startswith(("st", "push", "vst", "vpush", "fst", "srs"))
        assert ISA.cpu.is_store(code(value)) == stores, said


def test_what_setjmp_loads_and_stores_is_seen() -> None:
    for value in (0x6004, 0x9001, 0xB510, 0xC80F, 0xF8C0D020, 0xE9C04500, 0xED808B0A, 0x4801):
        word = int.from_bytes(code(value), "little")
        assert any(word & mask == found for mask, found in ISA.cpu.accesses_memory), text(value)
    for value in (0x4770, 0xF000F800, 0x2000, 0xEA4F0000):
        word = int.from_bytes(code(value), "little")
        assert not any(word & mask == v for mask, v in ISA.cpu.accesses_memory), text(value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0x4770, "bx lr"),
        (0x46F7, "mov pc, lr"),
        (0xBD10, "pop {r4, pc}"),
        (0xE8BD8FF0, "pop.w {r4, r5, r6, r7, r8, sb, sl, fp, pc}"),
        (0xF85DFB04, "ldr pc, [sp], #4"),
    ],
)
def test_returns(value: int, said: str) -> None:
    assert text(value) == said
    assert ISA.cpu.is_return(code(value))


@pytest.mark.parametrize("value", [0x4718, 0xBC10, 0xE8BD4FF0, 0xF8DDF004, 0xE893A000, 0x4687])
def test_what_is_no_return(value: int) -> None:
    assert not ISA.cpu.is_return(code(value)), text(value)


@given(
    st.one_of(
        halves.map(lambda low: 0xB000 | low & 0x1FFF), halves.map(lambda low: low % 0xE800), TWO
    )
)
def test_conditions(value: int) -> None:
    said = text(value)
    if said.startswith("."):
        return
    name = said.partition(" ")[0].removesuffix(".w")
    conditional = bool(
        re.fullmatch(r"b(eq|ne|hs|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)|cbn?z|it.*", name)
    )
    assert ISA.cpu.is_conditional(code(value)) == conditional, said


def test_masking_of_interrupts() -> None:
    for value in (0xB672, 0xB673):  # cpsid i, cpsid if
        assert ISA.cpu.masks_interrupts(code(value)), text(value)
    for value in (0xB671, 0xB662, 0xF3AF8533):  # cpsid f, cpsie i, cpsid i, #19
        assert not ISA.cpu.masks_interrupts(code(value)), text(value)


def test_maintenance_of_the_instruction_cache() -> None:
    registers = {"CTR": 0x8444C004, "r3": PC + 1}
    start = PC & -64
    found = ISA.cpu.fetch_maintenance(code(0xEE073F35), registers.__getitem__)
    assert found == range(start, start + 64)
    for value in (0xEE073F3B, 0x4770, NOP_W):
        assert ISA.cpu.fetch_maintenance(code(value), registers.__getitem__) is None


def test_pointers_have_a_bit_that_is_no_part_of_the_address() -> None:
    lr = {"lr": PC | 1}
    assert ISA.abi.return_address(lr.__getitem__, lambda *_: b"") == PC
    assert ISA.abi.entered(PC, [], 0x1000, PC)["lr"] == PC | 1
    assert (ISA.pointed_to(PC | 1), ISA.cpu.plain_address(PC | 1)) == (PC, PC)
    a32 = for_elf(MACHINE, 32, "little")
    assert (a32.pointed_to(PC | 1), a32.code_bit) == (PC | 1, 0)


def test_the_assemblers_syntax() -> None:
    syntax = ISA.asm_syntax
    for statement, ends in (("b.w f", True), ("ldr.w pc, [sp]", True), ("bne.w f", False)):
        assert syntax.ends(statement) is ends, statement
    effect = syntax.effect("ldr.w r1, [r4, #24]")
    assert effect is not None
    assert (effect.writes, effect.loads) == ({"r1"}, ("r4", "24", 4))
    assert syntax.effect("bl f") is None


def test_a_wide_nop_with_a_label_is_a_slot() -> None:
    """A port writes a call there: nothing shows that another order would do the same."""
    found = statements("slot:\n\tnop.w\n\tmov sp, fp\n")
    made = {fault.name: fault for fault in faults(found, ISA.asm_syntax)}
    assert made["slot/0/swap"].equivalent == ""
    assert made["slot/0/double"].equivalent == IDEMPOTENT
    assert "nop" not in made["slot/0/drop"].source
