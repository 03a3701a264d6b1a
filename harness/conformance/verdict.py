# SPDX-License-Identifier: MIT
"""Verdicts, failures and findings: the results of the checks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

Evidence = Mapping[str, object]
"""Evidence by title: a text, a list of lines, or a table of names and values."""


class Verdict(StrEnum):
    """Whether a port passes a clause on a config."""

    PASS = "pass"
    FAIL = "fail"
    BLOCKED = "blocked"
    NOT_CLAIMED = "not claimed"
    NOT_OBSERVABLE = "not observable"


class Layer(IntEnum):
    """The layer of a check, which depends on everything that earlier layers check."""

    IMAGE = 0
    """The image as built."""
    PATCHING = 1
    """The port's patching functions, one call at a time."""
    CALL = 2
    """One traced call, with its call site and the tracer's slot switched."""
    WORKLOAD = 3
    """A whole workload."""


@dataclass(frozen=True, slots=True)
class PortLine:
    """A line of a file of the port, whose name is relative to the port's directory."""

    file: str
    line: int


@dataclass(frozen=True, slots=True)
class Place:
    """The instruction of the port that a failure comes from, and ``how`` it is related to it.

    ``file`` is relative to the port's directory; ``line`` is 0 where there is no debug information.
    ``callers`` are the calls that led there, innermost first.  A definition has no instruction;
    its address is 0, and ``function`` the name that it defines.  ``macro`` is the macro without
    arguments that the line of assembly is, if it is one: it is the same wherever it is used.
    """

    function: str
    file: str
    line: int
    address: int
    instruction: str
    how: str
    callers: tuple[PortLine, ...] = ()
    macro: str = ""

    @property
    def is_hint(self) -> bool:
        """Whether it shows where to look, and not that two failures have one cause."""
        return self.how in (
            ABOUT,
            DEFINED,
            LEFT_OUT,
            INTERRUPTED,
            HUNG,
            NEEDLESS,
            GAVE_UP,
            FRAMED,
            RAISED,
        )

    @property
    def is_proven(self) -> bool:
        """Whether the call succeeds with another decision or value there."""
        return self.how.startswith((DECIDED_WRONGLY, WRONG_VALUE))

    @property
    def sentence(self) -> str:
        """What the place is, without file and line."""
        if not self.instruction:
            return f"{self.function} {self.how}"
        return f"{self.function}: `{self.instruction}` {self.how}"


