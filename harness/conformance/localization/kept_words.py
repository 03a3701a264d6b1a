# SPDX-License-Identifier: MIT
"""Words that the port has stored at boot, and by which it decides in a call that went wrong."""

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import chain, islice, pairwise

from harness.conformance.localization.conditions import constant_condition
from harness.conformance.localization.decisions import last_decision, wrong_decision
from harness.conformance.localization.repeated_calls import steps_of
from harness.conformance.localization.retrace import Retrace
from harness.conformance.localization.trials import Trial, Trials
from harness.conformance.places import is_of_port, port_file
from harness.conformance.registry import MODULES, STATIC_MODULES, STATIC_STOP
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import START
from harness.conformance.under_test.clock import take_snapshot
from harness.conformance.under_test.live_text import Change
from harness.conformance.under_test.single_step import steps_to
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import (
    BELOW_STACK,
    GRAPH_ENTER,
    LANDING,
    come_to,
    prepare_of,
)
from harness.conformance.verdict import DECIDED_LAST, Place
from harness.debugger import return_address
from harness.errors import GdbError, GuestError
from harness.isa import CallSite

WITH_MORE = (MODULES, STATIC_STOP, STATIC_MODULES)
"""Builds with the kernel's functions of another one, and something that no prologue depends on."""

KEPT = "kept"
"""The snapshot at the entry of the function that made the word."""

MOST_CALLS = 2_000
"""The most calls of a function of the port's at boot."""

MOST_FUNCTIONS = 3
"""The most functions of the port's that may have made a word."""

DECIDED_OTHERWISE = f"{DECIDED_LAST} about it as about no other prologue"

GAVE_WRONG = f"{DECIDED_LAST} itself; what it returned is wrong, and right of another function"

KNOWN = 24
"""The calls of a function at boot whose decisions are known to be right."""

STACK = 0x4000
"""The size of the kernel's stacks."""


def kept_word(retrace: Retrace, other: Retrace | None = None) -> Place | None:
    """Where the port made a word wrong at boot, by which it did not hijack a call as it should.

    It is a condition that the compiler knows in the function that made it, if there is one.  The
    function is called again, and one thing after the other done otherwise: if the call under test
    is hijacked with the word that it returns then, the place is that instruction.
    If nothing helps a call that is left alone, it is the last decision of that function, unless
    another decision in the call under test does.  None if there is no such word.  The guest is left
    in any state.

    ``other`` is another call that returns, with another word, if the rest of the port is right.
    Then it is the last decision of that function even if the call is hijacked.
    """
    bench = retrace.bench
    if not bench.rewinds or not bench.by_port or _is_shown_elsewhere(retrace):
        return None
    words = _read_words(retrace)
    known = next((word for word in words if word in bench.kept_words), None)
    if known is not None:
        return bench.kept_words[known]
    if not words:
        return None
    with suppress(GuestError, GdbError):
        for search in _searches(retrace, words):
            bench.kept_words[search.word] = None
            bench.kept_words[search.word] = search.place(other)
            return bench.kept_words[search.word]
    return None


def decided_about(retrace: Retrace, change: Change) -> Place | None:
    """The port's last decision about changed text at boot that it takes about no text as built.

    ``change`` is written before the boot, and the call under test reads the word that the port made
    then.  None if there is no such word.  The guest is left in any state.
    """
    if retrace.bench.rewinds:
        with suppress(GuestError, GdbError):
            for search in _searches(retrace, _read_words(retrace)):
                return search.decided_about(change)
    return None


def _is_shown_elsewhere(retrace: Retrace) -> bool:
    """Whether the call goes wrong in another build too, where the search is made."""
    bench, call = retrace.bench, retrace.call
    in_kernel = call is not None and call.site.address in bench.image.text
    return bench.variant.name in WITH_MORE and in_kernel


def _searches(retrace: Retrace, words: list[int]) -> Iterator["_Search"]:
    """For each of these words that a function of the port's returned at boot."""
    for word, function in _makers(retrace.bench, words):
        search = _Search(retrace, word, function, _number(retrace.bench, word, function))
        if search.is_maker():
            yield search


