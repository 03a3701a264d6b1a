# SPDX-License-Identifier: MIT
"""What is known of a clause after the checks have run, and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

Evidence = Mapping[str, object]
"""What was seen, by a title: a text, a list of lines, or a table of names and values."""


class Verdict(StrEnum):
    """The answer to whether a port keeps a clause on a config."""

    PASS = "pass"
    FAIL = "fail"
    NOT_CLAIMED = "not claimed"
    NOT_OBSERVABLE = "not observable here"


@dataclass(frozen=True, slots=True)
class Failure:
    """One requirement that was not met: in which check and build, what happened, what was seen."""

    check: str
    variant: str
    message: str
    evidence: Evidence = field(default_factory=dict)


@dataclass(slots=True)
class ClauseResult:
    """The verdict of one clause on one config.

    ``checks`` names what has judged it, as ``check (variant)``; ``reason`` says why it is neither
    passed nor failed.
    """

    clause: str
    title: str
    verdict: Verdict
    reason: str = ""
    advised: bool = False
    checks: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)


@dataclass(slots=True)
class Report:
    """All clauses of one port on one config."""

    config: str
    port: str
    results: list[ClauseResult]
    seconds: float = 0.0

    @property
    def failed(self) -> list[ClauseResult]:
        """The clauses that the port does not keep and has to."""
        return [r for r in self.results if r.verdict is Verdict.FAIL and not r.advised]

    def count(self, verdict: Verdict) -> int:
        """How many clauses have this verdict."""
        return sum(result.verdict is verdict for result in self.results)


def summary(reports: Sequence[Report]) -> str:
    """One line: how many clauses have which verdict."""
    counts = {verdict: sum(r.count(verdict) for r in reports) for verdict in Verdict}
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
