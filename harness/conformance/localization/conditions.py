# SPDX-License-Identifier: MIT
"""Conditions of a port's C code that are always true or never, by experiment with its compiler."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.conformance.places import port_file
from harness.conformance.under_test.bench import Bench
from harness.conformance.verdict import ALWAYS_TRUE, NEVER_TRUE, Place, PortLine
from harness.image import RunningImage
from harness.kbuild import Build, plan_build

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
_RETURN = re.compile(r"\breturn\b")
_IF = re.compile(r"\bif\s*(?=\()")
_ON_PURPOSE = re.compile(r"\b(?:CONFIG_\w|IS_ENABLED\b|sizeof\b)")
_WORD = re.compile(r"\b[A-Za-z_]\w*")

_ASKS = re.compile(r"\(!?\s*(\w+)\([^()]*(?:\([^()]*\)[^()]*)*\)\)")
"""A condition that is the answer of one function."""

_UNKNOWN = '(({ int unknown; __asm__("" : "=r"(unknown)); unknown; }))'
"""A condition of which the compiler knows nothing."""


class SourceFunction(NamedTuple):
    """A function: its file, its name and the characters of its body."""

    file: str
    name: str
    body: range


class Condition(NamedTuple):
    """What an ``if`` of a function asks: its characters in the file, with the brackets."""

    function: SourceFunction
    text: range


def functions_of(file: str, code: str) -> Iterator[SourceFunction]:
    """The functions of a C file without what `code_of` leaves out."""
    for body in _BODY.finditer(code):
        name = _NAME.search(code, max(code.rfind("\n\n", 0, body.start()), 0), body.start())
        if name is not None:
            yield SourceFunction(file, name[1], range(*body.span()))


def conditions_of(file: str, code: str) -> Iterator[Condition]:
    """The conditions in the functions of a file, except those that are constant on purpose.

    These are of the kernel's options, of sizes, and of macros alone.
    """
    for function in functions_of(file, code):
        for found in _IF.finditer(code, function.body.start, function.body.stop):
            condition = range(found.end(), _closed(code, found.end()))
            text = code[condition.start : condition.stop]
            words = _WORD.findall(text)
            of_macros = bool(words) and all(word.isupper() for word in words)
            if not of_macros and not _ON_PURPOSE.search(text):
                yield Condition(function, condition)


def code_of(source: str) -> str:
    """A C file of the same length with blanks for comments, literals and directives."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def constant_condition(bench: Bench, executed: Sequence[int]) -> Place | None:
    """The one condition of the functions executed that the compiler knows.

    With 0 in its place the file compiles to the same code, and with 1 to other code, or the other
    way round.  Only conditions are tried that have no code of their own.  Of several it is the one
    without which no other would be known; None if there is none such.
    """
    spec, image = bench.variant.spec, bench.image
    seen = {line for address in executed for line in _port_lines(image, address)}
    compiled = _compiled(image)
    sources = {
        path.name: path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(spec.port.directory.glob("*.[ch]"))
    }
    tried: list[Condition] = []
    for file, source in sources.items():
        code = code_of(source)
        for one in conditions_of(file, code) if file.endswith(".c") else ():
            body, lines = _lines(code, one.function.body), _lines(code, one.text)
            was_executed = any((file, line) in seen for line in body)
            if was_executed and not any((file, line) in compiled for line in lines):
                tried.append(one)
    build = plan_build(spec)
    known = _known(build, sources, tried)
    for one, how in known.items():
        others = [other for other in known if other != one]
        if not others or not _known(build, sources, others, unknown=one):
            return _place(sources, one, how)
    return None


def _known(
    build: Build,
    sources: Mapping[str, str],
    tried: Sequence[Condition],
    unknown: Condition | None = None,
) -> dict[Condition, str]:
    """What the compiler knows of some conditions, if it does not know this one."""
    if not 0 < len(tried) <= MOST_CONDITIONS:
        return {}
    files = {one.function.file: sources[one.function.file] for one in tried}
    replaced = {} if unknown is None else {unknown: _UNKNOWN}
    edits = [
        _edit(files, {**replaced, **answer})
        for answer in ({}, *({one: text} for one in tried for text in ("(0)", "(1)")))
    ]
    own, *others = build.compile_port(edits)
    known = {}
    for one, no, yes in zip(tried, others[::2], others[1::2], strict=True):
        code = own.get(one.function.file)
        never, always = (answer.get(one.function.file) == code for answer in (no, yes))
        if code is not None and never != always:
            known[one] = NEVER_TRUE if never else ALWAYS_TRUE
    return known


def _edit(sources: Mapping[str, str], texts: Mapping[Condition, str]) -> dict[str, str]:
    """The files with other texts in the place of conditions."""
    changed = dict(sources)
    # From the end on, so that the characters before stay where they are.
    for one in sorted(texts, key=lambda one: one.text.start, reverse=True):
        source = changed.get(one.function.file)
        if source is not None:
            before, behind = source[: one.text.start], source[one.text.stop :]
            changed[one.function.file] = f"{before}{texts[one]}{behind}"
    return changed


def _place(sources: Mapping[str, str], one: Condition, how: str) -> Place:
    """The condition, or the only ``return`` of the function whose answer it is."""
    own = one.function
    code = code_of(sources[own.file])
    line = _lines(code, one.text).start
    asks = _ASKS.fullmatch(code, one.text.start, one.text.stop)
    answer = _only_return(sources, asks[1]) if asks else None
    if asks and answer:
        callers = (PortLine(own.file, line),)
        return Place(asks[1], answer.file, answer.line, 0, "", how, callers)
    return Place(own.name, own.file, line, 0, "", how)


def _only_return(sources: Mapping[str, str], name: str) -> PortLine | None:
    """The ``return`` of a function that has one."""
    for file, source in sources.items():
        code = code_of(source)
        for function in functions_of(file, code):
            answers = [*_RETURN.finditer(code, function.body.start, function.body.stop)]
            if function.name == name and len(answers) == 1:
                return PortLine(file, _lines(code, range(*answers[0].span())).start)
    return None


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


def _lines(text: str, part: range) -> range:
    """The numbers of the lines of some characters."""
    first = text.count("\n", 0, part.start) + 1
    return range(first, first + text.count("\n", part.start, part.stop) + 1)


def _closed(text: str, start: int) -> int:
    """Behind the bracket that closes the one at ``start``."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if not depth:
            return at + 1
    return len(text)
