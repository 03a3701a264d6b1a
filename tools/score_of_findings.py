# SPDX-License-Identifier: MIT
"""Compare the findings about a port with the fault that was planted in it."""

import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

from harness.config import Port

NAMES = re.compile(
    r"^SYM_(?:FUNC_START|INNER_LABEL)\((\w+)|^\s*\.macro\s+(\w+)|^[a-z][\w \t*]*?(\w+)\("
)
"""A function's or macro's first line in assembly or C, or another entry into it."""

MACRO = re.compile(r"^\s*(?:\.macro\s+|#define\s+)(\w+)")
"""The first line of a macro, whose lines are not in debug information."""

NO_CODE = re.compile(r"\s*(?:#|\.|//|/\*|\*(?:[\s/]|$)|$)")
"""Of a line of the preprocessor, of the assembler's own, of a comment, or without anything."""

SWITCH = re.compile(r"(\s*)switch \(")

END = re.compile(r"^}|^SYM_FUNC_END\(|^\s*\.endm")


@dataclass(frozen=True, slots=True)
class Planted:
    """A fault: the clauses that it breaks, and the whole text of each file that has it."""

    name: str
    clauses: tuple[str, ...]
    edits: Mapping[str, str]

    def plant(self, port: Port, directory: Path) -> Path:
        """A copy of the port's files with the fault, in a directory."""
        changed = directory / port.name
        shutil.copytree(port.directory, changed)
        for name, text in self.edits.items():
            (changed / name).write_text(text)
        return changed

    @property
    def in_assembly(self) -> bool:
        """Whether only files of assembly are edited."""
        return all(name.endswith(".S") for name in self.edits)


@dataclass(frozen=True, slots=True)
class Score:
    """The findings about one port, compared with its fault."""

    planted: Planted
    findings: list[dict[str, Any]]
    lines: int | None
    """The distance from the first finding's line to the nearest edited one; None in other files."""
    by_call: bool
    """Whether a line has the edit, or uses a macro that has it: the finding's, or one that calls
    it."""
    beside: bool
    """Whether such a line is beside the edit."""
    one_line: bool
    """Whether the fault is one line."""
    in_function: bool
    """Whether the function that is named has the edit or calls one that has it, or a call that is
    shown with it is in one that has it."""

    @property
    def right(self) -> bool:
        """Whether the first finding is for a clause that the fault breaks."""
        return bool(self.findings) and self.findings[0]["clause"] in self.planted.clauses


def edited_lines(old: list[str], new: list[str]) -> list[int]:
    """The numbers of the lines in ``new`` that are not in ``old``, or around removed lines."""
    lines: set[int] = set()
    for kind, _, _, start, end in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "delete":
            lines.update((start, start + 1))
        elif kind != "equal":
            lines.update(range(start + 1, end + 1))
    return sorted(lines)


def is_one_line(old: list[str], new: list[str]) -> bool:
    """Whether the edit of a file replaces, adds or removes not more than one line."""
    edits = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    sizes = [max(was - at, end - start) for kind, at, was, start, end in edits if kind != "equal"]
    return sum(sizes) <= 1


def distance(lines: list[str], edited: int, shown: int) -> int:
    """How many lines lie from one number to another; those that make no code do not count."""
    passed = lines[edited:shown] if edited < shown else lines[max(shown - 1, 0) : edited - 1]
    return sum(not NO_CODE.match(line) for line in passed)


def distances(
    texts: Mapping[str, str], edited: Mapping[str, list[int]], file: str, shown: int
) -> list[int]:
    """How far a line is from each edited one of its file."""
    lines = texts.get(file, "").splitlines()
    return [distance(lines, line, shown) for line in edited.get(file, ())]


@dataclass(frozen=True, slots=True)
class PortFunction:
    """A function or a macro of a port's file."""

    file: str
    names: list[str]
    lines: range
    words: set[str]


def functions(texts: Mapping[str, str]) -> Iterator[PortFunction]:
    """All functions and macros of a port."""
    for file, text in texts.items():
        names: list[str] = []
        start, lines = 1, text.splitlines()
        for number, line in enumerate(lines, 1):
            if match := NAMES.match(line):
                names += [name for name in match.groups() if name]
            if END.match(line):
                words = set(re.findall(r"\w+", "\n".join(lines[start - 1 : number])))
                yield PortFunction(file, names, range(start, number + 1), words)
                names, start = [], number + 1


def reached_from(name: str, every: list[PortFunction]) -> list[PortFunction]:
    """The functions with this name, and those that they call."""
    found = [function for function in every if name in function.names]
    for function in found:
        found += [
            other for other in every if other not in found and function.words & set(other.names)
        ]
    return found


