# SPDX-License-Identifier: MIT
"""RISC-V call sites and machine; capstone is the judge of every encoding."""

from collections.abc import Mapping

import capstone
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.under_test.registers import registers_in
from harness.errors import FormatError, RangeError, UsageError
from harness.isa import CallSite, FlowKind, Form, Isa, Property, SiteState, cpu_of, for_elf

MACHINE = 243
ISA = for_elf(MACHINE, 64, "little", 4)
REACH = 1 << 20
PC = 0x80200010

NOP, MV_T0_RA, RET = 0x00000013, 0x00008293, 0x00008067
JAL_MCOUNT, JAL_CALLER = 0x7F1FF0EF, 0x000010EF
MCOUNT, CALLER = PC + 0xFFFF0, PC + 0x1000

addresses = st.integers(0, 1 << 48).map(lambda index: index * 4)
in_reach = st.integers(-REACH // 4, REACH // 4 - 1).map(lambda index: index * 4)
words = st.builds(
    lambda word, low: word & ~0x7F | low,
    st.integers(0, 0xFFFFFFFF),
    st.sampled_from([0x03, 0x07, 0x13, 0x23, 0x27, 0x2F, 0x63, 0x67, 0x6F, 0x73]),
)
SPECIAL = [
    *(RET, 0x10200073, 0x30200073, 0x000280E7),  # ret, sret, mret, jalr t0
    *(0x0000100F, 0x0FF0000F, 0x10017073),  # fence.i, fence, csrci
    *(0x1005A52F, 0x18B5A52F, 0x00B5A52F),  # lr.w, sc.w, amoadd.w
]
links = st.builds(lambda word, top: word << 7 | top, st.sampled_from([0, 1, 5]), st.just(0x67))


def code(*values: int) -> bytes:
    """Instructions as they lie in memory."""
    return ISA.encode(*values)


def judge(instruction: bytes, address: int) -> tuple[str, int]:
    """Mnemonic and target according to capstone, which gives the distance."""
    engine = capstone.Cs(capstone.CS_ARCH_RISCV, capstone.CS_MODE_RISCV64)
    engine.detail = True
    (found,) = engine.disasm(instruction, address)
    return found.mnemonic, address + found.operands[-1].imm


def text(word: int) -> str:
    return ISA.disassemble(code(word), PC)[0].text


@given(addresses, in_reach)
def test_encoded_jumps_go_where_they_should(pc: int, offset: int) -> None:
    pc += REACH
    target = pc + offset
    call, jump = ISA.sites.encode_call(pc, target), ISA.sites.encode_jump(pc, target)
    assert judge(call, pc) == ("jal", target)
    assert judge(jump, pc) == ("j", target)
    assert ISA.sites.call_target(pc, call) == target
    assert ISA.sites.call_target(pc, jump) is None
    assert ISA.disassemble(call, pc)[0].calls == target
    assert ISA.disassemble(jump, pc)[0].text == f"j {target:#x}"


@pytest.mark.parametrize("offset", [-REACH - 4, -REACH, REACH - 4, REACH])
def test_reach_at_its_ends(offset: int) -> None:
    assert ISA.sites.reach(PC) == (PC - REACH, PC + REACH - 4)
    for encode, name in ((ISA.sites.encode_call, "jal"), (ISA.sites.encode_jump, "j")):
        if offset in (-REACH, REACH - 4):
            assert judge(encode(PC, PC + offset), PC) == (name, PC + offset)
        else:
            with pytest.raises(RangeError, match="cannot reach"):
                encode(PC, PC + offset)


@pytest.mark.parametrize(("pc", "target"), [(PC + 2, PC), (PC, PC + 1), (PC, PC + 2)])
def test_unaligned_jump_is_refused(pc: int, target: int) -> None:
    with pytest.raises(RangeError, match="not the address of an instruction"):
        ISA.sites.encode_call(pc, target)


def test_mcount_site() -> None:
    site = CallSite(PC, Form.MCOUNT, "f", PC - 16)
    assert judge(code(JAL_MCOUNT), PC) == ("jal", MCOUNT)
    for state, target, word in (
        (SiteState.BOOT, MCOUNT, JAL_MCOUNT),
        (SiteState.CALL, CALLER, JAL_CALLER),
        (SiteState.NOP, 0, NOP),
    ):
        assert ISA.sites.code_for(site, state, target) == code(word)
        assert ISA.sites.state(site, code(word), MCOUNT, CALLER) is state
    assert ISA.sites.state(site, code(MV_T0_RA), MCOUNT, CALLER) is SiteState.UNKNOWN
    assert (ISA.sites.call_address(site), ISA.sites.resumes(site)) == (PC, PC + 4)


def test_patchable_site() -> None:
    site = CallSite(PC, Form.PATCHABLE_ENTRY, "f", PC)
    assert (text(NOP), text(MV_T0_RA)) == ("nop", "mv t0, ra")
    # The call is the second word, and its reach counts from there.
    for state, pair in (
        (SiteState.BOOT, (NOP, NOP)),
        (SiteState.NOP, (MV_T0_RA, NOP)),
        (SiteState.CALL, (MV_T0_RA, JAL_CALLER)),
    ):
        assert ISA.sites.code_for(site, state, CALLER + 4) == code(*pair)
        assert ISA.sites.state(site, code(*pair), 0, CALLER + 4) is state
    assert (ISA.sites.call_address(site), ISA.sites.resumes(site)) == (PC + 4, PC + 8)
    half = code(NOP, JAL_CALLER)
    assert ISA.sites.state(site, half, 0, CALLER + 4) is SiteState.UNKNOWN


@pytest.mark.parametrize(
    ("found", "form"),
    [
        ((JAL_MCOUNT, NOP), Form.MCOUNT),
        ((JAL_CALLER, NOP), None),
        ((JAL_MCOUNT & ~0x80, NOP), None),  # j
        ((NOP, NOP), Form.PATCHABLE_ENTRY),
        ((NOP, RET), None),
        ((RET, NOP), None),
        ((NOP,), None),
        ((), None),
    ],
)
def test_recognise(found: tuple[int, ...], form: Form | None) -> None:
    assert ISA.sites.recognise(PC, code(*found), MCOUNT) is form
    assert ISA.sites.recognise(PC + 2, code(*found), MCOUNT) is None
    assert ISA.sites.call_target(PC, code(*found)[:3]) is None
    patchable = form is Form.PATCHABLE_ENTRY
    assert ISA.sites.recognise(PC, code(*found), None) is (form if patchable else None)


def test_calls_and_entries_in_a_listing() -> None:
    """By the disassembler only; a call that the linker has not relaxed is none."""
    unrelaxed = code(0x00000097, 0x000080E7)  # auipc ra, 0; jalr ra
    listing = ISA.disassemble(code(NOP, JAL_MCOUNT) + unrelaxed, PC - 4)
    assert list(ISA.sites.find_calls(listing, MCOUNT)) == [PC]
    assert ISA.sites.find_entry(listing) is None
    assert ISA.sites.find_entry(ISA.disassemble(code(NOP, NOP), PC)) == (PC, PC + 4)


def kind_by_capstone(word: int) -> FlowKind | None:
    mnemonic, _, operands = text(word).partition(" ")
    if mnemonic in ("sret", "mret"):
        return FlowKind.EXCEPTION_RETURN
    if mnemonic in ("jr", "ret") or (mnemonic == "jalr" and operands.startswith("zero, ")):
        return FlowKind.INDIRECT_JUMP
    # With one operand the link register is ra.
    links_ra = operands.startswith("ra, ") or "," not in operands
    return FlowKind.CALL if mnemonic in ("jal", "jalr") and links_ra else None


@given(st.one_of(words, links))
def test_masks_and_disassembler_agree(word: int) -> None:
    if not text(word).startswith("."):
        agree(word)


@pytest.mark.parametrize("word", SPECIAL, ids=text)
def test_masks_at_special_instructions(word: int) -> None:
    agree(word)


def agree(word: int) -> None:
    said = text(word)
    cpu, instruction = ISA.cpu, code(word)
    kinds = [p.kind for p in cpu.flow_patterns if word & p.mask == p.value]
    assert kinds == [kind for kind in (kind_by_capstone(word),) if kind], said
    name = said.partition(" ")[0]
    stores = name in ("sb", "sh", "sw", "sd", "fsw", "fsd") or name.startswith(("amo", "sc."))
    assert cpu.is_store(instruction) == stores, said
    loads = name in ("lb", "lbu", "lh", "lhu", "lw", "lwu", "ld", "flw", "fld")
    atomic = name.startswith(("amo", "sc.", "lr."))
    accesses = any(word & mask == value for mask, value in cpu.accesses_memory)
    assert accesses == ((stores or loads) and not atomic), said
    assert cpu.is_return(instruction) == (said == "ret")
    assert cpu.is_conditional(instruction) == (name[0] == "b"), said
    everywhere = cpu.fetch_maintenance(instruction, {}.__getitem__)
    assert (everywhere is not None) == (said == "fence.i"), said


def test_masking_of_interrupts() -> None:
    masks = [0x10017073, 0x100175F3]  # csrrci of sstatus, SIE; the second into a1
    assert text(masks[0]) == "csrci sstatus, 2"
    assert all(ISA.cpu.masks_interrupts(code(word)) for word in masks)
    # csrrsi; sie and not sstatus; SPP too.
    for other in (0x10016073, 0x10417073, 0x1001F073):
        assert not ISA.cpu.masks_interrupts(code(other)), text(other)
    assert ISA.cpu.interrupt_mask(0x122) == 2
    assert ISA.cpu.with_interrupts_masked(0x122) == 0x120


@pytest.mark.parametrize(
    ("cause", "told"),
    [
        (1, "jump to 0x4"),
        (12, "jump to 0x4"),
        (5, "load from 0x4"),
        (13, "load from 0x4"),
        (6, "store to 0x4"),
        (15, "store to 0x4"),
        (2, ""),
        (3, ""),
        (8, ""),
        (1 << 63 | 5, ""),
    ],
)
def test_fault(cause: int, told: str) -> None:
    assert ISA.cpu.fault({"scause": cause, "stval": 4}.__getitem__, PC) == told


def test_modes() -> None:
    for priv, kernel in ((0, False), (1, True), (3, True)):
        assert ISA.cpu.runs_kernel({"priv": priv}.__getitem__) is kernel


def test_only_memory_is_linear() -> None:
    for address, physical in ((0x80000000, 0x80000000), (0x7FFFFFFC, None), (0xC0000000, None)):
        assert ISA.cpu.linear_address(address) == physical


class Stores:
    """What an injection does to the machine."""

    def __init__(self) -> None:
        self.done: list[tuple[int, bytes]] = []

    def set_bits(self, cpu: int, register: str, bits: int) -> None:
        raise AssertionError("no register is changed")

    def store(self, address: int, data: bytes) -> None:
        self.done.append((address, data))


@pytest.mark.parametrize(
    ("way", "stores"),
    [
        ("imsic", [(0x28003000, bytes([2, 0, 0, 0]))]),
        ("sswi", [(0x0C00010C, bytes([1, 0, 0, 0])), (0x02F0000C, bytes([1, 0, 0, 0]))]),
    ],
)
def test_injected_interrupt_is_a_store(way: str, stores: list[tuple[int, bytes]]) -> None:
    to = Stores()
    injection = cpu_of(ISA.name).injections[way]
    injection.inject(to, 3, False)
    assert to.done == stores
    with pytest.raises(UsageError, match="no NMI"):
        injection.inject(to, 0, True)
    assert Property.NO_NMI in cpu_of(ISA.name).properties([])
    assert not injection.nmi


class Hart:
    """A CPU whose next tick is at a count of 500."""

    def __init__(self, deadline: int = 500) -> None:
        self.deadline = deadline
        self.done: list[tuple[tuple[bytes, ...], dict[str, int]]] = []

    def register(self, name: str) -> int:
        raise AssertionError(name)

    def set_register(self, name: str, value: int) -> None:
        raise AssertionError(name, value)

    def variable(self, symbol: str, size: int) -> int:
        assert (symbol, size) == ("tick_deadline", 8)
        return self.deadline

    def execute(self, *instructions: bytes, registers: Mapping[str, int]) -> None:
        self.done.append((instructions, dict(registers)))


def test_a_timer_without_a_deadline_does_not_run() -> None:
    assert ISA.cpu.timer_runs(Hart())
    assert not ISA.cpu.timer_runs(Hart(deadline=0))


def test_a_timer_is_set_to_the_next_count_and_then_to_its_deadline() -> None:
    hart = Hart()
    ISA.cpu.restart_timer(hart, 300)
    ((instructions, registers),) = hart.done
    # csrrw of CSR 0x14d, without a result.
    words = [int.from_bytes(one, "little") for one in instructions]
    assert [word & ~(31 << 15) for word in words] == [0x14D << 20 | 1 << 12 | 0x73] * 2
    sources = [f"a{(word >> 15 & 31) - 10}" for word in words]
    assert [registers[name] for name in sources] == [301, 500]
    assert registers["priv"] == 3


@pytest.mark.parametrize(
    ("bits", "flags", "name"), [(64, 9, "RVE"), (64, 8, "RVE"), (32, 4, "32-bit")]
)
def test_abi_that_is_refused(bits: int, flags: int, name: str) -> None:
    with pytest.raises(FormatError, match=f"{name} ABI"):
        for_elf(MACHINE, bits, "little", flags)


def test_code_is_little_endian_whatever_data_is() -> None:
    for order in ("big", "little"):
        assert for_elf(MACHINE, 64, order).encode(NOP) == bytes.fromhex("13000000")


def test_registers() -> None:
    assert len(ISA.abi.general_registers) == 31
    assert ISA.abi.argument_registers == tuple(f"a{n}" for n in range(8))
    assert ISA.abi.return_register in ISA.abi.general_registers
    assert ISA.abi.at_site(Form.MCOUNT).live == ()
    assert {"a0", "a7", "t2"} <= set(ISA.abi.at_site(Form.PATCHABLE_ENTRY).live)
    assert ISA.abi.float_parts("fa0", 3) == {"fa0.double": "3.5"}


@pytest.mark.parametrize(
    ("statement", "reads", "writes", "loads", "stores"),
    [
        ("sd ra, 8(sp)", {"ra", "sp"}, set(), None, ("sp", "8", 8)),
        ("fsd fa0, (t1)", {"fa0", "t1"}, set(), None, ("t1", "0", 8)),
        ("lw a1, -4(s0)", {"s0"}, {"a1"}, ("s0", "-4", 4), None),
        ("ld t1, tracer", set(), {"t1"}, ("tracer", "0", 8), None),
        ("addi sp, sp, -16", {"sp"}, {"sp"}, None, None),
        ("li a0, 1", set(), {"a0"}, None, None),
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
    assert syntax.effect("jalr t0") is None
    for statement, ends in (("ret", True), ("jr t1", True), ("tail f", True), ("jal f", False)):
        assert syntax.ends(statement) is ends
    for register, other in (("a0", "a1"), ("a7", "a0"), ("ra", "t3"), ("fs11", "fs0")):
        assert syntax.another_register(register) == other
    assert syntax.another_offset("ra, 8(sp)") == "ra, 8 + 8(sp)"
    assert syntax.another_offset("ra, (sp)") == "ra, 8 + 0(sp)"
    assert syntax.another_offset("ra, sp") is None


@given(addresses, st.integers(-(1 << 31), (1 << 31) - 0x801), st.sampled_from([1, 5]))
def test_a_call_by_two_instructions(pc: int, offset: int, link: int) -> None:
    """As an assembler splits the distance: the lower part is signed."""
    low = offset & 0xFFF
    high = offset + 0x800 >> 12 & 0xFFFFF
    auipc, jalr = high << 12 | link << 7 | 0x17, low << 20 | link << 15 | link << 7 | 0x67
    first, second = ISA.disassemble(code(auipc, jalr), pc)
    assert (first.calls, second.calls) == (None, pc + offset & ISA.mask)
    # By another register, without a link, and alone it is no call of a known address.
    for other in (jalr ^ 1 << 15, jalr & ~0xF80):
        assert ISA.disassemble(code(auipc, other), pc)[1].calls is None
    assert ISA.disassemble(code(jalr), pc)[0].calls is None


AUIPC_RA, JALR_RA, JALR_T0 = 0x97, 0x80E7, 0x282E7


def of_linux() -> Isa:
    """The instruction set of an image whose slot is a call by two instructions."""
    isa = for_elf(MACHINE, 64, "little")
    isa.sites.learn(code(AUIPC_RA, JALR_RA))
    return isa


@given(addresses, st.integers(-(1 << 29), (1 << 29) - 0x201).map(lambda index: index * 4))
def test_sites_and_slots_of_two_instructions(pc: int, offset: int) -> None:
    sites = of_linux().sites
    pc += 1 << 32
    target = pc + offset
    site = CallSite(pc, Form.PATCHABLE_ENTRY, "f", pc)
    on = sites.code_for(site, SiteState.CALL, target)
    assert ISA.disassemble(on, pc)[1].calls == target
    assert [one.text.split()[:2] for one in ISA.disassemble(on, pc)] == [
        ["auipc", "t0,"],
        ["jalr", "t0,"],
    ]
    assert sites.code_for(site, SiteState.NOP, 0) == code(NOP, NOP)
    assert sites.state(site, on, 0, target) is SiteState.CALL
    assert sites.reaches(pc, target)
    symbols = {"ftrace_stub": pc + 64, "prepare_ftrace_return": pc + 96}
    symbols |= {"ftrace_call": pc, "ftrace_graph_call": pc + 8, "ftrace_regs_call": pc + 16}
    for tracer, graph in ((target, True), (None, False)):
        called = {
            place: ISA.disassemble(slot, place)[1].calls
            for place, slot in sites.stub_code(symbols, tracer, graph).items()
        }
        function = tracer or symbols["ftrace_stub"]
        hijack = symbols["prepare_ftrace_return" if graph else "ftrace_stub"]
        assert called == {pc: function, pc + 8: hijack, pc + 16: function}


def test_a_call_by_two_instructions_has_an_end_too() -> None:
    sites = of_linux().sites
    low, high = sites.reach(1 << 32)
    site = CallSite(1 << 32, Form.PATCHABLE_ENTRY, "f", 1 << 32)
    for target in (low, high):
        on = sites.code_for(site, SiteState.CALL, target)
        assert ISA.disassemble(on, 1 << 32)[1].calls == target
    for target in (low - 4, high + 4):
        with pytest.raises(RangeError, match="cannot reach"):
            sites.code_for(site, SiteState.CALL, target)


def test_the_slot_says_how_many() -> None:
    assert (ISA.sites.slot_size, of_linux().sites.slot_size) == (4, 8)
    near = for_elf(MACHINE, 64, "little")
    near.sites.learn(code(NOP, JAL_CALLER))
    assert near.sites.slot_size == 4


@pytest.mark.parametrize(
    ("word", "name", "orders"),
    [
        (0x0110000F, "fence w, w", True),
        (0x0FF0000F, "fence", True),
        (0x0330000F, "fence rw, rw", True),
        (0x8330000F, "fence.tso", True),
        (0x0220000F, "fence r, r", False),
        (0x0210000F, "fence r, w", False),
        (0x0120000F, "fence w, r", False),
        (0x0100000F, "pause", False),
        (0x0000100F, "fence.i", False),
        (NOP, "nop", False),
    ],
)
def test_barriers_that_order_stores(word: int, name: str, orders: bool) -> None:
    assert name == "pause" or text(word) == name
    assert ISA.cpu.orders_stores(code(word)) == orders


@pytest.mark.parametrize("number", range(1, 32))
def test_registers_have_gdbs_names(number) -> None:
    """Capstone and gdb name the eighth differently."""
    code = (0x13 | number << 7 | number << 15 | 1 << 20).to_bytes(4, "little")
    [instruction] = ISA.disassemble(code, 0)
    assert len(registers_in(instruction.text, ISA)) == 2, instruction.text
