# SPDX-License-Identifier: MIT
"""Where the arguments of the C functions come from that a stub calls, and which it forgets."""

from collections.abc import Sequence

from harness.conformance.localization.stub_calls import StubCalls
from harness.conformance.places import is_of_port, open_calls
from harness.conformance.under_test.registers import base_of
from harness.conformance.under_test.traced_call import PREPARE, Registers
from harness.conformance.under_test.ways import TracedStep
from harness.conformance.verdict import LAST, Place


class PassedArguments(StubCalls):
    """The paths of a call, with what is passed on them."""

    def origin(
        self, register: str, function: str, *, home: bool = False, again: bool = False
    ) -> Place | None:
        """Where the value in a register at the entry of a C function came from.

        The port's first instruction after which any register held that value, or the one that last
        wrote the register, if a register held it all the time.  A stack pointer is no argument
        before it is copied.  ``again``: the last such instruction, as the value was lost and made
        again for this function.
        """
        before, _, steps, _ = self._way(home)
        end = self._entry(steps, function)
        if not end:
            return None
        stack = self.bench.isa.abi.stack_register
        but = () if register == stack else (stack,)
        passed = open_calls(self.bench.image, [step.address for step in steps[: end + 1]])
        left_alone = None if home else self._left_alone(steps[:end], register, function)
        if left_alone is not None:
            return left_alone
        value = steps[end - 1].registers[register]
        makes = list(self._makes(before, steps[:end], lambda found: found == value, but))
        if makes:
            at = makes[-1 if again else 0]
            beside = self._never_stored(before, steps, at, self.bench.isa.abi.general_registers)
            unmade = beside or self._loaded_by(steps, at)
            if unmade is not None:
                return unmade
            saved = self._saved_for_return(before, steps, at)
            if saved is not None:
                return self._place(steps, saved, f"saves what is in {register}", in_slot=True)
            ran = steps[at].ran
            made = f"{f'calls {ran}, which ' if ran else ''}made what is in {register}"
            in_slot = steps[at].registers.get(self.bench.isa.abi.return_register) != value
            return self._place(steps, at, made, in_slot=in_slot, calls=passed)
        seen = [before[register], *(step.registers[register] for step in steps[:end])]
        changed = [at for at in range(end) if seen[at] != seen[at + 1]]
        if changed:
            wrote = f"wrote {register} last"
            return self._place(steps, changed[-1], wrote, in_slot=True, calls=passed)
        if home:
            return self._place(steps, end - 1, f"calls {function}; {register} is not made for it")
        return self._argument_beside(function, register)

    def _saved_for_return(
        self, before: Registers, steps: Sequence[TracedStep], at: int
    ) -> int | None:
        """The stub's store of the return address which C code loads in a step.

        It is that if the stub loads it back as the return address too.
        """
        name = self.bench.isa.abi.return_register
        word = next(self._accesses(before, steps, at, stores=False), None)
        if not name or word is None or steps[at].ran or self._is_stub(steps[at]):
            return None
        _, _, every, _ = self._way(home=False)
        put_back = (
            word in self._accesses(before, every, later, stores=False)
            for later in range(at, len(every))
            if self._is_stub(every[later]) and self._loads(every[later], name)
        )
        if not any(put_back):
            return None
        stores = self._stores_by_distance(before, steps[:at], word)
        return max(stores.get(0, ()), default=None)

    def _loaded_by(self, steps: Sequence[TracedStep], at: int) -> Place | None:
        """As of `_left_alone`, of the argument by which C code loads in a step."""
        base = base_of(self.bench.code.disassembled(steps[at].address), self.bench.isa)
        entry = self._entry(steps, PREPARE)
        if base is None or not 0 < entry <= at or steps[at].ran or self._is_stub(steps[at]):
            return None
        passed = self._passed(steps[:entry], steps[at - 1].registers[base])
        return self._left_alone(steps[:entry], passed, PREPARE) if passed else None

    def never_stored(self, function: str) -> Place | None:
        """The stub's store beside a word that it loads as an argument, and nothing has stored."""
        before, _, steps, _ = self._way(home=False)
        names = self.bench.isa.abi.argument_registers
        found = (
            self._never_stored(before, steps, at, names)
            for at in range(self._entry(steps, function))
        )
        return next(filter(None, found), None)

    def last_instruction(self) -> Place | None:
        """As of `Endings`; or what made the wrong address with which the port's C code died."""
        place = super().last_instruction()
        is_last = place is not None and place.how == LAST
        return (self._no_address() if is_last else None) or place

    def _no_address(self) -> Place | None:
        """What made the argument to which the port's C code came last, to load or store there."""
        image, isa = self.bench.image, self.bench.isa
        home = self._way(home=False, values=False).arrived
        _, _, steps, _ = self._way(home)
        inside = (at for at in range(len(steps) - 1, 0, -1) if is_of_port(image, steps[at].address))
        last = next(inside, 0)
        function = image.function_at(steps[last].address) if last else None
        if function is None or self._is_stub(steps[last]) or self._went_on(steps[last]):
            return None
        entries = [at for at in range(1, last + 1) if steps[at].address == function.address]
        if len(entries) > 1 and self._is_stub(steps[entries[-1] - 1]):
            return self._place(steps, entries[-1] - 1, f"calls {function.name} again")
        base = base_of(self.bench.code.disassembled(steps[last].address), isa)
        if base is None or not entries:
            return None
        entry = entries[0]
        name = self._passed(steps[:entry], steps[last - 1].registers[base])
        return self.origin(name, function.name, home=home) if name else None

    def _passed(self, steps: Sequence[TracedStep], value: int) -> str | None:
        """The argument with this value at the entry of a C function, which the last step calls."""
        names = self.bench.isa.abi.argument_registers
        return next((name for name in names if steps and steps[-1].registers[name] == value), None)

    def _argument_beside(self, function: str, register: str) -> Place | None:
        """Where the stub made the argument next to one that it left alone; else before the call."""
        steps, _ = self._of_stub(function)
        made = self._nearest_argument(steps, register, "still the traced function's")
        return made or self._before_call(function, register)

    def _nearest_argument(
        self, steps: Sequence[TracedStep], register: str, what: str, start: int = 0
    ) -> Place | None:
        """Where the stub made the argument next to one, from a step on; that one is ``what``."""
        names = self.bench.isa.abi.argument_registers
        at = names.index(register) if register in names else 0
        for name in sorted(names, key=lambda name: abs(names.index(name) - at)):
            made = [at for at in self._stub_changes(steps, name) if at >= start]
            if made and register in names:
                how = f"made {name}; {register} is {what}"
                return self._place(steps, made[-1], how, in_slot=True)
        return None

    def _left_alone(
        self, steps: Sequence[TracedStep], register: str, function: str
    ) -> Place | None:
        """Where the part of the stub that calls prepare_ftrace_return() does not make an argument.

        It is a function of its own, to which another one jumps with what that had made for a call
        of the tracer.  The place is where it makes the argument beside, or its call.
        """
        image, names = self.bench.image, self.bench.isa.abi.argument_registers
        calling = image.function_at(steps[-1].address)
        if register not in names or calling is None or PREPARE not in (function, calling.name):
            return None
        if not self._is_stub(steps[-1]):
            entry = self._entry(steps, calling.name)
            passed = self._passed(steps[:entry], steps[-1].registers[register])
            return self._left_alone(steps[:entry], passed, calling.name) if passed else None
        others = [
            at
            for at, step in enumerate(steps)
            if self._is_stub(step) and image.function_at(step.address) != calling
        ]
        start = others[-1] + 1 if others else 0
        if not start or any(at >= start for at in self._stub_changes(steps, register)):
            return None
        made = self._nearest_argument(steps, register, "not made for this call", start)
        how = f"calls {function}; {register} is not made for it"
        return made or self._place(steps, len(steps) - 1, how)

    def _before_call(self, function: str, register: str) -> Place | None:
        """The stub's instruction before it calls a C function; it has left the register alone."""
        steps, of_stub = self._of_stub(function)
        how = f"comes before the call, with {register} still the traced function's"
        return self._place(steps, of_stub[-1], how) if of_stub else None

    def _of_stub(self, function: str) -> tuple[Sequence[TracedStep], list[int]]:
        """The steps before the call of a C function, and which of them are of the stub."""
        steps = self._way(home=False).steps
        steps = steps[: max(self._entry(steps, function) - 1, 0)]
        return steps, [at for at, step in enumerate(steps) if self._is_stub(step)]

    def _stub_changes(self, steps: Sequence[TracedStep], register: str) -> list[int]:
        """The stub's instructions among the first steps on the way in that change a register."""
        before = self._way(home=False).before
        values = [before[register], *(step.registers[register] for step in steps)]
        changes = (at for at in range(len(steps)) if values[at] != values[at + 1])
        return [at for at in changes if self._is_stub(steps[at])]
