# SPDX-License-Identifier: MIT
"""Read the JSON of reports, from which pages are made.  It may come from another host."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from harness.conformance.reports.report import WIDEST
from harness.conformance.verdict import Verdict
from harness.errors import FormatError
from harness.units import escape, one_line

WIDTH = 400
"""The most characters of a name or a message."""


def _up_to(width: int) -> BeforeValidator:
    """One line of at most so many characters; checked first, as a lone surrogate is no text."""
    return BeforeValidator(lambda text: one_line(text, width) if isinstance(text, str) else text)


Said = Annotated[str, _up_to(WIDTH)]
"""Text from an untrusted file."""

Command = Annotated[str, _up_to(WIDEST)]


class _Data(BaseModel):
    """Keys of later versions are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SourceText(_Data):
    """A line of a source file."""

    line: int
    text: Said


class InstructionData(_Data):
    """An instruction and its line."""

    address: Said
    instruction: Said
    file: Said
    line: int


class ListingData(_Data):
    """The code around a place."""

    source: tuple[SourceText, ...] = ()
    instructions: tuple[InstructionData, ...] = ()


class CallerData(_Data):
    """The line of a call."""

    file: Said
    line: int


class FindingData(_Data):
    """One cause of failure; docs/conform.rst describes the keys."""

    clause: Said
    message: Said
    check: Said
    builds: tuple[Said, ...]
    file: Said
    line: int
    function: Said
    instruction: Said
    how: Said
    callers: tuple[CallerData, ...] = ()
    listing: ListingData = ListingData()
    evidence: Mapping[Said, Any]
    blocks: tuple[Said, ...]
    expected: Said = ""
    repeat: Command


class FailureData(_Data):
    """One requirement that was not met."""

    check: Said
    build: Said
    message: Said
    evidence: Mapping[Said, Any]
    expected: Said = ""


class ClauseData(_Data):
    """The verdict of one clause."""

    clause: Said
    title: Said
    verdict: Verdict
    advised: bool
    reason: Said
    checks: tuple[Said, ...]
    failures: tuple[FailureData, ...]
    repeat: Command = ""

    @property
    def state(self) -> str:
        """The verdict; ``known`` and ``advised`` for failures that do not count."""
        if self.verdict is not Verdict.FAIL:
            return str(self.verdict)
        if all(failure.expected for failure in self.failures):
            return "known"
        return "advised" if self.advised else str(self.verdict)


class ReportData(_Data):
    """All clauses of one port on one config."""

    config: Said
    port: Said
    seconds: float
    findings: tuple[FindingData, ...]
    clauses: tuple[ClauseData, ...]
    fails_no_more: tuple[Said, ...] = ()


class ReportFile(_Data):
    """The JSON as a whole."""

    format: Literal[1]
    reports: tuple[ReportData, ...]


def read_reports(data: object) -> tuple[ReportData, ...]:
    """The reports of a JSON; FormatError if it is none."""
    try:
        return ReportFile.model_validate(data).reports
    except (ValidationError, RecursionError) as error:
        text = escape(str(error), 200)
        raise FormatError(f"it is no report of harness conform: {text}") from error
