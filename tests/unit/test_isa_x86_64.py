# SPDX-License-Identifier: MIT
"""x86-64 call sites and machine; capstone is the judge of every encoding."""

import capstone
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.under_test.registers import registers_in
from harness.errors import FormatError, RangeError
from harness.isa import CallSite, FlowKind, Form, SiteState, for_elf

MACHINE = 62
ISA = for_elf(MACHINE, 64, "little")
REACH = 1 << 31
PC, FENTRY, CALLER = 0x600123, 0x601000, 0x602000

addresses = st.integers(0, (1 << 64) - 1)
distances = st.integers(-REACH, REACH - 1)


def judge(instruction: bytes, address: int) -> tuple[str, int]:
    """Mnemonic and target according to capstone."""
    engine = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
    engine.detail = True
    (found,) = engine.disasm(instruction, address)
    return found.mnemonic, found.operands[0].imm & ISA.mask


@given(addresses, distances)
def test_encoded_jumps_go_where_they_should(pc: int, distance: int) -> None:
    target = pc + 5 + distance & ISA.mask
    call, jump = ISA.sites.encode_call(pc, target), ISA.sites.encode_jump(pc, target)
    assert judge(call, pc) == ("call", target)
    assert judge(jump, pc) == ("jmp", target)
    assert ISA.sites.call_target(pc, call) == target
    assert ISA.sites.call_target(pc, jump) is None


@given(addresses)
def test_reach(pc: int) -> None:
    low, high = ISA.sites.reach(pc)
    for target in (low, high):
        assert ISA.sites.call_target(pc, ISA.sites.encode_call(pc, target)) == target
    for target in (low - 1, high + 1):
        with pytest.raises(RangeError):
            ISA.sites.encode_call(pc, target)


def test_states_of_a_site() -> None:
    site = CallSite(PC, Form.MCOUNT, "f", PC)
    assert judge_nop(ISA.sites.nop) == "nop"
    for state, target in ((SiteState.BOOT, FENTRY), (SiteState.NOP, 0), (SiteState.CALL, CALLER)):
        code = ISA.sites.code_for(site, state, target)
        assert ISA.sites.state(site, code, FENTRY, CALLER) is state
    assert ISA.sites.state(site, bytes(5), FENTRY, CALLER) is SiteState.UNKNOWN
    assert ISA.sites.resumes(site) == PC + 5


def judge_nop(code: bytes) -> str:
    """The mnemonic of a single instruction."""
    (found,) = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64).disasm(code, 0)
    return str(found.mnemonic)


def test_recognises_a_call_of_fentry_at_any_address() -> None:
    for pc in range(PC, PC + 8):
        call = ISA.sites.encode_call(pc, FENTRY)
        assert ISA.sites.recognise(pc, call, FENTRY) is Form.MCOUNT
        assert ISA.sites.recognise(pc, call, FENTRY + 1) is None
        assert ISA.sites.recognise(pc, call[:4], FENTRY) is None
        assert ISA.sites.recognise(pc, ISA.sites.nop, FENTRY) is None


@pytest.mark.parametrize(
    ("code", "sizes"),
    [
        ("55 4889e5 c3", [1, 3, 1]),
        ("0f1f440000 e800000000 48b88877665544332211", [5, 5, 10]),
        ("c3 e80000", [1]),  # the second one is incomplete
        ("06 c3", [1, 1]),  # the first one is none
    ],
)
def test_instructions_have_any_length(code: str, sizes: list[int]) -> None:
    assert [len(one) for one in ISA.split(bytes.fromhex(code))] == sizes
    assert [len(one.bytes_) for one in ISA.disassemble(bytes.fromhex(code), PC)] == sizes


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("e800000000", FlowKind.CALL),
        ("ffd0", FlowKind.CALL),
        ("41ffd3", FlowKind.CALL),
        ("ff1425e0b06000", FlowKind.CALL),
        ("c3", FlowKind.INDIRECT_JUMP),
        ("ffe0", FlowKind.INDIRECT_JUMP),
        ("41ffe2", FlowKind.INDIRECT_JUMP),
        ("48cf", FlowKind.EXCEPTION_RETURN),
        ("ff30", None),  # push
        ("ffc0", None),  # inc
        ("e900000000", None),
    ],
)
def test_flow(code: str, kind: FlowKind | None) -> None:
    word = int.from_bytes(bytes.fromhex(code)[:4], "little")
    found = [one.kind for one in ISA.cpu.flow_patterns if word & one.mask == one.value]
    assert found[:1] == ([kind] if kind else [])


