# SPDX-License-Identifier: MIT
"""Findings of several reports for a page: one for each cause, ranked, with its configs."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from harness.conformance.catalogue import Clause, load_catalogue
from harness.conformance.findings import shape
from harness.conformance.reports.evidence import NOT_LEAST, least, shown_value
from harness.conformance.reports.report_file import WIDTH, FindingData, ReportData
from harness.units import one_line

LINES = 400
"""Lines of evidence on a page for one failure."""


@dataclass(frozen=True, slots=True)
class OnConfig:
    """A machine config, and its page relative to the first one; empty if it has none."""

    name: str
    page: str = ""


@dataclass(slots=True)
class Cause:
    """One finding, with those of other configs that have the same place or the same message.

    ``number`` counts from 1, over all causes of a page.
    """

    first: FindingData
    config: OnConfig | None = None
    others: list[tuple[OnConfig, FindingData]] = field(default_factory=list)
    number: int = 0

    @property
    def advised(self) -> bool:
        """Whether the clause is advised and not required."""
        known = clause_of(self.first.clause)
        return known is not None and known.advised

    @property
    def colour(self) -> str:
        """The CSS class of its number."""
        return "flaky" if self.first.expected or self.advised else "fail"

    @property
    def evidence(self) -> list[str]:
        """The minimal evidence, in lines."""
        return limited(least(self.first.evidence))

    @property
    def guest(self) -> list[str]:
        """The state of the guest, in lines, and the advice."""
        return limited(
            line for title in NOT_LEAST for line in shown_value(self.first.evidence.get(title))
        )


def causes(reports: Iterable[tuple[OnConfig | None, ReportData]]) -> list[Cause]:
    """The causes: required clauses first, then advised ones, then expected failures.

    Otherwise in the order of the reports, in which others may follow from the first.
    """
    found: dict[object, list[Cause]] = {}
    ranks: dict[int, int] = {}
    for config, report in reports:
        here: set[int] = set()
        for rank, finding in enumerate(report.findings):
            same = found.setdefault(_key(report, finding), [])
            # Two findings of one report stay separate, whatever they have in common.
            cause = next((one for one in same if id(one) not in here), None)
            if cause is None or config is None:
                cause = Cause(finding, config)
                same.append(cause)
            else:
                cause.others.append((config, finding))
            here.add(id(cause))
            ranks[id(cause)] = min(rank, ranks.get(id(cause), rank))
    every = [cause for same in found.values() for cause in same]
    every.sort(key=lambda one: (bool(one.first.expected), one.advised, ranks[id(one)]))
    for number, cause in enumerate(every, 1):
        cause.number = number
    return every


def _key(report: ReportData, finding: FindingData) -> object:
    where: tuple[object, ...] = (finding.file, finding.line, finding.function)
    said = where if finding.file else (shape(finding.message),)
    return report.port, finding.clause, bool(finding.expected), said


def clause_of(id_: str) -> Clause | None:
    """A clause of the catalogue; None if it is of another version."""
    try:
        return load_catalogue()[id_]
    except KeyError:
        return None


def document_of(source: str) -> str:
    """The title of a part of the specification."""
    return next((one.title for one in load_catalogue().document if one.key == source), source)


def limited(lines: Iterable[str]) -> list[str]:
    """Evidence from an untrusted report, limited in lines and width."""
    shown: list[str] = []
    for line in lines:
        if len(shown) == LINES:
            return [*shown, "(more in the JSON)"]
        shown.append(one_line(line, WIDTH))
    return shown
