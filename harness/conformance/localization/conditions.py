# SPDX-License-Identifier: MIT
"""Conditions of a port's C code that are always true or never, by experiment with its compiler."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from harness.conformance.places import port_file
from harness.conformance.under_test.bench import Bench
from harness.conformance.verdict import (
    ALWAYS_TRUE,
    DECIDES_NOTHING,
    NEVER_REPEATED,
    NEVER_TRUE,
    Place,
    PortLine,
)
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
_CHOICE = re.compile(r"(?:\breturn\b|(?<![=!<>])=(?!=))\s*([^;{}?]+?)\s*\?")
"""The condition of a conditional expression that is a whole value."""

_LOOP = re.compile(r"\b(for|while)\s*(?=\()")

_ON_PURPOSE = re.compile(r"\b(?:CONFIG_\w|IS_ENABLED\b|sizeof\b)")
_WORD = re.compile(r"\b[A-Za-z_]\w*")

_ASKS = re.compile(r"\(!?\s*(\w+)\([^()]*(?:\([^()]*\)[^()]*)*\)\)")
"""A condition that is the answer of one function."""

_UNKNOWN = '(({ int unknown; __asm__("" : "=r"(unknown)); unknown; }))'
"""A condition of which the compiler knows nothing."""

_PASSED = "passed_before"
_DECLARED = f" int {_PASSED} = 0;"
"""How often the condition of a loop was asked before."""


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
            if not _is_on_purpose(code, condition):
                yield Condition(function, condition)


def _is_on_purpose(code: str, condition: range) -> bool:
    """Whether a condition is constant on purpose."""
    text = code[condition.start : condition.stop]
    words = _WORD.findall(text)
    of_macros = bool(words) and all(word.isupper() for word in words)
    return of_macros or bool(_ON_PURPOSE.search(text))


def choices_of(file: str, code: str) -> Iterator[Condition]:
    """The conditions of the conditional expressions that are returned or assigned."""
    for function in functions_of(file, code):
        for found in _CHOICE.finditer(code, function.body.start, function.body.stop):
            condition = range(*found.span(1))
            is_whole = found[1].count("(") == found[1].count(")")
            if is_whole and not _is_on_purpose(code, condition):
                yield Condition(function, condition)


def loops_of(file: str, code: str) -> Iterator[Condition]:
    """The conditions in front of the loops in the functions of a file."""
    for function in functions_of(file, code):
        for found in _LOOP.finditer(code, function.body.start, function.body.stop):
            head = range(found.end() + 1, _closed(code, found.end()) - 1)
            condition = _second_part(code, head) if found[1] == "for" else head
            # The condition behind a loop's body ends with a semicolon.
            is_behind = code[head.stop + 1 :].lstrip().startswith(";")
            if code[condition.start : condition.stop].strip() and not is_behind:
                yield Condition(function, condition)


def _second_part(code: str, head: range) -> range:
    """The condition among what is in the brackets of a ``for``; empty if there are not three."""
    first, *others = code[head.start : head.stop].split(";")
    start = head.start + len(first) + 1
    return range(start, start + len(others[0])) if len(others) == 2 else range(0)


def code_of(source: str) -> str:
    """A C file of the same length with blanks for comments, literals and directives."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def constant_condition(bench: Bench, executed: Sequence[int]) -> Place | None:
    """The one condition of the functions executed that the compiler knows.

    With 0 in its place the file compiles to the same code, and with 1 to other code, or the other
    way round.  Only conditions are tried that have no code of their own.  Of several it is the one
    without which no other would be known; None if there is none such.
    """
    image, sources = bench.image, _sources(bench)
    compiled = _compiled(image)
    tried = [
        one
        for find in (conditions_of, choices_of)
        for one in _executed(image, sources, executed, find)
        if not any(
            (one.function.file, line) in compiled
            for line in _lines(sources[one.function.file], one.text)
        )
    ]
    build = plan_build(bench.variant.spec)
    known = _known(build, sources, tried)
    for one, how in known.items():
        others = [other for other in known if other != one]
        if not others or not _known(build, sources, others, unknown=one):
            return _place(sources, one, how)
    return _needless_loop(bench, executed)


