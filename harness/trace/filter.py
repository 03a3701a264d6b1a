# SPDX-License-Identifier: MIT
"""Event filters as trace-cmd writes them: ``EVENT[,EVENT...]:EXPR``.

::

    filter  = event {"," event} [":" either]        event: name, SYSTEM/name, or globs of these
    either  = both {"||" both}
    both    = one {"&&" one}
    one     = "!" one | "(" either ")" | field operator value
    operator: == != < <= > >= & ~ (glob)            value: number, 'text', "text", word, field

A filter is compiled to nested Python functions; no part of the text is evaluated.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from operator import eq, ge, gt, le, lt, ne
from typing import NoReturn, TypeVar

from harness.errors import UsageError
from harness.trace.events import TraceEvent
from harness.trace.field_access import FieldAccess, field_access, field_names
from harness.trace.formats import EventFormat
from harness.units import escape

Predicate = Callable[[TraceEvent], bool]
"""Whether an event is shown."""

_Operand = TypeVar("_Operand", int, str)

MAX_LENGTH = 4096
MAX_NESTING = 64

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<operator>&&|\|\||==|!=|<=|>=|[<>&~!()])
      | (?P<number>-?(?:0[xX][0-9a-fA-F]+|\d+)(?![\w.$]))
      | (?P<text>"[^"]*"|'[^']*')
      | (?P<word>[\w.$@]+)
      | (?P<end>$)
    )""",
    re.VERBOSE,
)
_EVENT_NAME = re.compile(r"[\w*?\[\]!.-]+(?:/[\w*?\[\]!.-]+)?")
_ORDERED: Mapping[str, Callable[[int, int], bool]] = {
    "==": eq,
    "!=": ne,
    "<": lt,
    "<=": le,
    ">": gt,
    ">=": ge,
    "&": lambda left, right: bool(left & right),
}
_OPERATORS = frozenset({*_ORDERED, "~"})


def never(event: TraceEvent) -> bool:
    """The predicate of events that no filter names."""
    del event
    return False


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    position: int


def parse_filters(texts: Iterable[str], formats: Iterable[EventFormat]) -> Predicate | None:
    """A predicate that is true if any of the filters matches; ``None`` without filters.

    ``formats`` are those of the trace, and say which events and fields exist.  As in trace-cmd,
    events that no filter names are not shown.
    """
    known = list(formats)
    chosen: dict[str, list[Predicate]] = {}
    for text in texts:
        for name, predicate in _Parser(text, known).parse().items():
            chosen.setdefault(name, []).append(predicate)
    if not chosen:
        return None
    alternatives = {name: tuple(predicates) for name, predicates in chosen.items()}

    def keep(event: TraceEvent) -> bool:
        return any(predicate(event) for predicate in alternatives.get(event.name, ()))

    return keep


