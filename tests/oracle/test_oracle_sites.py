# SPDX-License-Identifier: MIT
"""The sites that a disassembly finds are those of the guest's own table."""

import pytest

from harness.oracle import find_sites


@pytest.mark.parametrize("workload", ["calls", "flow", "interpreter"])
def test_disassembly_and_table_agree(image_of, workload):
    image = image_of(workload)
    assert find_sites(image) == [site.address for site in image.sites]


@pytest.mark.parametrize("function", ["__switch_to", "setjmp", "longjmp"])
def test_disassembly_and_masks_agree_on_loads_and_stores(image_of, function):
    """Where the oracle follows them."""
    image = image_of("calls")
    accesses = image.isa.cpu.accesses_memory
    (found,) = [each for each in image.functions if each.name == function]
    for instruction in image.isa.disassemble(image.read(found.address, found.size), found.address):
        word = int.from_bytes(instruction.bytes_[:4], image.isa.code_byteorder)
        matched = any(word & mask == value for mask, value in accesses)
        assert matched == any(sign in instruction.text for sign in "[("), str(instruction)
