# SPDX-License-Identifier: MIT
"""Where a return address is at a function's entry: in a register, or on the stack."""

from collections.abc import Mapping

from harness.isa.abi import Abi, AtSite
from harness.isa.code import Code
from harness.isa.sites import Form


class AnyCode(Code):
    """64 bits, little endian."""

    def _capstone(self) -> tuple[int, int]:
        raise NotImplementedError


class InRegister(Abi):
    """Calls write a register."""

    stack_register, return_register, argument_registers = "sp", "ra", ("a0", "a1")
    stack_alignment = 16

    def at_site(self, form: Form) -> AtSite:
        """Not asked here."""
        raise NotImplementedError

    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """Not asked here."""
        raise NotImplementedError


class OnStack(InRegister):
    """Calls push."""

    return_register = ""


REGISTERS = {"sp": 0x1000, "ra": 0xABCD}
CODE = AnyCode(64, "little")


def memory(address: int, size: int) -> bytes:
    assert (address, size) == (0x1000, 8)
    return (0x1234).to_bytes(8, "little")


def test_where_it_is_read() -> None:
    assert InRegister(CODE).return_address(REGISTERS.__getitem__, memory) == 0xABCD
    assert OnStack(CODE).return_address(REGISTERS.__getitem__, memory) == 0x1234


def test_a_call_in_a_register() -> None:
    abi = InRegister(CODE)
    entered = abi.entered(0x8000, [7], 0x2008, 0xABCD)
    assert entered == {"a0": 7, "sp": 0x1F00, "pc": 0x8000, "ra": 0xABCD}
    assert abi.pushed(entered, 0xABCD) is None
    assert abi.before_call(0x1F00) == 0x1F00


def test_a_call_that_pushes() -> None:
    """The stack is aligned in front of the call."""
    abi = OnStack(CODE)
    entered = abi.entered(0x8000, [7], 0x2008, 0xABCD)
    assert entered == {"a0": 7, "sp": 0x1EF8, "pc": 0x8000}
    assert abi.before_call(0x1EF8) == 0x1F00
    assert abi.pushed(entered, 0xABCD) == (0x1EF8, bytes.fromhex("cdab000000000000"))
