# SPDX-License-Identifier: MIT
"""Verdicts out of findings, and the three reports of them."""

import json
from xml.etree import ElementTree

from harness.config import load_port
from harness.conformance.engine import BuildFindings, select, verdicts
from harness.conformance.reports.report import as_json, as_junit, lines
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import ClauseResult, Failure, Report, Verdict, summary

COMMAND = ["harness", "conform", "--port", "my port"]

FAILURE = Failure(
    "some-check",
    "dynamic",
    "x1 changed\x1b[2J",
    {"registers": {"x1": "0x1 -> 0x2"}, "text": ["a: nop", "b: ret"], "empty": []},
)


def report(findings):
    port = load_port("aarch64")
    claimed = tuple(word for word in port.features if word != "SYSCALL_TRACEPOINTS")
    spec = suite_spec("aarch64-virt", port.model_copy(update={"features": claimed}))
    clauses = select(spec.config, ["C1a", "C2a", "C3d", "C13b", "C14a"])
    results, found = verdicts(spec, clauses, findings)
    return Report(spec.config.name, port.name, results, 1.25, findings=found)


FOUND = report(
    [
        BuildFindings("dynamic", {"C1a": {"a"}, "C2a": {"a", "b"}}, {"C1a": [FAILURE]}),
        BuildFindings("static", {"C1a": {"a"}, "C3d": {"d"}}, {"C3d": [FAILURE]}),
    ]
)


def test_verdicts():
    found = {result.clause: result for result in FOUND.results}
    assert [(r.clause, r.verdict) for r in FOUND.results] == [
        ("C1a", Verdict.FAIL),
        ("C2a", Verdict.PASS),
        ("C3d", Verdict.FAIL),
        ("C13b", Verdict.NOT_CLAIMED),
        ("C14a", Verdict.NOT_OBSERVABLE),
    ]
    assert found["C1a"].checks == ["a (dynamic)", "a (static)"]
    assert found["C13b"].reason == "the port has no SYSCALL_TRACEPOINTS"
    assert found["C14a"].reason
    assert [result.clause for result in FOUND.failed] == ["C1a"], "C3d is advised only"


def test_a_clause_that_nobody_came_to_says_why():
    """That a guest died explains it before a build that could not be made does."""
    lost = BuildFindings("dynamic", {}, {}, unfinished={"C1a": {"a"}})
    found = report([lost, BuildFindings("modules", {}, {}, "no module builds")])
    reasons = {result.clause: result.reason for result in found.results}
    assert reasons["C1a"] == "the guest died of another clause before this could be seen"
    assert reasons["C2a"] == "no module builds"


def test_the_clause_that_the_guest_died_of_is_judged_too():
    """Otherwise a run of one clause would be a run without a finding."""
    died = BuildFindings("dynamic", {}, {"C4n": [FAILURE]}, unfinished={"C1a": {"some-check"}})
    found = report([died])
    verdicts_of = {result.clause: result.verdict for result in found.results}
    assert verdicts_of["C1a"] is Verdict.BLOCKED
    assert [result.clause for result in found.failed] == ["C4n"]
    assert [(one.clause, one.blocks) for one in found.findings] == [("C4n", ["C1a"])]
    elsewhere = BuildFindings(
        "dynamic", {}, {"C4n": [FAILURE]}, unfinished={"C1a": {"other-check"}}
    )
    assert not report([elsewhere]).failed


def test_a_clause_passes_only_if_none_of_its_checks_was_lost():
    """What one check saw of it is not all that there is to see."""
    half = BuildFindings("dynamic", {"C1a": {"a"}, "C2a": {"a"}}, {}, unfinished={"C1a": {"a"}})
    found = {result.clause: result for result in report([half]).results}
    assert found["C2a"].verdict is Verdict.PASS
    assert found["C1a"].verdict is Verdict.NOT_OBSERVABLE
    assert found["C1a"].reason == "the guest died of another clause before all could be seen"
    assert found["C1a"].checks == ["a (dynamic)"]
    failed = BuildFindings("dynamic", {"C1a": {"a"}}, {"C1a": [FAILURE]}, unfinished={"C1a": {"a"}})
    assert report([failed]).results[0].verdict is Verdict.FAIL


def test_what_a_finding_blocks_is_in_the_order_of_the_catalogue():
    died = Failure("a", "dynamic", "the guest hangs", died=True)
    build = BuildFindings("dynamic", {}, {"C2a": [died], "C3d": [died]}, unfinished={"C1a": {"a"}})
    [finding] = report([build]).findings
    assert (finding.clause, finding.blocks) == ("C2a", ["C1a", "C3d"])


def test_the_text_shows_evidence_and_how_to_repeat_and_no_control_characters():
    text = "\n".join(lines(FOUND, COMMAND))
    assert "  FAIL C1a   argument registers survive the stub" in text
    assert "some-check (dynamic): x1 changed" in text
    assert "             x1: 0x1 -> 0x2" in text.replace("           x1", "             x1")
    assert "a: nop" in text
    assert "empty" not in text
    assert "repeat: harness conform --port 'my port' -c aarch64-virt --clause C1a" in text
    assert "\x1b" not in text
    assert text.splitlines()[-1] == (
        "aarch64-virt: 1 pass, 2 fail, 0 blocked, 1 not claimed, 1 not observable in 1.2 s"
    )


def test_what_is_blocked_and_expected_is_counted_once():
    known = Failure("a", "dynamic", "x1 changed", expected="a reason")
    blocked = ClauseResult("C1a", "title", Verdict.BLOCKED, failures=[known])
    failed = ClauseResult("C1b", "title", Verdict.FAIL, failures=[known])
    counts = "0 pass, 0 fail, 1 blocked, 0 not claimed, 0 not observable, 1 fail as expected"
    assert summary([Report("config", "port", [blocked, failed])]) == counts


def test_the_json():
    content = json.loads(as_json([FOUND], COMMAND))
    assert content["format"] == 1
    [only] = content["reports"]
    first = only["clauses"][0]
    assert (first["clause"], first["verdict"]) == ("C1a", "fail")
    assert first["failures"][0]["evidence"]["registers"] == {"x1": "0x1 -> 0x2"}
    assert first["repeat"].endswith("--clause C1a")
    assert "repeat" not in only["clauses"][1]


def test_junit():
    root = ElementTree.fromstring(as_junit([FOUND], COMMAND))
    [suite] = root
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("5", "1", "3")
    cases = {case.get("name").split()[0]: case for case in suite}
    assert "x1 changed" in cases["C1a"][0].get("message")
    assert cases["C3d"][0].tag == "skipped"
    assert len(cases["C2a"]) == 0


EVIL = "a\x1b[31mb\x9bc\x00d\ufffee\udce9\nforged: f"


def test_what_a_guest_or_a_port_says_is_fit_for_every_report():
    lie = Failure(EVIL, EVIL, EVIL, {EVIL: {EVIL: EVIL}, "lines": [EVIL, EVIL]})
    bad = report([BuildFindings("dynamic", {"C1a": {"a"}}, {"C1a": [lie]}, EVIL)])
    bad.config = bad.port = EVIL
    command = ["harness", "conform", "--port", EVIL]
    for line in lines(bad, command):
        assert line.isprintable(), line
        assert not line.startswith("forged")
    root = ElementTree.fromstring(as_junit([bad], command))
    for one in root.iter():
        for text in (*one.attrib.values(), *(one.text or "").split("\n")):
            assert text.isprintable(), text
    json.loads(as_json([bad], command).encode())
