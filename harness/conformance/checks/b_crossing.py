# SPDX-License-Identifier: MIT
"""Registers and stack before and after a traced call, for each path through the stubs."""

from contextlib import suppress
from functools import cache, partial

from harness.conformance.checks.b_frame_records import judge_records
from harness.conformance.comparison import GROUPS, compare
from harness.conformance.localization.decisions import parting
from harness.conformance.localization.retrace import Retrace
from harness.conformance.registry import (
    DYNAMIC,
    EVERY_KERNEL,
    MCOUNT_FORMS,
    STATIC,
    STATIC_STOP,
    check,
)
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.switch import TRACER, Switch
from harness.conformance.under_test.traced_call import (
    GRAPH_ENTER,
    PREPARE,
    NotReached,
    Registers,
    TracedCall,
)
from harness.conformance.verdict import Layer, Place
from harness.debugger import return_address
from harness.errors import GuestDied
from harness.isa import CallSite
from harness.tracer import has_graph_tracer

LEAF, OTHER = "leaf", "check_nested_calls"
"""Functions of the workload that accept any register values: a leaf, and one that calls others."""

TRACE_STOP, STOPPED, ALL_BITS = "function_trace_stop", 1, 0xFFFFFFFF

NO_TRACER_SET = "no tracer"
"""The state of a static build's site."""

OF_GRAPH = dict.fromkeys((PREPARE, "ftrace_graph_caller"), ("C4b",))
"""Where a call that is not traced does not come to."""

C1 = ("C1a", "C1b", "C1c", "C1d", "C1e", "C1f", "C1g", "C1h")
C2 = ("C2a", "C2b", "C2c", "C2d")


@check("C8d", "C8f", "C3c", "C4b", "C9a", "M5d", "C16a", variants=EVERY_KERNEL, layer=Layer.CALL)
def a_site_without_a_tracer(bench: Bench) -> None:
    """The site calls the stub, or mcount as built, without a tracer."""
    for name in (LEAF, OTHER):
        for state in _idle_states(bench):
            clauses = _idle_clauses(bench, state)
            groups = dict.fromkeys(GROUPS, clauses[0])
            retrace = Retrace(bench, partial(_idle, bench, state, name))
            what = f"a call of {name} with {state}"
            with bench.fail_if_guest_dies(*clauses, locate=partial(_died, retrace, state)):
                try:
                    call = retrace.go(home=True)
                except NotReached as error:
                    retrace.go_first(error, partial(judge_first, retrace, groups))
                    return
                except GuestDied:
                    if not retrace.is_wrong_behind(partial(_compare, retrace, groups, what)):
                        raise
                    return
            untouched = ("C4b",) if state == NO_TRACER_SET else clauses
            for function, broken in ((TRACER, clauses), (GRAPH_ENTER, untouched)):
                seen = function in call.called
                for clause in broken:
                    told = f"{what} came to {function}"
                    at = partial(_decision, retrace, state, function)
                    bench.require(clause, not seen, told, at)
            for clause in clauses:
                compare(
                    retrace,
                    call,
                    what,
                    dict.fromkeys(GROUPS, clause),
                )


@check("C8d", "C3c", "C4b", "M5d", variants=EVERY_KERNEL, forms=MCOUNT_FORMS, layer=Layer.CALL)
def the_first_call_at_boot(bench: Bench) -> None:
    """If the guest does not reach its workload: its first call of a stub."""
    if bench.reaches_workload():
        return
    bench.boot()
    bench.run_to(bench.image.address_of(bench.isa.sites.mcount))
    back = return_address(bench.guest.debugger, bench.isa.abi)
    site = next(site for site in bench.image.sites if bench.sites.resumes(site) == back)
    retrace = Retrace(bench, partial(_at_boot, bench, site))
    clause = "C8d" if bench.variant.name == DYNAMIC else "C3c"
    why = partial(_died, retrace, "")
    with bench.fail_if_guest_dies(clause, locate=why, inside=OF_GRAPH):
        try:
            call = retrace.go(home=False)
        except GuestDied:
            if retrace.call is not None and GRAPH_ENTER in retrace.call.called:
                bench.clauses_if_dead = OF_GRAPH[PREPARE]
            raise
    clauses = dict.fromkeys(("args", "return", "saved", "stack"), clause)
    compare(retrace, call, f"a call of {site.function}", clauses)


