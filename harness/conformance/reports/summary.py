# SPDX-License-Identifier: MIT
"""The summary of a report: its findings, on one screen."""

from collections.abc import Iterator, Sequence

from harness.conformance.reports.evidence import least
from harness.conformance.reports.report import WIDEST, repeat
from harness.conformance.verdict import Finding, Report, summary
from harness.units import one_line

MOST = 8
"""The most findings that are shown; the report has all."""

EVIDENCE = 3
"""The most lines of evidence of each."""

CLAUSES = 12
"""The most blocked clauses of a finding that are named."""

WIDTH = 100


def summary_lines(report: Report, command: Sequence[str], file: str = "") -> Iterator[str]:
    """The findings of a port on a config, and the number of clauses with each verdict.

    ``command`` repeats the run; ``file`` has the full report.
    """
    new = [finding for finding in report.findings if not report.is_known(finding)]
    known = len(report.findings) - len(new)
    told = f"{len(new)} finding{'' if len(new) == 1 else 's'}"
    also = f", {known} more expected" if known else ""
    yield f"{report.config}, port {one_line(report.port, WIDTH)}: {told}{also}"
    for number, finding in enumerate(new[:MOST], 1):
        # The command stays whole, so that it can be copied.
        *described, last = _finding(number, finding, report, command)
        yield from (one_line(line, 2 * WIDTH) for line in described)
        yield one_line(last, WIDEST)
    if len(new) > MOST:
        yield f"and {len(new) - MOST} more, in the report"
    yield from (f"fails no more: {one_line(line, 2 * WIDTH)}" for line in report.fails_no_more)
    yield f"{report.config}: {summary([report])} in {report.seconds:.1f} s"
    if file and report.findings:
        yield f"full report: {one_line(file, WIDEST)}"


def _finding(
    number: int, finding: Finding, report: Report, command: Sequence[str]
) -> Iterator[str]:
    title = next((r.title for r in report.results if r.clause == finding.clause), "")
    yield f"{number}. {finding.clause} {title}"
    yield f"   {finding.message}"
    place = finding.place
    if place is not None:
        line = f"{place.file}:{place.line}" if place.line else place.file
        called = ", ".join(f"{one.file}:{one.line}" for one in place.callers)
        calls = f"; called at {called}" if called else ""
        yield f"   {line}, {place.sentence}{calls}"
    yield f"   seen by {finding.first.check}; builds: {', '.join(finding.builds)}"
    yield from (f"   {line}" for line in _evidence(finding))
    if finding.blocks:
        more = f" and {len(finding.blocks) - CLAUSES} more" if len(finding.blocks) > CLAUSES else ""
        yield f"   blocks {', '.join(finding.blocks[:CLAUSES])}{more}"
    yield f"   repeat: {repeat(command, report, finding.clause)}"


def _evidence(finding: Finding) -> Iterator[str]:
    """The minimal evidence; the report has the rest."""
    lines = least(finding.first.evidence)
    yield from lines[:EVIDENCE]
    if len(lines) > EVIDENCE:
        yield f"({len(lines) - EVIDENCE} lines more)"
