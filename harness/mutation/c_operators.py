# SPDX-License-Identifier: MIT
"""Generated faults in C: each operation on each piece of a file's syntax tree.

The text is what is written, with its macros and conditionals; conditions of ``#if`` stay.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from harness.errors import UsageError

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

OTHER_OPERATOR = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="},
    **{"&&": "||", "||": "&&", "&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<"},
    **{"+": "-", "-": "+", "*": "/", "/": "*", "%": "/"},
    **{"+=": "-=", "-=": "+=", "|=": "&=", "&=": "|=", "++": "--", "--": "++"},
}
"""The replacements of an operator with two operands, or of an assignment's."""

STATEMENTS = ("expression_statement", "if_statement", "for_statement", "while_statement")
"""The kinds of statements that can be swapped with the next one."""

MACROS = ("preproc_def", "preproc_function_def")
SHOWN = 150
"""Characters of the lines with a fault."""

_BEFORE = b"int value = "
"""In front of a macro's text, so that it can be parsed."""


@dataclass(frozen=True, slots=True)
class CFault:
    """One fault in one C file.

    ``name`` is ``file:function/operation@number``, where the function may be a macro; the
    number counts, from 1, the places for this operation in it.  ``text`` is the file's.
    """

    name: str
    file: str
    function: str
    about: str
    text: str


@dataclass(frozen=True, slots=True)
class _Change:
    """The bytes from ``start`` to ``end`` become ``new``."""

    operation: str
    start: int
    end: int
    new: bytes


def c_faults(file: str, text: str) -> Iterator[CFault]:
    """Every fault in a file."""
    source = text.encode()
    numbers: dict[tuple[str, str], int] = {}
    seen = {source}
    for function, change in _changes(_parser().parse(source).root_node, ""):
        key = function, change.operation
        numbers[key] = numbers.get(key, 0) + 1
        new = source[: change.start] + change.new + source[change.end :]
        if new in seen:
            continue
        seen.add(new)
        yield CFault(
            f"{file}:{function}/{change.operation}@{numbers[key]}",
            file,
            function,
            _about(source, change),
            new.decode(),
        )


@cache
def _parser() -> "Parser":
    try:
        from tree_sitter import Language, Parser
        from tree_sitter_c import language
    except ImportError as error:
        raise UsageError(
            f"faults in C need a parser: {error}",
            "Install the extra mutants: pip install ftrace-harness[mutants]",
        ) from error
    return Parser(Language(language()))


def _about(source: bytes, change: _Change) -> str:
    """The lines with the fault, before and after, in one line."""
    start = source.rfind(b"\n", 0, change.start) + 1
    end = source.find(b"\n", change.end)
    before = source[start:end]
    after = source[start : change.start] + change.new + source[change.end : end]
    texts = (" ".join(text.decode().split()) for text in (before, after))
    return " => ".join(text if len(text) <= SHOWN else f"{text[:SHOWN]}..." for text in texts)


def _changes(node: "Node", function: str, shift: int = 0) -> Iterator[tuple[str, _Change]]:
    """The changes in a piece of the tree, with the function or the macro that they are in."""
    if node.type == "function_definition":
        function = _name(node)
    elif node.type in MACROS:
        yield from _macro_changes(node)
        return
    for change in OPERATIONS.get(node.type, lambda _node: [])(node):
        start, end = change.start + shift, change.end + shift
        yield function, _Change(change.operation, start, end, change.new)
    if node.type == "compound_statement" or node.type.startswith("preproc_"):
        for change in _swapped(node):
            yield function, change
    for at, child in enumerate(node.children):
        if not (node.type.startswith("preproc_") and node.field_name_for_child(at) == "condition"):
            yield from _changes(child, function, shift)


def _name(node: "Node") -> str:
    found: Node | None = node
    while found is not None and found.type != "identifier":
        found = found.child_by_field_name("declarator")
    return _text(found).decode() if found is not None else ""


def _macro_changes(node: "Node") -> Iterator[tuple[str, _Change]]:
    name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if name is not None and value is not None:
        tree = _parser().parse(_BEFORE + _text(value) + b";")
        function = _text(name).decode()
        yield from _changes(tree.root_node, function, value.start_byte - len(_BEFORE))


