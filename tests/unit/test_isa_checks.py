# SPDX-License-Identifier: MIT
"""What the conformance checks ask of an instruction set; capstone is the judge of encodings."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.isa import Form, for_elf
from tests.unit.isa_kinds import every_isa

O32 = for_elf(8, 32, "big")
N64 = for_elf(8, 64, "little")
A64 = for_elf(183, 64, "little")
ISAS = [O32, N64, A64]

RETURNS = {
    O32: [0x03E00008, 0x03E00408],
    N64: [0x03E00008, 0x03E00009],
    A64: [0xD65F03C0, 0xD65F0120],
}
STORES = {
    O32: [0xAFBF001C, 0xA7A20000, 0xA3A20000, 0xF7A00010],
    N64: [0xFFBF0018, 0xAFBF001C],
    A64: [0xA9BF7BFD, 0xB9000001, 0x39000001, 0xAD0007E0, 0xF9000FE8],
}
NEITHER = {
    O32: [0x8FBF001C, 0x00000000, 0x0C000000, 0x03E0F809],
    N64: [0xDFBF0018, 0x64420001],
    A64: [0xA8C17BFD, 0xB9400001, 0xD503201F, 0x91000400, 0x94000000, 0xD61F0200],
}


CONDITIONAL = {
    O32: re.compile(r"b(eq|ne|lez|gtz|ltz|gez|eqz|nez)l? |mov[zn] "),
    N64: re.compile(r"b(eq|ne|lez|gtz|ltz|gez|eqz|nez)l? |mov[zn] "),
    A64: re.compile(r"b\.|cbn?z |tbn?z |cs(el|inc|inv|neg|et|etm) |c(inc|inv|neg) |ccm[pn] "),
}


def text(isa, word):
    return isa.disassemble(isa.encode(word), 0x80001000)[0].text


@pytest.mark.parametrize("isa", ISAS, ids=repr)
def test_returns_and_stores(isa):
    for word in RETURNS[isa]:
        assert isa.cpu.is_return(isa.encode(word)), text(isa, word)
        assert not isa.cpu.is_store(isa.encode(word)), text(isa, word)
    for word in STORES[isa]:
        assert isa.cpu.is_store(isa.encode(word)), text(isa, word)
        assert text(isa, word).startswith("s"), "so capstone says"
    for word in NEITHER[isa]:
        assert not isa.cpu.is_return(isa.encode(word)), text(isa, word)
        assert not isa.cpu.is_store(isa.encode(word)), text(isa, word)


@given(word=st.integers(0, (1 << 32) - 1), major=st.sampled_from([0, *range(4, 8), *range(16, 24)]))
@pytest.mark.parametrize("isa", [O32, N64], ids=repr)
def test_conditional_instructions_of_mips(isa, word, major):
    agrees(isa, word & 0x03FFFFFF | major << 26)


@given(
    word=st.integers(0, (1 << 32) - 1), top=st.sampled_from([*range(0x34, 0x38), 0x54, 0x1A, 0x3A])
)
def test_conditional_instructions_of_aarch64(word, top):
    agrees(A64, word & 0x80FFFFFF | top << 24)
    agrees(A64, word)


def agrees(isa, word):
    said = text(isa, word)
    if not said.startswith((".word", "bc1", "bgez $zero")):
        wanted = CONDITIONAL[isa].match(said) is not None
        assert isa.cpu.is_conditional(isa.encode(word)) == wanted, said


@pytest.mark.parametrize(
    ("isa", "word", "registers", "address"),
    [
        (O32, 0x041F0000 | 2 << 21 | 0x10, {"v0": 0x80001000}, 0x80001010),
        (O32, 0x041F0000 | 2 << 21 | 0xFFF0, {"v0": 0x80001000}, 0x80000FF0),
        (N64, 0xBC100000 | 4 << 21, {"a0": 0xFFFFFFFF80001000}, 0xFFFFFFFF80001000),
        (A64, 0xD50B7520 | 3, {"x3": 0x40200004}, 0x40200004),
        (A64, 0xD50B7B20 | 3, {"x3": 0x40200004}, None),
        (O32, 0xAFBF001C, {}, None),
    ],
)
def test_maintenance_of_fetched_instructions(isa, word, registers, address):
    # IminLine: lines of 64 bytes.
    every = registers | {"CTR_EL0": 4}
    visible = isa.cpu.fetch_maintenance(isa.encode(word), every.__getitem__)
    if address is None:
        assert visible is None
    else:
        line = 64 if isa is A64 else 32
        assert visible == range(address // line * line, address // line * line + line)


@pytest.mark.parametrize("isa", every_isa(), ids=repr)
def test_a_call_reaches_its_limits_and_no_farther(isa):
    pc = 0x80101000 if isa.name == "mips" else 0x50000000
    low, high = isa.sites.reach(pc)
    for target in (low, high):
        assert isa.sites.call_target(pc, isa.sites.encode_call(pc, target)) == target
    for target in (low - 4, high + 4):
        with pytest.raises(Exception, match="cannot reach"):
            isa.sites.encode_call(pc, target & isa.mask)


def test_the_edges_of_mips_lie_on_both_sides_of_a_region():
    first, stays, leaves = O32.cpu.edges(4)
    assert O32.sites.reach(first) == O32.sites.reach(stays)
    assert O32.sites.reach(first - 8) == (0x70000000, 0x7FFFFFFC)
    assert O32.sites.reach(stays) == (0x80000000, 0x8FFFFFFC)
    assert O32.sites.reach(leaves) == (0x90000000, 0x9FFFFFFC)
    assert O32.cpu.edges(8) == (first, stays)
    assert A64.cpu.edges(4) == ()


@pytest.mark.parametrize("isa", every_isa(), ids=repr)
def test_the_calling_convention_names_each_register_once(isa):
    abi = isa.abi
    for first, second in (
        (abi.scratch, abi.saved),
        (abi.float_scratch, abi.float_saved),
        (abi.saved, abi.fixed),
    ):
        assert not set(first) & set(second)
    assert set(abi.results) <= set(abi.scratch)
    assert set(abi.float_results) <= set(abi.float_scratch)
    assert len(abi.float_scratch) + len(abi.float_saved) in (16, 32)
    integers = {*abi.scratch, *abi.saved, *abi.fixed} & set(isa.abi.general_registers)
    rest = {"zero", "k0", "k1", isa.abi.stack_register}
    assert integers | (rest & set(isa.abi.general_registers)) == set(isa.abi.general_registers)


@pytest.mark.parametrize("isa", every_isa(), ids=repr)
@pytest.mark.parametrize("form", [Form.MCOUNT, Form.PATCHABLE_ENTRY])
def test_what_is_live_at_a_site_may_be_given_a_pattern(isa, form):
    state = isa.abi.at_site(form)
    assert not set(state.live) & set(state.pinned)
    assert set(state.moved.values()) <= set(state.pinned)


def test_delay_slots():
    branches = [0x0C000000, 0x08000000, 0x03E00008, 0x0060F809, 0x10000004, 0x14400003, 0x04110001]
    for isa, words, delays in (
        (O32, branches, True),
        (O32, [0, 0x27BDFFF8, 0xAFBF001C, 0x041F0000], False),
        (A64, [0xD65F03C0, 0x14000000], False),
    ):
        for word in words:
            assert isa.cpu.has_delay_slot(isa.encode(word)) == delays, text(isa, word)
