# SPDX-License-Identifier: MIT
"""Direct trampolines: the jump to one, directly and after tracers, and the return from it."""

from functools import partial
from itertools import permutations, product

from harness.conformance.bench import Bench
from harness.conformance.checks.b_crossing import LEAF, OTHER
from harness.conformance.checks.f_modules import RUN, load, sites_of
from harness.conformance.checks.j_tracers import SECOND, STUB, VALUE, into_stub
from harness.conformance.checks.registry import MODULES, check
from harness.conformance.kernel_words import live_registers
from harness.conformance.places import place_of
from harness.conformance.selftests import Action, DirectCall, Selftest
from harness.conformance.switch import Switch
from harness.conformance.traced_call import (
    ABOVE,
    SELFTEST,
    Registers,
    TracedCall,
    clobber,
    come_to,
    lay_out,
)
from harness.conformance.verdict import Layer
from harness.debugger import return_address
from harness.isa import CallSite

MOST = 20
"""Instructions of the stub between the site's call and the trampoline."""

PLACES = 100
"""The most instructions of the stub at which a trampoline is changed."""


@check("C23a", "C23c", "C23d", layer=Layer.CALL)
def a_trampoline_alone(bench: Bench) -> None:
    """A leaf, and a function that calls others, with a trampoline and no tracer."""
    for name in (LEAF, OTHER):
        call, arrived = _enter(bench, _prepare(bench, name, tracer=False))
        trampoline = bench.image.address_of("ftrace_direct_tramp")
        steps = 0
        with bench.fail_if_guest_dies("C23a", "C23d"):
            while steps < MOST and bench.guest.debugger.step_instruction().address != trampoline:
                steps += 1
            what = f"a call of {name} through its trampoline"
            bench.require("C23d", steps < MOST, f"{what} takes more than {MOST} instructions")
            if steps == MOST:
                bench.run_to(trampoline)
        _judge_entry(bench, "C23a", call, arrived, {}, what)
        _judge_behind(bench, call, {}, what)


@check("C23b", "C23c", layer=Layer.CALL)
def a_trampoline_after_a_tracer(bench: Bench) -> None:
    """The same with a tracer of the function, which looks, then one that changes an argument."""
    trampoline, tracer = (bench.image.address_of(n) for n in ("ftrace_direct_tramp", SELFTEST))
    first = bench.isa.abi.argument_registers[0]
    for name in (LEAF, OTHER):
        for action in (Action.LOOK, Action.SET_ARGUMENT):
            site = _prepare(bench, name, tracer=True)
            Selftest(bench).act(action, VALUE)
            call, arrived = _enter(bench, site)
            changed = {first: VALUE & bench.isa.mask} if action is Action.SET_ARGUMENT else {}
            what = f"a call of {name} through its trampoline, after a tracer"
            with bench.fail_if_guest_dies("C23b"):
                came = bench.run_to(tracer, trampoline) == tracer & bench.isa.mask
                if bench.require("C23b", came, f"{what}: the trampoline comes first"):
                    bench.run_to(return_address(bench.guest.debugger, bench.isa.abi))
                    clobber(bench, SELFTEST)
                    bench.run_to(trampoline)
            _judge_entry(bench, "C23b", call, arrived, changed, what)
            _judge_behind(bench, call, changed, what)
            count = Selftest(bench).read("calls")
            bench.require("C23b", count == 1, f"{what}: the tracer was called {count} times")


def _prepare(bench: Bench, name: str, *, tracer: bool) -> CallSite:
    bench.fresh()
    site = bench.sites.of(name)
    direct = DirectCall(bench)
    direct.only(site)
    direct.switch(True)
    if tracer:
        Selftest(bench).switch(True)
    Switch(bench).sites(True, [site])
    return site


def _enter(bench: Bench, site: CallSite) -> tuple[TracedCall, Registers]:
    """To the site, with patterns in the registers, and on to the stub: the registers there."""
    call = come_to(bench, site)
    lay_out(bench, call)
    bench.run_to(STUB)
    return call, bench.registers.read()


def _judge_entry(
    bench: Bench,
    clause: str,
    call: TracedCall,
    arrived: Registers,
    changed: Registers,
    what: str,
) -> None:
    """The guest is at the trampoline, with the registers that the site passed to the stub."""
    abi, found = bench.isa.abi, bench.registers.read()
    floats = abi.float_arguments if bench.kernel.floating_point else ()
    live = live_registers(abi, call.site.form, bench.kernel)
    names = (*live, *floats, *abi.saved, *abi.fixed, *abi.direct_call, abi.stack_register)
    _judge(bench, clause, {name: arrived[name] for name in names} | changed, found, what)


