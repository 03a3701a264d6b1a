# SPDX-License-Identifier: MIT
"""Calls of a function that are repeated with one thing done otherwise.

A wrong branch, or a value that is wrong by one, is found by putting it right.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import NamedTuple

from harness.conformance.localization.decisions import other_ways
from harness.conformance.places import is_of_port, last_place, question
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.registers import registers_in
from harness.conformance.under_test.single_step import single_step
from harness.conformance.under_test.watched_call import WatchedStep
from harness.conformance.verdict import DECIDED_WRONGLY, WRONG_VALUE, Place

MOST_SINGLE = 40
"""The most decisions that are taken otherwise once, of branches that go both ways."""

MOST_ROUNDS = 256
"""The most times that an instruction is executed in one call."""

MOST_FIRST = 12
"""The most decisions in a row that are taken otherwise, from the first one of a branch on."""

EACH = range(MOST_ROUNDS)


class Trial(NamedTuple):
    """What is done otherwise when an instruction is executed.

    ``at`` is the last step of it, and ``times`` are the numbers of its executions, from 0.  The
    CPU goes to ``to``, or, if that is None, ``more`` is added to ``register``.
    """

    at: int
    times: range = EACH
    to: int | None = None
    register: str = ""
    more: int = 0


class Trials:
    """The things that can be done otherwise in one call, from its steps."""

    def __init__(self, bench: Bench, steps: Sequence[WatchedStep]) -> None:
        """``steps`` are those from the function's entry, which is the first, to its return."""
        self._bench, self._steps = bench, steps
        self.executed = [step.address for step in steps[1:]]

    def run(self, trial: Trial, back: int) -> None:
        """Make the call, at whose entry the guest is stopped, up to its return to ``back``."""
        bench, address = self._bench, self.executed[trial.at]
        slot = bench.code.in_slot(address)
        for number in range(MOST_ROUNDS):
            here = bench.run_to(address, back)
            if here == back & bench.isa.mask:
                return
            here = single_step(bench, here)
            # A step may end in the delay slot of a branch, or behind it.
            if here == slot != address:
                single_step(bench, here)
            if number in trial.times:
                self._change(trial)
        bench.run_to(back)

    def place(self, trial: Trial, *others: Trial) -> Place | None:
        """The place of an instruction with which the call succeeded; so it did with the others."""
        image, executed = self._bench.image, self.executed[: trial.at + 1]
        if trial.to is not None:
            place = question(image, executed, DECIDED_WRONGLY)
            also = [*filter(None, map(self.place, others))]
            lines = sorted({one.line for one in also if place and one.line != place.line})
            told = (
                f"; with line {' or '.join(map(str, lines))} decided otherwise too" if lines else ""
            )
            return place and replace(place, how=place.how + told)
        how = f"{WRONG_VALUE}: with {trial.more:+d} in {trial.register} the call succeeds"
        return last_place(image, executed, how)

    def _change(self, trial: Trial) -> None:
        registers, isa = self._bench.registers, self._bench.isa
        if trial.to is not None:
            registers.write({isa.abi.pc_register: trial.to})
        else:
            value = registers.value(trial.register) + trial.more
            registers.write({trial.register: value & isa.mask})

    def decisions(self) -> Iterator[Trial]:
        """Each branch decided the other way each time, the last one first."""
        for ways in sorted(self._branches, reverse=True, key=lambda ways: ways[-1]):
            for other in dict.fromkeys(other for _, other in ways):
                yield Trial(ways[-1][0], to=other)

    def single_decisions(self) -> Iterator[Trial]:
        """Each decision of the branches that went both ways, the last one first."""
        both = [ways for ways in self._branches if len({other for _, other in ways}) > 1]
        single = [
            Trial(at, range(number, number + 1), to)
            for ways in both
            for number, (at, to) in enumerate(ways)
        ]
        yield from sorted(single, reverse=True)[:MOST_SINGLE]

    def led_to(self, trial: Trial) -> Iterator[Trial]:
        """The decision under which the value was made that another one asks about later.

        It is taken otherwise each time, or the first few times.
        """
        made, asked = self._made_before(trial.at), self.executed[trial.at]
        before = [
            (at, ways)
            for ways in self._branches
            for at, _ in ways
            if at < made and self.executed[at] != asked
        ]
        if before:
            _, ways = max(before, key=lambda one: one[0])
            for times in (EACH, *map(range, range(1, MOST_FIRST + 1))):
                yield Trial(ways[-1][0], times, ways[0][1])

    def _made_before(self, branch: int) -> int:
        """The step that made what a branch asks about, if others were decided since; 0 if not."""
        isa, code = self._bench.isa, self._bench.code
        decided = max((at for ways in self._branches for at, _ in ways if at < branch), default=0)
        # Flags are set in front of the branch.
        for asked in (branch, branch - 1):
            text = code.disassembled(self.executed[asked])
            made = [self._last_write(name, asked) for name in registers_in(text, isa)]
            if made:
                return max(made) if max(made) <= decided else 0
        return 0

    def _last_write(self, register: str, before: int) -> int:
        """The last step before another that changed a register; 0 if none has."""
        values = [step.registers[register] for step in self._steps[: before + 1]]
        steps = range(before - 1, 0, -1)
        return next((at for at in steps if values[at] != values[at + 1]), 0)

    @cached_property
    def _branches(self) -> list[list[tuple[int, int]]]:
        """The port's conditional branches: the steps of each, and where it did not go in them."""
        went: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for at, _, other in other_ways(self._bench, self.executed):
            if other is not None:
                went[self.executed[at]].insert(0, (at, other))
        return [*went.values()]

    def values(self) -> Iterator[Trial]:
        """The port's instructions that change a register, the last one first."""
        bench = self._bench
        last = {address: at for at, address in enumerate(self.executed)}
        for address, at in sorted(last.items(), reverse=True, key=lambda one: one[1]):
            if is_of_port(bench.image, address):
                before, after = (step.registers for step in self._steps[at : at + 2])
                names = [
                    name for name in bench.isa.abi.general_registers if before[name] != after[name]
                ]
                for name, more in product(names, (1, -1)):
                    yield Trial(at, register=name, more=more)
