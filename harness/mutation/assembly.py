# SPDX-License-Identifier: MIT
"""Assembly text as a list of statements, with macros expanded; faults are planted into it.

The part of the GNU assembler's syntax that stubs need: labels, directives, instructions, ``.macro``
with plain arguments.  The text is preprocessed, so it has no conditionals.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_LABEL = re.compile(r"([\w.$]+):\s*")
_MACRO = re.compile(r"\.macro\s+(\w+)\s*(.*)")
_SEPARATOR = re.compile(r"[,\s]+")
_DEPTH = 8
"""Macros in macros."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A label, a directive or an instruction.

    ``function`` is the last label that is not local, ``label`` the last named one.
    """

    text: str
    function: str
    label: str = ""

    @property
    def is_label(self) -> bool:
        """Whether it is a label, so that a branch may lead here."""
        return self.text.endswith(":")

    @property
    def is_instruction(self) -> bool:
        """Whether the assembler makes one or more instructions of it."""
        return not self.is_label and not self.text.startswith((".", "#"))

    @property
    def is_unwind(self) -> bool:
        """Whether it is a .cfi directive, which only unwinders use."""
        return self.text.startswith(".cfi_")


def statements(source: str) -> list[Statement]:
    """The statements of preprocessed assembly, without macros."""
    macros: dict[str, tuple[Sequence[str], list[str]]] = {}
    lines: list[str] = []
    body: list[str] | None = None
    for line in _lines(source):
        if match := _MACRO.fullmatch(line):
            body = []
            macros[match[1]] = [a for a in _SEPARATOR.split(match[2]) if a], body
        elif line == ".endm":
            body = None
        elif body is not None:
            body.append(line)
        else:
            lines.append(line)
    found, function, label = [], "", ""
    for text in _expanded(lines, macros, _DEPTH):
        if text.endswith(":") and not text[0].isdigit():
            label = text[:-1]
            function = function if label.startswith(".") else label
        found.append(Statement(text, function, label))
    return found


def render(found: Sequence[Statement]) -> str:
    """The text of statements, one a line."""
    return "".join(f"{one.text}\n" if one.is_label else f"\t{one.text}\n" for one in found)


def _lines(source: str) -> Iterator[str]:
    for line in source.splitlines():
        for part in line.split(";"):
            rest = part.strip()
            while match := _LABEL.match(rest):
                yield f"{match[1]}:"
                rest = rest[match.end() :]
            if rest and not rest.startswith("# "):
                yield re.sub(r"\s+", " ", rest)


def _expanded(
    lines: Sequence[str], macros: Mapping[str, tuple[Sequence[str], list[str]]], depth: int
) -> Iterator[str]:
    for line in lines:
        name, _, rest = line.partition(" ")
        if name not in macros or not depth:
            yield line
            continue
        names, body = macros[name]
        values = [value.strip() for value in rest.split(",")] if rest else []
        given = dict(zip(names, values, strict=False))
        filled = [
            re.sub(r"\\(\w+)", lambda m: given.get(m[1], ""), text).replace(r"\()", "")  # noqa: B023
            for text in body
        ]
        yield from _expanded(filled, macros, depth - 1)
