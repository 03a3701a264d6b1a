# SPDX-License-Identifier: MIT
"""The filter of one event, in the grammar of the kernel's ``filter`` files.

::

    filter   = both {"||" both}
    both     = one {"&&" one}
    one      = "!" one | "(" filter ")" | field operator value
    operator = == != < <= > >= &        of a number, in decimal, hexadecimal or octal digits
             | == != ~                  of a text in quotes; ~ takes * ? and [a-z]

Fields are those of the event's format, the common ones, ``CPU`` and ``comm``.  A filter is compiled
to predicates, each of which says what is next (guests/kernel/include/linux/trace_filter.h).  The
grammar is that of Linux's Documentation/trace/events.rst.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, NoReturn

from harness.errors import UsageError
from harness.trace import EventFormat
from harness.trace.formats import Field

ACCEPT, REJECT = 0xFFFFFFFE, 0xFFFFFFFF

MAX_LENGTH = 1024
MAX_STRING = 255
MAX_NESTING = 64


class FilterKind(IntEnum):
    """The compared value."""

    UNSIGNED = 1
    SIGNED = 2
    STRING = 3
    COMM = 4
    CPU = 5


OPERATIONS: Mapping[str, int] = {
    **{"==": 1, "!=": 2, "<": 3, "<=": 4, ">": 5, ">=": 6},
    **{"&": 7, "~": 8},
}
_STRING_OPERATIONS = ("==", "!=", "~")
_TEXTS = (FilterKind.STRING, FilterKind.COMM)

_NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*)")
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<logic>&&|\|\||!(?![=~])|[()])
      | (?P<operator>==|!=|<=|>=|[<>&~])
      | (?P<string>"[^"]*"|'[^']*')
      | (?P<number>-?\d\w*)
      | (?P<name>[A-Za-z_][\w.]*)
      | (?P<end>\s*$)
    )""",
    re.VERBOSE,
)


class Predicate(NamedTuple):
    """One comparison, with the guest's names; ``value`` is a number or a text.

    ``on_true`` and ``on_false`` are a later predicate's index, `ACCEPT` or `REJECT`.
    """

    kind: FilterKind
    operation: int
    offset: int
    size: int
    value: int | str
    on_true: int
    on_false: int


class _Label:
    """A place in the predicates that is known later."""

    def __init__(self, at: int | None = None) -> None:
        self.at = at


@dataclass(frozen=True, slots=True)
class _Compare:
    kind: FilterKind
    operation: int
    offset: int
    size: int
    value: int | str


@dataclass(frozen=True, slots=True)
class _Not:
    inner: "_Node"


@dataclass(frozen=True, slots=True)
class _Both:
    """``left && right``, or with ``either`` ``left || right``."""

    left: "_Node"
    right: "_Node"
    either: bool


_Node = _Compare | _Not | _Both


class FieldMissing(UsageError):
    """The event has no field of that name."""


def compile_filter(text: str, form: EventFormat) -> list[Predicate]:
    """The predicates of a filter for an event of this format.

    Raises:
        FieldMissing: the event has no such field.
        UsageError: what else the kernel refuses.
    """
    made: list[tuple[_Compare, _Label, _Label]] = []

    def emit(node: _Node, yes: _Label, no: _Label) -> None:
        if isinstance(node, _Compare):
            made.append((node, yes, no))
        elif isinstance(node, _Not):
            emit(node.inner, no, yes)
        else:
            right = _Label()
            emit(node.left, *((yes, right) if node.either else (right, no)))
            right.at = len(made)
            emit(node.right, yes, no)

    emit(_Parser(text, form).parse(), _Label(ACCEPT), _Label(REJECT))
    return [
        Predicate(one.kind, one.operation, one.offset, one.size, one.value, yes.at or 0, no.at or 0)
        for one, yes, no in made
    ]


