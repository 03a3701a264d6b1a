# SPDX-License-Identifier: MIT
"""Arm with 32 bits; capstone is the judge of every encoding."""

import re

import capstone
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.under_test.registers import registers_in
from harness.errors import FormatError, RangeError
from harness.isa import CallSite, FlowKind, Form, Property, SiteState, cpu_of, for_elf

MACHINE = 40
ISA = for_elf(MACHINE, 32, "little")
REACH = 32 << 20
PC = 0x40200010

NOP, POP_LR, PUSH_LR, BX_LR = 0xE320F000, 0xE8BD4000, 0xE52DE004, 0xE12FFF1E
MCOUNT, CALLER = PC + 8 + 0x1000, PC + 8 - 0x800
BL_MCOUNT, BL_CALLER = 0xEB000400, 0xEBFFFE00

addresses = st.integers(0, 1 << 28).map(lambda index: index * 4)
in_reach = st.integers(-REACH // 4, REACH // 4 - 1).map(lambda index: index * 4)

SPECIAL = [
    *(BX_LR, 0xE12FFF1C, 0x012FFF1E, 0xE12FFF33),  # bx lr, bx ip, bxeq lr, blx r3
    *(0xE1A0F00E, 0xE1B0F00E, 0xE1A0F003),  # mov pc, lr; movs pc, lr; mov pc, r3
    *(0xE8BD8010, 0xE89DA800, 0xE8B38010, 0xE8FD8010),  # pop, ldm sp, ldm r3, ldm {..}^ of pc
    *(0xE49DF004, 0xE59FF004, 0xE51FF004, 0xE79FF003),  # pop {pc}, ldr pc
    *(0xE8BD4000, 0xE92D4010, 0xE8840003, 0x18840003),  # pop {lr}, push, stm, stmne
    *(0xEB000000, 0x0B000000, 0xFA000000, 0xEA000000, 0x0A000000),  # bl, bleq, blx, b, beq
    *(0xF8BD0A00, 0xF96D0513),  # rfeia sp!, srsdb sp!
    *(0xE5832004, 0xE5C32004, 0xE7832001, 0xE5932004),  # str, strb, str by register, ldr
    *(0xE1C320B4, 0xE1C320F8, 0xE1C320D8, 0xE1D320B4, 0xE1D320D4, 0xE1D320F4),  # strh .. ldrsh
    *(0xE1831F92, 0xE1931F9F, 0xE1A31F90),  # strex, ldrex, strexd
    0xED8C7900,  # vstr.16
    *(0xED832B02, 0xED932B02, 0xED2D8B10, 0xECBD8B10),  # vstr, vldr, vpush, vpop
    *(0xEC410B30, 0xEC510B30, 0xEEE10A10, 0xEEF10A10),  # vmov both ways, vmsr, vmrs
    *(0xF400078F, 0xF420078F),  # vst1, vld1
    *(0xE0010293, 0xE0832190, 0xE3A00000, 0xE1A00000, NOP),  # mul, umull, mov, nop
    *(0xF10C0080, 0xF1080080, 0xEE070F35, 0xE6FF1072),  # cpsid i, cpsie i, mcr, uxth
]


def code(*words: int) -> bytes:
    """Instructions as they lie in memory."""
    return ISA.encode(*words)


def judge(instruction: bytes, address: int) -> tuple[str, int]:
    """Mnemonic and target according to capstone."""
    engine = capstone.Cs(capstone.CS_ARCH_ARM, capstone.CS_MODE_ARM)
    engine.detail = True
    (found,) = engine.disasm(instruction, address)
    return found.mnemonic, found.operands[0].imm & ISA.mask


def text(word: int) -> str:
    return ISA.disassemble(code(word), PC)[0].text


@given(addresses, in_reach)
def test_encoded_branches_go_where_they_should(pc: int, offset: int) -> None:
    target = pc + 8 + REACH + offset
    pc += REACH
    call, jump = ISA.sites.encode_call(pc, target), ISA.sites.encode_jump(pc, target)
    assert judge(call, pc) == ("bl", target)
    assert judge(jump, pc) == ("b", target)
    assert ISA.sites.call_target(pc, call) == target
    assert ISA.sites.call_target(pc, jump) is None
    assert ISA.disassemble(call, pc)[0].calls == target


@pytest.mark.parametrize("offset", [-REACH - 4, -REACH, REACH - 4, REACH])
def test_reach_at_its_ends(offset: int) -> None:
    ahead = PC + 8
    assert ISA.sites.reach(PC) == (ahead - REACH, ahead + REACH - 4)
    for encode, name in ((ISA.sites.encode_call, "bl"), (ISA.sites.encode_jump, "b")):
        if offset in (-REACH, REACH - 4):
            assert judge(encode(PC, ahead + offset), PC) == (name, ahead + offset)
        else:
            with pytest.raises(RangeError, match="cannot reach"):
                encode(PC, ahead + offset)


@pytest.mark.parametrize(("pc", "target"), [(PC + 2, PC), (PC, PC + 1), (PC, PC + 2)])
def test_unaligned_branch_is_refused(pc: int, target: int) -> None:
    with pytest.raises(RangeError, match="not the address of an instruction"):
        ISA.sites.encode_call(pc, target)


def test_site() -> None:
    site = CallSite(PC, Form.MCOUNT, "f", PC - 16)
    assert text(POP_LR) in ("pop {lr}", "ldm sp!, {lr}")
    assert judge(code(BL_MCOUNT), PC) == ("bl", MCOUNT)
    for state, target, word in (
        (SiteState.BOOT, MCOUNT, BL_MCOUNT),
        (SiteState.CALL, CALLER, BL_CALLER),
        (SiteState.NOP, 0, POP_LR),
    ):
        assert ISA.sites.code_for(site, state, target) == code(word)
        assert ISA.sites.state(site, code(word), MCOUNT, CALLER) is state
    # The nop of a slot leaves the pushed word where it is.
    assert ISA.sites.state(site, code(NOP), MCOUNT, CALLER) is SiteState.UNKNOWN
    assert (ISA.sites.call_address(site), ISA.sites.resumes(site)) == (PC, PC + 4)
    assert ISA.abi.at_site(Form.MCOUNT).pops == 4


@pytest.mark.parametrize(
    ("before", "found", "form"),
    [
        ((PUSH_LR,), (BL_MCOUNT,), Form.MCOUNT),
        ((0xE92D4000,), (BL_MCOUNT,), Form.MCOUNT),  # as clang writes it
        ((0xE92D4010,), (BL_MCOUNT,), None),  # with r4
        ((NOP, PUSH_LR), (BL_MCOUNT, NOP), Form.MCOUNT),
        ((PUSH_LR, NOP), (BL_MCOUNT,), None),
        ((), (BL_MCOUNT,), None),
        ((PUSH_LR,), (BL_CALLER,), None),
        ((PUSH_LR,), (BL_MCOUNT & ~0xF1000000 | 0xEA000000,), None),
        ((PUSH_LR,), (BL_MCOUNT & 0x0FFFFFFF,), None),
        ((PUSH_LR,), (), None),
    ],
)
def test_recognise(before: tuple[int, ...], found: tuple[int, ...], form: Form | None) -> None:
    recognise = ISA.sites.recognise
    assert recognise(PC, code(*found), MCOUNT, code(*before)) is form
    assert recognise(PC + 2, code(*found), MCOUNT, code(*before)) is None
    assert recognise(PC, code(*found), None, code(*before)) is None
    assert ISA.sites.call_target(PC, code(*found)[:3]) is None
    assert ISA.sites.before == len(code(PUSH_LR))


def kind_by_capstone(word: int) -> FlowKind | None:
    name, _, operands = text(word).partition(" ")
    if name.startswith("rfe") or operands.endswith("pc} ^"):
        return FlowKind.EXCEPTION_RETURN
    if re.fullmatch(r"blx?(?!e$|t$)(..)?", name) and name not in ("ble", "blt", "bls", "blo"):
        return FlowKind.CALL
    if re.fullmatch(r"bx(..)?", name):
        return FlowKind.INDIRECT_JUMP
    loads = name.startswith(("pop", "ldm")) and operands.endswith("pc}")
    plain = re.fullmatch(r"(ldr|mov)(..)?", name) and operands.startswith("pc, ")
    return FlowKind.INDIRECT_JUMP if loads or plain else None


def stores_by_capstone(word: int) -> bool:
    name = text(word).partition(" ")[0]
    return name.startswith(("str", "stm", "push", "vst", "vpush", "srs")) and "strt" not in name


@pytest.mark.parametrize("word", SPECIAL, ids=text)
def test_masks_and_disassembler_agree(word: int) -> None:
    said, cpu, instruction = text(word), ISA.cpu, code(word)
    assert not said.startswith("."), "so capstone does not know it"
    kinds = [p.kind for p in cpu.flow_patterns if word & p.mask == p.value]
    assert kinds[:1] == [kind for kind in (kind_by_capstone(word),) if kind], said
    assert cpu.is_store(instruction) == stores_by_capstone(word), said
    conditional = bool(re.match(r"(b|bl|bx|stm)(eq|ne) ", said))
    assert cpu.is_conditional(instruction) == conditional, said
    returns = said in ("bx lr", "mov pc, lr") or bool(
        re.fullmatch(r"(pop|ldm sp,) \{.*pc\}|pop \{pc\}|ldr pc, \[sp\], #4", said)
    )
    assert cpu.is_return(instruction) == returns, said
    assert cpu.masks_interrupts(instruction) == (said == "cpsid i"), said


# Loads and stores of all kinds, by the bits 25 to 27.
memory = st.builds(
    lambda word, kind: word & 0x01FFFFFF | 0xE0000000 | kind << 25,
    st.integers(0, 0xFFFFFFFF),
    st.sampled_from([0, 2, 3, 4, 6]),
)


@given(memory)
def test_stores_are_what_the_disassembler_takes_for_them(word: int) -> None:
    said = text(word)
    name = said.partition(" ")[0]
    # Those of other coprocessors do not exist on these CPUs, swp not any more.
    if not said.startswith(".") and not name.startswith(("stc", "swp")):
        assert ISA.cpu.is_store(code(word)) == name.startswith(
            ("st", "push", "vst", "vpush", "fst")
        ), said


def test_masking_of_interrupts() -> None:
    for word in (0xF10C0080, 0xF10C00C0):  # cpsid i, cpsid if
        assert ISA.cpu.masks_interrupts(code(word)), text(word)
    for word in (0xF10C0040, 0xF1080080, 0xF10E0093):  # cpsid f, cpsie i, cpsid i, #19
        assert not ISA.cpu.masks_interrupts(code(word)), text(word)
    assert ISA.cpu.interrupt_mask(0x600001D3) == 0xC0
    assert ISA.cpu.with_interrupts_masked(0x13) == 0xD3


def test_maintenance_of_the_instruction_cache() -> None:
    registers = {"CTR": 0x8444C004, "r3": PC + 1, "sp": PC + 64}
    start = PC & -64
    for word, begin in ((0xEE073F35, start), (0xEE07DF35, start + 64)):  # ICIMVAU
        found = ISA.cpu.fetch_maintenance(code(word), registers.__getitem__)
        assert found == range(begin, begin + 64), text(word)
    for word in (0xEE073F3B, 0xEE070F15, 0xEE073F34, NOP):  # DCCMVAU, ICIALLU
        assert ISA.cpu.fetch_maintenance(code(word), registers.__getitem__) is None


@pytest.mark.parametrize(
    ("cpsr", "ifar", "dfsr", "told"),
    [
        (0x197, PC, 0, f"jump to {PC:#x}"),
        (0x197, PC + 4, 0x805, "store to 0x4"),
        (0x197, PC + 4, 0x005, "load from 0x4"),
        (0x19B, PC, 0x805, ""),
        (0x193, PC, 0x805, ""),
    ],
)
def test_fault(cpsr: int, ifar: int, dfsr: int, told: str) -> None:
    registers = {"cpsr": cpsr, "IFAR": ifar, "DFAR": 4, "DFSR": dfsr}
    assert ISA.cpu.fault(registers.__getitem__, PC) == told


def test_modes() -> None:
    for cpsr, kernel in ((0x10, False), (0x13, True), (0x93, True), (0x92, True), (0x17, True)):
        assert ISA.cpu.runs_kernel({"cpsr": cpsr}.__getitem__) is kernel


def test_only_memory_is_linear() -> None:
    for address, physical in ((0x40000000, 0x40000000), (0x3FFFFFFC, None), (0x80000000, None)):
        assert ISA.cpu.linear_address(address) == physical


class Stores:
    """What an injection does to the machine."""

    def __init__(self) -> None:
        self.done: list[tuple[int, bytes]] = []

    def set_bits(self, cpu: int, register: str, bits: int) -> None:
        raise AssertionError("no register is changed")

    def store(self, address: int, data: bytes) -> None:
        self.done.append((address, data))


def test_injected_interrupts_are_messages() -> None:
    to = Stores()
    (injection,) = cpu_of(ISA.name).injections.values()
    injection.inject(to, 3, False)
    injection.inject(to, 1, True)
    assert to.done == [(0x08020040, bytes([83, 0, 0, 0])), (0x08020040, bytes([89, 0, 0, 0]))]
    assert injection.nmi
    assert Property.NO_NMI not in cpu_of(ISA.name).properties([])


def test_big_endian_is_refused() -> None:
    with pytest.raises(FormatError, match="big endian ABI"):
        for_elf(MACHINE, 32, "big")


def test_registers() -> None:
    assert len(ISA.abi.general_registers) == 15
    assert {*ISA.abi.scratch, *ISA.abi.saved, "sp"} == set(ISA.abi.general_registers)
    assert set(ISA.abi.float_saved) == {f"d{n}" for n in range(8, 16)}
    assert len({*ISA.abi.float_scratch, *ISA.abi.float_saved}) == 32
    (part,) = ISA.abi.float_parts("d9", 3)
    assert part == "d9.u64"


@pytest.mark.parametrize(
    ("statement", "reads", "writes", "loads", "stores"),
    [
        ("str lr, [sp, #8]", {"lr", "sp"}, set(), None, ("sp", "8", 4)),
        ("vstr d0, [r1]", {"d0", "r1"}, set(), None, ("r1", "0", 8)),
        ("ldr r1, [r4, #24]", {"r4"}, {"r1"}, ("r4", "24", 4), None),
        ("ldr ip, =tracer", set(), {"ip"}, None, None),
        ("ldr ip, tracer", set(), {"ip"}, ("tracer", "0", 4), None),
        ("push {r0}", {"r0", "sp"}, {"sp"}, None, ("sp", "-1*4", 4)),
        ("pop {r1, lr}", {"sp"}, {"r1", "lr", "sp"}, ("sp", "0", 8), None),
        ("sub r0, lr, #4", {"lr"}, {"r0"}, None, None),
        ("mov sp, r4", {"r4"}, {"sp"}, None, None),
        ("cmp ip, #0", {"ip"}, {"flags"}, None, None),
        ("nop", set(), set(), None, None),
    ],
)
def test_effects_of_statements(
    statement: str, reads: set[str], writes: set[str], loads: object, stores: object
) -> None:
    effect = ISA.asm_syntax.effect(statement)
    assert effect is not None
    assert (set(effect.reads), set(effect.writes)) == (reads, writes)
    assert (effect.loads, effect.stores) == (loads, stores)


def test_the_assemblers_syntax() -> None:
    syntax = ISA.asm_syntax
    for statement in ("bl f", "blx ip", "rsb ip, ip, pc", "push {r0-r4, lr}"):
        assert syntax.effect(statement) is None
    for statement, ends in (
        ("bx lr", True),
        ("b .Lgraph", True),
        ("pop {r4, pc}", True),
        ("ldr pc, [pc, #-4]", True),
        ("ldr r0, [pc, #4]", False),
        ("pop {lr}", False),
        ("bne 1f", False),
        ("bl f", False),
    ):
        assert syntax.ends(statement) is ends, statement
    for register, other in (("r0", "r1"), ("r10", "r0"), ("lr", "r5"), ("d31", "d0")):
        assert syntax.another_register(register) == other
    assert syntax.another_offset("r1, [r4, #24]") == "r1, [r4, #4 + 24]"
    assert syntax.another_offset("r1, [r4]") == "r1, [r4, #4]"
    assert syntax.another_offset("ip, lr") is None


def test_what_does_nothing_in_other_ports() -> None:
    assert {ISA.disassemble(one, PC)[0].text for one in ISA.sites.idle} == {"nop", "mov r0, r0"}
    assert [ISA.disassemble(one, PC)[0].text for one in ISA.sites.off] == ["add sp, sp, #4"]


@pytest.mark.parametrize("number", range(13))
def test_registers_have_gdbs_names(number) -> None:
    """Capstone prints those of the older calling standard."""
    [instruction] = ISA.disassemble((0xE1A0E000 | number).to_bytes(4, "little"), 0)
    assert registers_in(instruction.text, ISA) == ["lr", f"r{number}"]
