# SPDX-License-Identifier: MIT
"""What made the words that a call of a patching function wrote, among its steps."""

import re
from collections.abc import Collection, Sequence
from functools import partial

from harness.conformance.places import where_named
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.registers import address_in, names_memory, registers_in
from harness.conformance.under_test.watched_call import WatchedCall, WatchedStep
from harness.conformance.verdict import Place

_OFFSET = re.compile(r"-?\b(?:0x[0-9a-f]+|\d+)\b")
"""A number in a disassembled instruction."""

HALF = (1 << 32) - 1
"""The lower half of a register of 64 bits."""

MOST_PARTS = 4
"""The most joins of parts of one word."""


class WrittenWords(WatchedCall):
    """The stores of one call to what is watched, and what made their words."""

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
        super().__init__(bench, before, steps)
        self._seen = seen = [before.memory, *(step.memory for step in steps)]
        self._stores = [at for at in range(len(steps)) if seen[at] != seen[at + 1]]
        self.right = right
        self.watched = range(start, start + len(before.memory))
        self._wrong = wrong
        longest = bench.isa.longest
        of_wrong = self._stores_to(
            {one for start in wrong for one in range(start, start + longest)}
        )
        differing = [at for at in range(len(right)) if right[at] != seen[-1][at]]
        of_differing = self._stores_to(differing)
        self.is_incomplete = bool(wrong or differing) and not of_wrong and not of_differing
        """Whether none of the wrong words was written."""
        self._needed = needed = [at for at in range(len(right)) if right[at] != before.memory[at]]
        """The offsets of what has to change, if it is known."""
        self._misplaced = [] if self._stores_to(needed) or not needed else self._stores
        """The stores, if all are to other places than the one that has to change."""
        of_both = [at for at in of_wrong if at in of_differing]
        self._judged = of_both or of_wrong or of_differing or self._stores

    @property
    def changed(self) -> list[int]:
        """The addresses of the bytes that the call has changed."""
        before, after = self._seen[0], self._seen[-1]
        return [
            at for at, *both in zip(self.watched, before, after, strict=True) if len({*both}) > 1
        ]

    def _stores_to(self, offsets: Collection[int]) -> list[int]:
        """The stores that changed bytes at these offsets."""
        seen = self._seen
        return [
            at
            for at in self._stores
            if any(seen[at][one] != seen[at + 1][one] for one in offsets if one < len(seen[at]))
        ]

    def _first_written(self) -> int:
        """The first step that stores to what is watched, also what is there already.

        The number of steps if none does.
        """
        isa, code = self._bench.isa, self._bench.code
        first = self._stores[0] if self._stores else len(self._steps)
        for at in range(first):
            address = self._changes(at)
            where = address_in(code.disassembled(address), self._registers(at), isa)
            if where in self.watched and isa.cpu.is_store(code.linked(address)):
                return at
        return first

    @property
    def is_wrong(self) -> bool:
        """Whether it is known what the memory has to be after the call, and it is not that."""
        return bool(self.right) and self._seen[-1] != self.right

    @property
    def wrote(self) -> bool:
        """Whether any code was written."""
        return bool(self._stores)

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
            names = registers_in(code.disassembled(self._changes(made)), isa)
            # The result comes first; with two names it is an operand too.
            parts = {before[name] & mask: name for name in names[-2:]}
            near, *far = sorted(parts, key=lambda value: _distance(value, wrong)) or [0]
            if len(far) != 1 or near & far[0] or near | far[0] != word:
                break
            if not (near and far[0]) or _distance(near, wrong) == _distance(far[0], wrong):
                break
            word, name = near, parts[near]
            last = self._last_write(name, made)
            if last is not None and self._in_slot(last):
                # Debug information gives an instruction there the line of its branch.
                break
            made = made if last is None else last
        return made

    def _maker(self) -> int | None:
        """The first instruction after which a register held the word that was written last.

        Or the one that made the wrong part of it, if it is known what is right.
        """
        if not self._stores:
            return None
        store = self._judged[-1]
        isa = self._bench.isa
        old, right = self._seen[store], self.right
        wanted = dict(self._words(right))
        changed = [
            (word, wanted.get(at))
            for (at, word), (_, was) in zip(
                self._words(self._seen[store + 1]), self._words(old), strict=True
            )
            if word != was
        ]
        wrong = [pair for pair in changed if pair[0] != pair[1]] or changed
        # Words of long instructions that begin at each short one overlap.
        for word, known in wrong if isa.unit < isa.longest else wrong[:1]:
            # A nop of zeros, or a value that was already in a register, shows nothing.
            made = self._first_held(partial(self._is_word, word)) if word else None
            if made is not None and made < store:
                return made if known is None else self._part(made, word, known)
        return None

    def _distance_maker(self, address: int, code: bytes, right: bytes) -> int | None:
        """The first step after which a register held the distance of a call that is not right.

        None if no register held it: then the call was encoded so.  Processors count from the call,
        or from an instruction or two behind it.
        """
        isa, calls = self._bench.isa, self._bench.code.calls
        wrong = {*calls(address, code)} - {*calls(address, right)}
        behind = range(2 * isa.longest + 1)
        distances = {target - at - more & isa.mask for at, target in wrong for more in behind}
        return self._first_held(lambda value: value & isa.mask in distances)

    def _whole_distance(self) -> int | None:
        """The first step after which a register held a distance that the code has only half of."""
        distances = self._halved()
        return self._first_held(lambda value: value & self._bench.isa.mask in distances)

    def _half_distance(self) -> int | None:
        """The first step that made only the lower half of a distance between site and target.

        None if a register held all of it, or the code calls the target.
        """
        lower = {distance & HALF for distance in self._halved()}
        if not lower or self._whole_distance() is not None:
            return None
        return self._first_held(lambda value: value & HALF in lower)

    def _halved(self) -> set[int]:
        """The distances to an argument of which only the lower half is in what was written.

        Empty where registers have no halves of 32 bits, as an ``int`` has.
        """
        isa, calls, start = self._bench.isa, self._bench.code.calls, self.watched.start
        old, new = ({*calls(start, text)} for text in (self._seen[0], self._seen[-1]))
        arguments = [self._before.registers[name] & isa.mask for name in isa.abi.argument_registers]
        return {
            target - at - more & isa.mask
            for at, called in new - old
            for target in arguments
            if isa.mask > HALF and target != called and not (target ^ called) & HALF
            for more in range(2 * isa.longest + 1)
        }

    def _chosen(self) -> int | None:
        """The first step after which a register held an address that the code calls wrongly.

        None if a register held it before, or none does: then the call was encoded so.
        """
        isa, calls, start = self._bench.isa, self._bench.code.calls, self.watched.start
        old, new = ({*calls(start, text)} for text in (self._seen[0], self._seen[-1]))
        wanted = {*calls(start, self.right)} if self.right else set()
        targets = {target for _, target in new - old - wanted}
        made = self._first_held(lambda value: isa.pointed_to(value) in targets)
        return made if made is None or made < self._judged[-1] else None

    def _address_maker(self) -> Place | None:
        """What made the address of a store to another place."""
        bench = self._bench
        old, new = (self._seen[self._misplaced[0] + more] for more in (0, 1))
        at = self.watched.start + next(n for n in range(len(old)) if old[n] != new[n])
        made = self._first_held(lambda value: bench.isa.pointed_to(value) == at)
        how = "made the address of what was written"
        place = None if made is None else self._place(made, how, in_slot=True)
        names = [name for name, value in bench.image.symbols.items() if value == at]
        return place and where_named(bench.variant.spec.port.directory, place, names)

    def _rewritten(self) -> int | None:
        """The step that made the word with which the last store changed nothing.

        Its address is in a register, perhaps with an offset, and so is the word.
        """
        isa, memory = self._bench.isa, self._before.memory
        for at in range(len(self._steps) - 1, -1, -1):
            address, before = self._steps[at].address, self._registers(at)
            if not isa.cpu.is_store(self._bench.code.linked(address)):
                continue
            text = self._bench.code.disassembled(address)
            names = registers_in(text, isa)
            more = [0, *(int(number, 0) for number in _OFFSET.findall(text))]
            start = self.watched.start
            offsets = [
                isa.pointed_to(before[name]) + other - start for name in names for other in more
            ]
            for offset in (one for one in offsets if one in (self._needed or self._wrong)):
                word = self._word(memory[offset : offset + isa.longest])
                if any(self._is_word(word, before[name]) for name in names):
                    return self._last_made(word, at)
        return None

    def _last_made(self, word: int, before: int) -> int | None:
        """The last step before another that computed a word; the first that loaded it, if none."""
        made = [
            at
            for at in range(before)
            for name, value in self._registers(at + 1).items()
            if self._is_word(word, value) and not self._is_word(word, self._registers(at)[name])
        ]
        text = self._bench.code.disassembled
        computed = [at for at in made if not names_memory(text(self._steps[at].address))]
        return next(iter(computed[-1:] or made[:1]), None)

    def _last_write(self, register: str, before: int) -> int | None:
        """The last step before another that changed a register."""
        values = self._registers
        steps = range(before - 1, -1, -1)
        return next((at for at in steps if values(at)[register] != values(at + 1)[register]), None)


def _distance(value: int, bits: int) -> int:
    """How far the set bits of a value are from the nearest one of ``bits``."""

    def places(number: int) -> list[int]:
        return [at for at in range(number.bit_length()) if number >> at & 1]

    pairs = (abs(one - other) for one in places(value) for other in places(bits))
    return min(pairs, default=value.bit_length())
