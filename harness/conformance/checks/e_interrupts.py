# SPDX-License-Identifier: MIT
"""What an interrupt could do at each instruction of the stubs."""

from harness.conformance.bench import CALL_RETURNS, Bench, Hang
from harness.conformance.checks.registry import DYNAMIC, STATIC, check
from harness.conformance.journey import ABOVE, AT_SITE, CALLED, LANDING, Registers, free_registers
from harness.conformance.switch import Switch

BOTH = (DYNAMIC, STATIC)
SITE = "check_nested_calls"

MOST_STEPS = 400
"""Instructions of stubs between a site and the place behind it."""

BELOW = 512
"""Bytes below the stack pointer that an interrupt's handler certainly takes."""


@check("C1j", variants=BOTH)
def nothing_below_the_stack_pointer_is_kept(bench: Bench) -> None:
    """At each instruction of the stubs the stack below its pointer is overwritten, as it would be
    by the frame of an interrupt; on the way in through both tracers, and on the way out.
    """
    bench.fresh()
    switch, site, isa = Switch(bench), bench.site(SITE), bench.isa
    graph = "ftrace_graph_caller" in bench.image.symbols
    if switch.dynamic or not graph:
        switch.tracer(True)
    if graph:
        switch.graph(True)
    switch.sites(True, [site])
    bench.run_to(site.function_address)
    caller = bench.guest.debugger.read_register(isa.return_register) & isa.mask
    if site.address != site.function_address:
        bench.run_to(site.address)
    state = isa.at_site(site.form)
    bench.registers.fill(free_registers(bench, site), (), AT_SITE)
    before = bench.registers.read()
    with bench.stakes("C1j"):
        _step_and_spoil(bench, site.address, bench.behind(site))
        behind = bench.registers.read()
    _same(bench, before, behind, (*state.live, *isa.abi.saved, isa.stack_register), "on the way in")
    if not graph:
        return
    if not switch.dynamic:
        switch.graph(False)
    landing = bench.image.address_of(LANDING)
    if bench.run_to(landing, caller) != landing:
        return
    bench.registers.fill(isa.abi.results, (), AT_SITE)
    before = bench.registers.read()
    stack = before[isa.stack_register]
    above = bench.guest.debugger.dump_memory(stack, ABOVE)
    with bench.stakes("C1j"):
        _step_and_spoil(bench, landing, caller)
    kept = (*isa.abi.results, *isa.abi.saved, isa.stack_register)
    _same(bench, before, bench.registers.read(), kept, "on the way out")
    untouched = bench.guest.debugger.dump_memory(stack, ABOVE) == above
    bench.require("C1j", untouched, "the caller's stack was written on the way out")


def _step_and_spoil(bench: Bench, start: int, goal: int) -> None:
    """Go on in single steps; C functions run to their end at once."""
    isa, debugger = bench.isa, bench.guest.debugger
    functions = _c_functions(bench)
    noise = bytes(range(1, 129)) * (BELOW // 128)
    here = start
    for _ in range(MOST_STEPS):
        if here == goal:
            return
        if here in functions:
            here = bench.run_to(debugger.read_register(isa.return_register) & isa.mask)
        else:
            here = debugger.step_instruction().address & isa.mask
        stack = debugger.read_register(isa.stack_register)
        debugger.write_memory(stack - BELOW, noise)
    raise Hang(f"{MOST_STEPS} instructions did not lead from {start:#x} to {goal:#x}")


def _same(
    bench: Bench, before: Registers, after: Registers, names: tuple[str, ...], when: str
) -> None:
    wrong = [name for name in dict.fromkeys(names) if before[name] != after[name]]
    bench.require(
        "C1j",
        not wrong,
        f"with the stack below its pointer overwritten at each instruction {when}, these have "
        f"changed: {', '.join(wrong)}",
        registers={name: f"{before[name]:#x} -> {after[name]:#x}" for name in wrong},
    )


@check("C1j", variants=BOTH)
def an_interrupt_at_each_instruction(bench: Bench) -> None:
    """A real one, whose handler is traced too, where the guest can be given one from outside."""
    bench.fresh()
    if not hasattr(bench.guest, "inject_interrupt") or not bench.can_inject:
        return
    switch, site, isa = Switch(bench), bench.site(SITE), bench.isa
    graph = "ftrace_graph_caller" in bench.image.symbols
    switch.graph(True) if graph else switch.tracer(True)
    switch.sites(True)
    bench.run_to(site.address)
    functions = _c_functions(bench)
    here, end = site.address, bench.behind(site)
    for _ in range(MOST_STEPS):
        [word] = bench.words(here, 1)
        if here in functions:
            returns = bench.guest.debugger.read_register(isa.return_register)
            here = bench.run_to(returns & isa.mask)
        else:
            here = bench.guest.debugger.step_instruction().address & isa.mask
        if here == end:
            return
        if here in functions or isa.has_delay_slot(word):
            continue
        bench.guest.snapshot("interrupted")
        with bench.stakes("C1j"):
            bench.guest.inject_interrupt()
            bench.run_to(CALL_RETURNS)
        status = bench.guest.workload_status
        where = bench.image.symbolize(here)
        bench.require("C1j", status == 0, f"an interrupt at {where}: check {status} is wrong")
        bench.guest.restore("interrupted")


def _c_functions(bench: Bench) -> set[int]:
    """What the stubs call: it is the kernel's business, or the compiler's."""
    names = (*CALLED, "ftrace_return_to_handler")
    return {bench.image.symbols[name] for name in names if name in bench.image.symbols}