def _read_words(retrace: Retrace) -> list[int]:
    """The addresses of variables that the port's C code loads in a call, the last one first.

    They are the port's own, or have no name.
    """
    image, found = retrace.bench.image, []
    own = image.variables_in(lambda file: port_file(file) is not None)
    for registers, word in retrace.loads():
        if word in found or word in image.text:
            continue
        # What the call has on its stack was not stored at boot.
        on_stack = abs(word - registers[image.isa.abi.stack_register]) <= STACK
        if not on_stack and (not image.object_at(word) or any(word in one for one in own)):
            found.append(word)
    return found[::-1]


def _makers(bench: Bench, words: list[int]) -> Iterator[tuple[int, int]]:
    """Words that were stored at boot, and the port's functions in C that were called before that.

    The functions of each word come in the reverse order of their first calls.
    """
    image = bench.image
    left = [
        function.address
        for function in image.functions
        if is_of_port(image, function.address) and not image.is_assembled(function.address)
    ]
    bench.boot()
    called: list[int] = []
    before: dict[int, list[int]] = {}
    marks: dict[int, int] = {}
    for _ in range(len(left) + 1):
        here = bench.run_to(START, *left)
        for word in words:
            if word in marks and bench.word_at(word) != marks[word]:
                before[word] = called[-MOST_FUNCTIONS:]
            marks[word] = _mark(bench, word)
        if here not in left:
            break
        called.append(here)
        left.remove(here)
    for word in words:
        yield from ((word, function) for function in reversed(before.get(word, ())))


def _number(bench: Bench, word: int, function: int) -> int:
    """How often a function had been called at boot when a word was stored last; 0 if never."""
    bench.boot()
    mark = number = 0
    for calls in range(MOST_CALLS):
        here = bench.run_to(START, function)
        if calls and bench.word_at(word) != mark:
            number = calls
        mark = _mark(bench, word)
        if here != function & bench.isa.mask:
            break
    return number


def _mark(bench: Bench, word: int) -> int:
    """Write what nobody stores, for the same value may be stored again; returns that."""
    mark = bench.registers.pattern(BELOW_STACK, 0)
    data = mark.to_bytes(bench.isa.word_size, bench.image.byteorder)
    bench.guest.debugger.write_memory(word, data)
    return mark


