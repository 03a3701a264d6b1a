# SPDX-License-Identifier: MIT
"""Registers and stack over a traced call, for each way through the stubs."""

from harness.conformance.bench import Bench
from harness.conformance.checks.registry import DYNAMIC, STATIC, STATIC_STOP, check
from harness.conformance.comparison import compare, same, same_stack
from harness.conformance.switch import TRACER, Switch
from harness.conformance.traced_call import (
    GRAPH_ENTER,
    HANDLER,
    LANDING,
    PREPARE,
    Registers,
    TracedCall,
    step_through,
)
from harness.isa import Form

BOTH = (DYNAMIC, STATIC)
GRAPH = ("FUNCTION_GRAPH_TRACER",)

DEEP, CALLS = "recurse", 6
"""A function of the workload that calls itself, and how many calls are looked at."""

LEAF, OTHER = "leaf", "check_nested_calls"
"""Functions of the workload that run whatever their registers hold: one that calls nothing, and one
that does."""

C1 = ("C1a", "C1b", "C1c", "C1d", "C1e", "C1f", "C1g", "C1h")
C2 = ("C2a", "C2b", "C2c", "C2d")
C4 = ("C4c", "C4d", "C4e", "C4h", "C4j", "C6a", "C12a")
C5 = ("C5a", "C5b", "C5c", "C5d", "C5e", "C6b")
M5 = ("C3c", "C3e", "C8f", "M5d")


@check("C8d", "C8f", "C3c", "C9a", "M5d", "C16a", variants=(*BOTH, STATIC_STOP))
def a_site_without_a_tracer(bench: Bench) -> None:
    """The site calls the stub, or mcount as built, and nobody traces."""
    for name in (LEAF, OTHER):
        for state in _idle_states(bench):
            bench.fresh()
            clauses = _switch_idle(bench, state, name)
            with bench.stakes(*clauses):
                call = step_through(bench, bench.sites.of(name), home=True)
            what = f"a call of {name} with {state}"
            for function in (TRACER, GRAPH_ENTER):
                seen = function in call.called
                for clause in clauses:
                    bench.require(clause, not seen, f"{what} came to {function}")
            for clause in clauses:
                compare(
                    bench,
                    call,
                    what,
                    dict.fromkeys(("args", "return", "saved", "stack"), clause),
                )


def _idle_states(bench: Bench) -> tuple[str, ...]:
    if bench.variant.name == STATIC:
        return ("no tracer",)
    if bench.variant.name == STATIC_STOP:
        return ("function_trace_stop",)
    built = bench.image.symbols.get("_mcount")
    return ("the site off", "the site on", *(("the site as built",) if built else ()))


def _switch_idle(bench: Bench, state: str, name: str) -> tuple[str, ...]:
    switch, site = Switch(bench), bench.sites.of(name)
    if state == "the site as built":
        bench.guest.debugger.restore_memory(site.address, site.as_built)
        if not bench.isa.sites.has_gate:
            # It is ftrace_caller that has a tracer now; mcount is another function.
            switch.tracer(True)
        return ("C8d", "C3c", "M5d") if bench.isa.sites.has_gate else ("C8d", "C3c")
    if state == "the site on":
        switch.sites(True, [site])
        return ("C8f", "C3c", "M5d") if bench.isa.sites.has_gate else ("C8f", "C3c")
    if state == "function_trace_stop":
        switch.tracer(True)
        if "ftrace_graph_caller" in bench.image.symbols:
            switch.graph(True)
        switch.variable("function_trace_stop", 1)
        return ("C16a",)
    return ("C3c",) if bench.variant.name == STATIC else ("C9a",)


@check(*C1, *C2, "C3b", "C4b", "C8e", "C14b", variants=BOTH)
def a_call_of_the_tracer(bench: Bench) -> None:
    """Everything that the function needs is there again behind a hostile tracer."""
    for name in (LEAF, OTHER):
        bench.fresh()
        switch, site = Switch(bench), bench.sites.of(name)
        switch.tracer(True)
        switch.sites(True, [site])
        call = step_through(bench, site, home=True)
        what = f"a traced call of {name}"
        reached = "C8e" if switch.dynamic else "C3b"
        count = len(call.called.get(TRACER, ()))
        bench.require(reached, count == 1, f"{what} came {count} times to the tracer")
        if count:
            _judge_tracer(bench, call, what)
            _judge_records(bench, call, TRACER, what)
        if not switch.dynamic and PREPARE in bench.image.symbols:
            bench.require("C4b", PREPARE not in call.called, f"{what} came to {PREPARE}")
        clauses = {"args": "C1a", "others": "C1d", "return": "C1b", "saved": "C1c", "status": "C1h"}
        compare(bench, call, what, {**clauses, "stack": "C1f", "fixed": "C1g"})