def macros(texts: Mapping[str, str]) -> dict[str, list[tuple[str, range, set[str]]]]:
    """The definitions of a port's macros by name: file, lines and words."""
    found: dict[str, list[tuple[str, range, set[str]]]] = {}
    for file, text in texts.items():
        lines = text.splitlines()
        for start, line in enumerate(lines):
            if match := MACRO.match(line):
                end = start
                # A definition of the preprocessor goes on behind a backslash.
                while not END.match(lines[end]) if ".macro" in line else lines[end].endswith("\\"):
                    end += 1
                words = set(re.findall(r"\w+", "\n".join(lines[start : end + 1])))
                found.setdefault(match[1], []).append((file, range(start + 1, end + 2), words))
    return found


def statement(file: str, number: int, lines: list[str]) -> list[int]:
    """The numbers of a line and, in C, of those up to the end of brackets that it opens.

    Of a ``switch`` also those of its cases.  Debug information has a call at its first line, and
    the comparisons with the cases at that of the ``switch``.
    """
    end, is_open, cases = number, 0, []
    for line in lines[number - 1 :] if number and file.endswith((".c", ".h")) else ():
        is_open += line.count("(") - line.count(")")
        if is_open <= 0:
            break
        end += 1
    if 0 < number <= len(lines) and (match := SWITCH.match(lines[number - 1])):
        closed = lines.index(f"{match[1]}}}", number)
        cases = [at + 1 for at in range(number, closed) if lines[at].startswith(f"{match[1]}case ")]
    return [*range(number, end + 1), *cases]


def lines_of(file: str, number: int, texts: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The lines of a statement, and those of macros that it uses, directly or through others."""
    known, lines = macros(texts), texts.get(file, "").splitlines()
    own = statement(file, number, lines)
    yield from ((file, one) for one in own)
    text = "\n".join(lines[one - 1] for one in own if 0 < one <= len(lines))
    words = set(re.findall(r"\w+", text))
    used = list(words & known.keys())
    for name in used:
        for where, numbers, more in known[name]:
            yield from ((where, one) for one in numbers)
            used += [other for other in more & known.keys() if other not in used]


def score(planted: Planted, port: Port, findings: list[dict[str, Any]]) -> Score:
    """Compare the findings with the fault."""
    first = findings[0] if findings else {}
    texts = {
        path.relative_to(port.directory).as_posix(): path.read_text()
        for path in sorted(port.directory.rglob("*.[chS]"))
    }
    edits = planted.edits
    edited = {
        name: edited_lines(texts[name].splitlines(), new.splitlines())
        for name, new in edits.items()
    }
    every = [*functions({**texts, **edits})]
    calls = [(one["file"], one["line"]) for one in first.get("callers", ())]
    shown_functions = [
        *reached_from(first.get("function") or "", every),
        *(one for one in every if any(f == one.file and n in one.lines for f, n in calls)),
    ]
    in_function = any(
        line in function.lines
        for function in shown_functions
        for line in edited.get(function.file, ())
    )
    texts |= edits
    file, number = first.get("file") or "", first.get("line") or 0
    away = distances(texts, edited, file, number)
    shown = [first, *first.get("callers", ())] if first.get("file") else []
    by_call = any(
        line in edited.get(file, ())
        for one in shown
        for file, line in lines_of(one["file"], one["line"], texts)
    )
    beside = any(1 in distances(texts, edited, one["file"], one["line"]) for one in shown)
    one_line = len(edits) == 1 and all(
        is_one_line((port.directory / name).read_text().splitlines(), new.splitlines())
        for name, new in edits.items()
    )
    lines, in_function = min(away, default=None), in_function or by_call
    return Score(planted, findings, lines, by_call, beside, one_line, in_function)


def show(found: Score) -> None:
    """Print the line of a fault, and its findings after the first."""
    first, *others = found.findings or [{}]
    place = f"{first.get('function') or '-'} {first.get('file')}:{first.get('line')}"
    verdict = "right" if found.right else "WRONG"
    away = "elsewhere" if found.lines is None else f"{found.lines} lines away"
    where = "" if found.in_function else ", another function"
    what = f"{found.planted.name:44} {verdict} {first.get('clause', 'no finding'):10}"
    print(f"{what} {place}, {away}{where}", flush=True)
    for finding in others:
        print(f"    {finding['clause']:6} {finding['message'][:100]!a}", flush=True)


def table(scores: list[Score]) -> Iterator[str]:
    """The table of docs/mutants.rst: a line for each mutant, in reStructuredText."""
    rows = [("mutant", "first finding", "place", "further findings")]
    for found in scores:
        first, *others = found.findings or [{}]
        place = f"{first.get('function') or first.get('file') or ''}"
        mark = "" if found.in_function else " (1)"
        clause = f"{first.get('clause', 'none')}{'' if found.right else ' (2)'}"
        rows.append(
            (
                found.planted.name,
                clause,
                place + mark,
                " ".join(other["clause"] for other in others),
            )
        )
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    yield from (rule, lines[0], rule, *lines[1:], rule)