class _Search:
    """The search for what made one word wrong, in one call of a function at boot."""

    def __init__(self, retrace: Retrace, word: int, function: int, number: int) -> None:
        self._retrace, self._bench = retrace, retrace.bench
        self.word, self._function, self._number = word, function, number
        self._size = self._back = 0
        self._judged: dict[int, bool] = {}

    def is_maker(self) -> bool:
        """Whether the function returned what was stored; the guest is prepared for `place` then."""
        bench = self._bench
        if not self._number:
            return False
        guest = bench.boot()
        for _ in range(self._number):
            bench.run_to(self._function)
        self._back = return_address(guest.debugger, bench.isa.abi)
        take_snapshot(guest, KEPT, with_clock=False)
        # From now on the guest is made fresh, and comes here, without a boot.
        bench.run_to(START)
        take_snapshot(guest, START, with_clock=False)
        guest.restore(KEPT)
        bench.run_to(self._back)
        value, size = self._result(), bench.isa.word_size
        mark = _mark(bench, self.word).to_bytes(size, bench.image.byteorder)
        bench.run_to(START, self._function)
        kept = bench.read_memory(self.word, size)
        self._size = next((n for n in range(size, 0, -1) if kept[n - 1] != mark[n - 1]), 0)
        self._judged[value] = False
        return self._size > 0 and self._bytes(value, self._size) == kept[: self._size]

    def place(self, other: Retrace | None) -> Place | None:
        """As of `kept_word`."""
        bench = self._bench
        bench.guest.restore(KEPT)
        trials = Trials(bench, list(steps_of(bench, self._back, bytes)))
        known = constant_condition(bench, trials.executed)
        if known is not None:
            return known
        mends = partial(self._mends, trials)
        mended = [*filter(mends, trials.decisions())]
        # Another decision may have led to the last one, or it is one time only, or a value.
        others = (
            trials.led_to(mended[0])
            if mended
            else chain(trials.single_decisions(), trials.values())
        )
        mended[:0] = islice(filter(mends, others), 1)
        if mended:
            return trials.place(*mended)
        call = self._retrace.call
        if call is None:
            return None
        if GRAPH_ENTER in call.called:
            returns = other is not None and other.go(home=True).back
            return last_decision(bench, trials.executed, GAVE_WRONG, own=True) if returns else None
        prepare = prepare_of(bench.image)
        how = f"{DECIDED_LAST}; what it returned is what {prepare} reads"
        return self._decision_in_call(prepare) or last_decision(bench, trials.executed, how)

    def decided_about(self, change: Change) -> Place | None:
        """As of the function with this name."""
        bench = self._bench
        bench.boot()
        # Of this call, and of some before it.
        known = {step for way in self._last_ways(KNOWN) for step in way}
        bench.boot()
        bench.write_memory(*change)
        (way,) = self._last_ways(1)
        other = max((at for at, step in enumerate(way) if step not in known), default=0)
        executed = [here for here, _ in way[: other + 2]]
        return last_decision(bench, executed, DECIDED_OTHERWISE)

    def _last_ways(self, last: int) -> Iterator[list[tuple[int, int]]]:
        """This call of a guest at its first instruction, and those before it, so many in all.

        Each is its instructions, each with the one that is executed next.
        """
        for call in range(self._number):
            self._bench.run_to(self._function)
            if call >= self._number - last:
                back = return_address(self._bench.guest.debugger, self._bench.isa.abi)
                yield [*pairwise(steps_to(self._bench, back))]

    def _mends(self, trials: Trials, trial: Trial) -> bool:
        """Whether the word is right with this done otherwise."""
        # The guest may die on a way that it never takes.
        with suppress(GuestError, GdbError):
            self._bench.guest.restore(KEPT)
            trials.run(trial, self._back)
            return self._is_right()
        return False

    def _decision_in_call(self, prepare: str) -> Place | None:
        """The decision that makes the call under test right with the word as it is."""
        bench = self._bench

        def again() -> int:
            caller = come_to(bench, self._retrace.prepare()).caller
            bench.run_to(prepare)
            return caller

        caller = again()
        executed = steps_to(bench, return_address(bench.guest.debugger, bench.isa.abi))

        def succeeds() -> bool:
            switch = Switch(bench)
            if not switch.dynamic:
                # The functions that it calls would be hijacked too.
                switch.graph(False)
            is_hijacked = bench.run_to(LANDING, caller) != caller & bench.isa.mask
            return is_hijacked and bench.run_to(caller) == caller & bench.isa.mask

        return wrong_decision(bench, again, executed, succeeds)

    def _result(self) -> int:
        name = self._bench.isa.abi.results[0]
        return self._bench.registers.value(name) & self._bench.isa.mask

    def _bytes(self, value: int, size: int) -> bytes:
        return (value & (1 << 8 * size) - 1).to_bytes(size, self._bench.image.byteorder)

    def _is_right(self) -> bool:
        """Whether the call under test is hijacked with the word that was returned."""
        bench, value = self._bench, self._result()
        if value not in self._judged:
            self._judged[value] = False
            with suppress(GuestError, GdbError):
                call = Retrace(bench, partial(self._prepare, value)).go(home=True)
                saved = call.first(GRAPH_ENTER) if GRAPH_ENTER in call.called else None
                first = bench.isa.abi.argument_registers[0]
                returned = saved is not None and bench.isa.pointed_to(saved[first]) == call.caller
                self._judged[value] = returned and bool(call.landing and call.back)
        return self._judged[value]

    def _prepare(self, value: int) -> CallSite:
        site = self._retrace.prepare()
        data = self._bytes(value, self._size)
        self._bench.guest.debugger.write_memory(self.word, data)
        return site