def needless_choice(bench: Bench, executed: Sequence[int]) -> Place | None:
    """The one conditional expression of the functions executed that decides nothing.

    The file compiles to the same code if it is 0 and if it is 1, whatever its condition is.
    """
    sources = _sources(bench)
    tried = [*_executed(bench.image, sources, executed, choices_of)]
    build = plan_build(bench.variant.spec)
    # What it reads may be volatile.
    answered = _answered(build, sources, tried, "(({source}), {})", {})
    idle = [one for one, never, always in answered if never and always]
    return _place(sources, idle[0], DECIDES_NOTHING) if len(idle) == 1 else None


def _needless_loop(bench: Bench, executed: Sequence[int]) -> Place | None:
    """The one loop of the functions executed that is never repeated.

    The file compiles to the same code if its condition is false from the second time on.
    """
    sources = _sources(bench)
    tried = [*_executed(bench.image, sources, executed, loops_of)]
    build = plan_build(bench.variant.spec)
    bodies = {one.function: one.function.body.start + 1 for one in tried}
    declared = {
        Condition(function, range(start, start)): _DECLARED for function, start in bodies.items()
    }
    text = f"({_PASSED}++ ? (({{source}}), {{}}) : ({{source}}))"
    answered = _answered(build, sources, tried, text, declared)
    idle = [one for one, never, always in answered if never and not always]
    return _place(sources, idle[0], NEVER_REPEATED) if len(idle) == 1 else None


def _sources(bench: Bench) -> dict[str, str]:
    """The port's C files and headers, by their names."""
    directory = bench.variant.spec.port.directory
    return {
        path.name: path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(directory.glob("*.[ch]"))
    }


def _executed(
    image: RunningImage,
    sources: Mapping[str, str],
    executed: Sequence[int],
    find: Callable[[str, str], Iterator[Condition]],
) -> Iterator[Condition]:
    """What is found in the functions in C that have any of these instructions."""
    seen = {line for address in executed for line in _port_lines(image, address)}
    for file, source in sources.items():
        code = code_of(source)
        for one in find(file, code) if file.endswith(".c") else ():
            if any((file, line) in seen for line in _lines(code, one.function.body)):
                yield one


def _known(
    build: Build,
    sources: Mapping[str, str],
    tried: Sequence[Condition],
    unknown: Condition | None = None,
) -> dict[Condition, str]:
    """What the compiler knows of some conditions, if it does not know this one."""
    replaced = {} if unknown is None else {unknown: _UNKNOWN}
    known = {}
    for one, never, always in _answered(build, sources, tried, "({})", replaced):
        if never != always:
            known[one] = NEVER_TRUE if never else ALWAYS_TRUE
    return known


def _answered(
    build: Build,
    sources: Mapping[str, str],
    tried: Sequence[Condition],
    text: str,
    replaced: Mapping[Condition, str],
) -> Iterator[tuple[Condition, bool, bool]]:
    """Whether each file compiles to the same code with 0 for a condition, and with 1.

    That number is in ``text`` for {}, and what stands there for {source}.
    """
    if not 0 < len(tried) <= MOST_CONDITIONS:
        return
    files = {one.function.file: sources[one.function.file] for one in tried}
    texts = [
        {one: text.format(answer, source=files[one.function.file][one.text.start : one.text.stop])}
        for one in tried
        for answer in (0, 1)
    ]
    edits = [_edit(files, {**replaced, **answer}) for answer in ({}, *texts)]
    own, *others = build.compile_port(edits)
    for one, no, yes in zip(tried, others[::2], others[1::2], strict=True):
        code = own.get(one.function.file)
        if code is not None:
            yield one, no.get(one.function.file) == code, yes.get(one.function.file) == code


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
