# SPDX-License-Identifier: MIT
"""Registers of guests under test, by their names in gdb."""

from types import SimpleNamespace
from typing import cast

import pytest

from harness.conformance.under_test.registers import RegisterFile, address_in, registers_in
from harness.debugger import Debugger
from harness.errors import GdbError, HostError
from tests.unit.isa_kinds import every_isa

ISA = next(isa for isa in every_isa() if isa.abi.float_status)


class Gdb:
    """A debugger that knows these registers."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @property
    def register_set(self) -> SimpleNamespace:
        return SimpleNamespace(numbers={name: at for at, name in enumerate(self._names)})


def registers(*names: str) -> RegisterFile:
    return RegisterFile(cast(Debugger, Gdb(*names)), ISA)


def test_registers_that_gdb_lacks_end_the_run() -> None:
    """No check survives it: the message comes once, and not once for each check."""
    abi = ISA.abi
    every = {*abi.general_registers, abi.pc_register, *abi.status_registers[:1], *abi.fixed}
    every |= {*abi.scratch, *abi.float_status, *abi.float_scratch, *abi.float_saved}
    registers(*every)
    lost = next(iter(abi.float_status))
    with pytest.raises(HostError, match=f"registers {lost} of {ISA.name}") as caught:
        registers(*every - {lost})
    assert not isinstance(caught.value, GdbError)


@pytest.mark.parametrize("isa", every_isa(), ids=str)
def test_an_instruction_names_registers(isa) -> None:
    first, *_, last = isa.abi.general_registers
    assert registers_in(f"op {first}, 16(${last})", isa) == [first, last]
    assert registers_in("op $f0, #0x10, [16], label", isa) == []


@pytest.mark.parametrize("isa", every_isa(), ids=str)
@pytest.mark.parametrize(
    ("operand", "distance"),
    [
        ("({})", 0),
        ("0x10(${})", 16),
        ("-8({})", -8),
        ("[{}]", 0),
        ("[{}, #-0x10]!", -16),
        ("[{}], #0x10", 0),
        ("dword ptr [{} + 8]", 8),
        ("[{} - 0x18]", -24),
    ],
)
def test_the_address_of_a_memory_operand(isa, operand, distance) -> None:
    first, *_, last = isa.abi.general_registers
    text = f"op {first}, {operand.format(last)}"
    assert address_in(text, {first: 0, last: 0x1000}, isa) == 0x1000 + distance


@pytest.mark.parametrize("isa", every_isa(), ids=str)
def test_an_address_of_two_registers_is_not_known(isa) -> None:
    first, *_, last = isa.abi.general_registers
    for text in (f"op {first}, {last}", f"op [{first}, {last}]", f"op [{first} + {last}*8 + 4]"):
        assert address_in(text, {first: 1, last: 2}, isa) is None
