# SPDX-License-Identifier: MIT
"""MIPS call sites; capstone is the judge of every encoding."""

import capstone
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.under_test.registers import registers_in
from harness.errors import GuestError, RangeError
from harness.isa import CallSite, Form, Isa, SiteState, for_elf

MACHINE = 8
KINDS = [(bits, order) for bits in (32, 64) for order in ("big", "little")]
MIB = 1 << 20
REGION = 256 * MIB

JAL_MCOUNT = 0x0C040400
"""``jal 0x80101000`` anywhere in the region of KSEG0's first 256 MiB."""
ADJUST = 0x27BDFFF8
UNDO = 0x27BD0008
MOVE_AT_RA = 0x03E00825
LA_T4 = 0x27AC0014
CHAIN_BACK = 0x00407825
JALR_V1 = 0x0060F809
NOP = 0
RA_ADDRESS = Form.MCOUNT_RA_ADDRESS

kinds = st.sampled_from(KINDS).map(lambda kind: for_elf(MACHINE, *kind))


def kseg(isa: Isa, address: int) -> int:
    """A 32-bit kernel address as the guest's pointers hold it."""
    return address | (0xFFFFFFFF << 32 if isa.bits == 64 else 0)


def judge(isa: Isa, code: bytes, address: int) -> list[tuple[str, int]]:
    """Mnemonic and last operand, unsigned, of each instruction according to capstone."""
    mode = capstone.CS_MODE_MIPS32 if isa.bits == 32 else capstone.CS_MODE_MIPS64
    big = isa.byteorder == "big"
    engine = capstone.Cs(
        capstone.CS_ARCH_MIPS,
        mode | (capstone.CS_MODE_BIG_ENDIAN if big else capstone.CS_MODE_LITTLE_ENDIAN),
    )
    engine.detail = True
    return [
        (i.mnemonic, i.operands[-1].imm & isa.mask if i.operands else 0)
        for i in engine.disasm(code, address)
    ]


def run_load(isa: Isa, code: bytes) -> dict[str, int]:
    """What the registers hold behind instructions that load an address, by capstone's reading."""
    engine = capstone.Cs(
        capstone.CS_ARCH_MIPS, capstone.CS_MODE_MIPS64 | capstone.CS_MODE_BIG_ENDIAN
    )
    engine.detail = True
    registers: dict[str, int] = {}
    for i in engine.disasm(code, 0):
        target = i.reg_name(i.operands[0].reg)
        *sources, last = i.operands[1:]
        if i.mnemonic == "lui":
            value = last.imm << 16
            value -= (value & 1 << 31) << 1
        elif i.mnemonic == "dsll32":
            value = registers[i.reg_name(sources[0].reg)] << 32 + last.imm
        elif i.mnemonic in ("addiu", "daddiu"):
            value = registers[i.reg_name(sources[0].reg)] + last.imm
        else:
            assert i.mnemonic == "daddu"
            value = registers[i.reg_name(sources[0].reg)] + registers[i.reg_name(last.reg)]
        registers[target] = value & isa.mask
    return registers


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}-{kind[1]}")
def isa(request: pytest.FixtureRequest) -> Isa:
    return for_elf(MACHINE, *request.param)


