# SPDX-License-Identifier: MIT
"""Reports for people, for programs (JSON) and for CI systems (JUnit XML)."""

import json
import shlex
from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as Xml

from harness.conformance.reports.evidence import shown_value
from harness.conformance.verdict import (
    ClauseResult,
    Failure,
    Finding,
    Listing,
    Place,
    Report,
    Verdict,
    summary,
)
from harness.units import KIB, one_line

FORMAT = 1
"""The version of the JSON; it changes when a key changes its meaning or is removed."""

WIDEST = 64 * KIB
"""The most characters of a line, with the command that repeats a check."""

MARKS = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "FAIL",
    Verdict.BLOCKED: "blkd",
    Verdict.NOT_CLAIMED: "n/c ",
    Verdict.NOT_OBSERVABLE: "n/o ",
}


def lines(report: Report, command: Sequence[str]) -> Iterator[str]:
    """One line for each clause; for a failure all evidence, and the command that repeats the check.

    ``command`` repeats the run; ``--clause`` is appended.
    """
    yield from (one_line(line, WIDEST) for line in _lines(report, command))


def _lines(report: Report, command: Sequence[str]) -> Iterator[str]:
    yield f"{report.config}, port {report.port}:"
    for result in report.results:
        note = " (advised)" if result.advised else ""
        reason = f": {result.reason}" if result.reason else ""
        mark = "known" if result.expected else MARKS[result.verdict]
        yield f"  {mark:4} {result.clause:5} {result.title}{note}{reason}"
        for failure in result.failures:
            yield from _expected(failure) if failure.expected else _failure(failure)
        if result.failures and not result.expected:
            yield f"         repeat: {repeat(command, report, result.clause)}"
    yield from (f"  fails no more: {line}" for line in report.fails_no_more)
    yield f"{report.config}: {summary([report])} in {report.seconds:.1f} s"


def repeat(command: Sequence[str], report: Report, clause: str) -> str:
    """The command line that runs the checks of one clause."""
    return shlex.join([*command, "-c", report.config, "--clause", clause])


def _failure(failure: Failure) -> Iterator[str]:
    yield f"       {failure.check} ({failure.variant}): {one_line(failure.message, 400)}"
    for title, value in failure.evidence.items():
        shown = list(shown_value(value))
        if shown:
            yield f"         {title}:"
            yield from (f"           {one_line(line, 200)}" for line in shown)


def _expected(failure: Failure) -> Iterator[str]:
    said = one_line(failure.message, 400)
    yield f"       {failure.check} ({failure.variant}): {said}: expected: {failure.expected}"


def as_json(reports: Sequence[Report], command: Sequence[str]) -> str:
    """The JSON, as docs/conform.rst describes it."""
    return json.dumps(as_object(reports, command), indent=2)


def as_object(reports: Sequence[Report], command: Sequence[str]) -> dict[str, object]:
    """The objects of the JSON."""
    return {
        "format": FORMAT,
        "reports": [
            {
                "config": report.config,
                "port": report.port,
                "seconds": round(report.seconds, 1),
                "findings": [
                    _finding_json(finding, report, command) for finding in report.findings
                ],
                "clauses": [_clause_json(result, report, command) for result in report.results],
                "fails_no_more": report.fails_no_more,
            }
            for report in reports
        ],
    }


def _clause_json(result: ClauseResult, report: Report, command: Sequence[str]) -> dict[str, object]:
    again = {"repeat": repeat(command, report, result.clause)} if result.failures else {}
    return {
        "clause": result.clause,
        "title": result.title,
        "verdict": result.verdict,
        "advised": result.advised,
        "reason": result.reason,
        "checks": result.checks,
        "failures": [
            {
                "check": failure.check,
                "build": failure.variant,
                "message": failure.message,
                "evidence": dict(failure.evidence),
                "expected": failure.expected,
            }
            for failure in result.failures
        ],
        **again,
    }


def _finding_json(finding: Finding, report: Report, command: Sequence[str]) -> dict[str, object]:
    place = finding.place
    return {
        "clause": finding.clause,
        "message": finding.message,
        "check": finding.first.check,
        "builds": finding.builds,
        "file": place.file if place else "",
        "line": place.line if place else 0,
        "function": place.function if place else "",
        "instruction": _instruction(place),
        "how": place.how if place else "",
        "callers": [{"file": one.file, "line": one.line} for one in place.callers] if place else [],
        "listing": _listing_json(finding),
        "evidence": dict(finding.first.evidence),
        "blocks": finding.blocks,
        "expected": report.why_expected(finding),
        "repeat": repeat(command, report, finding.clause),
    }


def _instruction(place: Place | None) -> str:
    if place is None or not place.instruction:
        return ""
    return f"{place.address:#x}: {place.instruction}"


def _listing_json(finding: Finding) -> dict[str, object]:
    listing = finding.listing or Listing((), ())
    return {
        "source": [{"line": number, "text": text} for number, text in listing.source],
        "instructions": [
            {
                "address": f"{one.address:#x}",
                "instruction": one.instruction,
                "file": one.file,
                "line": one.line,
            }
            for one in listing.instructions
        ],
    }


def as_junit(reports: Sequence[Report], command: Sequence[str]) -> str:
    """A test suite for each config, with a test case for each clause."""
    root = Xml.Element("testsuites")
    for report in reports:
        suite = Xml.SubElement(
            root,
            "testsuite",
            name=_xml(report.config),
            tests=str(len(report.results)),
            failures=str(len(report.failed)),
            time=f"{report.seconds:.1f}",
        )
        for result in report.results:
            name = f"{result.clause} {result.title}"
            case = Xml.SubElement(suite, "testcase", classname=_xml(report.config), name=_xml(name))
            if result in report.failed:
                said = (line for failure in result.failures for line in _failure(failure))
                text = "\n".join(map(_xml, said))
                message = one_line(result.failures[0].message, 400)
                failed = Xml.SubElement(case, "failure", message=message)
                failed.text = f"{text}\nrepeat: {_xml(repeat(command, report, result.clause))}"
            elif result.verdict is not Verdict.PASS:
                known = f"expected: {result.failures[0].expected}" if result.expected else ""
                reason = known or result.reason or "advised, not required"
                Xml.SubElement(case, "skipped", message=_xml(f"{result.verdict}: {reason}"))
        suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
    )


def _xml(text: str) -> str:
    """Text for XML 1.0, which has no control characters."""
    return one_line(text, WIDEST)
