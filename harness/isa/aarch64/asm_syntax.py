# SPDX-License-Identifier: MIT
"""The assembler's syntax of AArch64; ``#`` stands in front of a number."""

import re

from harness.isa.asm_syntax import AsmSyntax, Effect


class AArch64AsmSyntax(AsmSyntax):
    """Of the instructions that stubs are made of."""

    register = r"\b(?:[xwqd]\d+|sp)\b"

    def ends(self, statement: str) -> bool:
        """Branches without condition that do not link."""
        return statement.partition(" ")[0] in ("ret", "b", "br")

    def effect(self, statement: str) -> Effect | None:
        """Loads and stores without write-back, and what works out its first operand."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        # w9 is a part of x9.
        registers = [re.sub("^w", "x", one) for one in re.findall(self.register, operands)]
        place = re.fullmatch(r"[^\[]*\[(\w+)(?:, (#[^\]]*))?\]", operands)
        pair = mnemonic in ("ldp", "stp")
        if place and (pair or mnemonic in ("ldr", "str")):
            offset = (place[2] or "0").replace("#", "")
            memory = (place[1], offset, (16 if operands[0] == "q" else 8) * (1 + pair))
            if mnemonic[0] == "s":
                return Effect(reads=frozenset(registers), stores=memory)
            into = registers[: 1 + pair]
            return Effect(frozenset(registers[len(into) :]), frozenset(into), loads=memory)
        literal = re.fullmatch(r"x\d+, (\w+)", operands)
        if literal and mnemonic == "ldr":
            return Effect(writes=frozenset(registers), loads=(literal[1], "0", 8))
        if mnemonic in ("add", "sub", "bic", "mov", "adrp") and registers:
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]))
        if mnemonic == "cmp":
            return Effect(frozenset(registers), frozenset({"flags"}))
        return None

    def another_register(self, register: str) -> str:
        """The next number; x0 where that would be no register."""
        if register == "sp":
            return "x16"
        number = int(register[1:]) + 1
        return f"{register[0]}{number if number <= 30 else 0}"

    def another_offset(self, operands: str) -> str | None:
        """Behind the last ``#``, or with a base register that has no offset yet."""
        head, mark, tail = operands.rpartition("#")
        step = 16 if operands.startswith("q") else 8
        if mark:
            return f"{head}#{step} + {tail}"
        return operands.replace("]", f", #{step}]") if operands.endswith("]") else None