def _at_boot(bench: Bench, site: CallSite) -> CallSite:
    bench.boot()
    return site


def _idle_states(bench: Bench) -> tuple[str, ...]:
    if bench.variant.name == STATIC:
        return (NO_TRACER_SET,)
    if bench.variant.name == STATIC_STOP:
        return (TRACE_STOP,)
    built = bench.image.symbols.get(bench.isa.sites.mcount)
    return ("the site off", "the site on", *(("the site as built",) if built else ()))


def _idle_clauses(bench: Bench, state: str) -> tuple[str, ...]:
    gate = ("M5d",) if bench.isa.sites.has_gate else ()
    return {
        "the site as built": ("C8d", "C3c", *gate),
        "the site on": ("C8f", "C3c", *gate),
        TRACE_STOP: ("C16a",),
        "no tracer": ("C3c",),
        "the site off": ("C9a",),
    }[state]


def _idle(bench: Bench, state: str, name: str) -> CallSite:
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(name)
    if state == "the site as built":
        bench.guest.debugger.restore_memory(site.address, site.as_built)
        if not bench.isa.sites.has_gate:
            # The tracer is called by ftrace_caller; mcount is another function.
            switch.tracer(True)
    if state == "the site on":
        switch.sites(True, [site])
    if state == TRACE_STOP:
        switch.tracer(True)
        if has_graph_tracer(bench.image.symbols):
            switch.graph(True)
        switch.variable(TRACE_STOP, STOPPED)
    return site


def _died(retrace: Retrace, state: str) -> Place | None:
    """Where the stub decided to call what the guest died in, or its last instruction."""
    called = retrace.call.called if retrace.call is not None else ()
    function = next((one for one in (GRAPH_ENTER, TRACER) if one in called), "")
    return _decision(retrace, state, function) if function else retrace.last_instruction()


def _decision(retrace: Retrace, state: str, function: str) -> Place | None:
    """Where it was decided to call a function that should not be called."""
    tested = flag_test(retrace.bench, STOPPED) if state == TRACE_STOP else None
    return tested or retrace.decision(function)


def flag_test(bench: Bench, value: int) -> Place | None:
    """The instruction of a static stub that decides by function_trace_stop, or else reads it.

    Or the one that has lost the bits of a ``value`` which was taken for 0; None if there is none.
    """
    off, on, wrong = (
        Retrace(bench, partial(_with_flag, bench, flag)) for flag in (0, ALL_BITS, value)
    )
    lost = on.first_difference(f"loses bits of {TRACE_STOP}", off, wrong) if value else None
    decides = parting(bench, off.addresses(), on.addresses(), f"decides by {TRACE_STOP}")
    reads = f"reads {TRACE_STOP}, which decides nothing"
    return lost or decides or off.first_difference(reads, on)


def _with_flag(bench: Bench, value: int) -> CallSite:
    bench.fresh()
    switch = Switch(bench)
    switch.tracer(True)
    switch.variable(TRACE_STOP, value)
    return bench.sites.of(LEAF)


def traced(bench: Bench, name: str) -> CallSite:
    """Stop in front of the workload with a function tracer on, and one site switched on."""
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(name)
    switch.tracer(True)
    switch.sites(True, [site])
    return site


def wrong_ip(retrace: Retrace) -> int | None:
    """What the tracer is told instead of the call site; None if it is told that, or nothing."""
    with suppress(GuestDied):
        retrace.go(home=False)
    call, isa = retrace.call, retrace.bench.isa
    if call is None or TRACER not in call.called:
        return None
    ip = call.first(TRACER)[isa.abi.argument_registers[0]] & isa.mask
    return None if ip == call.site.ip else ip


def _why_not_traced(retrace: Retrace) -> Place | None:
    """Where a static stub made another address than the tracer's, or decided not to go there."""
    return retrace.target(TRACER) or retrace.not_asked(TRACER) or retrace.last_instruction()


