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

_WITHOUT_RESULT = ("cmp", "test", "j", "push", "call")
"""What instructions begin with that write no register they name."""

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
        """The step that made the byte which a store has copied to an address.

        That is the last one that did more than to move it; None if a byte was there before.
        """
        step: int | None = store
        last_store = store
        while step is not None:
            names, bytes_ = self._registers(step), self.accessed(step)
            if self._is_store(step):
                made = self._wrote(names[-1], step) if names else None
                if made is None:
                    return None if step == store else step
                address -= bytes_.start
                last_store, step = step, made
            elif self._text(step).startswith("bswap"):
                # gcc has merged stores of bytes, and knows no line of what puts them in order.
                return last_store
            elif not self._text(step).startswith("mov"):
                return step
            elif bytes_:
                address += bytes_.start
                step = self.stored(address, step)
            else:
                made = self._wrote(names[-1], step) if len(names) > 1 else None
                if made is None:
                    return step
                step = made
        return None

    def _wrote(self, register: str, before: int) -> int | None:
        """The last step before another whose result is a register."""
        for step in range(before - 1, -1, -1):
            asks = self._text(step).startswith(_WITHOUT_RESULT)
            if self._registers(step)[:1] == [register] and not (asks or self._is_store(step)):
                return step
        return None

    def compared(self, question: int, site: range) -> int | None:
        """The step that put the byte into memory with which one of a site was compared.

        ``question`` is the conditional branch behind the comparison.
        """
        steps = range(question, max(question - NEAR, -1), -1)
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
        return registers_in(_OPERAND.sub("", self._text(step)), self._bench.isa)

    def _text(self, step: int) -> str:
        return self._bench.code.disassembled(self._executed[step])
