# SPDX-License-Identifier: MIT
"""AArch64 call sites; capstone is the judge of every encoding."""

import capstone
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.under_test.registers import registers_in
from harness.errors import FormatError, GuestError, RangeError
from harness.isa import CallSite, Form, SiteState, for_elf

MACHINE = 183
ISA = for_elf(MACHINE, 64, "little")
REACH = 128 << 20
MASK = (1 << 64) - 1

NOP = 0xD503201F
MOV_X9_X30 = 0xAA1E03E9
BTI_C = 0xD503245F

addresses = st.integers(0, 1 << 48).map(lambda index: index * 4)
in_reach = st.integers(-REACH // 4, REACH // 4 - 1).map(lambda index: index * 4)


def code(*words: int) -> bytes:
    """Instructions as they lie in memory."""
    return ISA.encode(*words)


def judge(instruction: bytes, address: int) -> tuple[str, int]:
    """Mnemonic and target according to capstone."""
    engine = capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_LITTLE_ENDIAN)
    engine.detail = True
    (found,) = engine.disasm(instruction, address)
    return found.mnemonic, found.operands[0].imm & MASK


@given(addresses, in_reach)
def test_encoded_branches_go_where_they_should(pc: int, offset: int) -> None:
    pc += REACH
    target = pc + offset
    call, jump = ISA.sites.encode_call(pc, target), ISA.sites.encode_jump(pc, target)
    assert judge(call, pc) == ("bl", target)
    assert judge(jump, pc) == ("b", target)
    assert ISA.sites.call_target(pc, call) == target
    assert ISA.sites.call_target(pc, jump) is None


@given(addresses, addresses, st.booleans())
def test_branches_out_of_reach_are_refused(low: int, gap: int, forward: bool) -> None:
    pc, target = (low, low + REACH + gap) if forward else (low + REACH + 4 + gap, low)
    for encode in (ISA.sites.encode_call, ISA.sites.encode_jump):
        with pytest.raises(RangeError, match="cannot reach"):
            encode(pc, target)


@pytest.mark.parametrize(
    ("offset", "reaches"),
    [
        (-REACH - 4, False),
        (-REACH, True),
        (-REACH + 4, True),
        (REACH - 8, True),
        (REACH - 4, True),
        (REACH, False),
    ],
)
def test_reach_at_its_ends(offset: int, reaches: bool) -> None:
    pc = 0x4020_0000
    if reaches:
        assert judge(ISA.sites.encode_call(pc, pc + offset), pc) == ("bl", pc + offset)
    else:
        with pytest.raises(RangeError):
            ISA.sites.encode_call(pc, pc + offset)


@pytest.mark.parametrize(("pc", "target"), [(0x1002, 0x1000), (0x1000, 0x1001)])
def test_unaligned_branch_is_refused(pc: int, target: int) -> None:
    with pytest.raises(RangeError, match="not the address of an instruction"):
        ISA.sites.encode_call(pc, target)


def test_mcount_site() -> None:
    site = CallSite(0x40200010, Form.MCOUNT, "f", 0x40200000)
    mcount, caller = 0x40300000, 0x40300010
    for state, target, word in (
        (SiteState.BOOT, mcount, 0x9403FFFC),
        (SiteState.CALL, caller, 0x94040000),
        (SiteState.NOP, 0, NOP),
    ):
        assert ISA.sites.code_for(site, state, target) == code(word)
        assert ISA.sites.state(site, code(word), mcount, caller) is state
    assert ISA.sites.state(site, code(MOV_X9_X30), mcount, caller) is SiteState.UNKNOWN
    assert ISA.sites.state(site, b"", mcount, caller) is SiteState.UNKNOWN


