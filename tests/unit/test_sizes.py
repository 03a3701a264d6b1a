# SPDX-License-Identifier: MIT
"""A reader finds the room by its name: small files, small classes, one meaning for each name."""

import ast
from collections import defaultdict
from pathlib import Path

import pytest

import harness
from harness.isa import architectures

PACKAGE = Path(harness.__file__).parent
TOOLS = Path(__file__).parents[2] / "tools"
LINES, METHODS = 400, 25


def python_files():
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path for path in found if path.parts[0] != "data")


def classes_in(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]


def classes():
    return [(path, node) for path in python_files() for node in classes_in(PACKAGE / path)]


def public_methods(node):
    functions = ast.FunctionDef | ast.AsyncFunctionDef
    every = (part for part in node.body if isinstance(part, functions))
    # A property and its setter are one.
    return {part.name for part in every if not part.name.startswith("_")}


@pytest.mark.parametrize("pattern", ["*.py", "*.c", "*.h"])
def test_no_file_is_long(pattern):
    every = (path for path in PACKAGE.rglob(pattern) if "data" not in path.parts)
    lines = {str(path): len(path.read_text(encoding="utf-8").splitlines()) for path in every}
    assert {path: count for path, count in lines.items() if count > LINES} == {}


def test_no_class_does_too_much():
    sizes = {f"{path}: {node.name}": len(public_methods(node)) for path, node in classes()}
    assert {name: count for name, count in sizes.items() if count > METHODS} == {}


def test_methods_are_counted():
    """Asynchronous ones too; a property and its setter are one, and private ones none."""
    (node,) = ast.parse(
        """class X:
    def a(self): ...
    async def b(self): ...
    @property
    def c(self): ...
    @c.setter
    def c(self, value): ...
    def _d(self): ...
"""
    ).body
    assert public_methods(node) == {"a", "b", "c"}


def test_a_class_name_has_one_meaning():
    """In the tools too; but for architectures, which have the same parts under the same names."""
    own = tuple(("isa", name) for name in architectures())
    every = [(path, node) for path, node in classes() if path.parts[:2] not in own]
    tools = sorted(TOOLS.rglob("*.py"))
    assert tools
    every += [(path.relative_to(TOOLS.parent), node) for path in tools for node in classes_in(path)]
    places = defaultdict(set)
    for path, node in every:
        if not node.name.startswith("_"):
            places[node.name].add(str(path))
    assert {name: where for name, where in places.items() if len(where) > 1} == {}