@pytest.mark.parametrize(
    ("code", "stores", "conditional"),
    [
        ("488907", True, False),  # mov [rdi], rax
        ("488b07", False, False),  # mov rax, [rdi]
        ("50", True, False),  # push
        ("48833c2500000000 00", False, False),  # cmp
        ("7402", False, True),  # je
        ("0f8400000000", False, True),
        ("480f44c1", False, True),  # cmove
        ("eb02", False, False),
    ],
)
def test_stores_and_conditions(code: str, stores: bool, conditional: bool) -> None:
    instruction = bytes.fromhex(code)
    assert ISA.cpu.is_store(instruction) is stores
    assert ISA.cpu.is_conditional(instruction) is conditional


@pytest.mark.parametrize(
    ("vector", "error", "pc", "what"),
    [
        (14, 0, 1, "load from 0x4"),
        (14, 2, 1, "store to 0x4"),
        (14, 16, 1, "jump to 0x4"),
        (14, 0, 4, "jump to 0x4"),
        (8, 0, 1, "store to 0x4"),
        (6, 0, 1, ""),
    ],
)
def test_faults(vector: int, error: int, pc: int, what: str) -> None:
    registers = {"fs_base": vector << 32 | error, "cr2": 4}
    assert ISA.cpu.fault(registers.__getitem__, pc) == what


def test_interrupts() -> None:
    assert ISA.cpu.interrupt_mask(0x246) == 0x200
    assert ISA.cpu.with_interrupts_masked(0x246) == 0x46
    assert ISA.cpu.masks_interrupts(b"\xfa")
    assert not ISA.cpu.masks_interrupts(b"\xfb")
    assert ISA.cpu.runs_kernel({"cs": 0x10}.__getitem__)
    assert not ISA.cpu.runs_kernel({"cs": 0x2B}.__getitem__)


def test_the_return_address_is_on_the_stack() -> None:
    assert ISA.abi.return_register == ""
    assert ISA.abi.entered(PC, [1], 0x10000, 2)["rsp"] % 16 == 8


def test_unsupported_kinds() -> None:
    for bits, order in ((32, "little"), (64, "big")):
        with pytest.raises(FormatError, match="64 bits, little endian"):
            for_elf(MACHINE, bits, order)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("statement", "loads", "stores"),
    [
        ("movq 8(%rsp), %rdi", ("%rsp", "8", 8), None),
        ("movq %rdi, 8 + 16(%rsp)", None, ("%rsp", "8 + 16", 8)),
        ("leaq 8(%rsp), %rdi", None, None),
        ("subq $8, %rdi", None, None),
        ("movdqu 16(%rsp), %xmm1", ("%rsp", "16", 16), None),
        ("movdqu %xmm1, 16(%rsp)", None, ("%rsp", "16", 16)),
    ],
)
def test_syntax(statement: str, loads: object, stores: object) -> None:
    effect = ISA.asm_syntax.effect(statement)
    assert effect is not None
    assert (effect.loads, effect.stores) == (loads, stores)
    assert ISA.asm_syntax.effect("call prepare_ftrace_return") is None
    assert ISA.asm_syntax.ends("jmp *%r10")
    assert ISA.asm_syntax.another_register("%r15") == "%rax"
    assert ISA.asm_syntax.another_offset("8(%rsp), %rdi") == "8 + 8(%rsp), %rdi"


def test_effects_name_vectors_and_what_is_changed_in_place() -> None:
    added, moved = map(ISA.asm_syntax.effect, ("subq $8, %rdi", "movdqu %xmm1, 16(%rsp)"))
    assert added is not None
    assert moved is not None
    assert (set(added.reads), set(added.writes)) == ({"%rdi"}, {"%rdi", "flags"})
    assert (set(moved.reads), set(moved.writes)) == ({"%xmm1", "%rsp"}, set())


def test_a_comparison_changes_nothing_but_flags() -> None:
    compared = ISA.asm_syntax.effect("cmpq $ftrace_stub, ftrace_trace_function")
    assert compared is not None
    assert (set(compared.reads), set(compared.writes)) == (set(), {"flags"})
    assert compared.loads == ("ftrace_trace_function", "0", 8)
    assert ISA.asm_syntax.effect("cmpq %rdi, %rsi") is None


def test_a_call_reaches_around_the_end_of_the_addresses() -> None:
    sites = ISA.sites
    assert sites.reaches(0x1000, 0xFFFFFFFFFFFFF000)
    assert sites.reaches(0x1000, 0x1004 + (1 << 31))
    assert not sites.reaches(0x1000, 0x1005 + (1 << 31))


def test_a_lower_half_is_of_its_register() -> None:
    assert registers_in("cmp eax, dword ptr [rdi + 8]", ISA) == ["rax", "rdi"]
    assert registers_in("mov byte ptr [rax], dil", ISA) == ["rax", "rdi"]
    assert registers_in("cmp r9b, cl", ISA) == ["r9", "rcx"]
    assert registers_in("movzx si, byte ptr [r10d + ax]", ISA) == ["rsi", "r10", "rax"]
