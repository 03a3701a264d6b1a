# SPDX-License-Identifier: MIT
"""The registers that a stub saves for a function of the kernel, for the port's accessors."""

from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from harness.conformance.localization.retrace import Retrace
from harness.conformance.places import definition_of, is_of_port
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.selftests import Selftest
from harness.conformance.under_test.traced_call import (
    BELOW_STACK,
    HANDLER,
    LANDING,
    SELFTEST,
    clobber,
    come_to,
    lay_out,
)
from harness.conformance.under_test.ways import Prepare, TracedStep
from harness.conformance.verdict import MANY_REGISTERS, Place
from harness.debugger import return_address
from harness.errors import GdbError, GuestError
from harness.trace import FuncgraphExitEvent

Value = tuple[str, int]
"""A member of ``struct ftrace_selftest`` that an accessor fills, and the number of an argument."""

PC: Value = ("instruction_pointer", 0)
RESULT: Value = ("return_value", 0)
RETURN_ADDRESS: Value = ("return_address", 0)

ACCESSORS = {
    "arguments": "ftrace_regs_get_argument",
    **{
        name: f"ftrace_regs_get_{name}"
        for name in (PC[0], RESULT[0], "stack_pointer", "frame_pointer", "return_address")
    },
}


class SavedRegisters(Retrace):
    """A call whose tracer gets the registers at the site.

    What an accessor reads and what the stub puts back is found by experiment: words of the stub's
    frame are overwritten while its tracer runs.
    """

    _function, _is_return = SELFTEST, False

    def __init__(self, bench: Bench, prepare: Prepare, number: int = 0) -> None:
        """``number`` is the tracer's."""
        super().__init__(bench, prepare)
        self._number = number

    def wrong_value(self, value: Value, found: int, right: Collection[Value]) -> Place | None:
        """Where the wrong value that an accessor returned comes from; those ``right`` are not.

        It is the accessor if it reads no word of the frame, or one that another accessor returns
        for what it is.
        """
        word = self._read.get(value)
        if word is None or any(self._read.get(other) == word for other in right):
            return self._getter(value)
        return self._made(found, word) or self.saved(word)

    def not_put_back(
        self, register: str, value: Value, setter: str, acting: Retrace | None = None
    ) -> Place | None:
        """Why a register, or the pc, behind the stub is not what a tracer has set.

        It is the setter if the stub takes the register from the word that the accessor of the same
        value reads, and the accessor if it reads none.  ``acting`` is the call with that tracer.
        """
        word = self._read.get(value)
        if word is None:
            return self._getter(value)
        if self._takes(register, word):
            return accessor_of(self.bench, setter, "does not set the word that the stub puts back")
        return self._return() if acting is None else acting.last_write((register,))

    def wrong_return(self) -> Place | None:
        """Where a wrong return address comes from that is in the frame; None if it is right."""
        call = come_to(self.bench, self.prepare())
        self.bench.run_to(self._function)
        self.bench.run_to(return_address(self.bench.guest.debugger, self.bench.isa.abi))
        found = self._told()[RETURN_ADDRESS]
        return None if found == call.caller else self.wrong_value(RETURN_ADDRESS, found, ())

    def _getter(self, value: Value) -> Place | None:
        how = "does not return what the stub has saved"
        return accessor_of(self.bench, ACCESSORS[value[0]], how)

    def saved(self, word: int) -> Place | None:
        """The stub's last store to a word of its frame before its tracer, or the one beside it.

        Where none is beside it, and none is nearest, it is where the stub hands the frame over.
        """
        steps, writers = self._stores
        if not writers:
            return None
        nearest = min(writers, key=lambda other: (abs(other - word), other))
        if abs(nearest - word) > self.bench.isa.word_size and 2 * word - nearest in writers:
            handed = self._handed_over(word)
            if handed is not None:
                return handed
        how = "saves this" if nearest == word else "saves the word beside, and not this one"
        return self._place(steps, writers[nearest][-1], how, in_slot=True)

    def _handed_over(self, word: int) -> Place | None:
        """The stub's last change of an argument to an address in its frame, up to a word of it."""
        _, _, steps, _ = self._way(home=self._is_return)
        # It may not return.
        end = next((at for at, step in enumerate(steps) if step.ran), len(steps))
        arguments, own = self.bench.isa.abi.argument_registers, range(self._frame.start, word + 1)
        how = "hands over a frame in which nothing has saved a word that is read"
        for at in range(end - 1, 0, -1):
            now, was = steps[at].registers, steps[at - 1].registers
            if any(now[name] != was[name] and now[name] in own for name in arguments):
                return self._place(steps, at, how, in_slot=True)
        return None

    def last_write(self, names: Sequence[str], *, home: bool = False) -> Place | None:
        """As of `Retrace`; the store, if the stub has saved another register over one of these."""
        over = None if home else self.overwritten(names)
        return over or super().last_write(names, home=home)

    def overwritten(self, names: Sequence[str]) -> Place | None:
        """The store of another register over one of these, which the stub puts back."""
        twice = [word for word, made in self._stores[1].items() if len(made) > 1]
        taken = (word for name in names for word in twice if self._takes(name, word))
        return next(map(self.saved, taken), None)

    def wrong_words(self, words: Sequence[int]) -> Place | None:
        """The store of one of these words, which are wrong, or the one beside it."""
        stored = [word for word in words if word in self._stores[1]]
        return self.saved([*stored, *words][0])

    def no_pt_regs(self) -> Place | None:
        """The store that has the accessor return no struct pt_regs; or the accessor."""
        mark = self._deciding()
        return self._accessor_of_pt_regs() if mark is None else self.saved(mark)

    def needless_pt_regs(self, words: Sequence[int]) -> Place | None:
        """The store that has the accessor return a struct pt_regs of which these words are wrong.

        If nothing in the frame says whether it is whole, it is the accessor, or one of the words if
        most are right.
        """
        mark = self._deciding()
        if mark is not None:
            return self.saved(mark)
        most = len(words) > len(self.bench.isa.abi.pt_regs) // MANY_REGISTERS
        return self._accessor_of_pt_regs() if most else self.wrong_words(words)

    def _deciding(self) -> int | None:
        """The word of the frame that says whether struct pt_regs is whole; None if none does."""
        for word in self._frame:
            told = set()
            for value in (0, self.bench.isa.mask):
                back = self._enter()
                self._write(word, [value])
                self.bench.run_to(back)
                told.add(bool(Selftest(self.bench, self._number).read("regs")))
            if len(told) > 1:
                return word
        return None

    def _accessor_of_pt_regs(self) -> Place | None:
        return accessor_of(self.bench, "arch_ftrace_get_regs", "decides whether there are any")

    def _made(self, value: int, word: int) -> Place | None:
        """The stub's instruction that made a value before it saved it in a word.

        The stack pointer is no value before it is copied.
        """
        before, _, steps, _ = self._way(home=self._is_return)
        steps = steps[: self._stores[1].get(word, [0])[-1]]
        but = (self.bench.isa.abi.stack_register,)
        made = next(self._makes(before, steps, lambda held: held == value, but), None)
        return (
            None if made is None else self._place(steps, made, "made what is saved", in_slot=True)
        )

    def _return(self) -> Place | None:
        """The stub's instruction behind its tracer that made the address to which it returned."""
        before, _, steps, _ = self._way(home=False)
        start = max((at + 1 for at, step in enumerate(steps) if step.ran), default=0)
        registers = steps[start - 1].registers if start else before
        goal, pointed_to = steps[-1].to if steps else 0, self.bench.isa.pointed_to
        made = self._makes(registers, steps[start:], lambda held: pointed_to(held) == goal)
        last = max(made, default=None)
        if last is None:
            return self.last_instruction()
        return self._place(steps, start + last, "made the address of the return", in_slot=True)

    def is_way_back(self, goal: int, prepare: Prepare) -> bool:
        """Whether ``goal`` is in the word of the pc, where a call of the function comes there."""
        word = self._read.get(PC)
        lay_out(self.bench, come_to(self.bench, prepare()))
        self.bench.run_to(goal)
        return word is not None and self.bench.word_at(word) == goal

    def _begin(self) -> int:
        """Come to the first instruction that is stepped; returns its address."""
        call = come_to(self.bench, self.prepare())
        lay_out(self.bench, call)
        return call.site.address

    def _told(self) -> dict[Value, int]:
        """What the accessors returned to the function that has just ended."""
        test = Selftest(self.bench, self._number)
        found = {("arguments", at): value for at, value in enumerate(test.arguments)}
        return found | {(name, 0): test.read(name) for name in ACCESSORS if name != "arguments"}

    @cached_property
    def _frame(self) -> range:
        """The addresses of the words of the stub's frame."""
        bench, stack = self.bench, self.bench.isa.abi.stack_register
        self._begin()
        end = bench.registers.value(stack)
        bench.run_to(self._function)
        return range(bench.registers.value(stack), end, bench.isa.word_size)

    def _enter(self) -> int:
        """Come to the function's entry again; returns its return address."""
        self._begin()
        self.bench.run_to(self._function)
        return return_address(self.bench.guest.debugger, self.bench.isa.abi)

    @cached_property
    def _read(self) -> dict[Value, int]:
        """The word that is returned for each value; missing if it is none of the frame."""
        bench, frame = self.bench, self._frame
        back = self._enter()
        marks = bench.registers.words(BELOW_STACK, frame.stop - frame.start)
        self._write(frame.start, marks)
        bench.run_to(back)
        words = dict(zip(marks, frame, strict=True))
        return {value: words[held] for value, held in self._told().items() if held in words}

    def _takes(self, register: str, word: int) -> bool:
        """Whether the stub puts back a register, or the pc, from a word of its frame."""
        bench, mark = self.bench, self.bench.image.address_of(CALL_RETURNS)
        back = self._enter()
        bench.run_to(back)
        clobber(bench, self._function)
        self._write(word, [mark])
        last: TracedStep | None = None
        # The guest may die where the stub leads it.
        with suppress(GuestError, GdbError):
            for last in self._steps(back, mark, values=True, stack=word, above=b""):
                if not is_of_port(bench.image, last.to):
                    break
        if last is None:
            return False
        pc = bench.isa.abi.pc_register
        return mark == (last.to if register == pc else last.registers[register] & bench.isa.mask)

    @cached_property
    def _stores(self) -> tuple[list[TracedStep], dict[int, list[int]]]:
        """The steps up to the function, and for words of the frame those that wrote them."""
        bench, frame = self.bench, self._frame
        start = self._begin()
        steps: list[TracedStep] = []
        writers: dict[int, list[int]] = {}
        words = self._words()
        entry = bench.image.address_of(self._function)
        for step in self._steps(start, entry, values=False, stack=0, above=b""):
            now = self._words()
            for word, was, new in zip(frame, words, now, strict=True):
                if was != new:
                    writers.setdefault(word, []).append(len(steps))
            steps.append(step)
            words = now
        return steps, writers

    def _words(self) -> list[bytes]:
        frame, size = self._frame, self.bench.isa.word_size
        memory = self.bench.guest.debugger.dump_memory(frame.start, frame.stop - frame.start)
        return [memory[at : at + size] for at in range(0, len(memory), size)]

    def _write(self, address: int, words: Iterable[int]) -> None:
        size, order = self.bench.isa.word_size, self.bench.image.byteorder
        data = b"".join(word.to_bytes(size, order) for word in words)
        self.bench.guest.debugger.restore_memory(address, data)


