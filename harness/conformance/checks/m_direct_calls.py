# SPDX-License-Identifier: MIT
"""Direct trampolines: the jump to one, directly and after tracers, and the return from it."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import permutations, product

from harness.conformance.checks.b_crossing import LEAF, OTHER
from harness.conformance.checks.f_modules import RUN, load, sites_of
from harness.conformance.checks.j_tracers import SECOND, STUB, VALUE, into_stub, watched
from harness.conformance.kernel_words import live_registers
from harness.conformance.localization.retrace import Retrace
from harness.conformance.localization.saved_registers import SavedRegisters, accessor_of
from harness.conformance.places import function_of, place_of
from harness.conformance.registry import MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.selftests import Action, DirectCall, Selftest
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import (
    ABOVE,
    SELFTEST,
    Registers,
    TracedCall,
    clobber,
    come_to,
    lay_out,
)
from harness.conformance.verdict import Layer, Place
from harness.debugger import return_address
from harness.isa import CallSite

TRAMPOLINE = "ftrace_direct_tramp"

SET_DIRECT = "arch_ftrace_set_direct_caller"
"""The port's accessor that has the stub go to a trampoline."""

MOST = 20
"""Instructions of the stub between the site's call and the trampoline."""

PLACES = 100
"""The most instructions of the stub at which a trampoline is changed."""


class _Way:
    """A call through a trampoline, and the searches for the places of what is wrong with it."""

    def __init__(
        self, bench: Bench, name: str, *, tracer: bool, action: Action = Action.LOOK
    ) -> None:
        self.bench = bench
        self._name, self._tracer, self._action = name, tracer, action
        self.trampoline = bench.image.address_of(TRAMPOLINE)
        self.to_entry = Retrace(bench, self.prepare, goal=self.trampoline)
        self.whole = Retrace(bench, self.prepare)
        self.call: TracedCall
        self.arrived: Registers

    def prepare(self) -> CallSite:
        """As of `Retrace`."""
        site = _prepare(self.bench, self._name, tracer=self._tracer)
        if self._action is not Action.LOOK:
            Selftest(self.bench).act(self._action, VALUE)
        return site

    def enter(self) -> None:
        """To the site, with patterns in the registers, and on to the stub: the registers there."""
        self.call = come_to(self.bench, self.prepare())
        lay_out(self.bench, self.call)
        self.bench.run_to(STUB)
        self.arrived = self.bench.registers.read()

    def wrong_at_entry(self, names: Sequence[str]) -> Place | None:
        """Where these registers got what they have at the trampoline's entry.

        Or the accessor, if it has set where the stub returns to and not the trampoline.
        """
        if self._tracer:
            traced = partial(watched, self.bench, self._name)
            if SavedRegisters(self.bench, traced).is_way_back(self.trampoline, self.prepare):
                return accessor_of(self.bench, SET_DIRECT, "sets where the stub returns to")
        return self.to_entry.exchanged(names) or self.to_entry.last_write(names)


@check("C23a", "C23c", "C23d", layer=Layer.CALL)
def a_trampoline_alone(bench: Bench) -> None:
    """A leaf, and a function that calls others, with a trampoline and no tracer."""
    for name in (LEAF, OTHER):
        way = _Way(bench, name, tracer=False)
        way.enter()
        steps = 0
        with bench.fail_if_guest_dies("C23a", "C23d", locate=way.to_entry.last_instruction):
            here = 0
            while steps < MOST and here != way.trampoline:
                here = bench.guest.debugger.step_instruction().address & bench.isa.mask
                steps += 1
            short = here == way.trampoline
            if not short:
                bench.run_to(way.trampoline)
        what = f"a call of {name} through its trampoline"
        if _judge_entry(way, "C23a", {}, what):
            _judge_behind(way, {}, what)
        told = f"{what} takes more than {MOST} instructions"
        bench.require("C23d", short, told, way.to_entry.begins_frame)


