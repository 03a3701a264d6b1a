# SPDX-License-Identifier: MIT
"""Which clause is checked by which test of this repository, and on which configs.

The tests carry markers; ``coverage.toml`` is a copy of what the markers say, because an installed
harness has no tests.  ``python -m harness.conformance`` writes it.
"""

import tomllib
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from harness.config import MachineConfig
from harness.config.models import Model
from harness.conformance.catalogue import Build, Clause, matches_any

COVERAGE_FILE = Path(__file__).with_name("coverage.toml")

HEAD = """\
# SPDX-License-Identifier: MIT
# Made by `python -m harness.conformance` from the markers of the tests; do not edit.
"""


class Check(Model):
    """One marker: a test, what it checks, and the guests that it checks it on."""

    test: str
    clauses: tuple[str, ...]
    builds: tuple[Build, ...]
    configs: tuple[str, ...]
    """Globs over the names of configs."""


class Covered(StrEnum):
    """Whether the tests of this repository check a clause on a config."""

    YES = "yes"
    STATIC_ONLY = "static only"
    DYNAMIC_ONLY = "dynamic only"
    NO = "no"
    NOT_OBSERVABLE = "not observable"


def covered(clause: Clause, config: MachineConfig, checks: Iterable[Check]) -> Covered:
    """What the tests check of a clause that applies to the config."""
    if clause.why_not_observable(config):
        return Covered.NOT_OBSERVABLE
    checked = {
        build
        for check in checks
        if clause.id in check.clauses and matches_any([config.name], check.configs)
        for build in check.builds
    }
    wanted = clause.builds_on(config)
    if Build.ANY in wanted:
        return Covered.YES if checked else Covered.NO
    if wanted <= checked:
        return Covered.YES
    if not wanted & checked:
        return Covered.NO
    return Covered.STATIC_ONLY if Build.STATIC in checked else Covered.DYNAMIC_ONLY


@cache
def load_checks() -> tuple[Check, ...]:
    """The table that comes with the harness."""
    table = tomllib.loads(COVERAGE_FILE.read_text(encoding="utf-8"))
    return tuple(Check.model_validate(check) for check in table.get("check", ()))


def dump_checks(checks: Sequence[Check]) -> str:
    """The content of ``coverage.toml``."""
    return HEAD + "".join(
        f"\n[[check]]\ntest = {_quoted(check.test)}\nclauses = {_list(check.clauses)}\n"
        f"builds = {_list(check.builds)}\nconfigs = {_list(check.configs)}\n"
        for check in checks
    )


def _list(words: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, words))}]"


def _quoted(word: str) -> str:
    # Ids of tests and clauses, and globs: nothing that TOML would want escaped.
    if not word.isprintable() or set(word) & set('"\\'):
        raise ValueError(f"{word!r} cannot stand in the table")
    return f'"{word}"'
