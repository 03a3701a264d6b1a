# SPDX-License-Identifier: MIT
"""trace_hardirqs_off() and trace_hardirqs_on() against the CPU's state at every instruction."""

from itertools import groupby
from pathlib import Path

import pytest

from harness.debugger import return_address

WORKLOAD = str(Path(__file__).with_name("workloads") / "irqflags.c")

HOOKS = {"trace_hardirqs_off": "off", "trace_hardirqs_on": "on"}
MAX_STEPS = 3000

pytestmark = pytest.mark.guest(workload=WORKLOAD)


def mask(guest):
    """The bits of the CPU's status that mask or enable interrupts."""
    isa = guest.image.isa
    status = guest.debugger.read_register(isa.abi.status_registers[0])
    return isa.cpu.interrupt_mask(status)


def follow(guest, end, enabled):
    """Step up to an address: (masked, the hook or function that begins there, or None).

    ``enabled`` is the mask where interrupts are taken.
    """
    places = {guest.address_of(hook): name for hook, name in HOOKS.items()}
    places[guest.address_of("handle_irq")] = "handler"
    steps = []
    for _ in range(MAX_STEPS):
        pc = guest.debugger.read_register("pc")
        steps.append((mask(guest) != enabled, places.get(pc)))
        if pc == end and not steps[-1][0]:
            return steps
        guest.debugger.step_instruction()
    raise AssertionError(f"{MAX_STEPS} steps and not back at {end:#x}")


def stretches(steps):
    """The names in each sequence without a change of the CPU's state: (masked, names)."""
    return [
        (state, [name for _, name in stretch if name])
        for state, stretch in groupby(steps, lambda step: step[0])
    ]


def test_every_change_is_announced_where_interrupts_are_masked(config, guest):
    guest.run(until="sections")
    end = return_address(guest.debugger, guest.image.isa.abi)
    assert stretches(follow(guest, end, mask(guest))) == [
        (False, []),
        (True, ["off", "on"]),
        (False, []),
        (True, ["off", "on"]),
        (False, []),
    ]


@pytest.mark.guest(workload=WORKLOAD, tick=0)
def test_an_interrupt_and_its_return_are_announced(config, guest):
    """Without ticks: the interrupt that is followed is the one that was raised."""
    guest.run(until="sections")
    end, enabled = guest.debugger.read_register("pc"), mask(guest)
    guest.inject_interrupt()
    guest.run(until="do_irq")
    assert stretches(follow(guest, end, enabled)) == [(True, ["off", "handler", "on"]), (False, [])]
    guest.run(until="workload_done")
    assert guest.workload_status == 0
