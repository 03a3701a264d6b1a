# SPDX-License-Identifier: MIT
"""One tracer and several tracers that get an ops and the registers at the site."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import permutations

from harness.conformance.checks.b_crossing import LEAF, OTHER, judge_first
from harness.conformance.checks.c_events import DONE, watch
from harness.conformance.comparison import GROUPS, compare
from harness.conformance.kernel_words import live_registers
from harness.conformance.localization.retrace import Retrace
from harness.conformance.localization.saved_registers import (
    ACCESSORS,
    PC,
    RESULT,
    SavedRegisters,
    Value,
)
from harness.conformance.places import function_of
from harness.conformance.registry import GRAPH, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.selftests import NUMBER, Action, Selftest
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import (
    SELFTEST,
    NotReached,
    TracedCall,
    come_to,
    lay_out,
)
from harness.conformance.verdict import Layer, Place
from harness.errors import GuestDied
from harness.isa import CallSite

SECOND = "use_huge_leaf_frame"
"""Another function of the workload that calls nothing."""

STUB = "ftrace_caller"

VALUE = 0x5A5A_1234_A5A5_4321
"""The value that a tracer stores."""

State = tuple[int, ...]
"""The tracers that are on, the newest first."""


def watched(bench: Bench, name: str, number: int = 0, stub: str = STUB) -> CallSite:
    """Stop with one of the tracers on, and a function's call site, which calls a stub."""
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(name)
    Selftest(bench, number).switch(True)
    switch.sites(True, [site])
    if stub != STUB:
        switch.stub(site, stub)
    return site


@check("C18a", "C18b", "C18c", "C18d", layer=Layer.CALL)
def what_a_tracer_is_given(bench: Bench) -> None:
    """The ops, and the registers at the site as the port's accessors return them."""
    for name, number in ((LEAF, 0), (OTHER, NUMBER - 1)):
        given(bench, name, number)


def given(bench: Bench, name: str, number: int, stub: str = STUB, instead: str = "") -> None:
    """A call through a stub to a tracer by its number; failures break C18, or ``instead``."""
    retrace = SavedRegisters(bench, partial(watched, bench, name, number, stub), number)
    bench.locate = retrace.last_instruction
    clause = instead or "C18a"
    groups = dict.fromkeys(GROUPS, clause)
    try:
        call = retrace.go(home=True)
    except NotReached as error:
        retrace.go_first(error, partial(judge_first, retrace, groups))
        return
    except GuestDied:
        if not retrace.is_wrong_behind(
            partial(_judge_behind, retrace, number, name, stub, instead)
        ):
            raise
        return
    _judge_behind(retrace, number, name, stub, instead, call)


def _judge_behind(
    retrace: SavedRegisters, number: int, name: str, stub: str, instead: str, call: TracedCall
) -> None:
    """A call that has come back to its site."""
    bench, clause = retrace.bench, instead or "C18a"
    what, count = f"a call of {name} through {stub}", len(call.called.get(SELFTEST, ()))
    if bench.require(
        clause, count == 1, f"{what} came {count} times to the tracer", retrace.last_instruction
    ):
        _judge_given(retrace, call, number, what, instead)
    if instead:
        compare(retrace, call, what, dict.fromkeys(GROUPS, clause))


def _judge_given(
    retrace: SavedRegisters, call: TracedCall, number: int, what: str, instead: str
) -> None:
    bench, test = retrace.bench, Selftest(retrace.bench, number)
    third = bench.isa.abi.argument_registers[2]
    op = call.first(SELFTEST)[third] & bench.isa.mask
    # The search for a place makes the guest fresh.
    values = list(_given(bench, call, test if op == test.ops else Selftest(bench, 0)))
    bench.require(
        instead or "C18a",
        op == test.ops,
        f"{what}: op is not the tracer's own",
        partial(retrace.origin, third, SELFTEST),
        expected=f"{test.ops:#x}",
        found=f"{op:#x}",
    )
    as_due = [value for _, _, value, expected, found in values if expected == found]
    for clause, subject, value, expected, found in values:
        bench.require(
            instead or clause,
            expected == found,
            f"{what}: {subject} in fregs is not that at the site",
            partial(retrace.wrong_value, value, found, as_due),
            expected=f"{expected:#x}",
            found=f"{found:#x}",
        )


def _given(
    bench: Bench, call: TracedCall, test: Selftest
) -> Iterator[tuple[str, str, Value, int, int]]:
    """Clause, subject, what it is in `Selftest`, and the values at the site and in fregs."""
    abi, mask, before = bench.isa.abi, bench.isa.mask, call.before
    for number, register in enumerate(abi.argument_registers[: len(test.arguments)]):
        value, found = ("arguments", number), test.arguments[number]
        yield "C18b", f"the argument {register}", value, before[register] & mask, found
    others = [("C18b", "the result", RESULT, before[abi.results[0]])]
    others += [("C18c", "the stack pointer", ("stack_pointer", 0), before[abi.stack_register])]
    if abi.frame_record:
        frame = before[abi.frame_record.register]
        others += [("C18c", "the frame pointer", ("frame_pointer", 0), frame)]
    others += [("C18c", "the return address", ("return_address", 0), call.caller)]
    others += [("C18d", "the instruction pointer", PC, bench.sites.resumes(call.site))]
    for clause, subject, value, expected in others:
        yield clause, subject, value, expected & mask, test.read(value[0])


