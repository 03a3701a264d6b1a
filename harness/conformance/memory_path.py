# SPDX-License-Identifier: MIT
"""The way of a byte through memory, among the steps of a call.

It is for architectures whose code is written byte by byte, of which no register holds a whole
instruction.
"""

import re
from collections.abc import Callable, Sequence

from harness.conformance.bench import Bench
from harness.conformance.registers import registers_in

NEAR = 4
"""The number of instructions up to a conditional branch in which a comparison is looked for."""

_SIZES = {"byte": 1, "word": 2, "dword": 4, "qword": 8, "xmmword": 16}
_OPERAND = re.compile(r"\b(\w+) ptr \[([^\]]+)\]")
_TERM = re.compile(r"([+-]?) ?(\w+)(?:\*(\d))?")


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
        """The addresses of the memory operand; empty if there is none, or segments are used."""
        operand = _OPERAND.search(self._text(step))
        if operand is None or operand[1] not in _SIZES:
            return range(0)
        address, last = 0, self._executed[step]
        values = {**self._before(step), "rip": last + len(self._bench.code.linked(last))}
        for sign, name, scale in _TERM.findall(operand[2]):
            if name not in values and not name[0].isdigit():
                return range(0)
            value = values[name] if name in values else int(name, 0)
            address += int(f"{sign}1") * value * int(scale or 1)
        start = address & self._bench.isa.mask
        return range(start, start + _SIZES[operand[1]])

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
        """The step that made the byte which a store has copied to an address."""
        names = self._registers(store)
        if not names:
            return None
        wrote = self._wrote(names[-1], store)
        while wrote is not None and self._text(wrote).startswith("mov"):
            bytes_, names = self.accessed(wrote), self._registers(wrote)
            if bytes_:
                return self.stored(bytes_.start + address - self.accessed(store).start, wrote)
            if len(names) < 2:
                break
            wrote = self._wrote(names[-1], wrote)
        return wrote

    def _wrote(self, register: str, before: int) -> int | None:
        """The last step before another whose result is a register."""
        steps = range(before - 1, -1, -1)
        results = (step for step in steps if self._registers(step)[:1] == [register])
        return next((step for step in results if not self._is_store(step)), None)

    def compared(self, question: int, site: range) -> int | None:
        """The step that put the byte into memory with which one of a site was compared.

        ``question`` is the conditional branch behind the comparison.
        """
        steps = range(question, max(question - NEAR, -1), -1)
        loads = {step: self.accessed(step) for step in steps if not self._is_store(step)}
        others = [step for step, bytes_ in loads.items() if bytes_ and bytes_.start not in site]
        if not others or not any(bytes_.start in site for bytes_ in loads.values() if bytes_):
            return None
        return self.stored(loads[others[0]].start, others[0])

    def _is_store(self, step: int) -> bool:
        return self._bench.isa.cpu.is_store(self._bench.code.linked(self._executed[step]))

    def _registers(self, step: int) -> list[str]:
        """The registers that are named outside of the memory operand."""
        return registers_in(_OPERAND.sub("", self._text(step)), self._bench.isa)

    def _text(self, step: int) -> str:
        return self._bench.code.disassembled(self._executed[step])
