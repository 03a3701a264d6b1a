# SPDX-License-Identifier: MIT
"""The assembler's syntax of MIPS; ``$8`` and ``$t0`` are one register."""

import re

from harness.isa.asm_syntax import AsmSyntax, Effect
from harness.isa.mips.abi import general_registers

_SIZES = {"lbu": 1, "lhu": 2, "sw": 4, "lw": 4, "sd": 8, "ld": 8, "sdc1": 8, "ldc1": 8}


class MipsAsmSyntax(AsmSyntax):
    """Of the instructions that stubs are made of."""

    register = r"\$[a-z0-9]+"
    jumps_delay = True

    def delays(self, statement: str) -> bool:
        """All that begin with j and b."""
        return statement[0] in "jb"

    def ends(self, statement: str) -> bool:
        """Jumps and branches without condition that do not link."""
        return statement.partition(" ")[0] in ("j", "b", "jr")

    def effect(self, statement: str) -> Effect | None:
        """Loads, stores, and what works out its first operand from the others."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        names = [f"${name}" for name in general_registers(self.code)]
        registers = [
            names[int(found[1:])] if found[1:].isdigit() else found
            for found in re.findall(self.register, operands)
        ]
        place = re.fullmatch(r"\$\w+, (.*)\((\$\w+)\)", operands)
        size = _SIZES.get(mnemonic)
        if place and size:
            memory = (place[2], place[1], size)
            if mnemonic[0] == "s":
                return Effect(reads=frozenset(registers), stores=memory)
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]), loads=memory)
        variable = re.fullmatch(r"\$\w+, ([A-Za-z_]\w*)", operands)
        if variable and mnemonic in ("lw", "ld"):
            return Effect(writes=frozenset(registers), loads=(variable[1], "0", size or 4))
        if mnemonic in ("addiu", "daddiu", "move", "la", "dla", "srl", "xori") and registers:
            return Effect(frozenset(registers[1:]), frozenset(registers[:1]))
        return None

    def another_register(self, register: str) -> str:
        """The even floating-point registers are pairs; every other one has a neighbour."""
        if match := re.fullmatch(r"\$f(\d+)", register):
            return f"$f{(int(match[1]) + 2) % 32}"
        if match := re.fullmatch(r"\$(\d+)", register):
            return f"${(int(match[1]) + 1) % 32}"
        name, names = register[1:], general_registers(self.code)
        return f"${(names.index(name) + 1) % 32 if name in names else 8}"

    def another_offset(self, operands: str) -> str | None:
        """In front of a base register, or the last of three operands."""
        added = f"+ {self.code.word_size}"
        if match := re.search(r"\(\$\w+\)$", operands):
            return f"{operands[: match.start()]} {added}{match[0]}"
        parts = operands.split(",")
        if len(parts) == 3 and not parts[2].strip().startswith("$"):
            return f"{operands} {added}"
        return None
