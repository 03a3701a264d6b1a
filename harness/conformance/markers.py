# SPDX-License-Identifier: MIT
"""Read the markers ``@pytest.mark.clause`` from the sources of the tests, without running them.

    @pytest.mark.clause("C2a", "C2b", builds=["static", "dynamic"], configs=["mips*"])

``builds`` says which guests the test boots: dynamic ones unless given.  ``configs`` are globs over
the configs that it runs on; a test that gets ``config`` from its conftest runs on all of them and
need not say so, any other one must.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from harness.conformance.catalogue import Build
from harness.conformance.coverage import Check
from harness.errors import UsageError

EVERY_CONFIG = ("*",)


def collect(tests: Path) -> list[Check]:
    """All markers below a directory, by path and line; UsageError for one that cannot be read."""
    checks: list[Check] = []
    for path in sorted(tests.rglob("test_*.py")):
        tree = _parse(path)
        fixtures: dict[str, list[str]] = {}
        for directory in reversed([path.parent, *path.parent.parents]):
            if directory.is_relative_to(tests) and (directory / "conftest.py").is_file():
                fixtures |= _fixtures(_parse(directory / "conftest.py"))
        fixtures |= _fixtures(tree)
        checks += _checks_in(path, path.relative_to(tests.parent).as_posix(), tree, fixtures)
    return checks


def _checks_in(
    path: Path, name: str, tree: ast.Module, fixtures: Mapping[str, Sequence[str]]
) -> Iterator[Check]:
    seen = set()
    for function, test in _tests(tree, name):
        for marker in function.decorator_list:
            if _is_marker(marker, "clause"):
                assert isinstance(marker, ast.Call)
                seen.add(marker)
                yield _check(path, test, marker, _takes_config(function, fixtures))
    for node in ast.walk(tree):
        if _is_marker(node, "clause") and node not in seen:
            raise _unreadable(path, node, "is not a decorator of a test")


def _tests(tree: ast.Module | ast.ClassDef, name: str) -> Iterator[tuple[ast.FunctionDef, str]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test"):
            yield node, f"{name}::{node.name}"
        elif isinstance(node, ast.ClassDef):
            yield from _tests(node, f"{name}::{node.name}")


def _check(path: Path, test: str, marker: ast.Call, takes_config: bool) -> Check:
    said = {keyword.arg: _words(path, keyword.value) for keyword in marker.keywords}
    if unknown := set(said) - {"builds", "configs"}:
        raise _unreadable(path, marker, f"has no argument {unknown.pop()}")
    if not marker.args:
        raise _unreadable(path, marker, "names no clause")
    if not takes_config and "configs" not in said:
        raise _unreadable(path, marker, "must say configs=[...]: its test takes no config")
    try:
        builds = tuple(map(Build, said.get("builds", (Build.DYNAMIC,))))
    except ValueError as error:
        raise _unreadable(path, marker, str(error)) from None
    clauses = tuple(word for argument in marker.args for word in _words(path, argument))
    configs = said.get("configs", EVERY_CONFIG)
    return Check(test=test, clauses=clauses, builds=builds, configs=configs)


def _takes_config(function: ast.FunctionDef, fixtures: Mapping[str, Sequence[str]]) -> bool:
    """Whether the test runs on every config: ``config`` reaches it, and it does not choose."""
    for marker in function.decorator_list:
        if _is_marker(marker, "guest", "parametrize"):
            assert isinstance(marker, ast.Call)
            if any(keyword.arg == "config" for keyword in marker.keywords):
                return False
            if marker.args and re.search(r"\bconfig\b", ast.unparse(marker.args[0])):
                return False
    names, wanted = set(), [argument.arg for argument in function.args.args]
    while wanted:
        name = wanted.pop()
        if name not in names:
            names.add(name)
            wanted += fixtures.get(name, ())
    return "config" in names


def _fixtures(tree: ast.Module) -> dict[str, list[str]]:
    """The fixtures of a file and the arguments of each."""
    return {
        node.name: [argument.arg for argument in node.args.args]
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
        and any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)
    }


def _is_marker(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in {
        f"pytest.mark.{name}" for name in names
    }


def _words(path: Path, node: ast.expr) -> tuple[str, ...]:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        value = None
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise _unreadable(path, node, "must be written out: a string or a list of strings")
    return tuple(words)


def _parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def _unreadable(path: Path, node: ast.AST, reason: str) -> UsageError:
    line = getattr(node, "lineno", 0)
    return UsageError(f"{path}:{line}: {ast.unparse(node)} {reason}.")
