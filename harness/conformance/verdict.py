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
    """One requirement that was not met: in which check and build, what happened, what was seen.

    ``expected`` is why the port is known to fail so, where its file of expected failures says it.
    """

    check: str
    variant: str
    message: str
    evidence: Evidence = field(default_factory=dict)
    expected: str = ""


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

    @property
    def expected(self) -> bool:
        """Whether it fails, and only as it is known to."""
        return bool(self.failures) and all(failure.expected for failure in self.failures)


@dataclass(slots=True)
class Report:
    """All clauses of one port on one config.

    ``fails_no_more`` are expected failures that there are not, a line each.
    """

    config: str
    port: str
    results: list[ClauseResult]
    seconds: float = 0.0
    fails_no_more: list[str] = field(default_factory=list)

    @property
    def failed(self) -> list[ClauseResult]:
        """The clauses that the port does not keep and has to, and that it is not known not to."""
        return [
            result
            for result in self.results
            if result.verdict is Verdict.FAIL and not result.advised and not result.expected
        ]

    def count(self, verdict: Verdict) -> int:
        """How many clauses have this verdict."""
        return sum(result.verdict is verdict for result in self.results)


def summary(reports: Sequence[Report]) -> str:
    """One line: how many clauses have which verdict."""
    counts = {str(verdict): sum(r.count(verdict) for r in reports) for verdict in Verdict}
    expected = sum(result.expected for report in reports for result in report.results)
    if expected:
        counts |= {Verdict.FAIL: counts[Verdict.FAIL] - expected, "fail as expected": expected}
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
