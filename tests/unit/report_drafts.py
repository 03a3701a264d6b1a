# SPDX-License-Identifier: MIT
"""Findings and reports that tests of pages begin with."""

from harness.conformance.reports.html import write_pages
from harness.conformance.reports.report import as_object
from harness.conformance.reports.report_file import read_reports
from harness.conformance.verdict import (
    ClauseResult,
    CodeLine,
    Failure,
    Finding,
    Layer,
    Listing,
    Place,
    PortLine,
    Report,
    Verdict,
)
from harness.pages import pages_directory
from page_checks import check_pages

COMMAND = ["harness", "conform", "--port", "my port"]
CALLERS = (PortLine("mcount.S", 190), PortLine("<entry>.S", 9))
LOAD = Place("_mcount", "mcount.S", 172, 0x80101000, "lw $a1, 32($sp)", "wrote a1 last", CALLERS)
CODE = Listing(
    ((171, "\tlw\t$a0"), (172, "\trestore_all")),
    (
        CodeLine(0x80100FFC, "lw $a0, 28($sp)", "mcount.S", 171),
        CodeLine(0x80101000, "lw $a1, 32($sp)", "mcount.S", 172),
        CodeLine(0x80101004, "jr $ra", "mcount.S", 172),
    ),
)
LOST = Failure(
    "a-call-of-the-tracer",
    "dynamic",
    "a traced call of leaf: args changed: a1",
    {"registers": {"a1": "0x1 -> 0x2"}},
    layer=Layer.CALL,
    place=LOAD,
)
EVENTS = Failure("events-of-the-workload", "static", "2 events are missing", {"guest": "CPU 0"})


def finding(clause, failure, blocks=(), **changes):
    return Finding(
        clause, failure.message, failure.place, [(clause, failure)], [*blocks], **changes
    )


def report(*findings, config="mips-malta", port="mine", passed=("C9p", "C10a", "M1a")):
    results = [ClauseResult(clause, f"about {clause}", Verdict.PASS) for clause in passed]
    for one in findings:
        failures = [failure for clause, failure in one.failures if clause == one.clause]
        checks = [f"{failure.check} ({failure.variant})" for failure in failures]
        failed = ClauseResult(one.clause, "a title", Verdict.FAIL, "", False, checks, failures)
        results.append(failed)
        results += [
            ClauseResult(clause, "blocked", Verdict.BLOCKED, "by what breaks it")
            for clause in one.blocks
        ]
    return Report(config, port, results, 1.5, findings=list(findings))


def data(*reports):
    return read_reports(as_object(reports, COMMAND))


def pages_of(directory, *reports):
    """Write the pages of reports, and check them."""
    with pages_directory(directory) as write:
        write_pages(write, data(*reports), "harness conform", 0.0)
    return check_pages(directory)