class _Parser:
    """One filter.  Every grammar rule is a method and returns one predicate for each event."""

    def __init__(self, text: str, formats: Sequence[EventFormat]) -> None:
        self._text = text
        self._formats = formats
        self._position = 0
        self._nesting = 0
        if len(text) > MAX_LENGTH:
            raise UsageError(
                f"a filter of {len(text)} characters is too long ({MAX_LENGTH} at most)"
            )

    def parse(self) -> dict[str, Predicate]:
        """The predicates of the events named by the filter."""
        chosen = self._events()
        if self._position == len(self._text):
            return dict.fromkeys((form.name for form in chosen), lambda event: True)
        self._position += 1
        self._chosen = chosen
        self._token = self._next()
        predicates = self._either()
        if self._token.kind != "end":
            self._fail("&& or || was expected", self._token.position)
        return {form.name: one for form, one in zip(chosen, predicates, strict=True)}

    def _events(self) -> list[EventFormat]:
        """The formats named before the colon."""
        chosen: dict[int, EventFormat] = {}
        while True:
            self._blanks()
            match = _EVENT_NAME.match(self._text, self._position)
            if match is None:
                self._fail("the name of an event was expected", self._position)
            found = [form for form in self._formats if _is_named(form, match[0])]
            if not found:
                names = sorted({form.name for form in self._formats})
                self._fail(
                    f"the trace has no event {match[0]!r}",
                    self._position,
                    f"It has: {', '.join(names[:40])}.",
                )
            chosen |= {form.id: form for form in found}
            self._position = match.end()
            self._blanks()
            if self._position == len(self._text) or self._text[self._position] == ":":
                return list(chosen.values())
            if self._text[self._position] != ",":
                self._fail("a comma, a colon, or the end was expected", self._position)
            self._position += 1

    def _either(self) -> list[Predicate]:
        sides = [self._both()]
        while self._skip("||"):
            sides.append(self._both())
        return sides[0] if len(sides) == 1 else [_any(one) for one in zip(*sides, strict=True)]

    def _both(self) -> list[Predicate]:
        sides = [self._one()]
        while self._skip("&&"):
            sides.append(self._one())
        return sides[0] if len(sides) == 1 else [_all(one) for one in zip(*sides, strict=True)]

    def _one(self) -> list[Predicate]:
        position = self._token.position
        if self._skip("!"):
            self._deeper(position)
            inner = [_not(predicate) for predicate in self._one()]
            self._nesting -= 1
            return inner
        if self._skip("("):
            self._deeper(position)
            inner = self._either()
            if not self._skip(")"):
                self._fail("a closing parenthesis was expected", self._token.position)
            self._nesting -= 1
            return inner
        return self._comparison()

    def _comparison(self) -> list[Predicate]:
        name = self._token
        if name.kind != "word":
            self._fail("the name of a field was expected", name.position)
        fields = [field_access(form, name.text) for form in self._chosen]
        if not any(fields):
            self._fail_without_field(name)
        self._token = self._next()
        operator = self._token
        if operator.text not in _OPERATORS or operator.kind != "operator":
            self._fail("one of == != < <= > >= & ~ was expected", operator.position)
        self._token = self._next()
        value = self._token
        if value.kind not in ("number", "text", "word"):
            self._fail("a number, a text in quotes or a name was expected", value.position)
        predicates = [
            never if field is None else self._compared(form, name, field, operator, value)
            for form, field in zip(self._chosen, fields, strict=True)
        ]
        self._token = self._next()
        return predicates

    def _compared(
        self, form: EventFormat, name: _Token, field: FieldAccess, operator: _Token, value: _Token
    ) -> Predicate:
        """The comparison, for one event."""
        other = field_access(form, value.text) if value.kind == "word" else None
        if field.number is not None and other is not None and other.number is not None:
            if operator.text == "~":
                self._fail("a glob is compared with a text", value.position)
            return _compare(_ORDERED[operator.text], field.number, other.number)
        if value.kind == "number":
            if field.number is None:
                self._fail(f"{name.text} is a text, and {value.text} a number", value.position)
            if operator.text == "~":
                self._fail("a glob is a text, in quotes", value.position)
            right = _constant(_integer(value.text))
            return _compare(_ORDERED[operator.text], field.number, right)
        if field.text is None:
            shown = escape(value.text, 64)
            self._fail(f"{name.text} is a number, and {shown} is none", value.position)
        text = value.text[1:-1] if value.kind == "text" else value.text
        if operator.text == "~":
            return _match_glob(field.text, re.compile(translate(text)))
        if operator.text not in ("==", "!="):
            self._fail(
                f"texts and names are compared with == != ~, not with {operator.text}",
                operator.position,
            )
        compare = eq if operator.text == "==" else ne
        if field.number is None and other is not None and other.text is not None:
            return _compare(compare, field.text, other.text)
        return _compare(compare, field.text, _constant(text))

    def _next(self) -> _Token:
        match = _TOKEN.match(self._text, self._position)
        if match is None:
            self._blanks()
            if self._text[self._position] in "\"'":
                self._fail("a text has no end", self._position)
            self._fail(
                f"{escape(self._text[self._position])} is not part of any filter", self._position
            )
        self._position = match.end()
        kind = str(match.lastgroup)
        return _Token(kind, match[kind], match.start(kind))

    def _skip(self, text: str) -> bool:
        """Consume an operator if it comes next."""
        if self._token.kind != "operator" or self._token.text != text:
            return False
        self._token = self._next()
        return True

    def _blanks(self) -> None:
        while self._text[self._position : self._position + 1].isspace():
            self._position += 1

    def _deeper(self, position: int) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self._fail(f"more than {MAX_NESTING} parentheses within each other", position)

    def _fail_without_field(self, name: _Token) -> NoReturn:
        fields = dict.fromkeys(known for form in self._chosen for known in field_names(form))
        events = ", ".join(form.name for form in self._chosen[:8])
        self._fail(
            f"there is no field {escape(name.text, 64)!r} in {events}",
            name.position,
            f"There are: {', '.join(list(fields)[:60])}.",
        )

    def _fail(self, what: str, position: int, advice: str = "") -> NoReturn:
        shown = escape(self._text.replace("\n", " ").replace("\t", " "))
        start = len(escape(self._text[:position].replace("\n", " ").replace("\t", " ")))
        raise UsageError(
            f"the filter is wrong at character {position + 1}: {what}",
            advice or "Write it as EVENT[,EVENT...]:EXPR, such as 'function: ip == do_work'.",
            f"    {shown}\n    {' ' * start}^",
        )


def _is_named(form: EventFormat, pattern: str) -> bool:
    system, slash, name = pattern.rpartition("/")
    if slash and not re.fullmatch(translate(system), form.system):
        return False
    return re.fullmatch(translate(name), form.name) is not None


def _integer(text: str) -> int:
    return int(text, 16 if "x" in text.lower() else 10)


def _any(sides: Sequence[Predicate]) -> Predicate:
    return lambda event: any(side(event) for side in sides)


def _all(sides: Sequence[Predicate]) -> Predicate:
    return lambda event: all(side(event) for side in sides)


def _not(inner: Predicate) -> Predicate:
    return lambda event: not inner(event)


def _compare(
    compare: Callable[[_Operand, _Operand], bool],
    left: Callable[[TraceEvent], _Operand],
    right: Callable[[TraceEvent], _Operand],
) -> Predicate:
    return lambda event: compare(left(event), right(event))


def _constant(value: _Operand) -> Callable[[TraceEvent], _Operand]:
    return lambda event: value


def _match_glob(read: Callable[[TraceEvent], str], glob: re.Pattern[str]) -> Predicate:
    return lambda event: glob.match(read(event)) is not None