class _Acting:
    """A call whose tracer does something."""

    def __init__(
        self, bench: Bench, name: str, stub: str, action: Action, value: int, number: int = 0
    ) -> None:
        self.bench, self._abi, self._action = bench, bench.isa.abi, (action, value, number)
        self._look = partial(watched, bench, name, stub=stub)
        self._saved = SavedRegisters(bench, self._look)

    def prepare(self) -> CallSite:
        """As of `Retrace`."""
        site = self._look()
        Selftest(self.bench, 0).act(*self._action)
        return site

    def begin(self) -> TracedCall:
        """Stop at the function's call site, with patterns in the registers."""
        call = come_to(self.bench, self.prepare())
        lay_out(self.bench, call)
        return call

    def other_way(self, setter: str) -> Place | None:
        """Why the stub did not return to the address that the tracer has set."""
        return self._saved.not_put_back(self._abi.pc_register, PC, setter)

    def not_returned(self) -> Place | None:
        """Why the stub did not return to the function's caller."""
        setter = "ftrace_override_function_with_return"
        return self._saved.wrong_return() or self.other_way(setter)

    def other_registers(self, goal: int, names: Sequence[str]) -> Place | None:
        """Why these registers are wrong where the call leads to, ``goal``."""
        acting, saved, abi = Retrace(self.bench, self.prepare, goal=goal), self._saved, self._abi
        action, _, number = self._action
        sets = {
            Action.RETURN: (abi.results[0], RESULT, "ftrace_regs_set_return_value"),
            Action.SET_ARGUMENT: (
                abi.argument_registers[number],
                ("arguments", number),
                ACCESSORS["arguments"],
            ),
        }
        if action not in sets or sets[action][0] not in names:
            return saved.overwritten(names) or acting.last_write(names)
        return saved.not_put_back(*sets[action], acting)


def _registers_at_site(bench: Bench, call: TracedCall) -> dict[str, int]:
    """The registers at the site, which every function called there gets."""
    abi, form = bench.isa.abi, call.site.form
    names = (*live_registers(abi, form, bench.kernel), *abi.saved, *abi.fixed, abi.stack_register)
    found = {name: call.before[name] for name in names}
    return found | {name: call.before[of] for name, of in abi.at_site(form).moved.items()}


def _judge(acting: _Acting, clause: str, expected: Mapping[str, int], what: str, goal: int) -> None:
    found = acting.bench.registers.read()
    wrong = {name: was for name, was in expected.items() if found[name] != was}
    acting.bench.require(
        clause,
        not wrong,
        f"{what}: {', '.join(wrong)} is not what it has to be",
        partial(acting.other_registers, goal, tuple(wrong)),
        registers={name: f"{was:#x} -> {found[name]:#x}" for name, was in wrong.items()},
    )


@check("C19a", layer=Layer.CALL)
def a_tracer_that_leads_elsewhere(bench: Bench) -> None:
    """The stub returns to the address that a tracer has set, as if that had been called."""
    for name in (LEAF, OTHER):
        led_elsewhere(bench, name, STUB, "C19a")


def led_elsewhere(bench: Bench, name: str, stub: str, clause: str) -> None:
    """The same for one function and one stub."""
    elsewhere = bench.image.address_of(DONE)
    acting = _Acting(bench, name, stub, Action.SET_INSTRUCTION_POINTER, elsewhere)
    call = acting.begin()
    here = bench.run_to(elsewhere, bench.sites.resumes(call.site))
    told = f"a call of {name} went on at the site, and a tracer had set another address"
    place = partial(acting.other_way, "ftrace_regs_set_instruction_pointer")
    if bench.require(clause, here == elsewhere & bench.isa.mask, told, place):
        what = f"what a tracer calls in place of {name}"
        _judge(acting, clause, _registers_at_site(bench, call), what, here)


@check("C19b", layer=Layer.CALL)
def a_tracer_that_changes_an_argument(bench: Bench) -> None:
    """One argument after the other, and the others stay."""
    for number in range(len(bench.isa.abi.argument_registers)):
        changed_argument(bench, number, STUB, "C19b")


