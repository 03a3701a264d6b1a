# SPDX-License-Identifier: MIT
"""Interrupts at each instruction of the stubs."""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from harness.conformance.comparison import changed_registers, expected_behind, registers_of
from harness.conformance.kernel_words import live_registers
from harness.conformance.places import last_place, place_of
from harness.conformance.registry import BOTH, check, interrupts, nmis
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.hang import Hang
from harness.conformance.under_test.single_step import site_calls
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import (
    ABOVE,
    AT_SITE,
    CALLED,
    LANDING,
    Registers,
    free_registers,
)
from harness.conformance.under_test.ways import KERNEL, UNWIND
from harness.conformance.verdict import GAVE_UP, INTERRUPTED, Layer, Place
from harness.debugger import return_address
from harness.errors import GdbError, GuestError
from harness.guest.answer import wrong_answer
from harness.isa import Isa
from harness.trace import FuncgraphEntryEvent, FunctionEvent
from harness.tracer import has_graph_tracer

SITE, LEAF = "check_nested_calls", "leaf"
"""Functions of the workload: one that calls others, and a leaf."""

HANDLER_WORK, NMI_WORK = "injected_work", "nmi_work"
"""Traced functions that the handlers of injected interrupts and NMIs call."""

TRACERS = ("the tracer", "the graph tracer")
"""How messages name the tracer that is on: that of functions, that of calls."""

MOST_STEPS = 400
"""The most instructions of the stubs at one site."""

EXIT = "interrupt_exit"  # The guest's last instruction of an interrupt of the kernel.

BELOW = 512
"""Bytes below the stack pointer that every interrupt handler uses."""


@dataclass(frozen=True, slots=True)
class _Way:
    """A call on its way through the stubs, with the stack below its pointer overwritten.

    ``executed`` are the instructions, ``wrong`` registers before and after that should be equal;
    ``untouched``: the stack of the caller is as it was; ``balanced``: so is its pointer.
    """

    executed: list[int]
    wrong: dict[str, str]
    caller: int
    untouched: bool = True
    balanced: bool = True


@check("C1j", variants=BOTH, layer=Layer.CALL)
def nothing_below_the_stack_pointer_is_kept(bench: Bench) -> None:
    """At each instruction the stack below its pointer is overwritten, as by an interrupt."""
    with bench.fail_if_guest_dies("C1j", locate=partial(_given_up, bench, home=False)):
        way = _way_in(bench)
    if bench.image.symbols.get(LANDING) in way.executed:
        # The stub itself has returned there: other checks say what was hijacked.
        bench.mark_unfinished()
        return
    _judge_kept(bench, way, home=False)
    if not has_graph_tracer(bench.image.symbols):
        return
    with bench.fail_if_guest_dies("C1j", locate=partial(_given_up, bench, home=True)):
        if way.wrong:
            # The search for the place has used up that call.
            way = _way_in(bench, until=0)
        back = _way_back(bench, way.caller)
    if back is not None:
        _judge_kept(bench, back, home=True)
        if not back.balanced:
            # Below another pointer it is the caller's stack that was overwritten here.
            bench.mark_unfinished()
            return
        bench.require("C1j", back.untouched, "the caller's stack was written on the way back")


def _way_in(bench: Bench, until: int = MOST_STEPS) -> _Way:
    """A traced call from its site to behind it; ``until`` as of `_step_and_spoil`."""
    bench.fresh()
    switch, site, isa = Switch(bench), bench.sites.of(SITE), bench.isa
    graph = has_graph_tracer(bench.image.symbols)
    if switch.dynamic or not graph:
        switch.tracer(True)
    if graph:
        switch.graph(True)
    switch.sites(True, [site])
    bench.run_to(site.function_address)
    caller = return_address(bench.guest.debugger, isa.abi)
    if site.address != site.function_address:
        bench.run_to(site.address)
    bench.registers.fill(free_registers(bench, site), (), AT_SITE)
    before = bench.registers.read()
    executed = _step_and_spoil(bench, site.address, bench.sites.resumes(site), until)
    kept = (*live_registers(isa.abi, site.form, bench.kernel), *isa.abi.saved)
    expected = expected_behind(isa.abi, site.form, before)
    return _Way(executed, _changed(bench, expected, kept), caller)


