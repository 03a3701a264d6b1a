# SPDX-License-Identifier: MIT
"""The assembler's syntax of RISC-V; an offset stands in front of its base register."""

import re

from harness.isa.asm_syntax import AsmSyntax, Effect

_LOADS = {"lb": 1, "lbu": 1, "lh": 2, "lhu": 2, "lw": 4, "lwu": 4, "ld": 8, "flw": 4, "fld": 8}
_STORES = {"sb": 1, "sh": 2, "sw": 4, "sd": 8, "fsw": 4, "fsd": 8}
_LAST = {"a": 7, "s": 11, "t": 6, "fa": 7, "fs": 11, "ft": 11}


class RiscV64AsmSyntax(AsmSyntax):
    """Of the instructions that stubs are made of."""

    register = r"\b(?:[ast]\d+|f[ast]\d+|ra|sp|tp|gp|zero)\b"

    def ends(self, statement: str) -> bool:
        """Jumps without condition that do not link."""
        return statement.partition(" ")[0] in ("ret", "j", "jr", "tail")

    def effect(self, statement: str) -> Effect | None:
        """Loads and stores, and what works out its first operand."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        registers = [one for one in re.findall(self.register, operands) if one != "zero"]
        place = re.fullmatch(r"(\w+), (.*)\((\w+)\)", operands)
        if place and mnemonic in _STORES:
            memory = (place[3], place[2] or "0", _STORES[mnemonic])
            return Effect(reads=frozenset(registers), stores=memory)
        if place and mnemonic in _LOADS:
            memory = (place[3], place[2] or "0", _LOADS[mnemonic])
            return Effect(frozenset({place[3]}), frozenset({place[1]}), loads=memory)
        literal = re.fullmatch(r"(\w+), (\w+)", operands)
        if literal and mnemonic in _LOADS:
            size = _LOADS[mnemonic]
            return Effect(writes=frozenset({literal[1]}), loads=(literal[2], "0", size))
        if mnemonic in ("add", "addi", "sub", "mv", "la", "li") and registers:
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]))
        return None

    def another_register(self, register: str) -> str:
        """The next number of its kind; the first where that would be no register."""
        if register in ("ra", "sp", "tp", "gp", "zero"):
            return "t3"
        kind, number = register.rstrip("0123456789"), int(register.lstrip("afst"))
        return f"{kind}{number + 1 if number < _LAST[kind] else 0}"

    def another_offset(self, operands: str) -> str | None:
        """In front of the base register."""
        place = re.fullmatch(r"(.*, )([^,]*)\((\w+)\)", operands)
        return f"{place[1]}8 + {place[2] or 0}({place[3]})" if place else None
