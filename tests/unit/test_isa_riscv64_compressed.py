# SPDX-License-Identifier: MIT
"""RISC-V with compressed instructions; capstone is the judge of each of them."""

from itertools import product

import pytest

from harness.errors import RangeError
from harness.isa import CallSite, FlowKind, Form, SiteState, for_elf

MACHINE, FLAGS = 243, 5
ISA = for_elf(MACHINE, 64, "little", FLAGS)
WITHOUT = for_elf(MACHINE, 64, "little", FLAGS & ~1)
PC = 0x80200012
CALLER = PC + 0x1002

C_NOP, C_RET, C_J_OVER = 0x0001, 0x8082, 0xA011
NOP, MV_T0_RA = 0x00000013, 0x00008293
JAL_CALLER = 0x002010EF


def short(*halfwords: int) -> bytes:
    return ISA.encode(*halfwords, size=2)


def kind_by_capstone(mnemonic: str) -> FlowKind | None:
    if mnemonic == "c.jalr":
        return FlowKind.CALL
    return FlowKind.INDIRECT_JUMP if mnemonic in ("c.jr", "ret") else None


def test_masks_and_disassembler_agree_on_every_instruction_of_two_bytes() -> None:
    cpu, known = ISA.cpu, 0
    loads = {f"c.{name}{of}" for name, of in product(("lw", "ld", "fld"), ("", "sp"))}
    stores = {f"c.{name}{of}" for name, of in product(("sw", "sd", "fsd"), ("", "sp"))}
    for word in (word for word in range(1 << 16) if word & 3 != 3):
        (one,) = ISA.disassemble(short(word), PC)
        name = one.text.partition(" ")[0]
        if name.startswith("."):
            continue
        known += 1
        kinds = [p.kind for p in cpu.flow_patterns if word & p.mask == p.value]
        assert set(kinds) == {kind_by_capstone(name)} - {None}, one
        accesses = any(word & mask == value for mask, value in cpu.accesses_memory)
        assert accesses == (name in loads | stores), one
        assert cpu.is_store(one.bytes_) == (name in stores), one
        assert cpu.is_conditional(one.bytes_) == (name in ("c.beqz", "c.bnez")), one
        assert cpu.is_return(one.bytes_) == (one.text in ("ret", "c.jr ra")), one
        assert not cpu.masks_interrupts(one.bytes_), one
        assert cpu.fetch_maintenance(one.bytes_, {}.__getitem__) is None, one
    assert known > 40_000


def test_instructions_of_both_lengths() -> None:
    code = short(C_NOP) + ISA.encode(NOP) + short(C_RET, C_J_OVER)
    assert [len(one) for one in ISA.split(code)] == [2, 4, 2, 2]
    texts = [one.text for one in ISA.disassemble(code, PC)]
    assert texts == ["c.nop", "nop", "c.jr ra", f"c.j {PC + 12:#x}"]
    # Half of an instruction is none.
    assert ISA.split(code[:4]) == [short(C_NOP)]


def test_a_site_at_an_even_address() -> None:
    site = CallSite(PC, Form.MCOUNT, "f", PC - 16)
    call = ISA.encode(JAL_CALLER)
    assert ISA.sites.encode_call(PC, CALLER) == call
    assert ISA.sites.call_target(PC, call) == CALLER
    assert ISA.sites.recognise(PC, call, CALLER) is Form.MCOUNT
    assert ISA.sites.recognise(PC + 1, call, CALLER + 1) is None
    for state, code in ((SiteState.NOP, ISA.encode(NOP)), (SiteState.CALL, call)):
        assert ISA.sites.code_for(site, state, CALLER) == code
        assert ISA.sites.state(site, code, 0, CALLER) is state
    with pytest.raises(RangeError, match="not the address of an instruction"):
        WITHOUT.sites.encode_call(PC, CALLER)


def test_reach_ends_at_an_even_address() -> None:
    low, high = ISA.sites.reach(PC)
    assert (low, high) == (PC - (1 << 20), PC + (1 << 20) - 2)
    for target in (low, high):
        assert ISA.sites.call_target(PC, ISA.sites.encode_call(PC, target)) == target
    for target in (low - 2, high + 2):
        with pytest.raises(RangeError, match="cannot reach"):
            ISA.sites.encode_call(PC, target)


def test_a_patchable_entry_is_built_as_four_nops() -> None:
    site = CallSite(PC, Form.PATCHABLE_ENTRY, "f", PC)
    built = short(*4 * [C_NOP])
    assert ISA.sites.recognise(PC, built, None) is Form.PATCHABLE_ENTRY
    assert ISA.sites.recognise(PC, built[:6] + short(C_RET), None) is None
    assert WITHOUT.sites.recognise(PC + 2, built, None) is None
    assert ISA.sites.size(Form.PATCHABLE_ENTRY, built) == len(built)
    assert ISA.sites.code_for(site, SiteState.BOOT, 0) == built
    assert ISA.sites.code_for(site, SiteState.NOP, 0) == ISA.encode(MV_T0_RA, NOP)
    assert ISA.sites.find_entry(ISA.disassemble(built, PC)) == (PC, PC + 4)
    assert ISA.sites.find_entry(ISA.disassemble(built[:6], PC)) is None


def test_the_jump_that_a_port_writes_meanwhile() -> None:
    (one,) = ISA.disassemble(ISA.sites.while_changed, PC)
    assert one.text == f"c.j {PC + 4:#x}"
    assert not WITHOUT.sites.while_changed