def _judge_tracer(bench: Bench, call: TracedCall, what: str) -> None:
    """What the tracer is told, and what it finds."""
    isa, seen, site = bench.isa, call.first(TRACER), call.site
    ip, parent = (seen[name] & isa.mask for name in isa.abi.argument_registers[:2])
    told = {
        "expected": {"ip": f"{site.address:#x}", "parent_ip": f"{call.caller:#x}"},
        "found": {"ip": f"{ip:#x}", "parent_ip": f"{parent:#x}"},
    }
    swapped = (ip, parent) == (call.caller, site.address)
    bench.require("C2c", not swapped, f"{what}: ip and parent_ip are exchanged", **told)
    if not swapped:
        bench.require("C2a", ip == site.address, f"{what}: ip is not the call site", **told)
        right = parent == call.caller
        bench.require("C2b", right, f"{what}: parent_ip is not where it returns to", **told)
        if bench.applies("C2d"):
            bench.require("C2d", right, f"{what}: parent_ip is not the plain address", **told)
    _judge_entry(bench, call.before, seen, what, TRACER, "C1e", "C1g")


def _judge_records(bench: Bench, call: TracedCall, function: str, what: str) -> None:
    """The innermost return addresses in the frame records, where the ABI has such."""
    if not bench.isa.abi.frame_record or function not in call.returns:
        return
    expected = [bench.sites.resumes(call.site), call.caller]
    found = call.returns[function][: len(expected)]
    bench.require(
        "C14b",
        found == expected,
        f"{what}: from {function} an unwinder does not come to the function and its caller",
        expected=[bench.image.symbolize(address) for address in expected],
        found=[bench.image.symbolize(address) for address in found],
    )


def _judge_entry(
    bench: Bench,
    before: Registers,
    seen: Registers,
    what: str,
    function: str,
    aligned: str,
    fixed: str,
) -> None:
    """Stack and thread pointer at the entry of a C function."""
    isa, abi = bench.isa, bench.isa.abi
    stack = seen[isa.abi.stack_register]
    bench.require(
        aligned,
        stack % abi.stack_alignment == 0,
        f"{what}: the stack pointer is not a multiple of {abi.stack_alignment} in {function}",
        registers={isa.abi.stack_register: f"{stack:#x}"},
    )
    for name in abi.fixed:
        bench.require(
            fixed, seen[name] == before[name], f"{what}: {name} is another one in {function}"
        )


@check(*C4, "C1e", "C1f", "C11b", "C14b", "C3b", "C8e", variants=BOTH, features=GRAPH)
def a_call_that_is_hijacked(bench: Bench) -> None:
    """The same through ftrace_graph_caller, and the way home."""
    for name in (LEAF, OTHER):
        for both in (False, True):
            bench.fresh()
            switch, site = Switch(bench), bench.sites.of(name)
            switch.graph(True)
            switch.tracer(both)
            switch.sites(True, [site])
            with bench.stakes("C4c", "C4d", "C11b" if switch.dynamic else "C4c"):
                call = step_through(bench, site, home=False)
            what = f"a hijacked call of {name}" + (" that is traced too" if both else "")
            if both:
                count = len(call.called.get(TRACER, ()))
                reached = "C8e" if switch.dynamic else "C3b"
                bench.require(reached, count == 1, f"{what} came {count} times to the tracer")
                if count:
                    _judge_tracer(bench, call, what)
            _judge_records(bench, call, PREPARE, what)
            if _judge_graph_entry(bench, call, what, switch.dynamic):
                compare(bench, call, what, _ALL_C4C, hijacked=True)


_ALL_C4C = dict.fromkeys(("args", "others", "return", "saved", "status", "stack", "fixed"), "C4c")


def _judge_graph_entry(bench: Bench, call: TracedCall, what: str, dynamic: bool) -> bool:
    """What prepare_ftrace_return passes on."""
    isa, site = bench.isa, call.site
    count = len(call.called.get(GRAPH_ENTER, ()))
    reached = "C11b" if dynamic else "C4d"
    if not bench.require(reached, count == 1, f"{what} came {count} times to {GRAPH_ENTER}"):
        return False
    seen = call.first(GRAPH_ENTER)
    ret, func, pointer, retp = (seen[name] & isa.mask for name in isa.abi.argument_registers[:4])
    told = {
        "expected": {"ret": f"{call.caller:#x}", "func": f"{site.address:#x}"},
        "found": {"ret": f"{ret:#x}", "func": f"{func:#x}", "fp": f"{pointer:#x}"},
    }
    bench.require("C4e", func == site.address, f"{what}: func is not the call site", **told)
    right = ret == call.caller
    bench.require("C4d", right, f"{what}: what is kept is not where it returns to", **told)
    if bench.applies("C4j"):
        bench.require("C4j", right, f"{what}: what is kept is not the plain address", **told)
    if "FUNCTION_GRAPH_FP_TEST" in bench.variant.features:
        bench.require("C6a", pointer != 0, f"{what}: there is no frame pointer", **told)
    if "FUNCTION_GRAPH_RET_ADDR_PTR" in bench.variant.features:
        # A patchable entry comes before the function has stored it anywhere.
        at_place = call.place == isa.machine.plain_address(ret)
        any_value = site.form is Form.PATCHABLE_ENTRY or bench.kernel.retp == "cookie"
        bench.require(
            "C12a",
            at_place or (any_value and retp != 0),
            f"{what}: retp is not where the return address is",
            expected=f"{ret:#x}",
            found=f"{call.place or 0:#x} at {retp:#x}",
        )
    for function in (PREPARE, GRAPH_ENTER):
        if function in call.called:
            _judge_entry(bench, call.before, call.first(function), what, function, "C1e", "C4c")
    return True


