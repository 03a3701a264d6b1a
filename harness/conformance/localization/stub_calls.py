# SPDX-License-Identifier: MIT
"""What a stub calls on the paths of a traced call, and where it was decided."""

from collections.abc import Iterator, Sequence

from harness.conformance.localization.endings import Endings
from harness.conformance.places import is_of_port
from harness.conformance.under_test.registers import names_memory
from harness.conformance.under_test.traced_call import Registers
from harness.conformance.under_test.ways import TracedStep
from harness.conformance.verdict import Place


class StubCalls(Endings):
    """The paths of a call, with the C functions that the port calls on them, or does not call."""

    def not_asked(self, function: str) -> Place | None:
        """Where a stub that came to its end decided not to call a C function.

        That is its last conditional branch behind what it has called, its last jump there, or the
        instruction that follows the call; its return, if that one restores already.
        """
        way = self._way(home=False, values=False)
        if not way.arrived:
            return None
        steps, how = way.steps, f"did not ask for {function}"
        start = max((at + 1 for at, step in enumerate(steps) if step.ran), default=0)
        decided = self._last_branch(steps, start, f"decided last; {how}", assembled=True)
        if decided is not None or not start:
            return decided
        jumps = [at for at in self._jumps(steps, 2 * self.bench.isa.longest) if at > start]
        if jumps:
            return self._place(steps, jumps[-1], f"jumped; {how}")
        if names_memory(self.bench.code.disassembled(steps[start].address)):
            # It restores what it has saved, and asks nothing any more.
            return self._place(steps, len(steps) - 1, f"returned; {how}")
        return self._place(steps, start, f"follows {steps[start - 1].ran}; {how}")

    def refusal(self, function: str) -> Place | None:
        """The first conditional branch of the port's C code behind a C function of the kernel's."""
        steps = self._way(home=False, values=False).steps
        called = next((at for at, step in enumerate(steps) if step.ran == function), len(steps))
        first, is_assembled = (
            next(self._branches(steps, called), None),
            self.bench.image.is_assembled,
        )
        if first is None or is_assembled(steps[first].address):
            # The stub asks what it is to do next.
            return None
        return self._place(steps, first, f"decided first behind {function}")

    def target(self, function: str) -> Place | None:
        """What made the address that the stub called; None if that is this function.

        The stub leaves the port's code with the call.
        """
        before, _, steps, _ = self._way(home=False)
        image, pointed_to = self.bench.image, self.bench.isa.pointed_to
        of_stub = (at for at, step in enumerate(steps) if self._is_stub(step))
        call = next((at for at in of_stub if not is_of_port(image, steps[at].to)), len(steps) - 1)
        if not steps or steps[call].to == image.symbols.get(function):
            return None
        there = steps[call].to
        made = self._makes(before, steps[:call], lambda held: pointed_to(held) == there)
        how = "made the address that is called"
        return next((self._place(steps, at, how, in_slot=True) for at in made), None)

    def call_of(self, function: str) -> Place | None:
        """The port's last instruction before a C function of the kernel's is entered."""
        steps = self._way(home=False, values=False).steps
        entry = self._entry(steps, function)
        how = f"called {function}; nothing is replaced behind it"
        return self._place(steps, entry - 1, how) if 0 < entry < len(steps) else None

    def return_early(self, function: str, how: str) -> Place | None:
        """The last conditional branch of a C function of the port's, or of one that it called."""
        steps = self._way(home=False, values=False).steps
        return self._last_branch(steps, self._entry(steps, function), how, assembled=False)

    def decision(self, function: str) -> Place | None:
        """The stub's last conditional branch before a C function that it should not call."""
        steps = self._way(home=False, values=False).steps
        before = steps[: self._entry(steps, function)]
        how = f"decided last on the way to {function}"
        return self._last_branch(before, 0, how, assembled=True) or self.last_instruction()

    def _jumps(self, steps: Sequence[TracedStep], longest: int) -> list[int]:
        """The stub's steps but the last, a return, that do not go on within so many bytes."""
        return [
            at
            for at, step in enumerate(steps[:-1])
            if self._is_stub(step) and not 0 < step.to - step.address <= longest
        ]

    def _entry(self, steps: Sequence[TracedStep], function: str) -> int:
        """The step at which a function is entered; their number if it is not."""
        entry = self.bench.image.symbols.get(function)
        return next((at for at, step in enumerate(steps) if entry == step.address), len(steps))

    def _last_branch(
        self, steps: Sequence[TracedStep], start: int, how: str, *, assembled: bool
    ) -> Place | None:
        """The port's last conditional branch from a step on, in its assembly or in its C code."""
        is_assembled = self.bench.image.is_assembled
        branches = self._branches(steps, start)
        found = [at for at in branches if is_assembled(steps[at].address) == assembled]
        return self._place(steps, found[-1], how) if found else None

    def _branches(self, steps: Sequence[TracedStep], start: int) -> Iterator[int]:
        """The port's conditional branches from a step on."""
        is_conditional, code = self.bench.isa.cpu.is_conditional, self.bench.code
        for at in range(start, len(steps)):
            address, of_kernel = steps[at].address, bool(steps[at].ran)
            if of_kernel or not is_of_port(self.bench.image, address):
                continue
            if is_conditional(code.linked(address)):
                yield at

    def loads(self) -> Iterator[tuple[Registers, int]]:
        """What the port's C code loads on the way in: the registers behind it, and the address."""
        before, _, steps, _ = self._way(home=False)
        image = self.bench.image
        for at, step in enumerate(steps):
            if step.ran or image.is_assembled(step.address) or not is_of_port(image, step.address):
                continue
            for where in self._accesses(before, steps, at, stores=False):
                yield step.registers, where