class _Parser:
    def __init__(self, text: str, form: EventFormat) -> None:
        self._text = text
        self._form = form
        self._next_at = 0
        self._nesting = 0
        if len(text) > MAX_LENGTH:
            raise UsageError(f"a filter of {len(text)} characters is too long: {MAX_LENGTH}")
        if not text.isprintable() or not text.isascii():
            raise UsageError("a filter is one line of ASCII characters")
        self._next()

    def parse(self) -> _Node:
        node = self._either()
        if self._kind != "end":
            self._fail("too many closing parentheses" if self._word == ")" else "&& or || is due")
        return node

    def _either(self) -> _Node:
        node = self._both()
        while self._skip("||"):
            node = _Both(node, self._both(), either=True)
        return node

    def _both(self) -> _Node:
        node = self._one()
        while self._skip("&&"):
            node = _Both(node, self._one(), either=False)
        return node

    def _one(self) -> _Node:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self._fail("too many parentheses within each other")
        node: _Node
        if self._skip("!"):
            node = _Not(self._one())
        elif self._skip("("):
            node = self._either()
            if not self._skip(")"):
                self._fail("a closing parenthesis is missing")
        else:
            node = self._compare()
        self._nesting -= 1
        return node

    def _compare(self) -> _Compare:
        if self._kind != "name":
            self._fail("the name of a field is due")
        kind, field = self._field(self._word)
        self._next()
        if self._kind != "operator":
            self._fail(f"one of {' '.join(OPERATIONS)} is due")
        operator = self._word
        if (kind in _TEXTS and operator not in _STRING_OPERATIONS) or (
            kind not in _TEXTS and operator == "~"
        ):
            self._fail(f"{operator} is not possible for this field")
        self._next()
        value = self._string() if kind in _TEXTS else self._number(field.size)
        self._next()
        return _Compare(kind, OPERATIONS[operator], field.offset, field.size, value)

    def _field(self, name: str) -> tuple[FilterKind, Field]:
        for field in self._form.fields:
            if field.name != name:
                continue
            if field.is_array and field.type_name in ("char", "const char") and field.size:
                return FilterKind.STRING, field
            if not field.is_integer:
                self._fail(f"the field {name} cannot be compared")
            return (FilterKind.SIGNED if field.signed else FilterKind.UNSIGNED), field
        if name in ("comm", "COMM"):
            return FilterKind.COMM, Field("char comm[16]", 0, 0, False)
        if name in ("cpu", "CPU"):
            return FilterKind.CPU, Field("unsigned int cpu", 0, 4, False)
        names = ", ".join(field.name for field in self._form.fields)
        raise FieldMissing(
            f"there is no field {name} in {self._form.name}",
            f"There are: {names}, CPU, comm.",
            self._shown,
        )

    def _string(self) -> str:
        if self._kind != "string":
            if self._word[:1] in ("'", '"'):
                self._fail("the text has no end")
            self._fail("a text in quotes is due")
        if len(self._word) - 2 > MAX_STRING:
            self._fail("the text is too long")
        return self._word[1:-1]

    def _number(self, size: int) -> int:
        if self._kind != "number":
            self._fail("a number is due")
        digits = self._word
        if not _NUMBER.fullmatch(digits):
            self._fail(f"{digits} is not a number")
        # As strtol() with base 0.
        base = 16 if "x" in digits.lower() else 8 if digits.lstrip("-")[0] == "0" else 10
        value = int(digits, base)
        if not -1 << 63 <= value < 1 << 64:
            self._fail(f"{digits} has more than 64 bits")
        return value & ((1 << (8 * size)) - 1)

    def _next(self) -> None:
        match = _TOKEN.match(self._text, self._next_at)
        if match is None:
            rest = self._text[self._next_at :].lstrip()
            self._at = len(self._text) - len(rest)
            self._kind, self._word = "", rest[:1]
            return
        self._kind = str(match.lastgroup)
        self._word, self._at = match[self._kind].strip(), match.start(self._kind)
        self._next_at = match.end()

    def _skip(self, word: str) -> bool:
        if self._kind != "logic" or self._word != word:
            return False
        self._next()
        return True

    @property
    def _shown(self) -> str:
        return f"    {self._text}\n    {' ' * self._at}^"

    def _fail(self, what: str) -> NoReturn:
        raise UsageError(
            f"the filter is wrong at character {self._at + 1}: {what}",
            "Example: prev_pid == 1 && next_comm ~ 'work*'",
            self._shown,
        )
