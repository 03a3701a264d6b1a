# SPDX-License-Identifier: MIT
"""The results of the matrix night by night; no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from harness.matrix.result import CellOutcome, Result


@dataclass(frozen=True, slots=True)
class Night:
    """One run: the time of its first attempt (seconds since 1970), and the final outcomes of its
    cells.

    ``instructions`` are those of all cells relative to the first night: 1.02 is an increase of 2 %.
    Only cells that were counted in two consecutive nights contribute.
    """

    run: str
    revision: str
    started: float
    cells: int
    passed: int
    failed: int
    unjudged: int
    instructions: float


def nights(past: Sequence[Result]) -> list[Night]:
    """All runs, oldest first, from attempts by time."""
    runs: dict[str, list[Result]] = {}
    for result in past:
        runs.setdefault(result.run, []).append(result)
    found: list[Night] = []
    level = 1.0
    before: dict[str, int] = {}
    for run, attempts in runs.items():
        last = {result.cell: result.outcome.verdict for result in attempts}
        verdicts = list(last.values())
        counted = _fewest(attempts)
        level *= _growth(before, counted)
        before |= counted
        found.append(
            Night(
                run=run,
                revision=attempts[0].revision,
                started=attempts[0].started,
                cells=len(last),
                passed=verdicts.count("pass"),
                failed=verdicts.count("fail"),
                unjudged=verdicts.count(str(CellOutcome.ERROR)),
                instructions=level,
            )
        )
    return found


def _fewest(attempts: Sequence[Result]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in attempts:
        if one.instructions:
            found[one.cell] = min(one.instructions, found.get(one.cell, one.instructions))
    return found


def _growth(before: Mapping[str, int], now: Mapping[str, int]) -> float:
    """The mean growth of the cells counted in both, with equal weight."""
    both = before.keys() & now.keys()
    return sum(now[cell] / before[cell] for cell in sorted(both)) / len(both) if both else 1.0
