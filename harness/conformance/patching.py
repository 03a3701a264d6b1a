# SPDX-License-Identifier: MIT
"""Single steps of a call of a patching function, to find the line that a failure comes from."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from harness.conformance.actions import Actions, Called, Written
from harness.conformance.bench import CALL_RETURNS, PANIC, START, Bench
from harness.conformance.findings import FETCHED, WHOLE, aspect_of
from harness.conformance.others_data import OthersData
from harness.conformance.places import is_of_port, last_place, place_of
from harness.conformance.single_step import AROUND, single_step
from harness.conformance.verdict import (
    CALLED,
    HALF_DONE,
    INCOMPLETE,
    MASK,
    OTHERS_DATA,
    REACH,
    REFUSAL,
    WROTE,
    WROTE_OTHERS,
    Evidence,
    Place,
)
from harness.debugger import return_address
from harness.errors import GdbError, GuestError

MOST_STEPS = 2000
"""The most instructions of one call, with the kernel functions that it calls."""

MOST_SITES = 4096
"""The most calls of ftrace_make_nop() or ftrace_make_call() before the one under test."""

RECORD = {"ftrace_make_nop": 1, "ftrace_make_call": 0, "ftrace_modify_call": 0}
"""The index of the argument ``struct dyn_ftrace *``."""

_ADDRESS = re.compile("0x[0-9a-f]+")
"""What a line about an instruction begins with."""

STATUS = (1 << 32) - 1
"""The bits of an ``int``."""


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction, and the registers and watched memory after it.

    ``memory`` is text or, if the failure is about other data, what has changed there.
    """

    address: int
    registers: dict[str, int]
    memory: bytes


def locate_patching(bench: Bench) -> None:
    """Find the lines of the first failures of each kind of the check that just ended.

    The guest is left in any state.
    """
    known: dict[tuple[str, str], Place | None] = {}
    told = {clause: [*failures] for clause, failures in bench.failures.items()}
    for clause, number, actions in [*bench.patched]:
        failure = told[clause][number]
        aspect = aspect_of(clause, failure)
        key = failure.patching, aspect
        if key not in known:
            known[key] = None
            # The guest may die again where it died before; then the line stays unknown.
            with suppress(GuestError, GdbError):
                wrong = _differing(failure.evidence)
                known[key] = _locate(bench, aspect, failure.patching, actions, wrong)
        place = known[key]
        if place is not None:
            told[clause][number] = replace(failure, place=place)
    # Without those of the calls that were repeated.
    bench.failures, bench.patched = told, []


def locate_at_boot(bench: Bench, aspect: str, function: str) -> Place | None:
    """The line of an aspect of the first call of a function of the port's, while the guest boots.

    The guest is left in any state.
    """
    return _locate(bench, aspect, function, Actions())


def locate_refused_site(bench: Bench) -> Place | None:
    """The line of ftrace_make_nop() that refused a site, in the last call, which was load_module().

    It is the function if no line is found.  The guest is left in any state.
    """
    function, result = "ftrace_make_nop", bench.isa.abi.results[0]
    actions, start = bench.actions.so_far(), bench.image.address_of(function)
    _come_to(bench, function, actions)
    here = start & bench.isa.mask
    while here == start & bench.isa.mask:
        site = _site(bench, function, bench.registers.read())
        bench.run_to(return_address(bench.guest.debugger, bench.isa.abi))
        if bench.registers.read(result)[result] & STATUS:
            actions.site = site
            return _locate(bench, "words", function, actions)
        here = bench.run_to(start, CALL_RETURNS)
    return place_of(bench.image, start, CALLED)


def _differing(evidence: Evidence) -> set[int]:
    """The addresses of instructions that are not what they have to be, if it lists them."""
    lists = (evidence.get(title) for title in ("expected", "found", "text"))
    expected, found, text = (set(one) if isinstance(one, list) else set() for one in lists)
    wrong = text | (expected ^ found if expected and found else set())
    return {int(match[0], 16) for match in map(_ADDRESS.match, wrong) if match}


def _locate(
    bench: Bench, aspect: str, function: str, actions: Actions, wrong: Collection[int] = ()
) -> Place | None:
    """``wrong`` are addresses of instructions that are not what they have to be, if known."""
    isa = bench.isa
    _come_to(bench, function, actions)
    registers = bench.registers.read(*isa.abi.argument_registers)
    if aspect == OTHERS_DATA:
        others = OthersData(bench)
        look: Callable[[], bytes] = lambda: "\n".join(others.changed()).encode()  # noqa: E731
        wrong = ()
    else:
        watched = _watched(bench, function, registers)
        look = partial(bench.read_memory, watched.start, len(watched))
        wrong = [at - watched.start for at in wrong if at in watched]
    steps = list(_steps(bench, return_address(bench.guest.debugger, isa.abi), look))
    if not steps:
        return None
    return _Search(bench, steps[0], steps[1:], wrong).place(aspect)