def _judge_behind(bench: Bench, call: TracedCall, changed: Registers, what: str) -> None:
    """The trampoline returns, and the function continues."""
    abi, form = bench.isa.abi, call.site.form
    with bench.fail_if_guest_dies("C23c"):
        bench.run_to(bench.sites.resumes(call.site))
    names = (*live_registers(abi, form, bench.kernel), *abi.saved, *abi.fixed, abi.stack_register)
    expected = {name: call.before[name] for name in names}
    expected |= {name: call.before[of] for name, of in abi.at_site(form).moved.items()}
    behind = f"{what}: behind the site"
    _judge(bench, "C23c", expected | changed, bench.registers.read(), behind)
    stack = call.before[abi.stack_register]
    above = bench.guest.debugger.dump_memory(stack, ABOVE)
    bench.require("C23c", above == call.above, f"{what}: the stack above was written to")


def _judge(bench: Bench, clause: str, expected: Registers, found: Registers, what: str) -> None:
    wrong = {name: was for name, was in expected.items() if found[name] != was}
    bench.require(
        clause,
        not wrong,
        f"{what}: {', '.join(wrong)} is not what it has to be",
        partial(place_of, bench.image, bench.image.address_of(STUB), "goes there"),
        registers={name: f"{was:#x} -> {found[name]:#x}" for name, was in wrong.items()},
    )


@check("C23e")
def trampolines_and_tracers_in_every_order(bench: Bench) -> None:
    """A trampoline of one function, and tracers of all and of another, and a call of both at each
    step.
    """
    bench.fresh()
    leaf, second = (bench.sites.of(name) for name in (LEAF, SECOND))
    Switch(bench).sites(True, [leaf, second])
    direct, every, other = DirectCall(bench), Selftest(bench, 0), Selftest(bench, 1)
    direct.only(leaf)
    other.only(second)
    due = {direct: 1, every: 2, other: 1}
    for added in permutations(due):
        on: set[Selftest] = set()
        for test in (*added, *added):
            test.switch(test not in on)
            on ^= {test}
            before = {one: _count(one) for one in due}
            with bench.fail_if_guest_dies("C23e"):
                for site in (leaf, second):
                    bench.call(site.function_address, 1)
            found = [_count(one) - before[one] for one in due]
            expected = [count if one in on else 0 for one, count in due.items()]
            bench.require(
                "C23e",
                found == expected,
                "a call did not reach what is on: a trampoline, a tracer of all, one of another",
                partial(place_of, bench.image, bench.image.address_of(STUB), "goes there"),
                expected=expected,
                found=found,
            )


@check("C23f", layer=Layer.CALL)
def a_trampoline_changes_under_a_cpu_in_the_stub(bench: Bench) -> None:
    """At each of its instructions up to trampoline or tracer: another one comes, or none."""
    for tracer, goes in product((False, True), repeat=2):
        for number in range(PLACES):
            site, direct = _prepare(bench, LEAF, tracer=tracer), DirectCall(bench)
            here = into_stub(bench, number)
            if bench.image.function_at(here) != bench.code.stub:
                break
            with bench.fail_if_guest_dies("C23f"):
                direct.switch(False) if goes else direct.exchange()
                bench.run_to(bench.sites.resumes(site))
            _judge_change(bench, direct, here, goes, " after a tracer" if tracer else "")


def _judge_change(bench: Bench, direct: DirectCall, here: int, goes: bool, after: str) -> None:
    found = direct.calls, direct.calls_of_other
    allowed = ((1, 0), (0, 0)) if goes else ((1, 0), (0, 1))
    bench.require(
        "C23f",
        found in allowed,
        f"a trampoline{after} {'went' if goes else 'was exchanged'} under a CPU at "
        f"{bench.image.symbolize(here)}",
        partial(place_of, bench.image, here, "is where it was"),
        expected=f"calls of it and of the other: {' or '.join(map(str, allowed))}",
        found=found,
    )


def _count(test: Selftest) -> int:
    return test.calls if isinstance(test, DirectCall) else test.read("calls")


@check("C23e", variants=(MODULES,), layer=Layer.CALL)
def a_trampoline_of_a_modules_function(bench: Bench) -> None:
    """Alone, and after a tracer."""
    modules = load(bench)
    name = f"{modules[0].module_name}_run"
    site = next(site for site in sites_of(modules) if site.function == name)
    direct, test = DirectCall(bench), Selftest(bench)
    direct.only(site)
    direct.switch(True)
    Switch(bench).sites(True, [site])
    for tracers in (0, 1):
        if tracers:
            test.switch(True)
        before = direct.calls, test.read("calls")
        with bench.fail_if_guest_dies("C23e"):
            bench.call(bench.image.address_of(RUN), 1)
        found = direct.calls - before[0], test.read("calls") - before[1]
        bench.require(
            "C23e",
            found[0] > 0 and found[1] == found[0] * tracers,
            f"{name} was called, its trampoline {found[0]} times and its tracer {found[1]} times",
        )
