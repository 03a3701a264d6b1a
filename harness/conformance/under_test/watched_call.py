# SPDX-License-Identifier: MIT
"""The steps of one call of a patching function, with the registers and the watched memory."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from harness.conformance.places import is_of_port, last_place, question
from harness.conformance.under_test.bench import Bench
from harness.conformance.verdict import Place


@dataclass(frozen=True, slots=True)
class WatchedStep:
    """One instruction, and the registers and watched memory after it.

    ``memory`` is text or, if the failure is about other data, what has changed there.
    """

    address: int
    registers: dict[str, int]
    memory: bytes


class WatchedCall:
    """The steps of one call, and the state before."""

    def __init__(self, bench: Bench, before: WatchedStep, steps: Sequence[WatchedStep]) -> None:
        self._bench = bench
        self._before = before
        self._steps = steps
        self._mask = (1 << 8 * bench.isa.longest) - 1

    @property
    def executed(self) -> list[int]:
        """The addresses of the steps."""
        return [step.address for step in self._steps]

    def _word(self, code: bytes) -> int:
        """An instruction as the port loads and stores it."""
        return int.from_bytes(code, self._bench.isa.code_byteorder)

    def _code(self, word: int) -> bytes:
        """The reverse of `_word`."""
        return word.to_bytes(self._bench.isa.longest, self._bench.isa.code_byteorder)

    def _words(self, text: bytes) -> list[tuple[int, int]]:
        """The long instructions that begin at each unit, with their offsets."""
        size, unit = self._bench.isa.longest, self._bench.isa.unit
        ends = range(size, len(text) + 1, unit)
        return [(end - size, self._word(text[end - size : end])) for end in ends]

    def _registers(self, step: int) -> dict[str, int]:
        """The registers before a step."""
        return (self._steps[step - 1] if step else self._before).registers

    def _is_word(self, word: int, value: int) -> bool:
        return value & self._mask == word

    def _first_held(self, is_it: Callable[[int], bool]) -> int | None:
        """The first step after which a register holds a value, if none held it before."""
        states = [self._before, *self._steps]
        held = (any(map(is_it, state.registers.values())) for state in states)
        first = next((at for at, holds in enumerate(held) if holds), 0)
        return first - 1 if first else None

    def _changes(self, step: int) -> int:
        """The address of the instruction of a step that changes registers.

        A step may take a branch's delay slot along, or end there.
        """
        return self._bench.code.in_slot(self._steps[step].address)

    def _in_slot(self, step: int) -> bool:
        """Whether that instruction is in a delay slot."""
        near = (at for at in (step - 1, step) if at >= 0)
        branches = (at for at in near if self._changes(at) != self._steps[at].address)
        return any(self._changes(at) == self._changes(step) for at in branches)

    def _is_question(self, step: int) -> bool:
        linked = self._bench.code.linked(self._steps[step].address)
        return self._bench.isa.cpu.is_conditional(linked)

    def _questions(self, end: int, beside: int | None = None) -> Iterator[int]:
        """The conditional branches and moves before a step, the last one first; see `_question`."""
        inside = None if beside is None else self._function(beside)
        for at in range(end - 1, -1, -1):
            if self._is_question(at) and (inside is None or self._function(at) == inside):
                yield at

    def _question(self, end: int, how: str, beside: int | None = None) -> Place | None:
        """The last conditional branch or move before a step.

        ``beside``: in the same function as the instruction of this step; it may be an inline one.
        """
        for at in self._questions(end, beside):
            executed = self._executed(at, in_slot=False)
            if is_of_port(self._bench.image, executed[-1]):
                return question(self._bench.image, executed, how)
        return None

    def _function(self, step: int) -> object:
        """The function of an instruction, with the calls of inline functions that it is in."""
        image, address = self._bench.image, self._steps[step].address
        return image.function_at(address), image.inlined_calls(address)

    def _of_the_port(self, step: int, how: str) -> Place | None:
        """The port's last instruction up to a step, which may be one of the kernel's."""
        return last_place(self._bench.image, self._executed(step, in_slot=True), how)

    def _place(self, step: int, how: str, *, in_slot: bool = False) -> Place | None:
        """A step's instruction; None if it is not of the port."""
        image, executed = self._bench.image, self._executed(step, in_slot=in_slot)
        return last_place(image, executed, how) if is_of_port(image, executed[-1]) else None

    def _executed(self, step: int, *, in_slot: bool) -> list[int]:
        """The instructions up to a step; ``in_slot`` as in `localization.retrace`."""
        executed = self.executed[: step + 1]
        return self._bench.code.with_slot(executed) if in_slot else executed
