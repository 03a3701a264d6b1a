# SPDX-License-Identifier: MIT
"""Reports as static pages: the findings, the clauses over all configs, and a page for each config.

They are made from the JSON.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jinja2 import Environment

from harness.conformance.catalogue import order_of
from harness.conformance.findings import shape
from harness.conformance.reports.causes import (
    Cause,
    OnConfig,
    causes,
    clause_of,
    document_of,
    limited,
)
from harness.conformance.reports.evidence import shown_value
from harness.conformance.reports.report_file import ClauseData, FailureData, ReportData
from harness.conformance.verdict import Verdict
from harness.pages import Write, environment, page_name

COLOURS = {
    "pass": "pass",
    "fail": "fail",
    "known": "flaky",
    "advised": "flaky",
    "blocked": "error",
    "not claimed": "none",
    "not observable": "none",
}
"""The CSS class of a verdict."""

WORDS = {"not claimed": "n/c", "not observable": "n/o"}
"""Short names of verdicts."""

NOT_FAILED = ("pass", "not claimed", "not observable")

MANY = 4
"""With more configs than this, their names are vertical above the grid."""

MOST = 40
"""Kinds of failures of one clause that are shown."""


@dataclass(frozen=True, slots=True)
class Row:
    """A clause over configs; None where it does not apply.  ``first``: the first of its subject."""

    clause: str
    title: str
    first: bool
    verdicts: list[ClauseData | None]

    @property
    def passes(self) -> bool:
        """Whether no config fails it."""
        return all(one is None or one.state in NOT_FAILED for one in self.verdicts)


@dataclass(slots=True)
class Failures:
    """Failures of a clause whose messages differ only in names and numbers."""

    first: FailureData
    evidence: list[str]
    others: list[FailureData] = field(default_factory=list)


def page_environment(*rooms: str) -> Environment:
    """The templates, with the filters for clauses and findings."""
    made = environment(*rooms, "harness.conformance.reports")
    made.globals |= {"clause": clause_of, "document": document_of}
    return made


def write_pages(write: Write, reports: Sequence[ReportData], command: str, written: float) -> None:
    """Write ``index.html``, and a page for each report below ``configs/``.

    ``command`` is the command that was run; ``written`` is the time in seconds since 1970.
    """
    templates = page_environment()
    configs = list(_configs(reports))
    found = causes(zip(configs, reports, strict=True))
    shared = {"colours": COLOURS, "words": WORDS, "command": command, "written": written}
    ports = list(dict.fromkeys(report.port for report in reports))
    write(
        "index.html",
        templates.get_template("conform.html").render(
            **shared,
            ports=ports,
            configs=configs,
            many=len(configs) > MANY,
            tiles=_tiles(reports, found),
            found=found,
            fails_no_more=[
                (config, line)
                for config, report in zip(configs, reports, strict=True)
                for line in report.fails_no_more
            ],
            rows=_rows(reports),
        ),
    )
    template = templates.get_template("config.html")
    for config, report in zip(configs, reports, strict=True):
        text = template.render(
            **shared,
            report=report,
            counts=_counts([report]),
            found=[one for one in found if config in _where(one)],
            failures={one.clause: _failures(one) for one in report.clauses},
            most=MOST,
        )
        write(config.page, text)


def _configs(reports: Sequence[ReportData]) -> Iterator[OnConfig]:
    """The config of each report, each with a page of its own."""
    names = [report.config for report in reports]
    for at, name in enumerate(names):
        again = names[:at].count(name)
        yield OnConfig(name, f"configs/{page_name(f'{name}-{again}' if again else name)}")


def _where(cause: Cause) -> list[OnConfig | None]:
    return [cause.config, *(config for config, _ in cause.others)]


def _tiles(reports: Sequence[ReportData], found: Sequence[Cause]) -> list[tuple[str, str, str]]:
    """The numbers at the top of the page: colour, number, name."""
    new = sum(not one.first.expected for one in found)
    old = len(found) - new
    told = [("fail" if new else "pass", str(new), "finding" if new == 1 else "findings")]
    told += [("flaky", str(old), "more expected")] if old else []
    return [*told, *((colour, str(number), name) for colour, number, name in _counts(reports))]


def _counts(reports: Sequence[ReportData]) -> list[tuple[str, int, str]]:
    """The number of clauses with each verdict: colour, number, name."""
    states = [one.state for report in reports for one in report.clauses]
    clauses = "clause fails" if states.count("fail") == 1 else "clauses fail"
    names = {"fail": clauses, "known": "fail as expected", "advised": "advised, not kept"}
    counts = [(state, states.count(state)) for state in COLOURS]
    return [
        (COLOURS[state] if number else "none", number, names.get(state, state))
        for state, number in sorted(counts, key=lambda one: one[0] != "fail")
        if number or state in tuple(Verdict)
    ]


def _rows(reports: Sequence[ReportData]) -> list[Row]:
    """The clauses in the order of the catalogue."""
    verdicts = [{one.clause: one for one in report.clauses} for report in reports]
    titles = {one.clause: one.title for report in reports for one in report.clauses}
    rows: list[Row] = []
    before = ""
    for id_ in sorted(titles, key=order_of):
        subject = id_.rstrip("abcdefghijklmnopqrstuvwxyz")
        found = [every.get(id_) for every in verdicts]
        rows.append(Row(id_, titles[id_], subject != before, found))
        before = subject
    return rows


def _failures(clause: ClauseData) -> list[Failures]:
    """The failures grouped by message, each group with the evidence of its first one."""
    kinds: dict[tuple[str, str, str], Failures] = {}
    for one in clause.failures:
        key = (one.check, shape(one.message), one.expected)
        if key in kinds:
            kinds[key].others.append(one)
        elif len(kinds) < MOST:
            lines = (
                line
                for title, value in one.evidence.items()
                for line in shown_value({title: value})
            )
            kinds[key] = Failures(one, limited(lines))
    return list(kinds.values())
