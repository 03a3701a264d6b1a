# SPDX-License-Identifier: MIT
"""Calls of a port's patching functions, and single steps through them.

They may wait for other CPUs, which do not run during a single step.
"""

from harness.conformance.bench import Bench
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