def changed_argument(bench: Bench, number: int, stub: str, clause: str) -> None:
    """The same for one argument and one stub."""
    register, value = bench.isa.abi.argument_registers[number], VALUE & bench.isa.mask
    acting = _Acting(bench, LEAF, stub, Action.SET_ARGUMENT, value, number)
    call = acting.begin()
    behind = bench.run_to(bench.sites.resumes(call.site))
    what = f"a call of {LEAF} with another {register} by a tracer"
    expected = _registers_at_site(bench, call) | {register: value}
    _judge(acting, clause, expected, what, behind)


@check("C19c", layer=Layer.CALL)
def a_tracer_that_returns_for_the_function(bench: Bench) -> None:
    """The caller continues with the tracer's result, and the function is not executed."""
    for name in (LEAF, OTHER):
        returned(bench, name, STUB, "C19c")


def returned(bench: Bench, name: str, stub: str, clause: str) -> None:
    """The same for one function and one stub."""
    value, abi = VALUE & bench.isa.mask, bench.isa.abi
    acting = _Acting(bench, name, stub, Action.RETURN, value)
    call = acting.begin()
    here = bench.run_to(call.caller, bench.sites.resumes(call.site))
    told = f"{name} was executed, and a tracer had returned for it"
    if bench.require(clause, here == call.caller, told, acting.not_returned):
        kept = (*abi.saved, *abi.fixed, abi.stack_register)
        expected = {name: call.before[name] for name in kept} | {abi.results[0]: value}
        what = f"the return of a tracer for {name}"
        _judge(acting, clause, expected, what, here)


@check("C20b", features=GRAPH)
def both_tracers_record_every_call(bench: Bench) -> None:
    """Function tracer and graph tracer on, and every site."""
    with watch(bench) as seen:
        seen.switch.tracer(True)
        seen.switch.graph(True)
        seen.on()
        bench.guest.tracer.clear()
        with bench.fail_if_guest_dies("C20b"):
            seen.run()
        for graph in (False, True):
            expected, compared = seen.compare(graph=graph)
            name = "graph" if graph else "function"
            bench.require(
                "C20b",
                compared.same and bool(expected.events),
                f"the events of the {name} tracer are not the calls, with both tracers on",
                events=compared.shown(bench.image.symbolize),
            )


def into_stub(bench: Bench, number: int) -> int:
    """Run to the stub's entry and step through so many instructions; returns the address there."""
    here = bench.run_to(STUB)
    for _ in range(number):
        here = bench.guest.debugger.step_instruction().address & bench.isa.mask
    return here


@check("C20c")
def tracers_in_every_order(bench: Bench) -> None:
    """Three tracers, of all functions, of one and of another, and a call of both at each step."""
    bench.fresh()
    leaf, second = (bench.sites.of(name) for name in (LEAF, SECOND))
    Switch(bench).sites(True, [leaf, second])
    bench.used.add("function")
    tests = [Selftest(bench, number) for number in range(NUMBER)]
    traced = ((leaf, second), (leaf,), (second,))
    for test, sites in zip(tests[1:], traced[1:], strict=True):
        test.only(sites[0])
    state: State = ()
    for number in every_switch(NUMBER):
        state = switched(state, number)
        tests[number].switch(number in state)
        _judge_calls(bench, tests, state, traced)


def switched(state: State, number: int) -> State:
    """The state after a tracer has been switched on or off."""
    if number in state:
        return tuple(other for other in state if other != number)
    return number, *state


def every_switch(count: int) -> Iterator[int]:
    """The tracers to switch, one after the other: each of so many in every state, none being on."""
    numbers, sizes = range(count), range(count + 1)
    left = {state: {*numbers} for size in sizes for state in permutations(numbers, size)}
    here: State = ()
    while any(left.values()):
        # The shortest way to a state with a switch that is left.
        ways: dict[State, State] = {here: ()}
        states = [here]
        for state in states:
            if left[state]:
                break
            for number in numbers:
                after = switched(state, number)
                if after not in ways:
                    ways[after] = (*ways[state], number)
                    states.append(after)
        for number in (*ways[state], min(left[state])):
            left[here].discard(number)
            here = switched(here, number)
            yield number


def _judge_calls(
    bench: Bench,
    tests: list[Selftest],
    on: State,
    traced: tuple[tuple[CallSite, ...], ...],
) -> None:
    """Call each function once, and look at the tracers' counts."""
    for test in tests:
        test.write(calls=0, op=0)
    with bench.fail_if_guest_dies("C20c"):
        for name in (LEAF, SECOND):
            bench.call(bench.image.address_of(name), 1)
    for number, test in enumerate(tests):
        count = len(traced[number]) if number in on else 0
        own = test.ops if count else 0
        found = {"calls": test.read("calls"), "op": test.read("op")}
        bench.require(
            "C20c",
            found == {"calls": count, "op": own},
            f"a tracer that is {'on' if count else 'off'} was called {found['calls']} times",
            partial(function_of, bench.image, STUB),
            expected={"calls": count, "op": own},
            found=found,
            on=[str(one) for one in on],
        )
