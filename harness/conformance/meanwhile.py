# SPDX-License-Identifier: MIT
"""Calls behind each store of a patching function, for ports that handle the code in between.

That is what `Sites.while_changed` says: a breakpoint, which the port's handler knows.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from harness.conformance.localization.conditions import constant_condition
from harness.conformance.places import at_return, is_of_port, last_place, question
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.single_step import (
    MOST_STEPS,
    Call,
    Store,
    single_step,
    stores_of,
)
from harness.conformance.under_test.traced_call import Registers
from harness.conformance.verdict import LAST, WROTE, Place, PortLine


class CallsMeanwhile:
    """A patching call in single steps, and behind each of its stores another call."""

    def __init__(
        self, bench: Bench, prepare: Callable[[], Call], place: int, call: Call, right: int
    ) -> None:
        """``prepare`` makes the guest fresh, and returns the patching call.

        That stores to ``place``.  ``call`` is the other call, and ``right`` its result.
        """
        self.answers: list[int] = []
        """The results, as far as they have been made."""
        self._bench = bench
        self._prepare = prepare
        self._place = place
        self._call = call
        self._right = right

    def make(self) -> None:
        """Make all calls."""
        for _ in self._stores():
            self.answers.append(self._bench.call(*self._call))

    def events(self) -> int:
        """The number of events of functions that are in the ring."""
        return sum(event.name == "function" for event in self._bench.guest.tracer.events())

    @property
    def wrong(self) -> Callable[[], Place | None] | None:
        """Finds where the first wrong answer comes from; None if all are right."""
        right = (answer == self._right for answer in self.answers)
        number = next((at for at, one in enumerate(right) if not one), None)
        return None if number is None else lambda: self._locate(number)

    def last(self) -> Place | None:
        """Where it comes from that the guest died in the call that was to be made next."""
        return self._locate(len(self.answers))

    def without_event(self) -> Place | None:
        """Where it comes from that a call made no event, or several."""
        for number, _ in enumerate(self._stores()):
            self._bench.call(*self._call)
            if self.events() != number + 1:
                return self._locate(number)
        return None

    def _stores(self) -> Iterator[Store]:
        return stores_of(self._bench, self._place, self._prepare())

    def _locate(self, number: int) -> Place | None:
        """Where the call behind a store goes wrong: in the port's handler, or at the store."""
        bench = self._bench
        store = next(islice(self._stores(), number, None), None)
        if store is None:
            return None
        wrote = last_place(bench.image, store.executed, WROTE)
        if not store.code.startswith(bench.isa.sites.while_changed):
            return wrote
        place = locate_in_handler(bench, self._place, self._call)
        if place is None or wrote is None:
            return place or wrote
        # The handler runs while the patching function is there.
        patching = PortLine(wrote.file, wrote.line), *wrote.callers
        return replace(place, callers=(*place.callers, *patching))


def locate_in_handler(bench: Bench, place: int, call: Call) -> Place | None:
    """What the port's handler decides in a call that comes to the code in between at ``place``.

    Or where it lets the CPU go on.  None if the port has no handler that is entered.
    """
    image, cpu, linked = bench.image, bench.isa.cpu, bench.code.linked
    steps = [*_steps(bench, call)]
    executed = [address for address, _ in steps]
    # The port's other instructions are those of the stubs.
    inside = [
        at
        for at, address in enumerate(executed)
        if is_of_port(image, address) and not image.is_assembled(address)
    ]
    if not inside:
        return None
    known = constant_condition(bench, executed)
    if known is not None:
        return known
    last, called = inside[-1], image.function_at(call[0])
    behind = (
        address
        for address in executed[last + 1 :]
        if image.function_at(address) == called or is_of_port(image, address)
    )
    went_on = next(behind, None)
    # The address that the CPU has saved.
    saved = place + len(bench.isa.sites.while_changed)
    if went_on == saved:
        how = f"the CPU went on at {saved:#x}, behind the breakpoint"
        return _goes_on(bench, steps, inside, how)
    for at in inside if went_on is not None else ():
        held = at and went_on in steps[at - 1][1].values()
        if went_on in steps[at][1].values() and not held:
            how = f"made the address {went_on:#x}, where the CPU went on"
            return last_place(image, executed[: at + 1], how)
    decided = [at for at in inside if cpu.is_conditional(linked(executed[at]))]
    if not decided:
        return last_place(image, executed[: last + 1], LAST)
    how = "decided last about the breakpoint"
    return question(image, executed[: decided[-1] + 1], how)


def _goes_on(
    bench: Bench, steps: Sequence[tuple[int, Registers]], inside: Sequence[int], how: str
) -> Place | None:
    """The handler's last store, or what made its answer that the breakpoint is handled."""
    image, isa = bench.image, bench.isa
    executed, result = [address for address, _ in steps], isa.abi.results[0]
    stores = [at for at in inside if isa.cpu.is_store(bench.code.linked(executed[at]))]
    if stores:
        return last_place(image, executed[: stores[-1] + 1], f"stored last; {how}")
    answers = [at for at in inside[1:] if steps[at - 1][1][result] != steps[at][1][result]]
    last = [inside[-1], *answers][-1]
    place = last_place(image, executed[: last + 1], f"answered, and had stored nothing; {how}")
    return place and at_return(bench.variant.spec.port.directory, place)


def _steps(bench: Bench, call: Call) -> Iterator[tuple[int, Registers]]:
    """The call's instructions, and the registers behind each."""
    isa = bench.isa
    bench.enter(*call)
    ends = {bench.image.symbols[CALL_RETURNS] & isa.mask, *bench.deaths}
    here = call[0] & isa.mask
    for _ in range(MOST_STEPS):
        if here in ends:
            return
        at, here = here, single_step(bench, here)
        yield at, bench.registers.read(*isa.abi.general_registers)
