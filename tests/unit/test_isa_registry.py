# SPDX-License-Identifier: MIT
"""What all instruction sets share: the choice of one, words and bytes, disassembly."""

import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import isa as instruction_sets
from harness.conformance.comparison import expected_behind
from harness.errors import FormatError, UsageError
from harness.isa import CallSite, Form, architectures, for_elf, mcount_of
from tests.unit.isa_kinds import every_isa

kinds = st.sampled_from(every_isa())
fixed = st.sampled_from([isa for isa in every_isa() if isa.unit == isa.longest])


def test_architectures() -> None:
    assert {"aarch64", "mips"} <= set(architectures())


def test_one_instance_for_each_kind() -> None:
    isa = for_elf(8, 32, "big")
    assert isa is for_elf(8, 32, "big")
    assert (isa.name, isa.bits, isa.byteorder, isa.word_size) == ("mips", 32, "big", 4)


def test_unknown_machine() -> None:
    with pytest.raises(FormatError, match=r"ELF machine 22 is not supported\nSupported: aarch64"):
        for_elf(22, 64, "little")


def test_unsupported_abi() -> None:
    assert for_elf(8, 32, "big", 0x70001005).bits == 32
    with pytest.raises(FormatError, match="n32 ABI of mips"):
        for_elf(8, 32, "big", 0x80000027)


@pytest.mark.parametrize(("machine", "size"), [(8, 4), (183, 0)])
def test_a_call_returns_behind_its_delay_slot(machine: int, size: int) -> None:
    isa = for_elf(machine, 64, "little")
    assert isa.cpu.delay_slot == size
    site = CallSite(0x1000, Form.MCOUNT, "f", 0x1000)
    assert isa.sites.resumes(site) == 0x1000 + 4 + size


@given(fixed, st.lists(st.integers(0, 0xFFFFFFFF), max_size=20))
def test_instructions_survive_memory(isa, values: list[int]) -> None:
    code = isa.encode(*values)
    assert [isa.value(one) for one in isa.split(code)] == values
    assert code[:4] == b"".join(value.to_bytes(4, isa.code_byteorder) for value in values[:1])


def test_half_an_instruction_is_none() -> None:
    isa = for_elf(8, 32, "big")
    assert isa.split(bytes(7)) == [bytes(4)]
    assert len(isa.disassemble(bytes(7), 0)) == 1


@given(kinds, st.binary(max_size=100), st.integers(0, (1 << 64) - 1))
def test_every_word_gives_one_printable_line(isa, code: bytes, address: int) -> None:
    listing = isa.disassemble(code, address)
    if isa.unit == isa.longest:
        assert len(listing) == len(code) // isa.unit
    size = sum(len(at.bytes_) for at in listing)
    assert len(code) - size < isa.longest
    assert b"".join(at.bytes_ for at in listing) == code[:size]
    for at in listing:
        assert at.address == address & isa.mask
        address += len(at.bytes_)
        assert at.text
        assert at.text.isprintable()


def test_what_is_no_instruction_does_not_end_a_listing() -> None:
    isa = for_elf(8, 32, "big")
    texts = [at.text for at in isa.disassemble(bytes.fromhex("ffffffff0000000041431000"), 0)]
    assert texts == [".word 0xffffffff", "nop", ".word 0x41431000"]


def test_capstone_is_loaded_only_to_disassemble() -> None:
    code = (
        "import sys; from harness.isa import for_elf; from harness.image import Image;"
        "isa = for_elf(8, 32, 'big'); isa.sites.encode_call(0, 0);"
        "assert 'capstone' not in sys.modules;"
        "isa.disassemble(bytes(4), 0); assert 'capstone' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_name_of_the_function_that_sites_call() -> None:
    assert mcount_of("mips") == mcount_of("aarch64") == "_mcount"


@pytest.mark.parametrize("pops", [0, 4])
def test_stack_pointer_behind_a_site(monkeypatch: pytest.MonkeyPatch, pops: int) -> None:
    """The compiler may push something in front of a site, which the call takes away."""
    abi = for_elf(8, 32, "big").abi
    at_site = replace(abi.at_site(Form.MCOUNT), pops=pops)
    monkeypatch.setattr(abi, "at_site", lambda form: at_site)
    before = {"sp": 0x1000, "a0": 1}
    assert expected_behind(abi, Form.MCOUNT, before) == {"sp": 0x1000 + pops, "a0": 1}


def test_an_unknown_machine_may_be_that_of_an_incomplete_architecture(monkeypatch):
    lacks = "harness.isa.new is incomplete; it has no New.name"
    monkeypatch.setattr(instruction_sets, "_classes", lambda: {"new": UsageError(lacks)})
    with pytest.raises(FormatError) as caught:
        instruction_sets.for_elf(258, 64, "little")
    assert caught.value.advice == f"Supported: . {lacks}"