@dataclass(frozen=True, slots=True)
class CodeLine:
    """An instruction and its line; the file's name is empty if unknown.

    Files of the port are named relative to it, others as in the debug information.
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


WROTE_OTHERS = "wrote what is not the port's"
"""Of a store to data that a patching function has no business with."""
CALLED = "was called"
WROTE = "wrote the code last"
INCOMPLETE = "wrote the code last, and not all of it"
SHARED = (CALLED, WROTE, INCOMPLETE)
"""Relations of places that faults of several patching functions may share: the function alone, or
the store that all of them use.
"""

DECIDED_LAST = "decided last"
DECIDED_WRONGLY = "decided wrongly: the other way the call succeeds"
WRONG_VALUE = "made a wrong value"
LAST = "was the last of the port's"
ABOUT = "is what the clause is about"
FRAMED = "makes the stub's frame"
DEFINED = "is defined here"
LEFT_OUT = "is left out by this condition"
NEVER_TRUE = "has a condition that is never true"
ALWAYS_TRUE = "has a condition that is always true"
NEVER_REPEATED = "has a loop that is never repeated"
CONSTANT = (NEVER_TRUE, ALWAYS_TRUE, NEVER_REPEATED)
DECIDES_NOTHING = "has a condition that decides nothing"
INTERRUPTED = "was interrupted last"
RAISED = "raised the exception"
HUNG = "is in the loop in which the guest hung"
NEEDLESS = "stores something without a tracer"
GAVE_UP = "gave up stack that is needed behind it"
"""Relations of places that are hints; the last two may be anywhere in the one line of a macro."""

BOOT = "boot"
"""Subject of failures: the guest does not reach its workload."""
REFUSAL = "refusal"
"""Subject of failures: a patching function accepts an invalid request."""
HALF_DONE = "a refusal that has written"
"""Subject of failures: a patching function refuses an invalid request, but changes words before."""
REACH = "a target out of reach"
"""Subject of failures: a patching function accepts a target that it cannot encode."""
OTHERS_DATA = "data that is not the port's"
"""Subject of failures: the port writes data of the kernel."""
RECORDS = "records that are no call sites"
"""Subject of failures: the kernel takes other addresses for call sites."""
UNLOADED = "a module that is not loaded"
"""Subject of failures: the guest refuses a module, whose sites the port could not switch off."""
FRAME_POINTER = "the frame pointer"
"""Subject of failures: the kernel cannot match a return with its call by the frame pointer."""
HOME_AREA = "what a callee may write above the stack pointer"
"""Subject of failures: the stub keeps what it needs where its callees may write."""
COPIED = "the address of return_to_handler"
"""Subject of failures: that address is where no return address was."""
WORDS = "words"
"""Aspect of patching: the words that are written."""
MASK = "the interrupt mask"
"""Subject of failures: interrupts are masked or enabled otherwise than before."""

MANY_REGISTERS = 3
"""Up to this many wrong registers after one call have separate causes; more of them have one."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One requirement that is not met, with check, build, message and evidence.

    ``expected`` is the reason in the port's file of expected failures, if it is known.  ``died``:
    the guest died, or the debugger lost it, so nothing else could be observed.  ``used`` are the
    tracers that had been switched on.  ``about`` names the subject, for failures on several paths
    through the port that have one cause.  ``patching`` is the patching function that was called, if
    the failure is of one.  ``cause`` is another failure and its clause: an experiment has shown
    that this one goes away with it.
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

    ``clause`` is the clause that it breaks itself, ``failures`` are all failures of this cause with
    their clauses, and ``blocks`` the other clauses that fail because of it.  ``listing`` is the
    code around the place, for reports that show it.
    """

    clause: str
    message: str
    place: Place | None
    failures: list[tuple[str, Failure]]
    blocks: list[str] = field(default_factory=list)
    listing: Listing | None = None

    @property
    def first(self) -> Failure:
        """The failure that shows it best: the first that the message is of."""
        told = self.clause, self.message
        return next(one for clause, one in self.failures if (clause, one.message) == told)

    def blocks_alone(self, clause: str) -> bool:
        """Whether all failures of a clause in it follow from the failure of its own clause."""
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

    ``checks`` are the checks that judged it, as ``check (variant)``; ``reason`` says why it has
    neither passed nor failed.
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
        """Whether it fails, and all its failures are expected."""
        return bool(self.failures) and all(failure.expected for failure in self.failures)


@dataclass(slots=True)
class Report:
    """All clauses of one port on one config.

    ``fails_no_more`` are expected failures that did not occur, a line each.
    """

    config: str
    port: str
    results: list[ClauseResult]
    seconds: float = 0.0
    fails_no_more: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def failed(self) -> list[ClauseResult]:
        """The required clauses that fail unexpectedly."""
        return [
            result
            for result in self.results
            if result.verdict is Verdict.FAIL and not result.advised and not result.expected
        ]

    def is_known(self, finding: Finding) -> bool:
        """Whether all failures that show a finding are expected."""
        return all(failure.expected for failure in self._shown_by(finding))

    def why_expected(self, finding: Finding) -> str:
        """The reason in the port's file of expected failures; empty if it is not known."""
        reasons = dict.fromkeys(failure.expected for failure in self._shown_by(finding))
        return "; ".join(reasons) if all(reasons) else ""

    def _shown_by(self, finding: Finding) -> list[Failure]:
        """The failures of the report that show a finding."""
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
    """One line with the number of clauses for each verdict."""
    counts = {str(verdict): sum(r.count(verdict) for r in reports) for verdict in Verdict}
    expected = sum(
        result.verdict is Verdict.FAIL and result.expected
        for report in reports
        for result in report.results
    )
    if expected:
        counts |= {Verdict.FAIL: counts[Verdict.FAIL] - expected, "fail as expected": expected}
    return ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
