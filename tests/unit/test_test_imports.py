# SPDX-License-Identifier: MIT
"""Tests and tools import what the package has, also those that an optional extra skips."""

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import harness

PACKAGE = Path(harness.__file__).parent
REPOSITORY = Path(__file__).parents[2]
IMPORTERS = ("tests", "tools", "benchmarks")


@functools.cache
def names_of(module: Path) -> set[str]:
    """Names that statements outside of functions and classes bind."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text())):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
            case ast.Import() | ast.ImportFrom():
                found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
            case ast.Name(ctx=ast.Store()):
                found.add(node.id)
    return found


def missing(tree: ast.AST) -> Iterator[str]:
    """What a file imports from a module of the package that has no such name."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
            continue
        room, *rest = node.module.split(".")
        if room != "harness":
            continue
        module = PACKAGE.joinpath(*rest)
        if module.is_dir():
            inside = {path.stem for path in module.iterdir()}
            names = names_of(module / "__init__.py") | inside
        elif module.with_suffix(".py").is_file():
            names = names_of(module.with_suffix(".py"))
        else:
            yield node.module
            continue
        yield from (f"{node.module}.{a.name}" for a in node.names if a.name not in names)


def test_what_is_imported_exists():
    wrong = {
        str(path.relative_to(REPOSITORY)): found
        for room in IMPORTERS
        for path in sorted((REPOSITORY / room).rglob("*.py"))
        if (found := list(missing(ast.parse(path.read_text()))))
    }
    assert not wrong


def test_a_name_that_is_gone_is_seen():
    tree = ast.parse("from harness.process.tree import process_tree, family")
    assert list(missing(tree)) == ["harness.process.tree.family"]
    assert list(missing(ast.parse("from harness.matrix.rooms import one"))) == [
        "harness.matrix.rooms"
    ]
