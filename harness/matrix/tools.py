# SPDX-License-Identifier: MIT
"""Attempts by versions of tools; no I/O.

A port that passed last night and fails tonight, at the same revision but with another QEMU or
compiler, is broken, not flaky.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.matrix.result import CellOutcome, Result


@dataclass(frozen=True, slots=True)
class Tool:
    """A program whose version has changed."""

    program: str
    before: str
    now: str


def split(results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Attempts, oldest first: those with the tools of each cell's last one, and those with the
    tools before.

    Errors of the host are in the first list.
    """
    last: dict[str, Mapping[str, str]] = {}
    earlier: dict[str, Mapping[str, str]] = {}
    judged = [one for one in results if one.outcome is not CellOutcome.ERROR]
    for one in reversed(judged):
        if one.versions != last.setdefault(one.cell, one.versions):
            earlier.setdefault(one.cell, one.versions)
    now = [r for r in results if r.outcome is CellOutcome.ERROR or r.versions == last[r.cell]]
    return now, [r for r in judged if r.versions == earlier.get(r.cell)]


def changed(before: Iterable[Result], now: Iterable[Result]) -> list[Tool]:
    """The programs used in both, whose last versions differ, by name."""
    old, new = _versions(before), _versions(now)
    return [
        Tool(program, old[program], new[program])
        for program in sorted(old.keys() & new.keys())
        if old[program] != new[program]
    ]


def _versions(results: Iterable[Result]) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in sorted(results, key=lambda one: (one.started, one.id)):
        found |= one.versions
    return found
