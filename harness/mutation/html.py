# SPDX-License-Identifier: MIT
"""The kill table as a static page: first the mutants with a wrong outcome, then all."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.conformance.catalogue import order_of
from harness.conformance.reports.html import page_environment
from harness.mutation.kill_table import MutantOutcome
from harness.pages import Write


@dataclass(frozen=True, slots=True)
class MutantGroup:
    """Mutants of one config: the written ones, or those generated in one stub of a build."""

    name: str
    outcomes: list[MutantOutcome]

    @property
    def wrong(self) -> int:
        """The number of wrong outcomes."""
        return sum(not one.right for one in self.outcomes)

    @property
    def caught(self) -> int:
        """The number of those caught for a clause that they break."""
        return sum(one.killed and one.right for one in self.outcomes)


@dataclass(frozen=True, slots=True)
class Count:
    """The mutants of a clause on a config: the number caught for it, and the total."""

    caught: int
    every: int


def write_pages(
    write: Write, outcomes: Sequence[MutantOutcome], command: str, written: float
) -> None:
    """Write ``index.html``; ``written`` is the time in seconds since 1970."""
    configs = list(dict.fromkeys(one.config for one in outcomes))
    # A fault that does not assemble does not count.
    built = [one for one in outcomes if one.built or not one.right]
    text = (
        page_environment("harness.mutation")
        .get_template("mutants.html")
        .render(
            configs=configs,
            command=command,
            written=written,
            tiles=_tiles(outcomes),
            wrong=[one for one in built if not one.right],
            rows=_rows(built, configs),
            groups={config: _groups(built, config) for config in configs},
            state=_state,
        )
    )
    write("index.html", text)


def _state(one: MutantOutcome) -> tuple[str, str]:
    """The colour of an outcome, and the word for it."""
    if not one.built:
        return ("none" if one.right else "fail"), "does not build"
    if not one.killed:
        return ("none", "equivalent") if one.equivalent else ("fail", "survives")
    if one.right:
        return "pass", "caught"
    return "fail", "caught, but recorded as equivalent" if one.equivalent else "another clause"


def _tiles(outcomes: Sequence[MutantOutcome]) -> list[tuple[str, int, str]]:
    """The numbers at the top: colour, number, name."""
    built = [one for one in outcomes if one.built]
    caught = sum(one.killed and one.right for one in built)
    alive = sum(not one.killed and not one.equivalent for one in built)
    wrong = sum(not one.right for one in outcomes) - alive
    return [
        ("pass" if caught else "none", caught, "caught"),
        ("fail" if alive else "none", alive, "survive"),
        ("fail" if wrong else "none", wrong, "not as expected"),
        ("none", sum(not one.killed and bool(one.equivalent) for one in built), "equivalent"),
        ("none", len(outcomes) - len(built), "do not build"),
    ]


def _rows(
    outcomes: Sequence[MutantOutcome], configs: Sequence[str]
) -> list[tuple[str, list[Count | None]]]:
    """For each clause that mutants break, their outcomes on each config."""
    counts: dict[tuple[str, str], list[bool]] = {}
    for one in outcomes:
        if one.equivalent and one.right:
            continue
        caught = one.killed and one.right
        for clause in [one.clause] if caught else one.expected:
            counts.setdefault((clause, one.config), []).append(caught)
    clauses = sorted({clause for clause, _ in counts}, key=order_of)
    found = {key: Count(sum(every), len(every)) for key, every in counts.items()}
    return [(clause, [found.get((clause, config)) for config in configs]) for clause in clauses]


def _groups(outcomes: Sequence[MutantOutcome], config: str) -> list[MutantGroup]:
    groups: dict[str, MutantGroup] = {}
    for one in outcomes:
        if one.config == config:
            name = "/".join(one.name.split("/")[:2]) if one.generated else "written"
            groups.setdefault(name, MutantGroup(name, [])).outcomes.append(one)
    return list(groups.values())
