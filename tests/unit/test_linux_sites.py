# SPDX-License-Identifier: MIT
"""The code of a Linux kernel's call sites, in both states."""

import pytest

from harness.errors import GuestError
from harness.isa import for_elf

MIPS, ARM = 8, 183


def test_aarch64_calls_ftrace_caller() -> None:
    isa = for_elf(ARM, 64, "little")
    codes = isa.linux.codes(0x1000, {"ftrace_caller": 0x2000})
    assert [code.hex() for code in codes] == ["1f2003d5", "00040094"]


@pytest.mark.parametrize("bits", [32, 64])
def test_mips_calls_behind_the_gate(bits: int) -> None:
    isa = for_elf(MIPS, bits, "big")
    base = 0x80100000 | (0xFFFFFFFF << 32 if bits == 64 else 0)
    codes = isa.linux.codes(base, {"ftrace_caller": base + 0x100})
    # jal to the third instruction of ftrace_caller.
    assert [code.hex() for code in codes] == ["00000000", "0c040042"]


@pytest.mark.parametrize(
    ("bits", "load"), [(32, "3c03801024630100"), (64, "3c038010")], ids=["o32", "n64"]
)
def test_mips_modules_load_the_address_of_mcount(bits: int, load: str) -> None:
    isa = for_elf(MIPS, bits, "big")
    mcount = 0x80100100 | (0xFFFFFFFF << 32 if bits == 64 else 0)
    off = bytes.fromhex("1000000500000000")
    codes = isa.linux.codes(0xC0000000, {"_mcount": mcount}, off)
    assert [code.hex() for code in codes] == [off[: len(codes[0])].hex(), load]
    with pytest.raises(GuestError, match="not of a long call"):
        isa.linux.codes(0xC0000000, {"_mcount": mcount}, bytes.fromhex("27bdffe800000000"))


@pytest.mark.parametrize(
    ("record", "where"), [(0x100C, 0x1000), (0x1014, 0x1008), (0x1010, 0x1000)]
)
def test_aarch64_has_ops_in_front_of_functions(record: int, where: int) -> None:
    """With a landing pad, and without."""
    assert for_elf(ARM, 64, "little").linux.ops(record) == where


def test_a_place_of_ops_that_is_not_known() -> None:
    with pytest.raises(GuestError, match="a pointer to an ops") as raised:
        for_elf(MIPS, 32, "big").linux.ops(0x80100000)
    assert "CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS" in raised.value.advice