def _way_back(bench: Bench, caller: int, until: int = MOST_STEPS) -> _Way | None:
    """The return of the same call; None if it is not hijacked."""
    isa, landing = bench.isa, bench.image.address_of(LANDING)
    switch = Switch(bench)
    if not switch.dynamic:
        switch.graph(False)
    if bench.run_to(landing, caller) != landing:
        return None
    bench.registers.fill(isa.abi.results, (), AT_SITE)
    before = bench.registers.read()
    name = isa.abi.stack_register
    stack = before[name]
    above = bench.guest.debugger.dump_memory(stack, ABOVE)
    executed = _step_and_spoil(bench, landing, caller, until)
    wrong = _changed(bench, before, (*isa.abi.results, *isa.abi.saved))
    untouched = bench.guest.debugger.dump_memory(stack, ABOVE) == above
    return _Way(executed, wrong, caller, untouched, bench.registers.value(name) == stack)


def _step_and_spoil(bench: Bench, start: int, goal: int, until: int) -> list[int]:
    """Continue in single steps; C functions run to their end at once.

    Behind each of the first ``until`` the stack below its pointer is overwritten.
    """
    isa, debugger = bench.isa, bench.guest.debugger
    functions = _functions(bench, (*CALLED, UNWIND))
    noise = bytes(range(1, 129)) * (BELOW // 128)
    executed: list[int] = []
    here = start
    while here != goal:
        if len(executed) == MOST_STEPS:
            far = f"{MOST_STEPS} instructions did not lead from {start:#x} to {goal:#x}"
            raise Hang(far)
        executed.append(here)
        if here in functions:
            here = bench.run_to(return_address(debugger, isa.abi))
        else:
            here = debugger.step_instruction().address & isa.mask
        if len(executed) <= until:
            stack = debugger.read_register(isa.abi.stack_register)
            debugger.write_memory(stack - BELOW, noise)
    return executed


def _changed(bench: Bench, before: Registers, names: tuple[str, ...]) -> dict[str, str]:
    """Of these registers and the stack pointer those that have changed."""
    every = dict.fromkeys((*names, bench.isa.abi.stack_register))
    return changed_registers(every, before, bench.registers.read())


def _judge_kept(bench: Bench, way: _Way, *, home: bool) -> None:
    when = "on the way back" if home else "on the way in"
    bench.require(
        "C1j",
        not way.wrong,
        f"with the stack below its pointer overwritten at each instruction {when}, these have "
        f"changed: {', '.join(way.wrong)}",
        partial(_given_up, bench, home=home),
        registers_of(way.wrong, when),
        registers=way.wrong,
    )


def _given_up(bench: Bench, *, home: bool) -> Place | None:
    """The port's instruction behind which the stack below its pointer is still needed.

    The first one up to which it has to be overwritten for anything to go wrong.
    """

    def go(until: int) -> _Way | None:
        way = _way_in(bench, until=0 if home else until)
        return _way_back(bench, way.caller, until) if home else way

    def fails(until: int) -> bool:
        try:
            way = go(until)
        except (GuestError, GdbError):
            return True
        return way is not None and bool(way.wrong)

    way = go(until=0)
    if way is None or way.wrong:
        # Something else is wrong with that call.
        return None
    number = 1 + bisect_left(range(1, len(way.executed) + 1), True, key=fails)
    if number > len(way.executed):
        return None
    return last_place(bench.image, bench.code.with_slot(way.executed[:number]), GAVE_UP)


@check("C1j", variants=BOTH, lacks=interrupts)
def an_interrupt_at_each_instruction(bench: Bench) -> None:
    """A real interrupt with a traced handler, at entry with each tracer and at the return."""
    for graph in (False, True)[: 1 + has_graph_tracer(bench.image.symbols)]:
        tracer = TRACERS[graph]
        met: list[int] = []
        last = partial(_port_place, bench, met, INTERRUPTED)
        with bench.fail_if_guest_dies("C1j", locate=last):
            for _ in _interrupts(bench, graph, met):
                pass
            recorded = _calls_of(bench, HANDLER_WORK)
            bench.run_to(CALL_RETURNS)
        status = bench.guest.workload_status
        bench.require(
            "C1j",
            status == 0,
            f"{wrong_answer(bench.image, status)} with an interrupt at each instruction of "
            f"{tracer}'s stubs",
            interrupted=[bench.image.symbolize(at) for at in met],
        )
        counter = bench.read_memory(bench.image.address_of("injected_interrupts"), 4)
        number = int.from_bytes(counter, bench.image.byteorder)
        bench.require(
            "C1j",
            number == len(met),
            f"{number} interrupts of {len(met)} were handled under {tracer}",
        )
        bench.require(
            "C1j",
            recorded == len(met),
            f"{recorded} of {len(met)} handlers under {tracer} were recorded",
            partial(_not_recorded, bench, graph),
        )


def _not_recorded(bench: Bench, graph: bool) -> Place | None:
    """Repeat the interrupts, up to the first one whose handler is not recorded."""
    met: list[int] = []
    for _ in _interrupts(bench, graph, met):
        if _calls_of(bench, HANDLER_WORK) < len(met):
            return _port_place(bench, met, "was interrupted by a handler that is not recorded")
    return None


def _port_place(bench: Bench, met: Sequence[int], how: str) -> Place | None:
    """The last of these addresses that is in the port."""
    places = (place_of(bench.image, address, how) for address in reversed(met))
    return next(filter(None, places), None)


def _calls_of(bench: Bench, name: str) -> int:
    """The recorded calls of a function, with whatever address in it as ip."""
    ips = (
        event.ip if isinstance(event, FunctionEvent) else event.func
        for event in bench.guest.tracer.events()
        if isinstance(event, FunctionEvent | FuncgraphEntryEvent)
    )
    function = bench.image.function_at(bench.sites.of(name).ip)
    return sum(bench.image.function_at(ip & bench.isa.mask) == function for ip in ips)


def _interrupts(bench: Bench, graph: bool, met: list[int]) -> Iterator[None]:
    """Raise an interrupt after each instruction on the way of one call, in and back.

    Their addresses are added to ``met``.  Each is handled when the next one is asked for.
    """
    bench.fresh()
    tracer, switch, site = TRACERS[graph], Switch(bench), bench.sites.of(LEAF)
    if graph:
        switch.graph(True)
    else:
        switch.tracer(True)
    switch.sites(True)
    bench.run_to(site.function_address)
    caller = return_address(bench.guest.debugger, bench.isa.abi)
    if site.address != site.function_address:
        bench.run_to(site.address)
    yield from _interrupt_each(bench, bench.sites.resumes(site), tracer, met)
    if graph and bench.run_to(bench.image.address_of(LANDING), caller) != caller:
        yield from _interrupt_each(bench, caller, tracer, met)


def _interrupt_each(bench: Bench, goal: int, tracer: str, met: list[int]) -> Iterator[None]:
    """Continue to ``goal`` in single steps, with an interrupt after each."""
    isa, debugger, functions = bench.isa, bench.guest.debugger, _functions(bench, KERNEL)
    here = debugger.read_register(isa.abi.pc_register) & isa.mask
    mask = isa.cpu.interrupt_mask(_status(bench))
    text = bench.code.text()
    for _ in range(MOST_STEPS):
        delayed = isa.cpu.has_delay_slot(bench.code.instruction_in(text, here))
        if here in functions:
            here, delayed = bench.run_to(return_address(debugger, isa.abi)), False
        else:
            here = debugger.step_instruction().address & isa.mask
        if here == goal:
            return
        status_register = isa.abi.status_registers[0]
        before = bench.registers.read(*_kept(isa), isa.abi.stack_register, status_register)
        status = before[status_register]
        held = delayed or isa.cpu.in_block(status)
        # Where the port masks them an interrupt would come later.
        if here not in functions and not held and isa.cpu.interrupt_mask(status) == mask:
            met.append(here)
            _interrupt(bench, here, tracer, before)
            yield
    raise Hang(f"{MOST_STEPS} instructions did not lead to {bench.image.symbolize(goal)}")


def _status(bench: Bench) -> int:
    return bench.guest.debugger.read_register(bench.isa.abi.status_registers[0])


def _kept(isa: Isa) -> tuple[str, ...]:
    """The registers that an interrupt must not change."""
    return (*isa.abi.scratch, *isa.abi.saved, *filter(None, [isa.abi.return_register]))


def _interrupt(bench: Bench, here: int, tracer: str, before: Registers) -> None:
    """Raise an interrupt, and let its handler run to the end; the registers must be as before."""
    isa, guest = bench.isa, bench.guest
    stack = before[isa.abi.stack_register]
    above = guest.debugger.dump_memory(stack, ABOVE)
    guest.inject_interrupt(bench.cpu)
    # Functions that the handler calls reach the interrupted address too.
    bench.run_to(EXIT)
    at = guest.debugger.step_instruction().address & isa.mask
    for _ in range(MOST_STEPS):
        after = bench.registers.read(*before)
        if at == here and after[isa.abi.stack_register] == stack:
            break
        # It was the end of another interrupt.
        at = bench.run_to(here)
    wrong = changed_registers(_kept(isa), before, after)
    same = guest.debugger.dump_memory(stack, ABOVE) == above
    where = bench.image.symbolize(here)
    bench.require(
        "C1j",
        same and not wrong,
        f"an interrupt at {where} under {tracer}: what was interrupted finds other registers or "
        "another stack",
        registers=wrong,
    )


@check("C17b", features=("FTRACE_NMI_ENTER",), lacks=nmis)
def an_nmi_while_a_site_is_patched(bench: Bench) -> None:
    """An NMI at each instruction of a patch, whose handler executes the site that is patched."""
    isa, image = bench.isa, bench.image
    for on in (True, False):
        bench.fresh()
        switch, site = Switch(bench), bench.sites.of(NMI_WORK)
        switch.tracer(True)
        make_call, make_nop = site_calls(bench, bench.port.record_of(site))
        call = make_call if on else make_nop
        if not on:
            switch.sites(True, [site])
        bench.guest.tracer.clear()
        debugger = bench.guest.debugger
        bench.enter(*call)
        end, here, count = image.symbols[CALL_RETURNS] & isa.mask, call[0], 0
        with bench.fail_if_guest_dies("C17b"):
            while here != end and count < MOST_STEPS:
                if not isa.cpu.in_block(_status(bench)):
                    _nmi(bench, here)
                    count += 1
                here = debugger.step_instruction().address & isa.mask
        status = bench.registers.value(isa.abi.results[0]) & 0xFFFFFFFF
        name = image.symbolize(call[0])
        bench.require("C17b", status == 0, f"{name} under NMIs returned {status:#x}")
        events = sum(event.name == "function" for event in bench.guest.tracer.events())
        bench.require(
            "C17b",
            0 < events < count,
            f"{events} of {count} NMIs in {name} found their function traced",
        )
        with bench.fail_if_guest_dies("C17b"):
            bench.guest.inject_interrupt(bench.cpu, nmi=True)
            bench.run_to(NMI_WORK)


def _nmi(bench: Bench, here: int) -> None:
    """Raise an NMI, and let its handler run to the end."""
    debugger, stack_register = bench.guest.debugger, bench.isa.abi.stack_register
    stack = debugger.read_register(stack_register)
    bench.guest.inject_interrupt(bench.cpu, nmi=True)
    bench.run_to(NMI_WORK)
    bench.run_to(here)
    same = debugger.read_register(stack_register) == stack
    where = bench.image.symbolize(here)
    bench.require("C17b", same, f"an NMI at {where} did not come back to its stack")


def _functions(bench: Bench, names: Sequence[str]) -> set[int]:
    """The addresses of those of these functions that the guest has."""
    return {bench.image.symbols[name] for name in names if name in bench.image.symbols}
