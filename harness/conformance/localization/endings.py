# SPDX-License-Identifier: MIT
"""Why a traced call came to no end: the port's last instruction, or what led to it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import pairwise

from harness.conformance.places import is_of_port, last_place
from harness.conformance.under_test.registers import (
    address_in,
    base_of,
    names_memory,
    registers_in,
)
from harness.conformance.under_test.traced_call import BELOW, BELOW_STACK, HANDLER, Registers
from harness.conformance.under_test.ways import TracedStep, Way, Ways
from harness.conformance.verdict import LAST, Place

DOUBLE = 8
"""Bytes of the widest register that a stub stores alone; CPUs may refuse it misaligned."""


class Endings(Ways):
    """The paths of a call, and where one that was not finished went wrong."""

    def last_instruction(self) -> Place | None:
        """The last instruction of the port before the guest died or hung.

        Or the one that made the address, if the port went where no function is.
        """
        way, home = self._way(home=False, values=False), False
        if way.arrived:
            # A call that is not hijacked does not return through the port.
            back = self._way(home=True, values=False)
            if back.steps:
                way, home = back, True
        steps = way.steps
        last = self._place(steps, len(steps) - 1, LAST)
        return (
            self._off_stack(home)
            or self._went_astray(steps, home)
            or self._misaligned(way, home)
            or self._popped(home)
            or self._fell_through(steps)
            or last
        )

    def _misaligned(self, died: Way, home: bool) -> Place | None:
        """Where the port misaligned the stack pointer, if its last store was refused then."""
        if died.arrived:
            return None
        image, isa = self.bench.image, self.bench.isa
        before, _, steps, _ = self._way(home)
        # What follows is the kernel's, which has found an exception.
        of_port = [at for at, step in enumerate(steps) if is_of_port(image, step.address)]
        if not of_port:
            return None
        last, stack = steps[of_port[-1]], isa.abi.stack_register
        if self._went_on(last) or not isa.cpu.is_store(self.bench.code.linked(last.address)):
            return None
        moved = [0, *((step.registers[stack] - before[stack]) % DOUBLE for step in steps)]
        if not moved[of_port[-1]]:
            return None
        at = max(at for at in range(of_port[-1]) if not moved[at])
        return self._place(steps, at, f"left {stack} misaligned", in_slot=True)

    def _off_stack(self, home: bool) -> Place | None:
        """What moved the stack pointer last, if the stub went on elsewhere with a wrong one.

        Or where it went from, if its frame is left there.
        """
        isa = self.bench.isa
        before, _, steps, arrived = self._way(home)
        ends, astray = self._returns(steps), self._leaves_code(steps)
        if astray is not None and self._is_stub(steps[astray]) and not self._calls(steps, astray):
            ends.append(astray)
        if arrived or not ends:
            return None
        last, name = max(ends), isa.abi.stack_register
        stack = [before[name], *(step.registers[name] for step in steps)]
        off = stack[last + 1] - stack[0]
        off -= 0 if home else isa.abi.at_site(self.bench.form).pops
        if not off:
            return None
        # Calls and returns move it too, and are not to blame.
        moved = [
            at
            for at, step in enumerate(steps[:last])
            if self._is_stub(step) and self._went_on(step) and stack[at] != stack[at + 1]
        ]
        if not moved or off < 0 > stack[moved[-1] + 1] - stack[moved[-1]]:
            return self._place(steps, last, f"returned with {name} at {off:+d}")
        how = f"moved {name} last, which is at {off:+d} where the stub returns"
        return self._place(steps, moved[-1], how, in_slot=True)

    def _popped(self, home: bool) -> Place | None:
        """The store of the return address that the stub popped last, or else the one beside.

        Or the call that returned the address.
        """
        before, _, steps, arrived = self._way(home)
        returns = self._returns(steps)
        if arrived or not returns:
            return None
        last, isa = returns[-1], self.bench.isa
        word = steps[last].registers[isa.abi.stack_register] - isa.word_size
        stores = self._stores_by_distance(before, steps[:last], word)
        if not stores:
            return None
        beside = min(stores)
        asked = next((at for at, step in enumerate(steps) if step.ran == HANDLER), 0)
        if beside and asked:
            how = "returns the address, which is not stored to be popped"
            return self._place(steps, asked, how)
        how = (
            "is beside the popped address, which is not stored" if beside else "stored that address"
        )
        return self._place(steps, stores[beside][-1], how, in_slot=True)

    def _returns(self, steps: Sequence[TracedStep]) -> list[int]:
        """The stub's returns that pop the address, and do not go back into the port's code."""
        isa, code, image = self.bench.isa, self.bench.code, self.bench.image
        name = isa.abi.stack_register
        found = []
        for at, (ahead, step) in enumerate(pairwise(steps), 1):
            pops = step.registers[name] != ahead.registers[name]
            returns = pops and self._is_stub(step) and isa.cpu.is_return(code.linked(step.address))
            to = image.function_at(step.to) if returns else None
            is_inside = to is not None and to.address != step.to and is_of_port(image, step.to)
            if returns and not is_inside:
                found.append(at)
        return found

    def _calls(self, steps: Sequence[TracedStep], at: int) -> bool:
        """Whether a step is a call: it sets the return address, or pushes it."""
        abi, step = self.bench.isa.abi, steps[at]
        if not abi.return_register:
            before = steps[at - 1].registers if at else step.registers
            return step.registers[abi.stack_register] < before[abi.stack_register]
        back = self.bench.isa.pointed_to(step.registers[abi.return_register])
        return 0 < back - step.address <= 2 * self.bench.isa.longest

    def _fell_through(self, steps: Sequence[TracedStep]) -> Place | None:
        """Where the stub went on into the function that stands behind, without a jump."""
        function_at = self.bench.image.function_at
        for at, step in enumerate(steps):
            behind = function_at(step.to)
            if behind is None or behind.address != step.to:
                continue
            if self._is_stub(step) and self._went_on(step):
                how = f"went on into {behind.name}, which stands behind"
                return self._place(steps, at, how, in_slot=True)
        return None

    def astray(self) -> Place | None:
        """The port's instruction that went to no function on the way in, or made that address."""
        steps = self._way(home=False, values=False).steps
        went = self._leaves_code(steps)
        if went is None:
            return None
        last = "went where no function is"
        return self._went_astray(steps, home=False) or self._place(steps, went, last)

    def loads_again(self, word: int) -> Place | None:
        """The stub's last load of a word that it has loaded before; None if it has not."""
        before, _, steps, _ = self._way(home=False)
        loads = [
            at
            for at, step in enumerate(steps)
            if self._is_stub(step) and word in self._accesses(before, steps, at, stores=False)
        ]
        how = "loads again what may have changed since"
        return self._place(steps, loads[-1], how) if len(loads) > 1 else None

    def _leaves_code(self, steps: Sequence[TracedStep]) -> int | None:
        image = self.bench.image
        of_port = (at for at, step in enumerate(steps) if is_of_port(image, step.address))
        return next((at for at in of_port if not self._is_code(steps[at].to)), None)

    def _went_astray(self, steps: Sequence[TracedStep], home: bool) -> Place | None:
        """The instruction that made the address where the port went and no function is."""
        pointed_to, astray = self.bench.isa.pointed_to, self._leaves_code(steps)
        if astray is None:
            return None
        there = steps[astray].to
        before, _, known, _ = self._way(home)
        # Jumps of some processors clear the lowest bit.
        is_it: Callable[[int], bool] = lambda found: pointed_to(found) | 1 == there | 1  # noqa: E731
        made = [*self._makes(before, known[:astray], is_it)]
        how = "made the address of no function, where the port went"
        if not made:
            return None
        # The value may have been made before for something else, and lost.
        at = made[-1]
        beside = self._never_stored(before, known, at, known[at].registers)
        return beside or self._place(known, at, how, in_slot=True)

    def _never_stored(
        self, before: Registers, steps: Sequence[TracedStep], at: int, names: Iterable[str]
    ) -> Place | None:
        """The stub's store beside a word that a step loads into a register, and nothing has stored.

        The stack below the call was overwritten before.  ``names`` are those of the registers.
        """
        word = next(self._accesses(before, steps, at, stores=False), None)
        if word is None or not self._is_stub(steps[at]):
            return None
        was = steps[at - 1].registers if at else before
        patterns = set(self.bench.registers.words(BELOW_STACK, BELOW))
        now, mask = steps[at].registers, self.bench.isa.mask
        # Vectors are wider.
        loaded = [name for name in names if was[name] != now[name] and now[name] & mask in patterns]
        if not loaded:
            return None
        stores = self._stores_by_distance(before, steps[:at], word)
        how = f"is beside what is loaded into {', '.join(loaded)}, which nothing has stored"
        return self._place(steps, stores[min(stores)][0], how, in_slot=True) if stores else None

    def _stores_by_distance(
        self, before: Registers, steps: Sequence[TracedStep], word: int
    ) -> dict[int, list[int]]:
        """The stub's stores, the first one first, by how far they are from a word in memory."""
        stores: dict[int, list[int]] = {}
        for at, step in enumerate(steps):
            if self._is_stub(step):
                for where in self._accesses(before, steps, at, stores=True):
                    stores.setdefault(abs(where - word), []).append(at)
        return stores

    def _accesses(
        self, before: Registers, steps: Sequence[TracedStep], at: int, *, stores: bool
    ) -> Iterator[int]:
        """What a step loads from or stores to; it may take a delay slot along."""
        code, isa = self.bench.code, self.bench.isa
        registers = steps[at - 1].registers if at else before
        for address in dict.fromkeys((steps[at].address, code.in_slot(steps[at].address))):
            where = address_in(code.disassembled(address), registers, isa)
            if where is not None and isa.cpu.is_store(code.linked(address)) == stores:
                yield where

    def _loads(self, step: TracedStep, register: str) -> bool:
        """Whether an instruction loads a register."""
        isa, code = self.bench.isa, self.bench.code
        text = code.disassembled(step.address)
        is_load = names_memory(text) and not isa.cpu.is_store(code.linked(step.address))
        return is_load and register in registers_in(text, isa) and register != base_of(text, isa)

    def _stored(self, before: Registers, step: TracedStep) -> Registers:
        """The registers that a store names, without that of its address."""
        isa, text = self.bench.isa, self.bench.code.disassembled(step.address)
        return {one: before[one] for one in registers_in(text, isa) if one != base_of(text, isa)}

    def _is_code(self, address: int) -> bool:
        image = self.bench.image
        return image.function_at(address) is not None or is_of_port(image, address)

    def _makes(
        self,
        before: Registers,
        steps: Sequence[TracedStep],
        is_it: Callable[[int], bool],
        but: Collection[str] = (),
    ) -> Iterator[int]:
        """The port's steps, or its calls, after which a register holds what none held before.

        ``but`` are registers that are not looked at.
        """
        names = [name for name in self.bench.isa.abi.general_registers if name not in but]
        held = any(is_it(before[name]) for name in names)
        for at, step in enumerate(steps):
            holds = any(is_it(step.registers[name]) for name in names)
            if holds and not held and (step.ran or is_of_port(self.bench.image, step.address)):
                yield at
            held = holds

    def _went_on(self, step: TracedStep) -> bool:
        """Whether the next instruction was executed behind it."""
        return 0 < step.to - step.address <= self.bench.isa.longest

    def _is_stub(self, step: TracedStep) -> bool:
        """Whether it is an instruction of the port's assembly."""
        image, address = self.bench.image, step.address
        return not step.ran and image.is_assembled(address) and is_of_port(image, address)

    def _place(
        self,
        steps: Sequence[TracedStep],
        at: int,
        how: str,
        *,
        in_slot: bool = False,
        calls: Sequence[int] | None = None,
    ) -> Place | None:
        """The port's instruction at or before a step.

        ``in_slot``: it is the one in the delay slot, if it has one, for the branch changes nothing.
        ``calls`` as of `place_of`; the open ones by default.
        """
        image, executed = self.bench.image, [step.address for step in steps[: at + 1]]
        if in_slot and not steps[at].ran:
            executed = self.bench.code.with_slot(executed)
        return last_place(image, executed, how, calls)