@check(*C1, *C2, "C3b", "C4b", "C8e", "C14b", variants=EVERY_KERNEL, layer=Layer.CALL)
def a_call_of_the_tracer(bench: Bench) -> None:
    """All registers that the function needs are restored after a tracer that clobbers them."""
    for name in (LEAF, OTHER):
        retrace = Retrace(bench, partial(traced, bench, name))
        bench.locate = retrace.last_instruction
        clauses = {"args": "C1a", "others": "C1d", "return": "C1b", "saved": "C1c", "status": "C1h"}
        clauses |= {"stack": "C1f", "fixed": "C1g"}
        what, dynamic = f"a traced call of {name}", Switch(bench).dynamic
        reached = "C8e" if dynamic else "C3b"
        try:
            call = retrace.go(home=True)
        except NotReached as error:
            first = partial(_is_lost, retrace, "the first call of the workload", reached)
            retrace.go_first(error, partial(judge_first, retrace, clauses), first)
            return
        except GuestDied as error:
            if not _is_lost(retrace, what, reached, error) and not retrace.is_wrong_behind(
                partial(_compare, retrace, clauses, what)
            ):
                raise
            return
        count = len(call.called.get(TRACER, ()))
        told = f"{what} came {count} times to the tracer"
        place = retrace.last_instruction if count or dynamic else partial(_why_not_traced, retrace)
        if bench.require(reached, count == 1, told, place) or count:
            judge_tracer(retrace, call, what)
            judge_records(retrace, call, TRACER, what)
        if not dynamic and PREPARE in bench.image.symbols:
            told = f"{what} came to {PREPARE}"
            came = partial(retrace.decision, PREPARE)
            bench.require("C4b", PREPARE not in call.called, told, came)
        compare(retrace, call, what, clauses)


def _is_lost(retrace: Retrace, what: str, reached: str, error: GuestDied) -> bool:
    """Whether the stub has gone where no function is, and not to the tracer.

    It has restored nothing yet, and breaks only the clause by which it comes to the tracer.
    """
    if retrace.call is None or TRACER in retrace.call.called:
        return False
    place = retrace.astray()
    if place is None:
        return False
    told = f"{what} goes where no function is, and not to the tracer"
    retrace.bench.require(reached, False, told, lambda: place, guest=error.evidence)
    retrace.bench.mark_unfinished()
    return True


def _compare(retrace: Retrace, clauses: dict[str, str], what: str, call: TracedCall) -> None:
    compare(retrace, call, what, clauses)


def judge_first(retrace: Retrace, clauses: dict[str, str], call: TracedCall) -> None:
    """Judge the first call of the workload instead of one that the guest does not reach."""
    _compare(retrace, clauses, "the first call of the workload", call)


def judge_tracer(retrace: Retrace, call: TracedCall, what: str) -> None:
    """The arguments of the tracer, and registers and stack at its entry."""
    bench = retrace.bench
    isa, seen, site = bench.isa, call.first(TRACER), call.site
    ip, parent = (seen[name] & isa.mask for name in isa.abi.argument_registers[:2])
    told = {
        "expected": {"ip": f"{site.ip:#x}", "parent_ip": f"{call.caller:#x}"},
        "found": {"ip": f"{ip:#x}", "parent_ip": f"{parent:#x}"},
    }
    of_ip, of_parent = (
        partial(retrace.origin, name, TRACER) for name in isa.abi.argument_registers[:2]
    )
    swapped = (isa.pointed_to(ip), parent) == (call.caller, site.ip)
    bench.require("C2c", not swapped, f"{what}: ip and parent_ip are exchanged", of_ip, **told)
    if not swapped:
        bench.require("C2a", ip == site.ip, f"{what}: ip is not the call site", of_ip, **told)
        right = isa.pointed_to(parent) == call.caller
        message = f"{what}: parent_ip is not the return address"
        bench.require("C2b", right, message, of_parent, **told)
        if bench.applies("C2d"):
            message = f"{what}: parent_ip is not the plain address"
            bench.require("C2d", right, message, of_parent, **told)
    judge_entry(retrace, call.before, seen, what, TRACER, "C1e", "C1g")