def _text(node: "Node") -> bytes:
    return node.text or b""


def _operand(node: "Node", field: str) -> "Node":
    """A part of a node that its kind always has."""
    found = node.child_by_field_name(field)
    assert found is not None
    return found


def _operator(node: "Node") -> Iterator[_Change]:
    operator = _operand(node, "operator")
    old = _text(operator).decode()
    if old in OTHER_OPERATOR:
        new = OTHER_OPERATOR[old]
        yield _Change(f"{old}-to-{new}", operator.start_byte, operator.end_byte, new.encode())
    if old == "&":
        yield _instead(node, "mask-dropped", _text(_operand(node, "left")))


def _instead(node: "Node", operation: str, new: bytes) -> _Change:
    # The number of lines stays: it is in debug information, and in messages.
    lines = _text(node).count(b"\n") - new.count(b"\n")
    return _Change(operation, node.start_byte, node.end_byte, new + b"\n" * lines)


def _unary(node: "Node") -> Iterator[_Change]:
    operator = _text(_operand(node, "operator")).decode()
    yield _instead(node, f"{operator}-dropped", _text(_operand(node, "argument")))


def _number(node: "Node") -> Iterator[_Change]:
    text = _text(node)
    yield _instead(node, "+1", b"(" + text + b" + 1)")
    yield _instead(node, "-1", b"(" + text + b" - 1)")
    if int(text.decode().rstrip("uUlL"), 0) > 1:
        yield _instead(node, "0", b"0")


def _truth(node: "Node") -> Iterator[_Change]:
    other = "false" if node.type == "true" else "true"
    yield _instead(node, f"{node.type}-to-{other}", other.encode())


def _negated(node: "Node") -> Iterator[_Change]:
    """Where it is a negation, or one comparison for equality, another operation does that."""
    condition = _operand(node, "condition")
    inner = condition.named_children[0] if condition.named_children else condition
    operator = inner.child_by_field_name("operator")
    if operator is None or _text(operator) not in (b"==", b"!=", b"!"):
        yield _instead(condition, "negated", b"(!(" + _text(condition) + b"))")


def _if(node: "Node") -> Iterator[_Change]:
    yield from _negated(node)
    if node.child_by_field_name("alternative") is None:
        yield _instead(node, "if-dropped", b";")


def _dropped(node: "Node") -> Iterator[_Change]:
    """A statement is removed; the body of an ``if`` without ``else`` only with the ``if``."""
    parent = node.parent
    alone = parent is not None and parent.type == "if_statement"
    if not alone or parent is None or parent.child_by_field_name("alternative") is not None:
        yield _instead(node, "dropped", b";")


def _returned(node: "Node") -> Iterator[_Change]:
    value = node.named_children[0] if node.named_children else None
    if value is not None and value.type not in ("number_literal", "true", "false", "null"):
        yield _instead(value, "return-0", b"0")


def _cast(node: "Node") -> Iterator[_Change]:
    """Casts of pointers only please the compiler."""
    if b"*" not in _text(_operand(node, "type")):
        yield _instead(node, "cast-dropped", _text(_operand(node, "value")))


def _swapped(node: "Node") -> Iterator[_Change]:
    """Two neighbouring statements are swapped."""
    children = [child for child in node.named_children if child.type != "comment"]
    for one, other in pairwise(children):
        if one.type in STATEMENTS and other.type in STATEMENTS:
            whole = _text(node)
            between = whole[one.end_byte - node.start_byte : other.start_byte - node.start_byte]
            new = _text(other) + between + _text(one)
            yield _Change("swapped", one.start_byte, other.end_byte, new)


OPERATIONS: dict[str, Callable[[Any], Iterator[_Change]]] = {
    "binary_expression": _operator,
    "assignment_expression": _operator,
    "update_expression": _operator,
    "unary_expression": _unary,
    "number_literal": _number,
    "true": _truth,
    "false": _truth,
    "if_statement": _if,
    "while_statement": _negated,
    "do_statement": _negated,
    "conditional_expression": _negated,
    "expression_statement": _dropped,
    "break_statement": _dropped,
    "continue_statement": _dropped,
    "return_statement": _returned,
    "cast_expression": _cast,
}
"""The operations on each kind of node."""
