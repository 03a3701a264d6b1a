# SPDX-License-Identifier: MIT
"""The instruction of a patching function that a failure comes from, among the steps of a call."""

from dataclasses import replace
from errno import ERANGE
from functools import partial

from harness.conformance.findings import FETCHED, ORDERED, WHOLE
from harness.conformance.localization.memory_path import COMPARED_BEFORE
from harness.conformance.localization.written_words import WrittenWords
from harness.conformance.places import (
    at_return,
    merged_statement,
    outside_of_inline,
    port_file,
    where_named,
)
from harness.conformance.under_test.registers import names_memory, registers_in
from harness.conformance.under_test.single_step import WAITING
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

OUT_OF_REACH = -ERANGE & STATUS
"""What a port answers about a target that it cannot reach."""

MOST_OPERANDS = 8
"""The most instructions of a condition that are followed to what they compute with."""

UNWRITTEN = "no code was written"
UNASKED = "stored to the code; the port has decided nothing before"
WAITED_EARLY = "waits until all CPUs see what was written; nothing was"
COMPARED = "made the word that the site was compared with"


class Search(WrittenWords):
    """The place of a failure among the steps of one call."""

    def place(self, aspect: str) -> Place | None:
        """The place that a failure comes from."""
        if aspect == MASK:
            return self._masked()
        if aspect == FETCHED:
            return self._maintenance() or self._wrote()
        if aspect == OTHERS_DATA:
            return self._wrote(0, WROTE_OTHERS)
        if aspect == WHOLE:
            return self._waited_early() or self._wrote(self._unhandled())
        if aspect == ORDERED:
            return self._wrote(0)
        if aspect == HALF_DONE:
            return self._wrote(0)
        if aspect == REACH and (made := self._maker()) is not None:
            # The range has to be checked where the word is made, or before.
            beside = self._question(self._stores[0], "asked last where the word was made", made)
            before = "asked last before the word was made"
            return beside or self._question(made, before) or self._made_at(made)
        if aspect == REACH and (made := self._whole_distance()) is not None:
            return self._place(made, "made a distance of which only the lower half was written")
        if aspect in (REFUSAL, REACH):
            # A request is accepted at the last conditional branch before the first store.
            end = self._first_written()
            last = self._question(end, "asked last before the code was written")
            stored = end < len(self._steps)
            return last or (self._of_the_port(end, UNASKED) if stored else None)
        if self._misplaced:
            return self._address_maker() or self._last_store()
        if not self._stores:
            asked = f"asked last; {UNWRITTEN}"
            again = self._written_again()
            return again or self._question(self._answer(), asked) or self._answered()
        if self.is_incomplete:
            return self._wrote(how=INCOMPLETE)
        if self.right and not self.is_wrong and self._status:
            return self._answered("the code is as it has to be")
        return self._last_store()

    def half_distance(self) -> Place | None:
        """What made only the lower half of the distance to a target out of reach."""
        made = self._half_distance()
        how = "made the lower half of the distance, which is in reach"
        return None if made is None else self._place(made, how, in_slot=True)

    def done_nothing(self) -> Place | None:
        """What made the answer of a call that wrote no code, if no decision was wrong.

        Or the word with which nothing was changed; None if the answer is an error.
        """
        if self.is_refused:
            return None
        return self._written_again() or self._answered()

    def _written_again(self) -> Place | None:
        made = self._rewritten()
        how = "made the word that was written again"
        place = None if made is None else self._place(made, how, in_slot=True)
        # A function that reads a word, inline, is not wrong; what its caller does with it is.
        is_load = place is not None and names_memory(place.instruction)
        if place is None or made is None or is_load:
            return place and outside_of_inline(self._bench.image, place)
        # It may be the address of something, which is named elsewhere.
        value = {self._registers(made + 1)[name] for name in self._named(made)[:1]}
        names = [name for name, at in self._bench.image.symbols.items() if at in value]
        return where_named(self._bench.variant.spec.port.directory, place, names)

    @property
    def _status(self) -> int:
        """What the function returned; 0 is success."""
        return self._steps[-1].registers[self._bench.isa.abi.results[0]] & STATUS

    def _answered(self, but: str = UNWRITTEN) -> Place | None:
        isa, code, first = self._bench.isa, self._bench.code, self._answer() - 1
        if not self._steps:
            return None
        # The answer may be the value that the register held already.
        made = [
            at
            for at in range(first, len(self._steps))
            if self._named(at)[:1] == [isa.abi.results[0]]
            and not isa.cpu.is_store(code.linked(self._steps[at].address))
            and not isa.cpu.is_conditional(code.linked(self._steps[at].address))
        ]
        place = self._place([first, *made][-1], f"made the answer; {but}", in_slot=True)
        called = self._bench.image.function_at(self._before.address)
        if place and called and place.function != called.name:
            # Others have made it: what is wrong is that nothing comes behind.
            place = self._question(len(self._steps), f"asked last; {but}") or place
        return place and at_return(self._bench.variant.spec.port.directory, place)

    def _answer(self) -> int:
        """The number of steps up to the one that wrote the result register last."""
        register = self._bench.isa.abi.results[0]
        values = [step.registers[register] & STATUS for step in (self._before, *self._steps)]
        last = len(self._steps)
        return next((at for at in range(last, 0, -1) if values[at - 1] != values[-1]), last)

    @property
    def is_refused(self) -> bool:
        """Whether the function returned an error and wrote nothing."""
        return bool(self._steps and not self._stores and self._status)

    def compared(self) -> Place | None:
        """What made the word with which one of the site's was compared last, before an error.

        The other one is what the site has.  ERANGE is about the target.
        """
        if self._status == OUT_OF_REACH:
            return None
        mask, asked = self._mask, self._asked()
        site = {word for _, word in self._words(self._before.memory)}
        for at in range(asked, max(asked - COMPARED_BEFORE, 0), -1):
            before = self._steps[at - 1].registers
            names = self._named(at)
            values = [before[name] & mask for name in names]
            wrong = [value for value in values if value not in site]
            if len(values) == 2 and len(wrong) == 1 and wrong[0]:
                right = next(value for value in values if value in site)
                distance = self._compared_distance(wrong[0], right)
                if distance is not None:
                    how = "made the distance of the call that the site was compared with"
                    return self._place(distance, how, in_slot=True)
                made = self._first_held(partial(self._is_word, wrong[0]))
                if made is None:
                    # A register had it before, by chance.
                    made = self._last_write(names[values.index(wrong[0])], at) or at
                return self._place(self._part(made, wrong[0], right), COMPARED, in_slot=True)
        return None

    def asked_about(self) -> Place | None:
        """What made the value about which the last decision before ERANGE is, in another line.

        In its own line the condition computes with it.
        """
        asked, line = self._asked(), self._bench.image.source_line
        if not asked or self._status != OUT_OF_REACH:
            return None
        # Flags are set in front of the branch.
        left = [(at, name) for at in (asked, asked - 1) for name in self._named(at)]
        for _ in range(MOST_OPERANDS):
            if not left:
                break
            at, name = left.pop(0)
            made = self._last_write(name, at)
            if made is None:
                continue
            if line(self._steps[made].address) != line(self._steps[asked].address):
                return self._place(made, "made what is asked about", in_slot=True)
            left += [(made, name) for name in self._named(made)[1:]]
        return None

    def _named(self, step: int) -> list[str]:
        """The registers that an instruction names."""
        return registers_in(
            self._bench.code.disassembled(self._steps[step].address), self._bench.isa
        )

    def _asked(self) -> int:
        """The last conditional branch or move before the answer."""
        return next(self._questions(self._answer()), 0)

    def _compared_distance(self, word: int, right: int) -> int | None:
        """What made the distance by which a word calls, where the site has the right one."""
        offset = next(start for start, one in self._words(self._before.memory) if one == right)
        codes = (self._code(one) for one in (word, right))
        return self._distance_maker(self.watched.start + offset, *codes)

    def _last_store(self) -> Place | None:
        """The instruction that made the word written last, or wrote it if it existed before.

        It is a wrong word, if it is known which are.  If it calls an address that was not asked
        for, it is what made that address.
        """
        chosen = self._chosen()
        if chosen is not None:
            place = self._place(chosen, "made the address that is called", in_slot=True)
            return place and self._decided_for(chosen, place)
        return self._made() or self._of_the_port(self._judged[-1], WROTE)

    def _made(self) -> Place | None:
        """The instruction that made the word written last."""
        made = self._maker()
        return None if made is None else self._made_at(made)

    def _wrote(self, number: int = -1, how: str = WROTE) -> Place | None:
        """A store to what is watched."""
        return self._of_the_port(self._stores[number], how) if self._stores else None

    def _waited_early(self) -> Place | None:
        """The port's call that waits for all CPUs to see a store, before there was any."""
        waiting = self._bench.image.symbols.get(WAITING)
        stored = self._stores[0] if self._stores else 0
        waits = (at for at in range(stored) if self._steps[at].address == waiting)
        at = next(waits, None)
        return None if at is None else self._of_the_port(at, WAITED_EARLY)

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

    def _made_at(self, step: int) -> Place | None:
        place = self._place(step, "made the word that was written", in_slot=True)
        return place and self._with_operands_line(step, place)

    def _with_operands_line(self, step: int, place: Place) -> Place:
        """The place at the line of an operand, if the instruction is in a delay slot.

        Debug information gives an instruction there the line of its branch.  If all operands were
        made in delay slots too, it is the line of the store that the result is for.
        """
        if not self._in_slot(step):
            return place
        text = self._bench.code.disassembled(self._changes(step))
        made = (self._last_write(name, step) for name in registers_in(text, self._bench.isa)[1:])
        own = [at for at in made if at is not None and not self._in_slot(at)]
        at = max(own, default=self._stored_at(step, text))
        other = None if at is None else self._place(at, place.how)
        if other is None or other.function != place.function:
            return place
        return replace(place, file=other.file, line=other.line, callers=other.callers)

    def _stored_at(self, step: int, text: str) -> int | None:
        """The first store of what a step has made; None if it is changed before."""
        isa, code = self._bench.isa, self._bench.code
        result = registers_in(text, isa)[:1]
        for at in range(step + 1, len(self._steps)):
            changes = self._changes(at)
            if registers_in(code.disassembled(changes), isa)[:1] == result:
                return at if isa.cpu.is_store(code.linked(changes)) else None
        return None

    def _decided_for(self, step: int, place: Place) -> Place:
        """The place in the statement under the last decision, if that has the same text."""
        last = next(self._questions(step, beside=step), None)
        image = self._bench.image
        line = None if last is None else image.source_line(self._steps[last].address)
        if line is None or port_file(line.file) != place.file:
            return place
        return merged_statement(self._bench.variant.spec.port.directory, place, line.line)

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