def judge_entry(
    retrace: Retrace,
    before: Registers,
    seen: Registers,
    what: str,
    function: str,
    aligned: str,
    fixed: str,
    *,
    home: bool = False,
) -> None:
    """Stack and thread pointer at the entry of a C function; ``home``: on the way out."""
    bench, abi = retrace.bench, retrace.bench.isa.abi
    stack, origin = seen[abi.stack_register], partial(retrace.origin, home=home)
    bench.require(
        aligned,
        abi.before_call(stack) % abi.stack_alignment == 0,
        f"{what}: the stack pointer is not a multiple of {abi.stack_alignment} in {function}",
        partial(origin, abi.stack_register, function),
        "the alignment of the stack pointer",
        registers={abi.stack_register: f"{stack:#x}"},
    )
    for name in abi.fixed:
        bench.require(
            fixed,
            seen[name] == before[name],
            f"{what}: {name} is another one in {function}",
            partial(origin, name, function),
        )


@check("C1e", variants=(DYNAMIC,), layer=Layer.CALL)
def the_stack_of_every_kind_of_function(bench: Bench) -> None:
    """Where compilers push in front of a site: the first call for each kind of prologue.

    There the stack pointer may have any remainder, and two functions do not show all of them.
    """
    isa, abi, image = bench.isa, bench.isa.abi, bench.image
    kinds: dict[bytes, list[CallSite]] = {}
    for site in image.sites:
        if abi.at_site(site.form).pops:
            size = site.address - site.function_address
            kinds.setdefault(image.read(site.function_address, size), []).append(site)
    if not kinds:
        return
    bench.fresh()
    switch, tracer = Switch(bench), image.address_of(TRACER)
    left = {site.address: (site, kind) for kind in kinds.values() for site in kind}
    switch.tracer(True)
    switch.sites(True)
    met: list[tuple[CallSite, int]] = []
    with bench.fail_if_guest_dies("C1e"):
        while left and bench.run_to(tracer, CALL_RETURNS) == tracer:
            seen = bench.registers.read(abi.argument_registers[0], abi.stack_register)
            stack, called = seen[abi.stack_register], seen[abi.argument_registers[0]] & isa.mask
            if called not in left:
                continue
            site, kind = left[called]
            met.append((site, stack))
            # The debugger writes in milliseconds what takes the port a call for each site.
            bench.sites.write(kind, on=False)
            for each in kind:
                del left[each.address]
    first = next((site for site, stack in met if stack % abi.stack_alignment), None)
    place = cache(partial(_lowered, bench, first)) if first else None
    for site, stack in met:
        bench.require(
            "C1e",
            stack % abi.stack_alignment == 0,
            f"a call of {site.function}: the stack pointer is not a multiple of "
            f"{abi.stack_alignment} in {TRACER}",
            place,
            registers={abi.stack_register: f"{stack:#x}"},
        )


def _lowered(bench: Bench, site: CallSite) -> Place | None:
    """Where the stub gave a call the stack pointer with which it calls the tracer."""
    retrace = Retrace(bench, partial(traced, bench, site.function))
    return retrace.origin(bench.isa.abi.stack_register, TRACER)


@check("C9p", variants=(DYNAMIC,), layer=Layer.CALL)
def the_landing_pad_of_the_stub(bench: Bench) -> None:
    """Where indirect branches must land on pads, a veneer can reach ftrace_caller."""
    if not bench.applies("C5f"):
        return
    bench.fresh()
    isa, start = bench.isa, bench.image.address_of("ftrace_caller")
    branched = isa.cpu.after_indirect_branch(bench.registers.read())
    bench.registers.write(branched | {isa.abi.pc_register: start})
    here = bench.guest.debugger.step_instruction().address
    bench.require(
        "C9p",
        here == start + len(bench.code.instruction(start)),
        "ftrace_caller does not begin with a landing pad",
        found=bench.code.listing(start, bench.code.instruction(start)),
    )
