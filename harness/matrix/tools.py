# SPDX-License-Identifier: MIT
"""Which attempts were made with which tools; nothing here reads or writes.

A port that fails tonight at the revision that passed last night is not flaky when QEMU or the
compiler is another tonight: it broke.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from harness.matrix.result import CellOutcome, Result


@dataclass(frozen=True, slots=True)
class Tool:
    """A program whose last version, as it says it, is another than before."""

    program: str
    before: str
    now: str


def split(results: Sequence[Result]) -> tuple[list[Result], list[Result]]:
    """Attempts, oldest first: with the tools of each cell's last one, and with those before these.

    What the host failed at says nothing of tools, and stays with the last ones.
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
    """The programs, sorted by name, that both have used and whose versions differ at last."""
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
