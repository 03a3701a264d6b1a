# SPDX-License-Identifier: MIT
"""The assembler's syntax of x86-64, AT&T's: sources in front of the destination."""

import re

from harness.isa.asm_syntax import AsmSyntax, Effect

_ORDER = ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", *(f"r{n}" for n in range(8, 16)))
_VECTOR = re.compile(r"%xmm\d+")
_SIZES = {"movq": 8, "movdqu": 16}
"""Bytes that an instruction loads or stores."""
_PLACE = re.compile(r"(.*?)\(%(\w+)\)")
_COMPARED = re.compile(r"\$\w+, [A-Za-z_]\w*")
"""A constant, or an address, with a variable."""
_FLAGS = frozenset({"flags"})


class X8664AsmSyntax(AsmSyntax):
    """Of the instructions that stubs are made of."""

    register = r"%(?:r[a-d]x|r[sd]i|r[sb]p|r\d+)\b"

    def ends(self, statement: str) -> bool:
        """Returns, and jumps without condition."""
        return statement.partition(" ")[0] in ("ret", "jmp", "iretq", "ud2")

    def effect(self, statement: str) -> Effect | None:
        """Moves of 64 bits and of vectors, additions of constants to registers, lea, and cmp."""
        mnemonic, _, operands = statement.partition(" ")
        if mnemonic == "nop":
            return Effect()
        source, _, destination = operands.partition(", ")
        written = frozenset({destination}) if re.fullmatch(self.register, destination) else None
        read = frozenset(re.findall(self.register, source))
        from_, to = _PLACE.fullmatch(source), _PLACE.fullmatch(destination)
        size = _SIZES.get(mnemonic, 0)
        if mnemonic == "movdqu":
            read |= frozenset(_VECTOR.findall(source))
            written = frozenset({destination}) if _VECTOR.fullmatch(destination) else None
        if size and from_ and written:
            return Effect(read, written, loads=(f"%{from_[2]}", from_[1] or "0", size))
        if size and to:
            base = frozenset({f"%{to[2]}"})
            return Effect(read | base, stores=(f"%{to[2]}", to[1] or "0", size))
        if mnemonic in ("movq", "leaq") and written:
            return Effect(read, written)
        if mnemonic in ("addq", "subq") and source.startswith("$") and written:
            return Effect(written, written | _FLAGS)
        if mnemonic in ("cmpq", "cmpl") and _COMPARED.fullmatch(operands):
            return Effect(writes=_FLAGS, loads=(destination, "0", 8))
        return None

    def another_register(self, register: str) -> str:
        """The next one in an order of our own; of rsp, rax."""
        name = register.lstrip("%")
        return f"%{_ORDER[(_ORDER.index(name) + 1) % len(_ORDER)] if name in _ORDER else 'rax'}"

    def another_offset(self, operands: str) -> str | None:
        """In front of the base register."""
        place = re.fullmatch(r"((?:.*, )?)([^,()]*)\((%\w+)\)(.*)", operands)
        return f"{place[1]}8 + {place[2] or 0}({place[3]}){place[4]}" if place else None