@check("C23b", "C23c", layer=Layer.CALL)
def a_trampoline_after_a_tracer(bench: Bench) -> None:
    """The same with a tracer of the function, which looks, then one that changes an argument."""
    tracer, first = bench.image.address_of(SELFTEST), bench.isa.abi.argument_registers[0]
    for name in (LEAF, OTHER):
        for action in (Action.LOOK, Action.SET_ARGUMENT):
            way = _Way(bench, name, tracer=True, action=action)
            way.enter()
            changed = {first: VALUE & bench.isa.mask} if action is Action.SET_ARGUMENT else {}
            what = f"a call of {name} through its trampoline, after a tracer"
            locate, left_out = way.to_entry.last_instruction, way.whole.last_instruction
            with bench.fail_if_guest_dies("C23b", locate=locate):
                came = bench.run_to(tracer, way.trampoline) == tracer & bench.isa.mask
                if not bench.require("C23b", came, f"{what}: the trampoline comes first", locate):
                    continue
                bench.run_to(return_address(bench.guest.debugger, bench.isa.abi))
                clobber(bench, SELFTEST)
                behind = bench.sites.resumes(way.call.site)
                entered = bench.run_to(way.trampoline, behind) == way.trampoline
                if not bench.require("C23b", entered, f"{what}: it was left out", left_out):
                    continue
            if _judge_entry(way, "C23b", changed, what) and _judge_behind(way, changed, what):
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
    if not tracer and not bench.by_port:
        direct.give_ops(site)
    return site


def _judge_entry(way: _Way, clause: str, changed: Registers, what: str) -> bool:
    """The guest is at the trampoline, with the registers that the site passed to the stub.

    What comes behind the trampoline depends on them.
    """
    bench, call = way.bench, way.call
    abi, found = bench.isa.abi, bench.registers.read()
    floats = abi.float_arguments if bench.kernel.floating_point else ()
    live = live_registers(abi, call.site.form, bench.kernel)
    names = (*live, *floats, *abi.saved, *abi.fixed, *abi.direct_call, abi.stack_register)
    expected = {name: way.arrived[name] for name in names} | changed
    right = _judge(bench, clause, expected, found, what, way.wrong_at_entry)
    if not right:
        bench.mark_unfinished()
    return right


def _judge_behind(way: _Way, changed: Registers, what: str) -> bool:
    """The trampoline returns, and the function continues."""
    bench, call = way.bench, way.call
    abi, form = bench.isa.abi, call.site.form
    with bench.fail_if_guest_dies("C23c", locate=way.whole.last_instruction):
        bench.run_to(bench.sites.resumes(call.site))
    names = (*live_registers(abi, form, bench.kernel), *abi.saved, *abi.fixed, abi.stack_register)
    expected = {name: call.before[name] for name in names}
    expected |= {name: call.before[of] for name, of in abi.at_site(form).moved.items()}
    behind, last_write = f"{what}: behind the site", way.whole.last_write
    stack = call.before[abi.stack_register]
    # The search for a place makes the guest fresh.
    same = bench.guest.debugger.dump_memory(stack, ABOVE) == call.above
    return _judge(
        bench, "C23c", expected | changed, bench.registers.read(), behind, last_write
    ) & bench.require("C23c", same, f"{what}: the stack above was written to")


def _judge(
    bench: Bench,
    clause: str,
    expected: Registers,
    found: Registers,
    what: str,
    locate: Callable[[Sequence[str]], Place | None],
) -> bool:
    wrong = {name: was for name, was in expected.items() if found[name] != was}
    return bench.require(
        clause,
        not wrong,
        f"{what}: {', '.join(wrong)} is not what it has to be",
        partial(locate, tuple(wrong)),
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
    bench.used.add("function")
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
                partial(function_of, bench.image, STUB),
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
            was = partial(place_of, bench.image, here, "is where it was")
            with bench.fail_if_guest_dies("C23f", locate=was):
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


@check("C23e", variants=(MODULES,))
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
