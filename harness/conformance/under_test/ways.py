# SPDX-License-Identifier: MIT
"""Single steps of a traced call: through its site, and back to its caller."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import TRACER, Switch
from harness.conformance.under_test.traced_call import (
    ABOVE,
    AT_LANDING,
    GRAPH_ENTER,
    HANDLER,
    LANDING,
    SELFTEST,
    Registers,
    clobber,
    come_to,
    lay_out,
    overwrite_below,
)
from harness.debugger import return_address
from harness.errors import GdbError, GuestError
from harness.isa import CallSite

MOST_STEPS = 3000
"""The most instructions of one path through the stubs, with the port's C functions."""

MANY_ROUNDS = 16
"""Number of times that one instruction is executed before the path is looked at for a circle."""

MOST_ROUNDS = 256
"""Maximum number of times that one instruction is executed before the path counts as endless."""

UNWIND = "unwind_location"
"""A function of the kernel that reads tables for unwind_frame(), in a thousand instructions."""

KERNEL = (TRACER, SELFTEST, GRAPH_ENTER, HANDLER, UNWIND)
"""C functions of the kernel; they run to their end at once."""

Prepare = Callable[[], CallSite]
"""Makes the guest fresh and switches the tracers; returns the call site to step through."""


@dataclass(frozen=True, slots=True)
class TracedStep:
    """One instruction, or one whole C function of the kernel (``ran``) after its call.

    ``to`` is where the CPU went.  ``registers`` and ``above`` are those after it; ``above`` are the
    `ABOVE` bytes from the stack pointer at the start of the path.  Both are empty if only addresses
    were needed.
    """

    address: int
    to: int
    registers: Registers
    above: bytes
    ran: str = ""


class Way(NamedTuple):
    """Registers, and the bytes above the stack pointer, in front of the first step; the steps.

    ``arrived``: they are all, up to where the path should lead.
    """

    before: Registers
    above: bytes
    steps: list[TracedStep]
    arrived: bool


class Ways:
    """The paths of a call, through its site, and back to its caller.

    Each path is stepped when it is first needed: once for its addresses, and once for registers.
    """

    def __init__(
        self, bench: Bench, prepare: Prepare, *, ended: bool = False, goal: int | None = None
    ) -> None:
        """``ended``: the graph tracer is switched off before the function returns.

        ``goal`` is where the call leads, if that is not behind its site.
        """
        self.bench = bench
        self.prepare = prepare
        self._ended = ended
        self._goal = goal
        self._site: CallSite | None = None
        self._ways: dict[tuple[bool, bool], Way] = {}

    def addresses(self) -> list[int]:
        """The instructions from the call site on, as they are executed."""
        return [step.address for step in self._way(home=False, values=False).steps]

    def _way(self, home: bool, *, values: bool = True) -> Way:
        # Steps with registers have addresses too.
        values = values or (home, True) in self._ways
        if (home, values) not in self._ways:
            self._ways[home, values] = self._go(home, values)
        return self._ways[home, values]

    def _go(self, home: bool, values: bool) -> Way:
        bench, isa = self.bench, self.bench.isa
        meant = self.prepare()
        call = come_to(bench, self._site or meant)
        lay_out(bench, call)
        behind, start = bench.sites.resumes(call.site), call.site.address
        goal = behind if self._goal is None else self._goal
        if home:
            landing = bench.image.address_of(LANDING)
            bench.run_to(behind)
            if self._ended:
                Switch(bench).graph(False)
            if bench.run_to(landing, call.caller) != landing:
                return Way({}, b"", [], arrived=False)
            bench.registers.fill(isa.abi.results, isa.abi.float_results, AT_LANDING)
            goal, start = call.caller, landing
        before = bench.registers.read()
        stack = before[isa.abi.stack_register]
        if home:
            overwrite_below(bench, stack)
        above = bench.guest.debugger.dump_memory(stack, ABOVE)
        steps: list[TracedStep] = []
        # If the guest dies, the steps until then stay.
        with suppress(GuestError, GdbError):
            for step in self._steps(start, goal, values, stack, above):
                steps.append(step)
        return Way(before, above, steps, arrived=bool(steps) and steps[-1].to == goal)

    def _steps(
        self, start: int, goal: int, values: bool, stack: int, above: bytes
    ) -> Iterator[TracedStep]:
        """The path to ``goal``, up to the report of an exception or a panic."""
        bench, isa, debugger = self.bench, self.bench.isa, self.bench.guest.debugger
        symbols, cpu = bench.image.symbols, self.bench.isa.cpu
        functions = {symbols[name]: name for name in KERNEL if name in symbols}
        rounds: Counter[int] = Counter()
        unchanged: dict[int, Registers] = {}  # Since memory has changed, by address.
        here, registers = start, {}
        while here != goal and here not in bench.deaths and rounds.total() < MOST_STEPS:
            rounds[here] += 1
            if rounds[here] > MOST_ROUNDS:
                return
            at, ran, code = here, functions.get(here, ""), bench.code.linked(here)
            if ran:
                here = bench.run_to(return_address(debugger, isa.abi))
                clobber(bench, ran)
            else:
                here = debugger.step_instruction().address & isa.mask
            # A step may take a branch's delay slot along, with a store in it.
            last = bench.code.linked(bench.code.in_slot(at))
            stored = bool(ran) or cpu.is_store(code) or cpu.is_store(last)
            if stored:
                unchanged.clear()
            if values and stored:
                above = debugger.dump_memory(stack, ABOVE)
            if values or rounds[at] > MANY_ROUNDS:
                registers = bench.registers.read()
                if unchanged.get(here) == registers:
                    return  # The path is endless.
                unchanged[here] = registers
            yield TracedStep(at, here, registers if values else {}, above if values else b"", ran)
