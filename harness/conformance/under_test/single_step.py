# SPDX-License-Identifier: MIT
"""Calls of a port's patching functions, and single steps through them.

They may wait for other CPUs, which do not run during a single step.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.hang import Hang
from harness.debugger import return_address

WAITING = "kick_all_cpus_sync"
"""The kernel's function that waits for all other CPUs."""

MOST_STEPS = 4000
"""The most instructions of one call of a patching function."""

AROUND = range(-16, 48)
"""The bytes at a call site that a patching function may write to, also by mistake."""

Call = tuple[int, ...]
"""A function, and its arguments."""


def site_calls(bench: Bench, record: int, module: int = 0) -> tuple[Call, Call]:
    """The calls that switch the site of a record on and off."""
    image, caller = bench.image, bench.image.pointer_to("ftrace_caller")
    return (
        (image.address_of("ftrace_make_call"), record, caller),
        (image.address_of("ftrace_make_nop"), module, record, caller),
    )


def prepare_call(bench: Bench, calls: tuple[Call, Call], *, on: bool) -> Call:
    """One of `site_calls`, for a site that is off; it is switched on first if ``on`` is false."""
    make_call, make_nop = calls
    if on:
        return make_call
    bench.call(*make_call)
    return make_nop


def single_step(bench: Bench, here: int, thread: int | None = None) -> int:
    """From an address on execute one instruction, or all of `WAITING`; the next address.

    ``thread`` is gdb's number of a CPU, by default of the stopped one.
    """
    isa, debugger = bench.isa, bench.guest.debugger
    waiting = bench.image.symbols.get(WAITING)
    if waiting is not None and here & isa.mask == waiting & isa.mask:
        return bench.run_to(return_address(debugger, isa.abi))
    return debugger.step_instruction(thread).address & isa.mask


def steps_to(bench: Bench, *goals: int) -> list[int]:
    """Step from where the CPU is to one of these addresses, which is the last one returned.

    They are those of the instructions, in order.  The goal is missing after `MOST_STEPS`.
    """
    isa, ends = bench.isa, {goal & bench.isa.mask for goal in goals}
    executed = [bench.guest.debugger.read_register(isa.abi.pc_register) & isa.mask]
    while executed[-1] not in ends and len(executed) < MOST_STEPS:
        executed.append(single_step(bench, executed[-1]))
    return executed


@dataclass(frozen=True, slots=True)
class Store:
    """The code after a store, and the instructions executed so far, up to the one that stored.

    ``waited``: the port waited for other CPUs since the last store.
    """

    code: bytes
    executed: Sequence[int]
    waited: bool


def stores_of(bench: Bench, place: int, call: Call) -> Iterator[Store]:
    """Make a call in single steps: each store to ``place``, where the guest is stopped then."""
    isa = bench.isa
    bench.enter(*call)
    here, end = call[0] & isa.mask, bench.image.symbols[CALL_RETURNS] & isa.mask
    waiting = bench.image.address_of(WAITING) & isa.mask
    code, waited = bench.read_memory(place, isa.longest), False
    executed: list[int] = []
    while len(executed) < MOST_STEPS:
        if here == end:
            return
        waited = waited or here == waiting
        executed.append(here)
        is_store = isa.cpu.is_store(bench.code.linked(here))
        here = single_step(bench, here)
        now = bench.read_memory(place, isa.longest) if is_store else code
        if now != code:
            yield Store(now, tuple(executed), waited)
            code, waited = now, False
    raise Hang(f"{bench.image.symbolize(call[0])} did not return within {MOST_STEPS} instructions")
