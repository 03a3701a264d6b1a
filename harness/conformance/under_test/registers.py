# SPDX-License-Identifier: MIT
"""All registers of calls, integer and floating point, read and written together."""

import re
from collections.abc import Iterable, Mapping, Sequence

from harness.debugger import Debugger
from harness.errors import HostError
from harness.isa import Isa

_WHOLE = {"w": "x", "e": "r"}
"""The first letter of a register's lower half, and its own."""

_PART = (
    (re.compile(r"([abcd])[lx]"), r"r\1x"),
    (re.compile(r"(sp|bp|si|di)l?"), r"r\1"),
    (re.compile(r"(r\d+)[bwd]"), r"\1"),
)
"""Names of the lowest byte or half of a register, and its own."""

_MEMORY = re.compile(
    r"(-?(?:0x[0-9a-f]+|\d+))?\((\W?\w+)\)"
    r"|\[(\w+)(?:,?\s*([+-])?\s*#?(-?(?:0x[0-9a-f]+|\d+)))?\]"
)
"""A memory operand with one register and a distance: 8(sp), [sp, #8] or [rsp + 8]."""

_HEX = re.compile(r"0x([0-9a-fA-F]+)")


HOME = 8
"""The number of the set of patterns for home areas."""


class RegisterFile:
    """The registers of the stopped CPU; values are bit patterns."""

    def __init__(self, debugger: Debugger, isa: Isa) -> None:
        self._debugger = debugger
        self._isa = isa
        self._known: tuple[int, Mapping[str, int]] = -1, {}
        abi = isa.abi
        state = (*abi.general_registers, abi.pc_register, *abi.status_registers[:1])
        self._state = [name for name in state if name != "zero"]
        wanted = [
            *state,
            *abi.scratch,
            *abi.fixed,
            *abi.float_status,
            *abi.float_scratch,
            *abi.float_saved,
        ]
        numbers = debugger.register_set.numbers
        self._numbers = {name: numbers[name] for name in dict.fromkeys(wanted) if name in numbers}
        self._names = {number: name for name, number in self._numbers.items()}
        missing = set(wanted) - set(numbers)
        if missing:
            # No GdbError, which a check survives: every check would report it again.
            raise HostError(
                f"gdb does not know the registers {', '.join(sorted(missing))} of {isa.name}",
                "An `Abi` names registers as gdb does, and only those that QEMU's stub has.",
            )

    def read(self, *wanted: str) -> dict[str, int]:
        """Registers by name; all if none is named."""
        numbers = [self._numbers[name] for name in wanted or self._numbers]
        # Unlike `x`, `r` gives the bits of a float and not its value as an integer.
        # Not as a command that may change anything: what the debugger knows stays valid.
        answer = self._debugger.session.command(
            f"-data-list-register-values r {' '.join(map(str, numbers))}"
        )
        values = {}
        for entry in answer.get("register-values", []):
            # A register that is a union has all its bits in the widest member.
            digits = max(_HEX.findall(str(entry.get("value"))), key=len, default="")
            name = self._names.get(int(entry.get("number", -1)))
            if digits and name:
                values[name] = int(digits, 16)
        return values

    def value(self, name: str) -> int:
        """One register."""
        return self.read(name)[name]

    def write(self, values: Mapping[str, int]) -> None:
        """Set general registers."""
        self._debugger.write_registers(values)

    def state(self) -> dict[str, int]:
        """What a call by the debugger changes and puts back: integer registers, pc and status."""
        changes, known = self._known
        return dict(known) if changes == self._debugger.changes else self.read(*self._state)

    def put_back(self, before: Mapping[str, int], now: Mapping[str, int] | None = None) -> None:
        """Write the registers of `state` that are others than in ``before``; they are ``now``."""
        now = self.state() if now is None else now
        self.write({name: before[name] for name in self._state if now[name] != before[name]})
        # The next call begins with the same registers, unless something else changes the guest.
        self._known = self._debugger.changes, before

    def enter(self, function: int, arguments: Sequence[int], stack: int, returns: int) -> None:
        """Set the registers as at a function's entry, called with ``stack`` from ``returns``."""
        abi = self._isa.abi
        values = abi.entered(function & self._isa.mask, arguments, stack, returns)
        self.write(values)
        if pushed := abi.pushed(values, returns):
            self._debugger.write_memory(*pushed)

    def fill(self, general: Iterable[str], floats: Iterable[str], number: int) -> None:
        """Write a different pattern to each of these registers; ``number`` selects the set."""
        self.write({name: self.pattern(number, index) for index, name in enumerate(general)})
        self._debugger.write_registers(
            {
                part: constant
                for index, name in enumerate(floats)
                for part, constant in self._isa.abi.float_parts(name, 100 * number + index).items()
            }
        )

    def words(self, number: int, size: int) -> list[int]:
        """Patterns for so many bytes of memory; ``number`` selects the set."""
        return [self.pattern(number, index) for index in range(size // self._isa.word_size)]

    @property
    def home_words(self) -> list[int]:
        """What the home area of a function's arguments is overwritten with."""
        return self.words(HOME, self._isa.abi.home_area)

    def pattern(self, number: int, index: int) -> int:
        """An odd word with no two equal bytes, not near any address of a guest."""
        value = 0x0123456789ABCDEF * (2 * index + 1) + 0x1010101010101011 * number
        # 32-bit registers of a 64-bit MIPS are sign-extended words; here they hold all bits.
        return (value | 1) & self._isa.mask


def names_memory(text: str) -> bool:
    """Whether a disassembled instruction has a memory operand."""
    return "[" in text or "(" in text


def registers_in(text: str, isa: Isa) -> list[str]:
    """The general registers that an instruction names, perhaps by their lower halves."""
    general, found = isa.abi.general_registers, []
    for printed in re.findall(r"\w+", text):
        word = isa.abi.printed.get(printed, printed)
        whole = _WHOLE.get(word[0], word[0]) + word[1:]
        parts = (match.expand(own) for name, own in _PART if (match := name.fullmatch(word)))
        found += [name for name in dict.fromkeys((word, whole, *parts)) if name in general][:1]
    return found


def base_of(text: str, isa: Isa) -> str | None:
    """The register that an instruction's memory operand is relative to; None if it has none."""
    operand = _MEMORY.search(text)
    return next(iter(registers_in(operand[0], isa)), None) if operand else None


def address_in(text: str, registers: Mapping[str, int], isa: Isa) -> int | None:
    """The address of a memory operand with one register; None if there is none such.

    ``registers`` are those before the instruction.
    """
    operand, base = _MEMORY.search(text), base_of(text, isa)
    if operand is None or base is None:
        return None
    distance = int(operand[1] or operand[5] or "0", 0)
    return registers[base] + (-distance if operand[4] == "-" else distance) & isa.mask