def accessor_of(bench: Bench, name: str, how: str) -> Place | None:
    """The definition of an accessor in the port's sources, as what a failure comes from."""
    place = definition_of(bench.variant.spec.port.directory, name)
    return place and replace(place, how=how)


class SavedResults(SavedRegisters):
    """The same of a return through return_to_handler, whose results are saved."""

    _function, _is_return = HANDLER, True

    def _begin(self) -> int:
        super()._begin()
        return self.bench.run_to(LANDING)

    def another(self, value: int) -> Place | None:
        """The store of the word that has to have this value, for the guest dies of another one."""
        for word in self._frame:
            back = self._enter()
            self._write(word, [value])
            with suppress(GuestError, GdbError):
                self.bench.run_to(back)
                return self.saved(word)
        return None

    @cached_property
    def _read(self) -> dict[Value, int]:
        mark = self.bench.registers.pattern(BELOW_STACK, 0)
        for word in self._frame:
            back = self._enter()
            self._write(word, [mark])
            # The kernel panics of another frame pointer.
            with suppress(GuestError, GdbError):
                self.bench.run_to(back)
                if mark in result_events(self.bench):
                    return {RESULT: word}
        return {}


def result_events(bench: Bench) -> list[int]:
    """The results of functions in the events of their returns."""
    events = bench.guest.tracer.events()
    found = [one.retval for one in events if isinstance(one, FuncgraphExitEvent)]
    return [value for value in found if value is not None]
