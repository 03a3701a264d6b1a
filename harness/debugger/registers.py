# SPDX-License-Identifier: MIT
"""Registers of the selected thread by gdb's names."""

import re
from collections.abc import Mapping

from harness.debugger.session import MiSession
from harness.debugger.state import number
from harness.errors import GdbError, UsageError

_INTEGER = re.compile(r"0x[0-9a-fA-F]+")

# A line of `maintenance print register-groups`: name, number, ..., groups.  gdb 16 aligns the
# columns differently from gdb 13, and ends each line with a blank.
_GROUP_LINE = re.compile(r"^ *([A-Za-z_]\w*) +(\d+) .* ([\w,]+) *$", re.MULTILINE)

# QEMU has hundreds of system registers, and each would need its own packet.
_NOT_GENERAL = {"float", "vector", "system", "cp_regs"}


PC = "pc"
"""gdb's name of the program counter on every target, besides the target's own name."""

_of_targets: dict[tuple[tuple[str, int], ...], dict[int, str]] = {}
"""The general registers of targets whose registers have these names and numbers."""


class Registers:
    """General registers in one transfer, others by name; cached until ``forget``."""

    def __init__(self, session: MiSession) -> None:
        self._session = session
        self._general: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._values: dict[str, int] = {}
        self._complete = False

    def reset(self) -> None:
        """Read the names again: another target may have others."""
        self._general = {}
        self._numbers.clear()
        self.forget()

    def forget(self) -> None:
        """Drop all values."""
        self._values.clear()
        self._complete = False

    def general(self) -> dict[str, int]:
        """Every register of gdb's group `general` that is not a system register."""
        if not self._general:
            target = tuple(self.numbers.items())
            if target not in _of_targets:
                # A tenth of a second for a target with 4096 system registers.
                table = self._session.console("maintenance print register-groups")
                _of_targets[target] = general_registers(table)
            self._general = _of_targets[target]
            if not self._general:
                raise GdbError("gdb names no general registers")
        if not self._complete:
            for register, value in self._fetch(*self._general).items():
                self._values[self._general[register]] = value
            self._complete = True
        return {name: self._values[name] for name in self._general.values() if name in self._values}

    def of_frame(self, thread: int, level: int) -> dict[str, int]:
        """As `general`, as far as gdb knows them in a frame of a stack."""
        self.general()
        values = self._fetch(*self._general, options=f"--thread {thread} --frame {level} ")
        return {self._general[register]: value for register, value in values.items()}

    def read(self, name: str) -> int:
        """One register, of whatever group."""
        if name not in self._values:
            self._values[name] = self._read(name)
        return self._values[name]

    def _read(self, name: str) -> int:
        if name == PC and PC not in self.numbers:
            command = f'-data-evaluate-expression "(unsigned long long)${PC}"'
            return int(str(self._session.command(command)["value"]))
        register = self._register_number(name)
        values = self._fetch(register)
        if register not in values:
            raise GdbError(f"register {name} holds no number that gdb could read")
        return values[register]

    def write(self, values: Mapping[str, int | str]) -> None:
        """As of `Debugger.write_registers`."""
        bits = [
            f"{self._register_number(name)} {value}"
            for name, value in values.items()
            if isinstance(value, int)
        ]
        constants = [
            f"${name} = {value}" for name, value in values.items() if isinstance(value, str)
        ]
        if bits:
            self._session.command(f"-data-write-register-values x {' '.join(bits)}")
        if constants:
            self._session.command(f"-gdb-set var {', '.join(constants)}")

    @property
    def numbers(self) -> Mapping[str, int]:
        """gdb's number of each register of the target."""
        if not self._numbers:
            names = self._session.command("-data-list-register-names").get("register-names", [])
            self._numbers = {name: register for register, name in enumerate(names) if name}
        return self._numbers

    def _register_number(self, name: str) -> int:
        if name not in self.numbers:
            raise UsageError(f"{name!r} is not a register of this target")
        return self.numbers[name]

    def _fetch(self, *wanted: int, options: str = "") -> dict[int, int]:
        numbers = " ".join(map(str, wanted))
        answer = self._session.command(f"-data-list-register-values {options}x {numbers}")
        return {
            number(entry.get("number"), -1): int(entry["value"], 16)
            for entry in answer.get("register-values", [])
            if _INTEGER.fullmatch(str(entry.get("value")))
        }


def general_registers(table: str) -> dict[int, str]:
    """Numbers and names of the general registers, from gdb's table of register groups."""
    found = {}
    for name, register, groups in _GROUP_LINE.findall(table):
        names = set(groups.split(","))
        if "general" in names and not names & _NOT_GENERAL:
            found[int(register)] = name
    return found
