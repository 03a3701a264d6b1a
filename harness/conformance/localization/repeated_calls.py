# SPDX-License-Identifier: MIT
"""The call of a patching function that failed, made again on a fresh guest and stepped through."""

from collections.abc import Callable, Iterator
from contextlib import suppress

from harness.conformance.localization.requests import RECORD, site_of
from harness.conformance.under_test.actions import Actions, Called, Written
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS, START
from harness.conformance.under_test.live_modules import know_module
from harness.conformance.under_test.single_step import AROUND, single_step
from harness.conformance.under_test.watched_call import WatchedStep
from harness.errors import GdbError, GuestError

MOST_STEPS = 2000
"""The most instructions of one call, with the kernel functions that it calls."""

MOST_SITES = 4096
"""The most calls of ftrace_make_nop() or ftrace_make_call() before the one under test."""


def come_to(bench: Bench, function: str, actions: Actions) -> None:
    """Repeat the actions, and stop at the entry of the function that failed."""
    isa, start = bench.isa, bench.image.address_of(function)
    calls = [at for at, one in enumerate(actions.done) if isinstance(one, Called)]
    modules = dict(bench.image.modules)
    if calls:
        bench.fresh(actions.memory)
    else:
        bench.boot(actions.memory)
    # The actions write and load them again.
    for name, module in modules.items():
        know_module(bench, name, module)
    for action in actions.done[: calls[-1] if calls else 0]:
        if isinstance(action, Written):
            bench.write_memory(action.address, action.data)
        else:
            bench.call(action.function, *action.arguments)
    last = actions.last_call
    if last is not None:
        bench.enter(last.function, *last.arguments)
        if not last.arguments:
            # The answer 0 is then a change.
            bench.registers.fill([isa.abi.results[0]], [], 0)
        if last.function == start:
            return
    end = CALL_RETURNS if calls else START
    for _ in range(MOST_SITES):
        if bench.run_to(start, end) != start & isa.mask:
            break
        if not actions.site or site_of(bench, function, bench.registers.read()) == actions.site:
            return
    raise GuestError(f"{function}() was not called for that call site again")


def watched_text(bench: Bench, function: str, registers: dict[str, int]) -> range:
    """The text that the function changes: a call site, or the stub with the slots."""
    if function in RECORD:
        site = site_of(bench, function, registers)
        return mapped(bench, range(site + AROUND.start, site + AROUND.stop))
    stub = bench.code.stub
    assert stub is not None, "a slot lies in a stub"
    return range(stub.address, stub.address + stub.size)


def mapped(bench: Bench, wanted: range) -> range:
    """The units of a range that can be read: sites that a check makes up lie at ends of memory."""
    unit = bench.isa.unit
    found = []
    for at in wanted[::unit]:
        with suppress(GdbError):
            bench.read_memory(at, unit)
            found.append(at)
    return range(found[0], found[-1] + unit) if found else range(0)


def steps_of(bench: Bench, end: int, look: Callable[[], bytes]) -> Iterator[WatchedStep]:
    """The state at the entry of the function, and after each of its instructions."""
    isa, debugger = bench.isa, bench.guest.debugger
    wanted = [*isa.abi.general_registers, isa.abi.status_registers[0]]
    memory = look()
    here = debugger.read_register(isa.abi.pc_register) & isa.mask
    yield WatchedStep(here, bench.registers.read(*wanted), memory)
    for _ in range(MOST_STEPS):
        if here == end or here in bench.deaths:
            return
        at, instruction = here, bench.code.linked(here)
        try:
            here = single_step(bench, here)
            # A step may include the delay slot of a branch, with a store in it.
            if isa.cpu.is_store(instruction) or isa.cpu.has_delay_slot(instruction):
                memory = look()
            yield WatchedStep(at, bench.registers.read(*wanted), memory)
        except (GuestError, GdbError):
            return
