# SPDX-License-Identifier: MIT
"""Known failures of a port: the file that lists them, and its use on a report.

The file is in the port's tree and is reviewed there; docs/conform.rst describes it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints

from harness.config import Port
from harness.config.loading import read_toml, validated
from harness.config.models import Model
from harness.conformance.catalogue import load_catalogue
from harness.conformance.checks import all_checks
from harness.conformance.combinations import CLAUSE, NAME
from harness.conformance.registry import VARIANTS
from harness.conformance.run import BUILDS
from harness.conformance.verdict import ClauseResult, Failure, Report
from harness.errors import UsageError
from harness.units import MIB, escape, one_line

FILE = "expect.toml"
"""The name of the file in a port's directory, where it is found by default."""

LIMIT = MIB
MESSAGE = 400
"""Maximum characters of a message in a report, and of the text that a pattern is compared with."""

ADVICE = "docs/conform.rst, Known failures, describes every key."

Glob = Annotated[str, StringConstraints(pattern=r"^[^\s\x00-\x1f\x7f]+$", max_length=200)]
Pattern = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=4 * MESSAGE)]
Reason = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]*\S[^\x00-\x1f\x7f]*$")]


def _clause(name: str) -> str:
    if not any(clause.id == name for clause in load_catalogue().clause):
        raise ValueError("an id that harness list clauses shows")
    return name


def _check(name: str) -> str:
    if name not in _checks():
        raise ValueError("the name of a check, as a report shows it")
    return name


def _build(name: str) -> str:
    if name not in VARIANTS:
        raise ValueError(", ".join(VARIANTS))
    return name


class ExpectedFailure(Model):
    """Failures of one clause in one check and build: those whose message matches."""

    clause: Annotated[str, AfterValidator(_clause)] = Field(description="the id of a clause")
    check: Annotated[str, AfterValidator(_check)] = Field(description="the name of a check")
    build: Annotated[str, AfterValidator(_build)] = Field(description="the name of a build")
    message: Pattern = Field(description="a glob that the whole message matches")
    configs: tuple[Glob, ...] = Field(
        default=("*",), min_length=1, description='globs of configs, such as ["mips*"]'
    )
    reason: Reason = Field(description="one line that says why")

    def is_for(self, config: str) -> bool:
        """Whether the entry is for this machine config."""
        return any(fnmatchcase(config, glob) for glob in self.configs)

    def matches(self, config: str, clause: str, failure: Failure) -> bool:
        """Whether the entry matches this failure."""
        return (
            (self.clause, self.check, self.build) == (clause, failure.check, failure.variant)
            and self.is_for(config)
            and fnmatchcase(message_of(failure), self.message)
        )

    def judged_in(self, result: ClauseResult) -> bool:
        """Whether the check of the entry has judged its clause."""
        ways = {f"{self.check} ({build})" for build in (self.build, BUILDS)}
        return result.clause == self.clause and not ways.isdisjoint(result.checks)


class ExpectFile(Model):
    """The keys of the file."""

    port: str = Field(description="the name of the port, as port.toml or its directory has it")
    failure: tuple[ExpectedFailure, ...] = Field(default=(), description="tables [[failure]]")


def message_of(failure: Failure) -> str:
    """The message of a failure as in reports, in one line."""
    return one_line(failure.message, MESSAGE)


def load_expected(file: Path, port: Port) -> ExpectFile:
    """Read the file for a port.

    Raises:
        UsageError: it cannot be read, is for another port, or names what does not exist.
    """
    shown = escape(str(file), 500)
    found = validated(ExpectFile, read_toml(file, LIMIT), file, ADVICE)
    if found.port != port.name:
        raise UsageError(
            f"{shown} is about the port {one_line(found.port, 100)}, and this is {port.name}",
            "Name that port's own file, or write one: --write-expect FILE.",
        )
    for at, one in enumerate(found.failure):
        clauses, builds = _checks()[one.check]
        wrong = "" if one.clause in clauses else f"says nothing of {one.clause}"
        wrong = wrong or ("" if one.build in builds else f"does not look at the build {one.build}")
        if wrong:
            raise UsageError(f"{shown}: failure[{at}]: the check {one.check} {wrong}", ADVICE)
    return found


def find_expected(port: Port, file: Path | None = None) -> ExpectFile | None:
    """The given file, or else that in the port's directory, if there is one."""
    own = port.directory / FILE
    if file is None and not own.exists():
        return None
    return load_expected(file or own, port)


def apply_expected(report: Report, expected: ExpectFile) -> None:
    """Mark the expected failures of a report, and note those that no longer occur."""
    for result in report.results:
        result.failures = [
            replace(failure, expected=_reason(report, result, failure, expected))
            for failure in result.failures
        ]
    report.fails_no_more += [
        f"{one.clause} {one.check} ({one.build}): {one.message}"
        for one in expected.failure
        if seen_in(one, report) is False
    ]


def _reason(report: Report, result: ClauseResult, failure: Failure, expected: ExpectFile) -> str:
    found = (
        one.reason for one in expected.failure if one.matches(report.config, result.clause, failure)
    )
    return next(found, "")


def seen_in(one: ExpectedFailure, report: Report) -> bool | None:
    """Whether a report has such a failure; None if it is not known."""
    if any(one.matches(report.config, clause, failure) for clause, failure in failures(report)):
        return True
    judged = any(one.judged_in(result) for result in report.results)
    return False if judged and one.is_for(report.config) else None


def failures(report: Report) -> Iterator[tuple[str, Failure]]:
    """Each failure with its clause."""
    for result in report.results:
        for failure in result.failures:
            yield result.clause, failure


def _checks() -> dict[str, tuple[Sequence[str], Sequence[str]]]:
    """The clauses and builds of each check."""
    own = {check.name: (check.clauses, check.variants) for check in all_checks()}
    return {**own, NAME: ((CLAUSE,), (*VARIANTS,))}