def _come_to(bench: Bench, function: str, actions: Actions) -> None:
    """Repeat the actions, and stop at the entry of the function that failed."""
    isa, start = bench.isa, bench.image.address_of(function)
    calls = [at for at, one in enumerate(actions.done) if isinstance(one, Called)]
    if calls:
        bench.fresh(actions.memory)
    else:
        bench.boot(actions.memory)
    for action in actions.done[: calls[-1] if calls else 0]:
        if isinstance(action, Written):
            bench.write_memory(action.address, action.data)
        else:
            bench.call(action.function, *action.arguments)
    last = actions.last_call
    if last is not None:
        bench.enter(last.function, *last.arguments)
        if last.function == start:
            return
    end = CALL_RETURNS if calls else START
    for _ in range(MOST_SITES):
        if bench.run_to(start, end) != start & isa.mask:
            break
        if not actions.site or _site(bench, function, bench.registers.read()) == actions.site:
            return
    raise GuestError(f"{function}() was not called for that call site again")


def _site(bench: Bench, function: str, registers: dict[str, int]) -> int:
    """``ip`` of the record that ftrace_make_nop() or ftrace_make_call() is called with."""
    isa, ip = bench.isa, bench.port.record.member("ip")
    record = registers[isa.abi.argument_registers[RECORD[function]]] & isa.mask
    return bench.word_at(record + ip.offset) & isa.mask


def _watched(bench: Bench, function: str, registers: dict[str, int]) -> range:
    """The text that the function changes: a call site, or the stub with the slots."""
    if function in RECORD:
        site = _site(bench, function, registers)
        return _mapped(bench, range(site + AROUND.start, site + AROUND.stop))
    stub = bench.code.stub
    assert stub is not None, "a slot lies in a stub"
    return range(stub.address, stub.address + stub.size)


def _mapped(bench: Bench, wanted: range) -> range:
    """The units of a range that can be read: sites that a check makes up lie at ends of memory."""
    unit = bench.isa.unit
    found = []
    for at in wanted[::unit]:
        with suppress(GdbError):
            bench.read_memory(at, unit)
            found.append(at)
    return range(found[0], found[-1] + unit) if found else range(0)


def _steps(bench: Bench, end: int, look: Callable[[], bytes]) -> Iterator[_Step]:
    """The state at the entry of the function, and after each of its instructions."""
    isa, debugger = bench.isa, bench.guest.debugger
    wanted = [*isa.abi.general_registers, isa.abi.status_registers[0]]
    panic = bench.image.symbols.get(PANIC)
    memory = look()
    here = debugger.read_register(isa.abi.pc_register) & isa.mask
    yield _Step(here, bench.registers.read(*wanted), memory)
    for _ in range(MOST_STEPS):
        if here in (end, panic):
            return
        at, instruction = here, bench.code.linked(here)
        try:
            here = single_step(bench, here)
            # A step may include the delay slot of a branch, with a store in it.
            if isa.cpu.is_store(instruction) or isa.cpu.has_delay_slot(instruction):
                memory = look()
            yield _Step(at, bench.registers.read(*wanted), memory)
        except (GuestError, GdbError):
            return


