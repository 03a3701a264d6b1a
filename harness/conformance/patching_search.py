# SPDX-License-Identifier: MIT
"""The instruction of a patching function that a failure comes from, among the steps of a call."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from harness.conformance.bench import Bench
from harness.conformance.findings import FETCHED, WHOLE
from harness.conformance.memory_path import COMPARED_BEFORE, MemoryPath
from harness.conformance.places import at_return, is_of_port, last_place, question
from harness.conformance.registers import registers_in
from harness.conformance.verdict import (
    HALF_DONE,
    INCOMPLETE,
    MASK,
    OTHERS_DATA,
    REACH,
    REFUSAL,
    WROTE,
    WROTE_OTHERS,
    Place,
)

STATUS = (1 << 32) - 1
"""The bits of an ``int``."""

MOST_PARTS = 4
"""The most joins of parts of one word."""


@dataclass(frozen=True, slots=True)
class WatchedStep:
    """One instruction, and the registers and watched memory after it.

    ``memory`` is text or, if the failure is about other data, what has changed there.
    """

    address: int
    registers: dict[str, int]
    memory: bytes


class Search:
    """The steps of one call, and the state before."""

    def __init__(
        self,
        bench: Bench,
        before: WatchedStep,
        steps: Sequence[WatchedStep],
        wrong: Collection[int],
        right: bytes = b"",
        start: int = 0,
    ) -> None:
        """``wrong`` are offsets in the watched memory; see `_locate`.

        ``right`` is what that memory has to be after the call, empty if unknown, and ``start`` its
        address.
        """
        self._bench = bench
        self._steps = steps
        self._before = before
        self._seen = seen = [before.memory, *(step.memory for step in steps)]
        self._stores = [at for at in range(len(steps)) if seen[at] != seen[at + 1]]
        self._mask = (1 << 8 * bench.isa.unit) - 1
        self._right = right
        self._watched = range(start, start + len(before.memory))
        self._path = MemoryPath(bench, [step.address for step in steps], self._registers)
        longest = bench.isa.longest
        of_wrong = self._stores_to(
            {one for start in wrong for one in range(start, start + longest)}
        )
        differing = [at for at in range(len(right)) if right[at] != seen[-1][at]]
        of_differing = self._stores_to(differing)
        self.is_incomplete = bool(wrong or differing) and not of_wrong and not of_differing
        """Whether none of the wrong words was written."""
        of_both = [at for at in of_wrong if at in of_differing]
        self._judged = of_both or of_wrong or of_differing or self._stores

    def _stores_to(self, offsets: Collection[int]) -> list[int]:
        """The stores that changed bytes at these offsets."""
        seen = self._seen
        return [
            at
            for at in self._stores
            if any(seen[at][one] != seen[at + 1][one] for one in offsets if one < len(seen[at]))
        ]

    def place(self, aspect: str) -> Place | None:
        """The place that a failure comes from."""
        if aspect == MASK:
            return self._masked()
        if aspect == FETCHED:
            return self._maintenance() or self._wrote()
        if aspect == OTHERS_DATA:
            return self._wrote(0, WROTE_OTHERS)
        if aspect == WHOLE:
            return self._wrote(self._unhandled())
        if aspect == HALF_DONE:
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
            if place is not None:
                return place
            answer = self._place(end - 1, f"made the answer; {none}", in_slot=True)
            return answer and at_return(self._bench.variant.spec.port.directory, answer)
        if self.is_incomplete:
            return self._wrote(how=INCOMPLETE)
        return self._last_store()

    def _answer(self) -> int:
        """The number of steps up to the one that wrote the result register last."""
        register = self._bench.isa.abi.results[0]
        values = [step.registers[register] & STATUS for step in (self._before, *self._steps)]
        last = len(self._steps)
        return next((at for at in range(last, 0, -1) if values[at - 1] != values[-1]), last)

    def _question(self, end: int, how: str, beside: int | None = None) -> Place | None:
        """The last conditional branch or move before a step.

        ``beside``: in the same function as the instruction of this step; it may be an inline one.
        """
        inside = None if beside is None else self._function(beside)
        for at in range(end - 1, -1, -1):
            if not self._is_question(at):
                continue
            if inside is not None and self._function(at) != inside:
                continue
            executed = self._executed(at, in_slot=False)
            if is_of_port(self._bench.image, executed[-1]):
                return question(self._bench.image, executed, how)
        return None

    @property
    def is_refused(self) -> bool:
        """Whether the function returned an error and wrote nothing."""
        result = self._bench.isa.abi.results[0]
        return bool(self._steps and not self._stores and self._steps[-1].registers[result] & STATUS)

    def compared(self) -> Place | None:
        """What made the word with which one of the site's was compared last, before an error.

        The other one is what the site has.
        """
        isa, mask = self._bench.isa, self._mask
        steps = range(self._answer() - 1, -1, -1)
        asked = next((at for at in steps if self._is_question(at)), 0)
        how = "made the word that the site was compared with"
        if isa.unit == 1:
            made = self._path.compared(asked, self._watched)
            return None if made is None else self._place(made, how)
        site = {isa.value(one) for one in isa.split(self._before.memory)}
        for at in range(asked, max(asked - COMPARED_BEFORE, 0), -1):
            before = self._steps[at - 1].registers
            text = self._bench.code.disassembled(self._steps[at].address)
            values = [before[name] & mask for name in registers_in(text, isa)]
            wrong = [value for value in values if value not in site]
            if len(values) == 2 and len(wrong) == 1 and wrong[0]:
                held = (self._holds(step, wrong[0]) for step in self._steps)
                made = next((number for number, holds in enumerate(held) if holds), at)
                right = next(value for value in values if value in site)
                return self._place(self._part(made, wrong[0], right), how, in_slot=True)
        return None

    def _part(self, made: int, word: int, right: int) -> int:
        """The step that made the part of a word which is wrong; ``made`` if the word has no parts.

        A word has parts if the step that made it joined two registers with no bit in common.
        """
        isa, code, wrong = self._bench.isa, self._bench.code, word ^ right
        if not wrong:
            return made
        mask = self._mask
        for _ in range(MOST_PARTS):
            before = self._registers(made)
            names = registers_in(code.disassembled(self._steps[made].address), isa)
            # The result comes first; with two names it is an operand too.
            parts = {before[name] & mask: name for name in names[-2:]}
            near, *far = sorted(parts, key=lambda value: _distance(value, wrong)) or [0]
            if len(far) != 1 or near & far[0] or near | far[0] != word:
                break
            if not (near and far[0]) or _distance(near, wrong) == _distance(far[0], wrong):
                break
            word, name = near, parts[near]
            steps = range(made - 1, -1, -1)
            values = self._registers
            made = next((at for at in steps if values(at)[name] != values(at + 1)[name]), made)
        return made

    def _registers(self, step: int) -> dict[str, int]:
        """The registers before a step."""
        return (self._steps[step - 1] if step else self._before).registers

    def _holds(self, step: WatchedStep, word: int) -> bool:
        """Whether a register holds a word of instructions after a step."""
        return any(value & self._mask == word for value in step.registers.values())

    def _is_question(self, step: int) -> bool:
        linked = self._bench.code.linked(self._steps[step].address)
        return self._bench.isa.cpu.is_conditional(linked)

    def _function(self, step: int) -> object:
        """The function of an instruction, with the calls of inline functions that it is in."""
        image, address = self._bench.image, self._steps[step].address
        return image.function_at(address), image.inlined_calls(address)

    def _last_store(self) -> Place | None:
        """The instruction that made the word written last, or wrote it if it existed before.

        It is a wrong word, if it is known which are.  If it calls an address that was not asked
        for, it is what made that address.
        """
        chosen = self._chosen()
        if chosen is not None:
            return self._place(chosen, "made the address that is called", in_slot=True)
        made = self._byte_maker() if self._bench.isa.unit == 1 else self._maker()
        place = None if made is None else self._made_at(made)
        return place or self._of_the_port(self._judged[-1], WROTE)

    def _wrote(self, number: int = -1, how: str = WROTE) -> Place | None:
        """A store to what is watched."""
        return self._of_the_port(self._stores[number], how) if self._stores else None

    def _unhandled(self) -> int:
        """The first store but the last after which the code is not what the port handles.

        0 where ports handle nothing: there one store is all that is needed.
        """
        handled, seen = self._bench.isa.sites.while_changed, self._seen
        changed = (at for at in range(len(seen[0])) if any(one[at] != seen[0][at] for one in seen))
        first = next(changed, 0)
        return next(
            (
                number
                for number, store in enumerate(self._stores[:-1])
                if handled and not seen[store + 1].startswith(handled, first)
            ),
            0,
        )

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
        """The first instruction after which a register held the word of `_last_store`.

        Or the one that made the wrong part of it, if it is known what is right.
        """
        if not self._stores:
            return None
        store = self._judged[-1]
        isa = self._bench.isa
        old, right = self._seen[store], self._right
        changed: list[tuple[int, int | None]] = []
        at = 0
        for code in isa.split(self._seen[store + 1]):
            place = slice(at, at + len(code))
            if code != old[place]:
                known = isa.value(right[place]) if right else None
                changed.append((isa.value(code), known))
            at = place.stop
        pairs = (pair for pair in changed if pair[0] != pair[1])
        word, wanted = next(pairs, changed[0] if changed else (0, None))
        # A nop of zeros, or a value that was already in a register, shows nothing.
        if not word or self._holds(self._before, word):
            return None
        made = (at for at, step in enumerate(self._steps[:store]) if self._holds(step, word))
        step = next(made, None)
        return step if step is None or wanted is None else self._part(step, word, wanted)

    def _chosen(self) -> int | None:
        """The first step after which a register held an address that the code calls wrongly.

        None if a register held it before, or none does: then the call was encoded so.
        """
        isa, calls, start = self._bench.isa, self._bench.code.calls, self._watched.start
        if isa.unit == 1:
            # The text may begin in the middle of an instruction.
            return None
        old, new = ({*calls(start, text)} for text in (self._seen[0], self._seen[-1]))
        wanted = {*calls(start, self._right)} if self._right else set()
        targets = {target for _, target in new - old - wanted}
        states = [self._before, *self._steps[: self._judged[-1]]]
        held = (any(isa.pointed_to(one) in targets for one in s.registers.values()) for s in states)
        first = next((at for at, holds in enumerate(held) if holds), 0)
        return first - 1 if first else None

    def _byte_maker(self) -> int | None:
        """What put the last wrong byte into memory from which it was copied to the code."""
        store = self._judged[-1]
        offsets = range(len(self._seen[-1]))
        differs = [at for at in offsets if self._seen[store][at] != self._seen[store + 1][at]]
        wrong = [at for at in differs if self._right and self._seen[-1][at] != self._right[at]]
        return self._path.source(store, self._watched.start + [*wrong, *differs][0])

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


def _distance(value: int, bits: int) -> int:
    """How far the set bits of a value are from the nearest one of ``bits``."""

    def places(number: int) -> list[int]:
        return [at for at in range(number.bit_length()) if number >> at & 1]

    pairs = (abs(one - other) for one in places(value) for other in places(bits))
    return min(pairs, default=value.bit_length())