def test_patchable_site() -> None:
    site = CallSite(0x40200010, Form.PATCHABLE_ENTRY, "f", 0x4020000C)
    caller = 0x40300014
    # The call is the second word, and its reach counts from there.
    for state, words in (
        (SiteState.BOOT, (NOP, NOP)),
        (SiteState.NOP, (MOV_X9_X30, NOP)),
        (SiteState.CALL, (MOV_X9_X30, 0x94040000)),
    ):
        assert ISA.sites.code_for(site, state, caller) == code(*words)
        assert ISA.sites.state(site, code(*words), 0, caller) is state
    assert judge(code(0x94040000), site.address + 4) == ("bl", caller)
    assert (ISA.sites.call_address(site), ISA.sites.resumes(site)) == (0x40200014, 0x40200018)
    half = code(NOP, 0x94040000)
    assert ISA.sites.state(site, half, 0, caller) is SiteState.UNKNOWN


@pytest.mark.parametrize(
    ("words", "form"),
    [
        ((0x9403FFFC, NOP), Form.MCOUNT),
        ((0x9403FFFD, NOP), None),
        ((0x1403FFFC, NOP), None),
        ((NOP, NOP), Form.PATCHABLE_ENTRY),
        ((NOP, BTI_C), None),
        ((BTI_C, NOP), None),
        ((NOP,), None),
        ((), None),
    ],
)
def test_recognise(words: tuple[int, ...], form: Form | None) -> None:
    assert ISA.sites.recognise(0x40200010, code(*words), 0x40300000) is form
    assert ISA.sites.recognise(0x40200012, code(*words), 0x40300000) is None


def test_patchable_guest_has_no_mcount() -> None:
    assert ISA.sites.recognise(0x40200010, code(NOP, NOP), None) is Form.PATCHABLE_ENTRY
    assert ISA.sites.recognise(0x40200010, code(0x9403FFFC, NOP), None) is None


def test_stub_code() -> None:
    symbols = {"ftrace_call": 0x40300020}
    assert ISA.sites.stub_code(symbols, None) == {0x40300020: code(NOP)}
    ((slot, call),) = ISA.sites.stub_code(symbols, 0x40200000).items()
    assert judge(call, slot) == ("bl", 0x40200000)
    with pytest.raises(GuestError, match="no symbol ftrace_call"):
        ISA.sites.stub_code({}, None)


def test_code_is_little_endian_in_a_big_endian_guest() -> None:
    isa = for_elf(MACHINE, 64, "big")
    assert isa.byteorder == "big"
    assert isa.encode(NOP) == bytes.fromhex("1f2003d5")
    assert isa.disassemble(bytes.fromhex("1f2003d5"), 0)[0].text == "nop"


def test_32_bit_abi_is_refused() -> None:
    with pytest.raises(FormatError, match="ILP32"):
        for_elf(MACHINE, 32, "little")


def test_registers() -> None:
    assert len(ISA.abi.general_registers) == 32
    assert ISA.abi.argument_registers == tuple(f"x{n}" for n in range(8))
    assert ISA.abi.return_register in ISA.abi.general_registers


def test_a_landing_pad_lies_between_literal_and_site() -> None:
    address = 0x40200008
    assert ISA.sites.behind_landing_pad(address, code(BTI_C) + code(NOP) * 2) == address + 4
    assert ISA.sites.behind_landing_pad(address, code(NOP) * 3) == address


@pytest.mark.parametrize(
    ("word", "text", "orders"),
    [
        (0xD5033ABF, "dmb ishst", True),
        (0xD5033BBF, "dmb ish", True),
        (0xD5033F9F, "dsb sy", True),
        (0xD5033E9F, "dsb st", True),
        (0xD5033B9F, "dsb ish", True),
        (0xD50339BF, "dmb ishld", False),
        (0xD503379F, "dsb nsh", False),
        (0xD5033FDF, "isb", False),
        (NOP, "nop", False),
    ],
)
def test_barriers_that_order_stores(word: int, text: str, orders: bool) -> None:
    (decoded,) = ISA.disassemble(code(word), 0)
    assert decoded.text == text
    assert ISA.cpu.orders_stores(code(word)) == orders


def test_a_lower_half_is_of_its_register() -> None:
    assert registers_in("cmp w2, w1", ISA) == ["x2", "x1"]