class _Search:
    """The steps of one call, and the state before."""

    def __init__(
        self, bench: Bench, before: _Step, steps: Sequence[_Step], wrong: Collection[int]
    ) -> None:
        """``wrong`` are offsets in the watched memory; see `_locate`."""
        self._bench = bench
        self._steps = steps
        self._before = before
        self._seen = seen = [before.memory, *(step.memory for step in steps)]
        self._stores = [at for at in range(len(steps)) if seen[at] != seen[at + 1]]
        words = [slice(start, start + bench.isa.longest) for start in wrong]
        of_wrong = [
            at for at in self._stores if any(seen[at][word] != seen[at + 1][word] for word in words)
        ]
        self._left_out = bool(wrong) and not of_wrong
        self._judged = of_wrong or self._stores

    def place(self, aspect: str) -> Place | None:
        """The place that a failure comes from."""
        if aspect == MASK:
            return self._masked()
        if aspect == FETCHED:
            return self._maintenance() or self._wrote()
        if aspect == OTHERS_DATA:
            return self._wrote(0, WROTE_OTHERS)
        if aspect in (WHOLE, HALF_DONE):
            return self._wrote(0)
        if aspect == REACH and (made := self._maker()) is not None:
            # The range has to be checked where the word is made, or before.
            beside = self._question(self._stores[0], "asked last where the word was made", made)
            before = "asked last before the word was made"
            return beside or self._question(made, before) or self._made_at(made)
        if aspect in (REFUSAL, REACH):
            # A request is accepted at the last conditional branch before the first store.
            end = self._stores[0] if self._stores else len(self._steps)
            return self._question(end, "asked last before the code was written")
        if not self._stores:
            end, none = self._answer(), "no code was written"
            place = self._question(end, f"asked last; {none}")
            return place or self._place(end - 1, f"made the answer; {none}", in_slot=True)
        if self._left_out:
            return self._wrote(how=INCOMPLETE)
        return self._last_store()

    def _answer(self) -> int:
        """The instruction that wrote the result register last."""
        register = self._bench.isa.abi.results[0]
        values = [step.registers[register] & STATUS for step in self._steps]
        result = values[-1]
        earlier = (at for at in range(len(values) - 1, 0, -1) if values[at - 1] != result)
        return next(earlier, len(values) - 1) + 1

    def _question(self, end: int, how: str, beside: int | None = None) -> Place | None:
        """The last conditional branch or move before a step.

        ``beside``: in the same function as the instruction of this step; it may be an inline one.
        """
        cpu, linked = self._bench.isa.cpu, self._bench.code.linked
        inside = None if beside is None else self._function(beside)
        for at in range(end - 1, -1, -1):
            if not cpu.is_conditional(linked(self._steps[at].address)):
                continue
            if inside is not None and self._function(at) != inside:
                continue
            place = self._place(at, how)
            if place is not None:
                return place
        return None

    def _function(self, step: int) -> object:
        """The function of an instruction, with the calls of inline functions that it is in."""
        image, address = self._bench.image, self._steps[step].address
        return image.function_at(address), image.inlined_calls(address)

    def _last_store(self) -> Place | None:
        """The instruction that made the word written last, or wrote it if it existed before.

        It is a wrong word, if it is known which are.
        """
        made = self._maker()
        place = None if made is None else self._made_at(made)
        return place or self._of_the_port(self._judged[-1], WROTE)

    def _wrote(self, number: int = -1, how: str = WROTE) -> Place | None:
        """A store to what is watched."""
        return self._of_the_port(self._stores[number], how) if self._stores else None

    def _masked(self) -> Place | None:
        """The last change of the interrupt mask."""
        mask, status = self._bench.isa.cpu.interrupt_mask, self._bench.isa.abi.status_registers[0]
        masks = [mask(step.registers[status]) for step in (self._before, *self._steps)]
        changes = [at for at in range(len(self._steps)) if masks[at] != masks[at + 1]]
        return self._of_the_port(changes[-1], "changed the interrupt mask") if changes else None

    def _of_the_port(self, step: int, how: str) -> Place | None:
        """The port's last instruction up to a step, which may be one of the kernel's."""
        return last_place(self._bench.image, self._executed(step, in_slot=True), how)

    def _made_at(self, step: int) -> Place | None:
        return self._place(step, "made the word that was written", in_slot=True)

    def _place(self, step: int, how: str, *, in_slot: bool = False) -> Place | None:
        """A step's instruction; None if it is not of the port."""
        image, executed = self._bench.image, self._executed(step, in_slot=in_slot)
        return last_place(image, executed, how) if is_of_port(image, executed[-1]) else None

    def _executed(self, step: int, *, in_slot: bool) -> list[int]:
        """The instructions up to a step; ``in_slot`` as in `harness.conformance.retrace`."""
        executed = [one.address for one in self._steps[: step + 1]]
        return self._bench.code.with_slot(executed) if in_slot else executed

    def _maker(self) -> int | None:
        """The first instruction after which a register held the word of `_last_store`."""
        if not self._stores:
            return None
        store = self._judged[-1]
        isa, unit = self._bench.isa, self._bench.isa.unit
        was, now = (isa.split(self._seen[at]) for at in (store, store + 1))
        changed = (isa.value(new) for old, new in zip(was, now, strict=False) if old != new)
        word = next(changed, 0)
        mask = (1 << 8 * unit) - 1
        # A nop of zeros, or a value that was already in a register, shows nothing.
        if not word or any(value & mask == word for value in self._before.registers.values()):
            return None
        return next(
            (
                at
                for at, step in enumerate(self._steps[:store])
                if any(value & mask == word for value in step.registers.values())
            ),
            None,
        )

    def _maintenance(self) -> Place | None:
        """The port's call of cache maintenance, or its own maintenance, after the last store."""
        if not self._stores:
            return None
        last = None
        for at in range(self._stores[-1] + 1, len(self._steps)):
            place = self._place(at, "makes code visible to fetches")
            if place is None:
                return last
            last = place
        return None
