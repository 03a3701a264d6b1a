# SPDX-License-Identifier: MIT
"""Functions of the guest that the debugger calls."""

import pytest

ONE = "mips-malta"


@pytest.fixture
def jump(guest):
    """The first instruction of a function that is executed once and has a delay slot."""
    isa, start = guest.image.isa, guest.address_of("run_modules")
    listing = isa.disassemble(guest.debugger.read_memory(start, 256), start)
    return next(one.address for one in listing if isa.cpu.has_delay_slot(one.bytes_))


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_delay_slot_is_left_before_anything_is_called(guest, jump):
    """The CPU would execute one instruction of the function and then take the jump."""
    guest.run(until=jump)
    guest.debugger.step_instruction()
    assert guest.debugger.read_register("pc") == jump + 4
    assert guest.call("rand") >= 0
    assert guest.debugger.read_register("pc") not in (jump, jump + 4)
    guest.run(until="workload_done")
    assert guest.workload_status == 0


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_breakpoint_in_a_delay_slot_stops_at_the_jump(guest, jump):
    """There functions can be called: QEMU executes the jump again."""
    guest.run(until=jump + 4)
    assert guest.debugger.read_register("pc") == jump
    assert guest.call("rand") >= 0
    guest.run(until="workload_done")
    assert guest.workload_status == 0