def addresses(bits: int) -> st.SearchStrategy[int]:
    return st.integers(0, (1 << bits) // 4 - 1).map(lambda index: index * 4)


@given(st.integers(0, (1 << 64) - 1))
def test_load_of_64_bits(address: int) -> None:
    isa = for_elf(MACHINE, 64, "big")
    assert run_load(isa, isa.sites.encode_address(address, wide=True))["v1"] == address


@given(kinds, st.data())
def test_encoded_jumps_go_where_they_should(isa: Isa, data: st.DataObject) -> None:
    pc = data.draw(addresses(isa.bits))
    index = data.draw(st.integers(0, REGION // 4 - 1))
    target = (pc + 4 & isa.mask) // REGION * REGION + index * 4
    call, jump = isa.sites.encode_call(pc, target), isa.sites.encode_jump(pc, target)
    assert judge(isa, call, pc) == [("jal", target)]
    assert judge(isa, jump, pc) == [("j", target)]
    assert isa.sites.call_target(pc, call) == target
    assert isa.sites.call_target(pc, jump) is None


@given(kinds, st.data())
def test_jumps_across_a_region_are_refused(isa: Isa, data: st.DataObject) -> None:
    pc = data.draw(addresses(isa.bits))
    regions = data.draw(st.integers(1, (isa.mask + 1) // REGION - 1))
    index = data.draw(st.integers(0, REGION // 4 - 1))
    target = (pc + 4) // REGION * REGION + regions * REGION + index * 4 & isa.mask
    for encode in (isa.sites.encode_call, isa.sites.encode_jump):
        with pytest.raises(RangeError, match="cannot reach"):
            encode(pc, target)


@pytest.mark.parametrize(
    ("pc", "target", "reaches"),
    [
        (0x8FFFFFF8, 0x80000000, True),
        (0x8FFFFFF8, 0x90000000, False),
        # The delay slot of this one lies in the next region already (B13).
        (0x8FFFFFFC, 0x80000000, False),
        (0x8FFFFFFC, 0x9FFFFFFC, True),
        (0x80000000, 0x7FFFFFFC, False),
        (0x80000000, 0x8FFFFFFC, True),
    ],
)
def test_region_is_that_of_the_delay_slot(isa: Isa, pc: int, target: int, reaches: bool) -> None:
    pc, target = kseg(isa, pc), kseg(isa, target)
    if reaches:
        assert isa.sites.call_target(pc, isa.sites.encode_call(pc, target)) == target
    else:
        with pytest.raises(RangeError):
            isa.sites.encode_call(pc, target)


def test_sign_extended_addresses_of_32_bit_guests_are_taken() -> None:
    isa = for_elf(MACHINE, 32, "big")
    high = 0xFFFFFFFF << 32
    assert isa.sites.encode_call(high | 0x80100000, high | 0x80101000) == isa.encode(JAL_MCOUNT)


def test_unaligned_target_is_refused(isa: Isa) -> None:
    with pytest.raises(RangeError, match="not the address of an instruction"):
        isa.sites.encode_call(kseg(isa, 0x80100000), kseg(isa, 0x80100002))


@given(kinds, st.integers(1 << 31, (1 << 32) - 1))
def test_address_load_carries_into_the_high_half(isa: Isa, low: int) -> None:
    target = kseg(isa, low)
    (lui, high), (add, offset) = judge(isa, isa.sites.encode_address(target), 0)
    assert (lui, add) == ("lui", "addiu" if isa.bits == 32 else "daddiu")
    # As the processor adds them up: both halves are sign-extended.
    high = (high & 0x7FFF) - (high & 0x8000) << 16
    assert high + offset & isa.mask == target


@pytest.mark.parametrize("low", [0x7FFC, 0x8000, 0xFFFC, 0x0000])
def test_high_half_at_the_carry(isa: Isa, low: int) -> None:
    load = isa.split(isa.sites.encode_address(kseg(isa, 0x80100000 | low)))
    lui, add = map(isa.value, load)
    assert lui & 0xFFFF == (0x8011 if low >= 0x8000 else 0x8010)
    assert add & 0xFFFF == low


@pytest.mark.parametrize("target", [1 << 32, 0x7FFFFFFF, 0x7FFF8000, 0x9000000080100000])
def test_address_that_two_instructions_cannot_load(target: int) -> None:
    with pytest.raises(RangeError, match="cannot load"):
        for_elf(MACHINE, 64, "big").sites.encode_address(target)


class TestSites:
    """The states of each form of call site."""

    address, mcount, caller = 0x80100010, 0x80101000, 0x80102004

    def site(self, isa: Isa, form: Form = Form.MCOUNT, as_built: bytes = b"") -> CallSite:
        address = kseg(isa, self.address)
        return CallSite(address, form, "f", address - 16, as_built)

    @pytest.mark.parametrize("form", [Form.MCOUNT, Form.MCOUNT_RA_ADDRESS])
    def test_words(self, isa: Isa, form: Form) -> None:
        site = self.site(isa, form)
        mcount, caller = kseg(isa, self.mcount), kseg(isa, self.caller)
        slot = (ADJUST,) if isa.bits == 32 else ()
        boot = isa.sites.code_for(site, SiteState.BOOT, mcount)
        call = isa.sites.code_for(site, SiteState.CALL, caller)
        nop = isa.sites.code_for(site, SiteState.NOP, 0)
        assert boot == isa.encode(JAL_MCOUNT, *slot)
        assert judge(isa, call, site.address)[0] == ("jal", caller)
        assert call[4:] == isa.encode(*slot)
        assert nop == isa.encode(NOP, NOP)[: len(call)]
        for code, state in (
            (boot, SiteState.BOOT),
            (call, SiteState.CALL),
            (nop, SiteState.NOP),
            (isa.encode(JAL_MCOUNT + 1, *slot), SiteState.UNKNOWN),
            (b"", SiteState.UNKNOWN),
        ):
            assert isa.sites.state(site, code, mcount, caller) is state

    def test_half_of_an_o32_site_is_no_state(self) -> None:
        isa = for_elf(MACHINE, 32, "big")
        # B01: the delay slot that stays when the call goes.
        half = isa.encode(NOP, ADJUST)
        assert isa.sites.state(self.site(isa), half, self.mcount, self.caller) is SiteState.UNKNOWN

    def test_unfilled_delay_slot_is_switched_off_by_undoing_it(self) -> None:
        isa = for_elf(MACHINE, 32, "big")
        site = self.site(isa, as_built=isa.encode(JAL_MCOUNT, NOP))
        assert isa.sites.code_for(site, SiteState.BOOT, self.mcount) == site.as_built
        assert isa.sites.code_for(site, SiteState.NOP, 0) == isa.encode(UNDO, NOP)
        assert isa.sites.code_for(site, SiteState.CALL, self.mcount) == site.as_built

    def test_gate_makes_boot_and_call_the_same(self, isa: Isa) -> None:
        site, mcount = self.site(isa), kseg(isa, self.mcount)
        words = isa.sites.code_for(site, SiteState.BOOT, mcount)
        assert isa.sites.state(site, words, mcount, mcount) is SiteState.CALL

    def test_caller_out_of_reach(self, isa: Isa) -> None:
        site, mcount, far = self.site(isa), kseg(isa, self.mcount), kseg(isa, 0xC0000000)
        with pytest.raises(RangeError):
            isa.sites.code_for(site, SiteState.CALL, far)
        words = isa.sites.code_for(site, SiteState.BOOT, mcount)
        assert isa.sites.state(site, words, mcount, far) is SiteState.BOOT

    @pytest.mark.parametrize("extra", [(), (LA_T4,)], ids=["plain", "ra-address"])
    @pytest.mark.parametrize("chain", [(), (CHAIN_BACK,)], ids=["", "static-chain"])
    def test_long_call(self, isa: Isa, extra: tuple[int, ...], chain: tuple[int, ...]) -> None:
        mcount, caller = kseg(isa, 0x80108000), kseg(isa, 0xC0101234)
        rest = isa.encode(MOVE_AT_RA, *extra, JALR_V1, ADJUST, *chain)
        built = isa.sites.encode_address(mcount) + rest
        self.check_long_call(isa, built, mcount, caller)

    @pytest.mark.parametrize("mcount", [0xFFFFFFFF80108000, 0x9800000001238000, 0x7FFF7FFF7FFF8000])
    def test_long_call_with_addresses_of_64_bits(self, mcount: int) -> None:
        isa = for_elf(MACHINE, 64, "big")
        load = isa.sites.encode_address(mcount, wide=True)
        self.check_long_call(isa, load + isa.encode(MOVE_AT_RA, JALR_V1, NOP), mcount, mcount + 8)

    def check_long_call(self, isa: Isa, built: bytes, mcount: int, other: int) -> None:
        site = self.site(isa, Form.LONG_CALL, built)
        assert isa.sites.recognise(site.address, built, mcount) is Form.LONG_CALL
        assert isa.sites.recognise(site.address, built, other) is None
        assert isa.sites.recognise(site.address + 4, built[4:], mcount) is None
        assert isa.sites.size(Form.LONG_CALL, built + isa.encode(JALR_V1, 0)) == len(built)
        assert isa.sites.code_for(site, SiteState.BOOT, mcount) == built[:4]
        assert isa.sites.code_for(site, SiteState.CALL, mcount) == built[:4]
        with pytest.raises(RangeError, match="one address"):
            isa.sites.code_for(site, SiteState.CALL, other)
        nop = isa.sites.code_for(site, SiteState.NOP, 0)
        # M1: the branch leaves out the whole sequence; a plain one is 0x10000004 (B06).
        assert nop == isa.encode(0x10000000 + len(built) // 4 - 1)
        assert judge(isa, nop, site.address)[0] == ("b", site.address + len(built))
        assert isa.sites.state(site, nop, mcount, mcount) is SiteState.NOP
        assert isa.sites.state(site, built, mcount, mcount) is SiteState.CALL

    def test_long_call_of_which_nothing_is_known(self, isa: Isa) -> None:
        with pytest.raises(GuestError, match="unknown instruction"):
            isa.sites.code_for(self.site(isa, Form.LONG_CALL), SiteState.NOP, 0)


@pytest.mark.parametrize(
    ("before", "words", "form"),
    [
        ((0, MOVE_AT_RA), (JAL_MCOUNT, ADJUST), Form.MCOUNT),
        ((MOVE_AT_RA, LA_T4), (JAL_MCOUNT, ADJUST), RA_ADDRESS),
        ((), (JAL_MCOUNT, ADJUST), Form.MCOUNT),
        # No delay slot filled, as by gcc -O0.
        ((MOVE_AT_RA, ADJUST), (JAL_MCOUNT, NOP), Form.MCOUNT),
        ((MOVE_AT_RA, LA_T4, ADJUST), (JAL_MCOUNT, NOP), RA_ADDRESS),
        # A call that somebody wrote in C: nothing adjusts the stack.
        ((0, MOVE_AT_RA), (JAL_MCOUNT, NOP), None),
        ((), (JAL_MCOUNT, NOP), None),
        ((0, MOVE_AT_RA), (JAL_MCOUNT, MOVE_AT_RA), None),
        ((0, 0), (JAL_MCOUNT, ADJUST), None),
        ((0, LA_T4), (JAL_MCOUNT, ADJUST), None),
        ((MOVE_AT_RA, 0), (JAL_MCOUNT, ADJUST), None),
        ((MOVE_AT_RA, 0x3C0C0001, 0x018C6021, 0x258C8000), (JAL_MCOUNT, ADJUST), RA_ADDRESS),
        ((MOVE_AT_RA, 0x00006025), (JAL_MCOUNT, ADJUST), RA_ADDRESS),
        ((MOVE_AT_RA, 0x27AD0014), (JAL_MCOUNT, ADJUST), None),
        # A nested function; only its static chain goes through v0.
        ((MOVE_AT_RA, 0x01E01025), (JAL_MCOUNT, ADJUST), Form.MCOUNT),
        ((MOVE_AT_RA, 0x01E01025, LA_T4), (JAL_MCOUNT, ADJUST), RA_ADDRESS),
        ((MOVE_AT_RA, 0x00801025), (JAL_MCOUNT, ADJUST), None),
        ((0, MOVE_AT_RA), (JAL_MCOUNT + 1, ADJUST), None),
        ((0, MOVE_AT_RA), (JAL_MCOUNT,), None),
        ((0, MOVE_AT_RA), (), None),
        # Takes the address, calls nothing.
        ((), (0x3C038010, 0x24631000, NOP, NOP, NOP, NOP, NOP, NOP), None),
        ((), (0x3C038010, 0x24631000, MOVE_AT_RA, NOP, NOP, NOP, NOP, JALR_V1), None),
        ((), (0x3C038010, 0x24631000, MOVE_AT_RA, JALR_V1), None),
        ((), (0x3C038010, 0x24631004, MOVE_AT_RA, JALR_V1, NOP), None),
        ((), (0x3C038010, 0x24631000, MOVE_AT_RA, JALR_V1, NOP), Form.LONG_CALL),
    ],
)
def test_recognise_o32(before: tuple[int, ...], words: tuple[int, ...], form: Form | None) -> None:
    isa = for_elf(MACHINE, 32, "big")
    assert (
        isa.sites.recognise(0x80100010, isa.encode(*words), 0x80101000, isa.encode(*before)) is form
    )
    assert (
        isa.sites.recognise(0x80100012, isa.encode(*words), 0x80101000, isa.encode(*before)) is None
    )
    assert isa.sites.recognise(0x80100010, isa.encode(*words), None, isa.encode(*before)) is None


@pytest.mark.parametrize(
    ("before", "words", "form"),
    [
        ((0, MOVE_AT_RA), (JAL_MCOUNT, NOP), Form.MCOUNT),
        ((0, 0x03E0082D), (JAL_MCOUNT, NOP), Form.MCOUNT),
        ((0, MOVE_AT_RA), (JAL_MCOUNT, 0x67AC0008), RA_ADDRESS),
        ((MOVE_AT_RA, 0x67AC0018), (JAL_MCOUNT, NOP), RA_ADDRESS),
        ((0, MOVE_AT_RA), (JAL_MCOUNT, 0x00006025), RA_ADDRESS),
        ((0, MOVE_AT_RA), (JAL_MCOUNT, ADJUST), None),
        ((0, MOVE_AT_RA), (JAL_MCOUNT, 0x01E01025), Form.MCOUNT),
        ((MOVE_AT_RA, 0x01E01025), (JAL_MCOUNT, 0x67AC0008), RA_ADDRESS),
        ((0, 0), (JAL_MCOUNT, 0x01E01025), None),
        ((0, 0), (JAL_MCOUNT, NOP), None),
        ((), (JAL_MCOUNT, NOP), Form.MCOUNT),
        ((), (JAL_MCOUNT, 0x67AC0008), RA_ADDRESS),
        ((0, MOVE_AT_RA), (JAL_MCOUNT + 4, NOP), None),
    ],
)
def test_recognise_n64(before: tuple[int, ...], words: tuple[int, ...], form: Form | None) -> None:
    isa = for_elf(MACHINE, 64, "little")
    mcount = kseg(isa, 0x80101000)
    assert (
        isa.sites.recognise(kseg(isa, 0x80100010), isa.encode(*words), mcount, isa.encode(*before))
        is form
    )


def test_stub_code(isa: Isa) -> None:
    symbols = {
        "ftrace_caller": kseg(isa, 0x80101000),
        "ftrace_call": kseg(isa, 0x80101040),
        "ftrace_stub": kseg(isa, 0x80101080),
    }
    tracer = kseg(isa, 0x80102000)
    gate, slot = symbols["ftrace_caller"], symbols["ftrace_call"]
    off = isa.sites.stub_code(symbols, None)
    on = isa.sites.stub_code(symbols, tracer)
    assert list(off) == list(on) == [gate, slot]
    assert judge(isa, off[gate], gate) == [("j", symbols["ftrace_stub"])]
    assert judge(isa, on[slot], slot) == [("jal", tracer)]
    assert on[gate] == off[slot] == isa.encode(NOP)


@pytest.mark.parametrize("missing", ["ftrace_caller", "ftrace_call", "ftrace_stub"])
def test_port_without_a_patch_point(isa: Isa, missing: str) -> None:
    symbols = {"ftrace_caller": 0, "ftrace_call": 0, "ftrace_stub": 0}
    del symbols[missing]
    with pytest.raises(GuestError, match=f"no symbol {missing}"):
        isa.sites.stub_code(symbols, None)


def test_disassembles_release_2(isa: Isa) -> None:
    words = [0x7C8220C0, 0x7C041420, 0x00231102, 0x049F0000, 0xBC950000, 0x41606000]
    texts = [i.text.split()[0] for i in isa.disassemble(isa.encode(*words), 0)]
    assert texts == ["ext", "seb", "rotr", "synci", "cache", "di"]


def test_disassembles_64_bit_instructions() -> None:
    isa = for_elf(MACHINE, 64, "big")
    words = [0x7C8220C3, 0x7C0410A4, 0x002410FA, 0x64420004]
    texts = [i.text.split()[0] for i in isa.disassemble(isa.encode(*words), 0)]
    assert texts == ["dext", "dsbh", "drotr", "daddiu"]


def test_branch_targets_are_addresses(isa: Isa) -> None:
    pc = kseg(isa, 0x80100000)
    jump, branch = isa.disassemble(isa.encode(JAL_MCOUNT, 0x1000FFFF), pc)
    assert jump.text == f"jal {kseg(isa, 0x80101000):#x}"
    assert (jump.calls, branch.calls) == (kseg(isa, 0x80101000), None)
    assert branch.text == f"b {kseg(isa, 0x80100004):#x}"


@pytest.mark.parametrize(
    ("bits", "address", "physical"),
    [
        (32, 0x80001000, 0x1000),
        (32, 0xA0001000, 0x1000),
        (32, 0xC0001000, None),
        (64, 0xFFFFFFFF80001000, 0x1000),
        (64, 0xFFFFFFFFC0001000, None),
        (64, 0x9000000001425100, 0x1425100),
        (64, 0xA800000090000000, 0x90000000),
        (64, 0xC000000000001000, None),
        (64, 0x0000000000001000, None),
    ],
)
def test_addresses_mapped_directly(bits: int, address: int, physical: int | None) -> None:
    assert for_elf(MACHINE, bits, "big").cpu.linear_address(address) == physical


def test_registers() -> None:
    o32, n64 = (for_elf(MACHINE, bits, "big") for bits in (32, 64))
    for isa in (o32, n64):
        assert len(isa.abi.general_registers) == len(set(isa.abi.general_registers)) == 32
        assert set(isa.abi.argument_registers) < set(isa.abi.general_registers)
        assert isa.abi.return_register == isa.abi.general_registers[31]
        assert isa.abi.general_registers[29] == isa.abi.stack_register
    assert o32.abi.general_registers[8:12] == ("t0", "t1", "t2", "t3")
    assert n64.abi.general_registers[8:16] == ("a4", "a5", "a6", "a7", "t0", "t1", "t2", "t3")


@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("number", range(1, 32))
def test_registers_have_the_names_of_their_abi(bits, number) -> None:
    """Capstone prints those of o32."""
    isa = for_elf(MACHINE, bits, "big")
    code = (number << 21 | number << 11 | 0x25).to_bytes(4, "big")
    [instruction] = isa.disassemble(code, 0)
    name = isa.abi.general_registers[number]
    assert registers_in(instruction.text, isa)[:2] == [name, name]
