# SPDX-License-Identifier: MIT
"""The order of revisions: git's if it knows them, otherwise by time.

The clocks of machines may differ: a revision with a clock that is ahead would always be the last.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError
from harness.matrix.rundir import Run
from harness.matrix.versions import git

_COMMIT = re.compile(r"([0-9a-f]{7,64})(\+[0-9a-f]+)?")
"""A git revision, with a digest of uncommitted changes."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """Runs and revisions, oldest first; ``note`` is about their order."""

    runs: list[Run]
    revisions: list[str]
    note: str


def timeline(runs: Sequence[Run], tree: Path | None) -> Timeline:
    """The order of runs that are sorted by time; ``tree`` is a git work tree, if any.

    A revision comes after its ancestors.  Otherwise the order is by time, and the revision of the
    last run is the newest one.
    """
    first = {one.revision: one.started for one in reversed(runs)}
    last = runs[-1].revision if runs else ""
    by_clock = [one for one in dict.fromkeys(run.revision for run in runs) if one != last]
    by_clock += [last] if runs else []
    try:
        before = _ancestors(by_clock, tree) if tree else {}
        note = _disagreement(by_clock, before, first)
    except HarnessError as error:
        before, note = {}, f"revisions are in the order of clocks: {error.message}"
    order = _behind_ancestors(by_clock, before)
    place = {revision: at for at, revision in enumerate(order)}
    return Timeline(sorted(runs, key=lambda one: place[one.revision]), order, note)


def _behind_ancestors(by_clock: Sequence[str], before: Mapping[str, set[str]]) -> list[str]:
    order: list[str] = []
    waiting = dict.fromkeys(by_clock)
    while waiting:
        ready = next(one for one in waiting if before.get(one, set()).isdisjoint(waiting))
        del waiting[ready]
        order.append(ready)
    return order


def _disagreement(
    revisions: Iterable[str], before: Mapping[str, set[str]], first: Mapping[str, float]
) -> str:
    for one in revisions:
        for ancestor in sorted(before.get(one, ())):
            if first[ancestor] > first[one]:
                return (
                    f"by the clocks {one[:12]} was run before {ancestor[:12]}, from which it "
                    "descends: revisions are in the order of git"
                )
    return ""


def _ancestors(revisions: Sequence[str], tree: Path) -> dict[str, set[str]]:
    """The ancestors of each revision that git knows, among the others."""
    named = {one: match[1] for one in revisions if (match := _COMMIT.fullmatch(one))}
    asked = "".join(f"{name}^{{commit}}\n" for name in named.values())
    answers = git(tree, "cat-file", "--batch-check", given=asked).splitlines() if named else []
    commits = {
        one: answer.split()[0]
        for one, answer in zip(named, answers, strict=True)
        if answer.split()[1:2] == ["commit"]
    }
    if len(set(commits.values())) < 2:
        return {}
    bits = {commit: 1 << at for at, commit in enumerate(sorted(set(commits.values())))}
    told = git(tree, "rev-list", "--topo-order", "--parents", "--stdin", given="\n".join(bits))
    reached: dict[str, int] = {}
    for line in reversed(told.splitlines()):
        commit, *parents = line.split()
        reached[commit] = bits.get(commit, 0)
        for parent in parents:
            reached[commit] |= reached.get(parent, 0)
    return {
        one: {
            other
            for other, ancestor in commits.items()
            if ancestor != commit and reached[commit] & bits[ancestor]
        }
        for one, commit in commits.items()
    }