@check("C12a", features=("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_RET_ADDR_PTR"))
def a_cookie_that_no_other_call_has(bench: Bench) -> None:
    """An unwinder tells hijacked calls apart by retp: calls within calls have one each."""
    bench.fresh()
    switch, site, isa = Switch(bench), bench.sites.of(DEEP), bench.isa
    switch.graph(True)
    switch.sites(True, [site])
    cookies: list[int] = []
    with bench.stakes("C12a"):
        while len(cookies) < CALLS:
            bench.run_to(GRAPH_ENTER)
            cookies.append(bench.registers.read()[isa.abi.argument_registers[3]] & isa.mask)
            bench.guest.debugger.step_instruction()
    bench.require(
        "C12a",
        len(set(cookies)) == len(cookies) and 0 not in cookies,
        f"open calls of {DEEP} do not each have a retp of their own",
        found=[f"{one:#x}" for one in cookies],
    )


@check(*C5, "C4d", "C4h", "C4j", variants=BOTH, features=GRAPH)
def the_way_home_of_a_hijacked_call(bench: Bench) -> None:
    """A hijacked function returns to its caller through return_to_handler, with its results."""
    isa, abi = bench.isa, bench.isa.abi
    for name in (LEAF, OTHER):
        bench.fresh()
        switch, site = Switch(bench), bench.sites.of(name)
        switch.graph(True)
        switch.sites(True, [site])
        what = f"a hijacked call of {name}"
        with bench.stakes("C4d", "C5c"):
            call = step_through(bench, site, home=True)
        for clause in ("C4d", *(c for c in ("C4h", "C4j") if bench.applies(c))):
            bench.require(
                clause,
                bool(call.landing),
                f"{what} returned to its caller without coming to {LANDING}",
                registers=lambda: bench.registers.read(),
            )
        if not call.landing:
            continue
        bench.require("C5c", True, "")
        landing, back = call.landing, call.back
        count = len(call.called.get(HANDLER, ()))
        if not bench.require("C5c", count == 1, f"{what} came {count} times to {HANDLER}"):
            continue
        seen = call.first(HANDLER)
        _judge_entry(bench, landing, seen, what, HANDLER, "C5e", "C5e")
        if "FUNCTION_GRAPH_FP_TEST" in bench.variant.features and GRAPH_ENTER in call.called:
            went_in = call.first(GRAPH_ENTER)[isa.abi.argument_registers[2]] & isa.mask
            came_out = seen[isa.abi.argument_registers[0]] & isa.mask
            bench.require(
                "C6b",
                went_in == came_out,
                f"{what}: the frame pointer on the way out is another one",
                expected=f"{went_in:#x}",
                found=f"{came_out:#x}",
            )
        same(bench, "C5a", landing, back, abi.results, f"{what}: results")
        floats: tuple[str, ...] = ()
        if bench.kernel.floating_point:
            same(bench, "C5b", landing, back, abi.float_results, f"{what}: floating-point results")
            floats = abi.float_saved
        kept = (*abi.saved, *floats, isa.abi.stack_register, *abi.fixed)
        same(bench, "C5d", landing, back, kept, f"{what}: what a call may not change")
        same_stack(bench, "C5d", call.above_landing, call.above_back, landing, what)


@check("C9p", variants=(DYNAMIC,))
def the_landing_pad_of_the_stub(bench: Bench) -> None:
    """Where indirect branches must land on pads a veneer can reach ftrace_caller."""
    if not bench.applies("C5f"):
        return
    bench.fresh()
    isa, start = bench.isa, bench.image.address_of("ftrace_caller")
    branched = isa.machine.after_indirect_branch(bench.registers.read())
    bench.registers.write(branched | {isa.abi.pc_register: start})
    here = bench.guest.debugger.step_instruction().address
    bench.require(
        "C9p",
        here == start + len(bench.code.instruction(start)),
        "ftrace_caller does not begin with a landing pad",
        found=bench.code.listing(start, bench.code.instruction(start)),
    )


@check("C4f", variants=BOTH, features=GRAPH)
def a_call_that_the_graph_tracer_refuses(bench: Bench) -> None:
    """The entry handler says no: the function returns as if nobody had asked."""
    for name in (LEAF, OTHER):
        bench.fresh()
        switch, site = Switch(bench), bench.sites.of(name)
        switch.graph(True, entry="ftrace_graph_entry_stub")
        switch.sites(True, [site])
        what = f"a refused call of {name}"
        call = step_through(bench, site, home=True)
        bench.require("C4f", not call.landing, f"{what} came to {LANDING}")
        asked = GRAPH_ENTER in call.called
        bench.require("C4f", asked, f"{what} did not come to {GRAPH_ENTER}")
        compare(bench, call, what, dict.fromkeys(_ALL_C4C, "C4f"))
