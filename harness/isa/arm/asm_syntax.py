# SPDX-License-Identifier: MIT
"""The assembler's unified syntax of A32; lists of registers stand in braces."""

import re

from harness.isa.asm_syntax import AsmSyntax, Effect

_SIZES = {"r": 4, "d": 8}


class ArmAsmSyntax(AsmSyntax):
    """Of the instructions that stubs are made of."""

    register = r"\b(?:r\d+|d\d+|fp|ip|sp|lr|pc)\b"

    def ends(self, statement: str) -> bool:
        """Branches without condition that do not link, and loads of pc."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic in ("b", "bx"):
            return True
        into = operands.partition("[")[0]
        return mnemonic in ("pop", "ldm", "ldr", "mov") and bool(re.search(r"(^|[{ ])pc\b", into))

    def effect(self, statement: str) -> Effect | None:
        """Loads and stores, push and pop, and what works out its first operand."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        registers = re.findall(self.register, operands)
        if "pc" in registers:
            return None
        place = re.fullmatch(r"(\w+), \[(\w+)(?:, #([^\]]*))?\]", operands)
        if place and mnemonic in ("ldr", "str", "vldr", "vstr"):
            memory = (place[2], place[3] or "0", _SIZES["d" if mnemonic[0] == "v" else "r"])
            if mnemonic.endswith("str"):
                return Effect(reads=frozenset(registers), stores=memory)
            return Effect(frozenset({place[2]}), frozenset({place[1]}), loads=memory)
        if mnemonic in ("push", "pop") and "-" not in operands:
            size = len(registers) * _SIZES["r"]
            if mnemonic == "push":
                read = frozenset({*registers, "sp"})
                return Effect(read, frozenset({"sp"}), stores=("sp", f"-1*{size}", size))
            return Effect(frozenset({"sp"}), frozenset({*registers, "sp"}), loads=("sp", "0", size))
        literal = re.fullmatch(r"(\w+), (=?)([\w.]+)", operands)
        if literal and mnemonic == "ldr":
            # Nothing writes the assembler's own literals.
            loads = None if literal[2] else (literal[3], "0", 4)
            return Effect(writes=frozenset({literal[1]}), loads=loads)
        if mnemonic in ("add", "sub", "rsb", "bic", "mov") and registers:
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]))
        if mnemonic == "cmp":
            return Effect(frozenset(registers), frozenset({"flags"}))
        return None

    def another_register(self, register: str) -> str:
        """The next number; r0 where that would be no plain register."""
        if register in ("fp", "ip", "sp", "lr", "pc"):
            return "r5"
        number = int(register[1:]) + 1
        if register[0] == "d":
            return f"d{number if number <= 31 else 0}"
        return f"r{number if number <= 10 else 0}"

    def another_offset(self, operands: str) -> str | None:
        """Behind the last ``#``, or with a base register that has no offset yet."""
        head, mark, tail = operands.rpartition("#")
        if mark:
            return f"{head}#4 + {tail}"
        return operands.replace("]", ", #4]") if operands.endswith("]") else None
