# SPDX-License-Identifier: MIT
"""What is known of a clause after the checks have run, and what it rests on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

Evidence = Mapping[str, object]
"""What was seen, by a title: a text, a list of lines, or a table of names and values."""


class Verdict(StrEnum):
    """The answer to whether a port keeps a clause on a config."""

    PASS = "pass"
    FAIL = "fail"
    BLOCKED = "blocked"
    NOT_CLAIMED = "not claimed"
    NOT_OBSERVABLE = "not observable"


class Layer(IntEnum):
    """What a check rests on besides what it is about: on all that the layers before look at."""

    IMAGE = 0
    """The image as built."""
    PATCHING = 1
    """The port's patching functions, one called at a time."""
    CALL = 2
    """One traced call, with its call site and the tracer's slot switched."""
    WORKLOAD = 3
    """Everything together, over a whole workload."""


@dataclass(frozen=True, slots=True)
class Place:
    """An instruction of the port that a failure comes from, and ``how`` that was told.

    ``file`` is relative to the port's directory; ``line`` is 0 where there is no debug information.
    """

    function: str
    file: str
    line: int
    address: int
    instruction: str
    how: str


@dataclass(frozen=True, slots=True)
class CodeLine:
    """An instruction, and the line that it comes from; the file's name is empty if unknown.

    Files of the port are named relative to it, others as the debug information has them.
    """

    address: int
    instruction: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Listing:
    """The code around a place: lines of its source file with their numbers, and instructions."""

    source: tuple[tuple[int, str], ...]
    instructions: tuple[CodeLine, ...]


CALLED = "was called"
WROTE = "wrote the code last"
"""How places in patching functions are told that faults of several of them may have in common: the
function alone, or the store that all of them use.
"""

BOOT = "boot"
"""What the failures of a guest are about that does not come to its workload."""
REFUSAL = "refusal"
"""What the failures of a patching function are about that does what it has to refuse."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One requirement that was not met: in which check and build, what happened, what was seen.

    ``expected`` is why the port is known to fail so, where its file of expected failures says it.
    ``died``: the guest did, or the debugger lost it, so that nothing else could be seen.  ``used``
    are the tracers that were switched on until then.  ``about`` names what is wrong, for failures
    of several ways through the port that are of one cause.  ``patching`` is the port's patching
    function that was called, where the failure is of one.  ``cause`` is another failure, and its
    clause, that this one goes away with, as an experiment has shown.
    """

    check: str
    variant: str
    message: str
    evidence: Evidence = field(default_factory=dict)
    expected: str = ""
    layer: Layer = Layer.WORKLOAD
    place: Place | None = None
    died: bool = False
    used: frozenset[str] = frozenset()
    about: str = ""
    patching: str = ""
    cause: "tuple[str, Failure] | None" = None


@dataclass(slots=True)
class Finding:
    """One cause of failure.

    ``clause`` is what it breaks by itself, ``failures`` are all that were grouped under it with the
    clauses that they are of, and ``blocks`` the other clauses that fail because of it.  ``listing``
    is the code around the place, for reports that show it.
    """

    clause: str
    message: str
    place: Place | None
    failures: list[tuple[str, Failure]]
    blocks: list[str] = field(default_factory=list)
    listing: Listing | None = None

    @property
    def first(self) -> Failure:
        """The failure that shows it."""
        return next(failure for clause, failure in self.failures if clause == self.clause)

    def blocks_alone(self, clause: str) -> bool:
        """Whether a clause failed under it only in what follows from its own clause's failure."""
        return (
            clause != self.clause
            and all(
                failure.died or failure.cause is not None or failure.layer > self.first.layer
                for other, failure in self.failures
                if other == clause
            )
            and any(other == clause for other, _ in self.failures)
        )

    @property
    def builds(self) -> list[str]:
        """The builds of the port in which it was seen."""
        return list(dict.fromkeys(failure.variant for _, failure in self.failures))


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
    findings: list[Finding] = field(default_factory=list)

    @property
    def failed(self) -> list[ClauseResult]:
        """The clauses that the port does not keep and has to, and that it is not known not to."""
        return [
            result
            for result in self.results
            if result.verdict is Verdict.FAIL and not result.advised and not result.expected
        ]

    def is_known(self, finding: Finding) -> bool:
        """Whether all that shows a finding is expected of the port."""
        return all(failure.expected for failure in self._shown_by(finding))

    def why_expected(self, finding: Finding) -> str:
        """The reason in the port's file of expected failures; nothing where it is not known."""
        reasons = dict.fromkeys(failure.expected for failure in self._shown_by(finding))
        return "; ".join(reasons) if all(reasons) else ""

    def _shown_by(self, finding: Finding) -> list[Failure]:
        """What shows a finding, as the report has it."""
        own = [failure for clause, failure in finding.failures if clause == finding.clause]
        said = {(one.check, one.variant, one.message) for one in own}
        return [
            failure
            for result in self.results
            if result.clause == finding.clause
            for failure in result.failures
            if (failure.check, failure.variant, failure.message) in said
        ]

    def count(self, verdict: Verdict) -> int:
        """How many clauses have this verdict."""
        return sum(result.verdict is verdict for result in self.results)


def summary(reports: Sequence[Report]) -> str:
    """One line: how many clauses have which verdict."""
    counts = {str(verdict): sum(r.count(verdict) for r in reports) for verdict in Verdict}
    expected = sum(
        result.verdict is Verdict.FAIL and result.expected
        for report in reports
        for result in report.results
    )
    if expected:
        counts |= {Verdict.FAIL: counts[Verdict.FAIL] - expected, "fail as expected": expected}
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
