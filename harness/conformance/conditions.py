# SPDX-License-Identifier: MIT
"""Conditions of a port's C code that are never true, by experiment with its compiler."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from harness.conformance.bench import Bench
from harness.conformance.places import port_file
from harness.conformance.verdict import NEVER_TRUE, Place
from harness.image import RunningImage
from harness.kbuild import plan_build

MOST_CONDITIONS = 16
"""The most conditions that are tried."""

_NOT_CODE = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|^#[^\n]*",
    re.DOTALL | re.MULTILINE,
)
"""Comments, literals and directives, whose brackets do not count."""

_BODY = re.compile(r"^\{\n.*?^\}", re.MULTILINE | re.DOTALL)
"""The body of a function in kernel style."""

_NAME = re.compile(r"\b(?!__attribute__)(\w+)\s*\(")
_IF = re.compile(r"\bif\s*(?=\()")
_OPTION = re.compile(r"\b(?:CONFIG_|IS_ENABLED|IS_BUILTIN|sizeof)")
"""Of conditions that are constant on purpose."""


class Condition(NamedTuple):
    """What an ``if`` of a function asks, with its brackets."""

    function: str
    body: range
    """The lines of the function."""
    lines: range
    text: slice
    """The characters of the condition in the file."""


def conditions_of(source: str) -> Iterator[Condition]:
    """The conditions of a C file, except those of the kernel's options."""
    text = _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)
    for body in _BODY.finditer(text):
        name = _NAME.search(text, max(text.rfind("\n\n", 0, body.start()), 0), body.start())
        for found in _IF.finditer(text, *body.span()):
            condition = slice(found.end(), _closed(text, found.end()))
            if name is not None and not _OPTION.search(text, condition.start, condition.stop):
                lines = _lines(text, condition.start, condition.stop)
                yield Condition(name[1], _lines(text, *body.span()), lines, condition)


def never_true(bench: Bench, executed: Sequence[int]) -> Place | None:
    """The one condition of the functions executed that the compiler takes for 0.

    With 0 in its place the file compiles to the same code, and with 1 to other code.  Only
    conditions are tried that have no code of their own.  None if there are several.
    """
    spec, image = bench.variant.spec, bench.image
    seen = {line for address in executed for line in _port_lines(image, address)}
    compiled = _compiled(image)
    tried: list[tuple[str, Condition]] = []
    edits: list[dict[str, str]] = [{}]
    for path in sorted(spec.port.directory.glob("*.c")):
        source = path.read_text(encoding="utf-8", errors="replace")
        for one in conditions_of(source):
            was_executed = any((path.name, line) in seen for line in one.body)
            if was_executed and not any((path.name, line) in compiled for line in one.lines):
                tried.append((path.name, one))
                before, behind = source[: one.text.start], source[one.text.stop :]
                edits += [{path.name: f"{before}({answer}){behind}"} for answer in (0, 1)]
    if not 0 < len(tried) <= MOST_CONDITIONS:
        return None
    own, *others = plan_build(spec).compile_port(edits)
    same = [
        Place(one.function, file, one.lines.start, 0, "", NEVER_TRUE)
        for (file, one), no, yes in zip(tried, others[::2], others[1::2], strict=True)
        if file in own and no.get(file) == own[file] != yes.get(file)
    ]
    return same[0] if len(same) == 1 else None


def _compiled(image: RunningImage) -> set[tuple[str, int]]:
    """The lines of the port that have code in any function, or call an inline one that has."""
    return {
        line
        for function in image.functions
        if port_file(image.source_file(function.address)) is not None
        for address in range(function.address, function.address + function.size, image.isa.unit)
        for line in _port_lines(image, address)
    }


def _port_lines(image: RunningImage, address: int) -> Iterator[tuple[str, int]]:
    """The line of an instruction, and the calls of the inline functions that it is in."""
    own = image.source_line(address)
    for line in [*filter(None, [own]), *image.inlined_calls(address)]:
        file = port_file(line.file)
        if file is not None:
            yield file, line.line


def _lines(text: str, start: int, end: int) -> range:
    """The numbers of the lines of some characters."""
    first = text.count("\n", 0, start) + 1
    return range(first, first + text.count("\n", start, end) + 1)


def _closed(text: str, start: int) -> int:
    """Behind the bracket that closes the one at ``start``."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at + 1
    return len(text)
