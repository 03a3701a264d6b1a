# SPDX-License-Identifier: MIT
"""The way of a byte through memory, among the steps of a call.

It is for architectures whose code is written byte by byte, of which no register holds a whole
instruction.
"""

from collections.abc import Callable, Sequence

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.registers import registers_in
from harness.isa import Computes

COMPARED_BEFORE = 4
"""The number of instructions up to a conditional branch in which a comparison is looked for."""


class MemoryPath:
    """The loads and stores of some steps."""

    def __init__(
        self, bench: Bench, executed: Sequence[int], before: Callable[[int], dict[str, int]]
    ) -> None:
        """``before`` returns the registers before a step."""
        self._bench = bench
        self._executed = executed
        self._before = before

    def accessed(self, step: int) -> range:
        """The addresses of the memory operand; empty if there is none, or they are not known."""
        isa, at = self._bench.isa, self._executed[step]
        behind = at + len(self._bench.code.linked(at))
        registers = {**self._before(step), isa.abi.pc_register: behind}
        return isa.cpu.accessed(self._text(step), registers)

    def stored(self, address: int, before: int) -> int | None:
        """The last step before another that stored to an address."""
        return next(
            (
                step
                for step in range(before - 1, -1, -1)
                if self._is_store(step) and address in self.accessed(step)
            ),
            None,
        )

    def source(self, store: int, address: int) -> int | None:
        """The step that made the byte which a store has copied to an address.

        That is the last one that did more than to move it; None if a byte was there before.
        """
        return self._origin(store, address)[0]

    def held_at(self, store: int, address: int) -> int | None:
        """The address in memory where that byte was before; None if a step has made it."""
        return self._origin(store, address)[1]

    def _origin(self, store: int, address: int) -> tuple[int | None, int | None]:
        """What `source` and `held_at` return."""
        step: int | None = store
        last_store = store
        while step is not None:
            names, bytes_ = self._registers(step), self.accessed(step)
            if self._is_store(step):
                made = self._wrote(names[-1], step) if names else None
                if made is None:
                    return (None if step == store else step), None
                address -= bytes_.start
                last_store, step = step, made
            elif self._result(step) is Computes.REORDERED:
                # gcc has merged stores of bytes, and knows no line of what puts them in order.
                return last_store, None
            elif self._result(step) is not Computes.COPY:
                return step, None
            elif bytes_:
                address += bytes_.start
                step = self.stored(address, step)
            else:
                made = self._wrote(names[-1], step) if len(names) > 1 else None
                if made is None:
                    return step, None
                step = made
        return None, address

    def _wrote(self, register: str, before: int) -> int | None:
        """The last step before another whose result is a register."""
        for step in range(before - 1, -1, -1):
            writes = self._result(step) is not Computes.NONE and not self._is_store(step)
            if writes and self._registers(step)[:1] == [register]:
                return step
        return None

    def compared(self, question: int, site: range) -> int | None:
        """The step that put the byte into memory with which one of a site was compared.

        ``question`` is the conditional branch behind the comparison.
        """
        steps = range(question, max(question - COMPARED_BEFORE, -1), -1)
        loads = {step: self.accessed(step) for step in steps if not self._is_store(step)}
        others = [step for step, bytes_ in loads.items() if bytes_ and bytes_.start not in site]
        if not others or not any(bytes_.start in site for bytes_ in loads.values() if bytes_):
            return None
        address = loads[others[0]].start
        store = self.stored(address, others[0])
        if store is None:
            return None
        made = self.source(store, address)
        return store if made is None else made

    def _is_store(self, step: int) -> bool:
        return self._bench.isa.cpu.is_store(self._bench.code.linked(self._executed[step]))

    def _registers(self, step: int) -> list[str]:
        """The registers that are named outside of the memory operand."""
        isa, text = self._bench.isa, self._text(step)
        operand = isa.cpu.memory_operand(text)
        return registers_in(text.replace(operand, "") if operand else text, isa)

    def _result(self, step: int) -> Computes:
        return self._bench.isa.cpu.result(self._text(step))

    def _text(self, step: int) -> str:
        return self._bench.code.disassembled(self._executed[step])
