# SPDX-License-Identifier: MIT
"""The line that a wrong answer of a port's function comes from, or a wrong argument of its call."""

from harness.conformance.localization.decisions import last_decision
from harness.conformance.localization.patching_search import STATUS
from harness.conformance.places import last_place
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.single_step import MOST_STEPS, single_step, steps_to
from harness.conformance.verdict import Place


def locate_answer(bench: Bench, function: str, *arguments: int) -> Place | None:
    """Call a function once more: the port's instruction that made its answer.

    The registers are restored.
    """
    before = bench.enter(bench.image.address_of(function), *arguments)
    place = locate_write(bench, bench.isa.abi.results[0], bench.image.address_of(CALL_RETURNS))
    bench.registers.put_back(before)
    return place


def locate_decision(bench: Bench, function: str, *arguments: int) -> Place | None:
    """Call a function once more: the port's last conditional branch or move.

    The registers are restored.
    """
    before = bench.enter(bench.image.address_of(function), *arguments)
    executed = steps_to(bench, bench.image.address_of(CALL_RETURNS))
    bench.registers.put_back(before)
    return last_decision(bench, executed, "decided last what to answer")


def locate_write(bench: Bench, register: str, end: int) -> Place | None:
    """From here to an address, in single steps: the instruction that last changed a register.

    If it is the kernel's, or the register holds what it held before, this is the port's last one
    before; None if ``end`` is not reached.
    """
    isa, goal = bench.isa, end & bench.isa.mask
    here = bench.guest.debugger.read_register(isa.abi.pc_register) & isa.mask
    value = bench.registers.value(register)
    executed: list[int] = []
    wrote = 0
    while here != goal:
        if len(executed) == MOST_STEPS:
            return None
        executed.append(here)
        here = single_step(bench, here)
        was, value = value, bench.registers.value(register)
        # What is above the bits of an int may be anything.
        if value & STATUS != was & STATUS:
            wrote = len(executed)
    if not wrote:
        return last_place(bench.image, executed, f"passes {register} on as it was")
    # A step may take a branch's delay slot along; the branch changes nothing.
    way = bench.code.with_slot(executed[:wrote])
    return last_place(bench.image, way, f"wrote {register} last")
