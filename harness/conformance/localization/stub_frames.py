# SPDX-License-Identifier: MIT
"""Where a stub makes its frame, and its frame records."""

from harness.conformance.localization.arguments import PassedArguments
from harness.conformance.verdict import FRAMED, Place


class StubFrames(PassedArguments):
    """The frames of a call's stub."""

    def record(self, function: str, wrong: int | None = None) -> Place | None:
        """Where the stub made its frame records before it calls a C function.

        ``wrong`` is the number of the first one with a wrong return address: it is its store then.
        If the stub made none, it is the last instruction in front of the call.
        """
        head = self.bench.isa.abi.frame_record
        how = f"changed the frame pointer last before {function}"
        stored = None if wrong is None else self._stored_record(function, wrong)
        if head is None or stored is not None:
            return stored
        made = self._changed_by_stub(head.register, function, how)
        return made or self._before_call(function, head.register)

    def _stored_record(self, function: str, number: int) -> Place | None:
        """The stub's store of the return address of a frame record; None if it stores none."""
        head, size = self.bench.isa.abi.frame_record, self.bench.isa.word_size
        before, _, steps, _ = self._way(home=False)
        steps = steps[: self._entry(steps, function)]
        if head is None or not steps:
            return None
        words: dict[int, tuple[int, int]] = {}
        for at in range(1, len(steps)):
            stored = self._stored(steps[at - 1].registers, steps[at]).values()
            for where in self._accesses(before, steps, at, stores=True):
                words |= {where + n * size: (at, value) for n, value in enumerate(stored)}
        record = steps[-1].registers[head.register] + head.offset
        for _ in range(number):
            _, link = words.get(record, (0, 0))
            record = link + head.offset
        at, _ = words.get(record + size, (0, 0))
        how = f"stored the return address of frame record {number}"
        is_own = at and self._is_stub(steps[at])
        return self._place(steps, at, how, in_slot=True) if is_own else None

    def begins_frame(self) -> Place | None:
        """Where the stub changed the stack pointer first."""
        steps = self._way(home=False).steps
        made = self._stub_changes(steps, self.bench.isa.abi.stack_register)
        return self._place(steps, made[0], "begins a frame", in_slot=True) if made else None

    def frame(self, function: str) -> Place | None:
        """Where the stub made its frame before it calls a C function."""
        return self._changed_by_stub(self.bench.isa.abi.stack_register, function, FRAMED)

    def _changed_by_stub(self, register: str, function: str, how: str) -> Place | None:
        """The stub's last change of a register before a C function is entered."""
        steps, _ = self._of_stub(function)
        made = self._stub_changes(steps, register)
        return self._place(steps, made[-1], how, in_slot=True) if made else None
