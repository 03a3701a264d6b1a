# SPDX-License-Identifier: MIT
"""Single steps of a traced call, to find the port's instruction that a failure comes from."""

import re
from collections.abc import Callable, Sequence

from harness.conformance.localization.conditions import constant_condition
from harness.conformance.localization.stub_frames import StubFrames
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import START
from harness.conformance.under_test.registers import registers_in
from harness.conformance.under_test.traced_call import (
    LANDING,
    NotReached,
    Registers,
    TracedCall,
    come_to,
    step_through,
)
from harness.conformance.under_test.ways import Prepare, TracedStep
from harness.conformance.verdict import LAST, Place
from harness.errors import GuestDied

LEAST_ADDRESS = 0x1000
"""Lower values are likely to be in registers by chance."""


class Retrace(StubFrames):
    """A judged call, which is repeated in single steps if something is wrong with it."""

    def __init__(
        self, bench: Bench, prepare: Prepare, *, ended: bool = False, goal: int | None = None
    ) -> None:
        super().__init__(bench, prepare, ended=ended, goal=goal)
        self.call: TracedCall | None = None  # As far as the guest came.
        self._unexplained: tuple[NotReached, int] | None = None

    def go(self, *, home: bool) -> TracedCall:
        """Make the call, before everything that is observed."""
        self.call = None
        self.call = come_to(self.bench, self.prepare())
        step_through(self.bench, self.call, home=home, ended=self._ended)
        return self.call

    def go_first(
        self,
        error: NotReached,
        judge: Callable[[TracedCall], None],
        is_lost: Callable[[GuestDied], bool] = lambda end: False,
    ) -> None:
        """The guest died before the call under test: judge the first call of its workload.

        It is stepped to the end of its site.  ``error`` is raised again if nothing is wrong with
        it, and otherwise says why the rest was not observed.  ``is_lost`` judges a death in it.
        """
        bench = self.bench
        before = _failures(bench)
        self._site = bench.sites.of(START)
        self.prepare()
        self.call = come_to(bench, self._site)
        try:
            step_through(bench, self.call, home=False)
        except GuestDied as end:
            if not is_lost(end):
                raise
        else:
            judge(self.call)
        if _failures(bench) == before:
            raise error
        bench.mark_unfinished()

    def is_wrong_behind(self, judge: Callable[[TracedCall], None]) -> bool:
        """Whether a call whose guest died on the way home was wrong behind its site already."""
        before = _failures(self.bench)
        if self.call is not None and self.call.behind:
            judge(self.call)
        wrong = _failures(self.bench) > before
        if wrong:
            self.bench.mark_unfinished()
        return wrong

    def go_alone(self, prepare: Prepare, error: NotReached, *, home: bool) -> TracedCall:
        """Make the call that the guest did not reach, prepared in another way from now on.

        `explain` raises ``error`` if nothing is wrong with this call either.
        """
        self._site, self.prepare = None, prepare
        self._ways.clear()
        self._unexplained = error, _failures(self.bench)
        return self.go(home=home)

    def explain(self) -> None:
        """Raise what `go_alone` was given if nothing has been found since."""
        if self._unexplained and _failures(self.bench) == self._unexplained[1]:
            raise self._unexplained[0]

    def last_write(self, names: Sequence[str], *, home: bool = False) -> Place | None:
        """The instruction that last wrote one of these registers."""
        before, _, steps, _ = self._way(home)
        of_another = (self._saved_another(before, steps, name) for name in names)
        if another := next(filter(None, of_another), None):
            return another
        for at in range(len(steps) - 1, -1, -1):
            was = steps[at - 1].registers if at else before
            changed = [name for name in names if steps[at].registers[name] != was[name]]
            if changed:
                name = changed[0]
                in_slot = name != self.bench.isa.abi.return_register
                return (
                    self._never_stored(before, steps, at, [name])
                    or self._left_out(before, steps, at, name)
                    or self._spoilt(before, steps, at, name)
                    or self._not_moved_back(before, steps, at, name)
                    or self._stub(steps, at, f"wrote {name} last", in_slot)
                )
        return None

    def _saved_another(
        self, before: Registers, steps: Sequence[TracedStep], register: str
    ) -> Place | None:
        """The stub's store of a wrong value in the word that it loads into this register last.

        It is that of another register, or of this one as the site has changed it.  None if the load
        is wrong: the right value is stored elsewhere, or the word is loaded into another one too.
        """
        of_stub = [at for at, step in enumerate(steps) if self._is_stub(step)]
        load = max((at for at in of_stub if self._loads(steps[at], register)), default=0)
        value = steps[load].registers[register] if load else before[register]
        word = next(self._accesses(before, steps, load, stores=False), None) if load else None
        if value == before[register] or word is None:
            return None
        used = [at for at in of_stub if word in self._accesses(before, steps, at, stores=False)]
        stores = self._stores_by_distance(before, steps[:load], word)
        same = stores.get(0, [])
        if len(used) > 1 or not same:
            return None
        stored = {
            at: self._stored(steps[at - 1].registers if at else before, steps[at])
            for every in stores.values()
            for at in every
        }
        saved = {name for name, own in stored[same[-1]].items() if own == value}
        if not saved:
            return None
        if register in saved:
            is_wrong = steps[of_stub[0]].registers[register] == value
            how = f"saves {register} as the site has left it"
        else:
            is_wrong = all(before[register] not in own.values() for own in stored.values())
            how = f"saves {saved.pop()}, which is put back into {register}"
        return self._place(steps, same[-1], how) if is_wrong else None

    def _not_moved_back(
        self, before: Registers, steps: Sequence[TracedStep], at: int, register: str
    ) -> Place | None:
        """The stub's last instruction, if it has not given up the frame that it used.

        Or its return, if it has not moved the pointer at all, and the call site has.
        """
        was, now = (steps[at - 1].registers if at else before)[register], steps[at].registers
        if register != self.bench.isa.abi.stack_register or now[register] >= was:
            return None
        of_stub = [n for n in range(at + 1, len(steps)) if self._is_stub(steps[n])]
        if of_stub and not any(map(self._is_stub, steps[: at + 1])):
            last = of_stub[-1]
            is_slot = self.bench.code.in_slot(steps[last - 1].address) == steps[last].address
            how = f"returned with {register} as the site has left it"
            return self._place(steps, last - is_slot, how)
        used = {
            word
            for number in of_stub
            for stores in (False, True)
            for word in self._accesses(before, steps, number, stores=stores)
        }
        if used.isdisjoint(range(now[register], was)):
            return None
        return self._place(steps, of_stub[-1], f"returned with {register} as it was lowered")

    def exchanged(self, names: Sequence[str]) -> Place | None:
        """The stub's last jump on the way in, if it has exchanged two registers."""
        _, _, steps, _ = self._way(home=False)
        entry = next((at for at, step in enumerate(steps) if self._is_stub(step)), 0)
        states = (steps[max(entry - 1, 0)].registers, steps[-1].registers) if steps else ()
        values = [[state[name] for name in names] for state in states]
        if len(names) != 2 or not values or values[1] != values[0][::-1]:
            return None
        jumps = self._jumps(steps, self.bench.isa.longest)
        how = f"jumped last; {' and '.join(names)} are exchanged"
        return self._place(steps, jumps[-1], how) if jumps else None

    def _spoilt(
        self, before: Registers, steps: Sequence[TracedStep], at: int, register: str
    ) -> Place | None:
        """The port's C code that made the wrong value which the stub puts back.

        ``at`` is the last step that changed the register: the stub's, or the C code's if that has
        left there what it has stored.
        """
        value = steps[at].registers[register]
        if value < LEAST_ADDRESS or not self._names(steps[at:], register):
            return None
        made = next(self._makes(before, steps[: at + 1], lambda found: found == value), None)
        if made is None or steps[made].ran or self._is_stub(steps[made]):
            return None
        return self._place(steps, made, f"made what is put back into {register}", in_slot=True)

    def _left_out(
        self, before: Registers, steps: Sequence[TracedStep], at: int, register: str
    ) -> Place | None:
        """Where the stub puts back a register beside one that was changed in a step.

        By C code, or by the stub itself, which has saved that register and has not loaded it back.
        """
        if not any(map(self._is_stub, steps[:at])):
            # The call site changed it.
            return None
        saved = self._saves(steps[:at], register) and not self._loads_frame(before, steps, at)
        if self._is_stub(steps[at]) and not saved:
            return None
        abi = self.bench.isa.abi
        of_kind = abi.general_registers if register in abi.general_registers else abi.float_results
        beside = {name: number for number, name in enumerate(of_kind)}
        put_back = {
            name: number
            for number in range(at + 1, len(steps))
            if self._is_stub(steps[number])
            for name in beside
            if steps[number].registers[name] == before[name]
            and (
                steps[number - 1].registers[name] != before[name]
                or self._loads(steps[number], name)
            )
        }
        # A jump may go where it leads.
        is_store, linked = self.bench.isa.cpu.is_store, self.bench.code.linked
        later = [
            step
            for step in steps[at + 1 :]
            if self._went_on(step) and not is_store(linked(step.address))
        ]
        if register not in beside or not put_back or self._names(later, register):
            return None
        own, word = beside[register], self._saved_at(before, steps[:at], register)

        def distance(name: str) -> tuple[bool, int, bool, int]:
            loaded = next(self._accesses(before, steps, put_back[name], stores=False), None)
            of_words = 0 if word is None or loaded is None else abs(loaded - word)
            return loaded is None, of_words, beside[name] > own, abs(beside[name] - own)

        nearest = min(put_back, key=distance)
        how = f"puts back {nearest}, and not {register}"
        return self._place(steps, put_back[nearest], how, in_slot=True)

    def _loads_frame(self, before: Registers, steps: Sequence[TracedStep], at: int) -> bool:
        """Whether a step, not the first one, loads from the stub's frame."""
        stack = self.bench.isa.abi.stack_register
        frame = range(steps[at - 1].registers[stack], before[stack])
        return any(where in frame for where in self._accesses(before, steps, at, stores=False))

    def _saves(self, steps: Sequence[TracedStep], register: str) -> bool:
        """Whether the stub stores a register."""
        is_store, code = self.bench.isa.cpu.is_store, self.bench.code
        return self._names([one for one in steps if is_store(code.linked(one.address))], register)

    def _saved_at(
        self, before: Registers, steps: Sequence[TracedStep], register: str
    ) -> int | None:
        """The word in which the stub stored a register last; None if it did not."""
        stores = (at for at, step in enumerate(steps) if self._saves([step], register))
        last = max(stores, default=None)
        words = () if last is None else self._accesses(before, steps, last, stores=True)
        return next(iter(words), None)

    def _names(self, steps: Sequence[TracedStep], register: str) -> bool:
        """Whether an instruction of the stub names a register."""
        isa, code = self.bench.isa, self.bench.code
        texts = (code.disassembled(step.address) for step in steps if self._is_stub(step))
        named = re.compile(rf"\b{register}\b")
        return any(register in registers_in(text, isa) or named.search(text) for text in texts)

    def masked(self, *, home: bool = False) -> Place | None:
        """The instruction that last changed the interrupt mask."""
        before, _, steps, _ = self._way(home)
        cpu, (status, *_) = self.bench.isa.cpu, self.bench.isa.abi.status_registers
        for at in range(len(steps) - 1, -1, -1):
            was = steps[at - 1].registers if at else before
            now = steps[at].registers
            if cpu.interrupt_mask(now[status]) != cpu.interrupt_mask(was[status]):
                return self._place(steps, at, "changed the interrupt mask", in_slot=True)
        return None

    def written(self, offset: int, *, home: bool = False) -> Place | None:
        """The instruction that last wrote the word ``offset`` bytes above the stack pointer."""
        _, above, steps, _ = self._way(home)
        word = slice(offset, offset + self.bench.isa.word_size)
        for at in range(len(steps) - 1, -1, -1):
            was = steps[at - 1].above if at else above
            if steps[at].above[word] != was[word]:
                return self._place(steps, at, "wrote that memory last", in_slot=True)
        return None

    def left_at(self, offset: int) -> int | None:
        """The word so many bytes above the stack pointer behind the site; None if out of sight."""
        steps, size = self._way(home=False).steps, self.bench.isa.word_size
        word = steps[-1].above[offset : offset + size] if steps else b""
        return int.from_bytes(word, self.bench.image.byteorder) if len(word) == size else None

    def hijack(self) -> Place | None:
        """The port's instruction that made the address of return_to_handler; None if none did.

        It is the condition that the compiler knows, if there is one.
        """
        before, _, steps, _ = self._way(home=False)
        isa, landing = self.bench.isa, self.bench.image.symbols.get(LANDING)
        made = self._makes(before, steps, lambda found: isa.pointed_to(found) == landing)
        how = "made the address of return_to_handler"
        place = next((self._place(steps, at, how, in_slot=True) for at in made), None)
        known = place and constant_condition(self.bench, [step.address for step in steps])
        return known or place

    def first_difference(self, how: str, other: "Retrace", *alike: "Retrace") -> Place | None:
        """The port's first instruction behind which another call has another value in a register.

        Calls that are ``alike`` have the same there as the other one.  Registers that differ before
        are not looked at, and neither is what comes when the calls take different ways.
        """
        ways = [retrace._way(home=False) for retrace in (self, other, *alike)]
        general = self.bench.isa.abi.general_registers
        names = [name for name in general if len({way.before[name] for way in ways}) == 1]
        for at, (own, *others) in enumerate(zip(*(way.steps for way in ways), strict=False)):
            if any(step.address != own.address for step in others):
                break
            for name in names:
                values = {step.registers[name] for step in others}
                if len(values) == 1 and own.registers[name] not in values:
                    return self._place(ways[0].steps, at, how, in_slot=True)
        return None

    def _stub(self, steps: Sequence[TracedStep], at: int, how: str, in_slot: bool) -> Place | None:
        """The stub's instruction at or before a step; its call if C code wrote."""
        for number in range(at, -1, -1):
            if self._is_stub(steps[number]):
                return self._place(steps, number, how, in_slot=in_slot and number == at)
            how = "calls what may change it"
        return self._place(steps, len(steps) - 1, LAST)


def _failures(bench: Bench) -> int:
    return sum(map(len, bench.failures.values()))
