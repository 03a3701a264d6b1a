# SPDX-License-Identifier: MIT
"""The pages of reports: what stands on them, in which order, and that it is text."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.conformance.expected import ExpectFile, apply_expected
from harness.conformance.reports.causes import LINES, OnConfig, causes
from harness.conformance.reports.evidence import least
from harness.conformance.reports.listing import AROUND, source_around
from harness.conformance.reports.report import as_json, as_object
from harness.conformance.reports.report_file import read_reports
from harness.conformance.verdict import (
    CodeLine,
    Failure,
    Listing,
    Place,
)
from harness.errors import FormatError
from harness.mutation import html as mutants_html
from harness.mutation.kill_table import MutantOutcome
from harness.pages import pages_directory
from page_checks import check_pages
from report_drafts import CODE, COMMAND, LOAD, LOST, data, finding, pages_of, report

FIRST = finding("C1a", LOST, ("C4g", "C10b"), listing=CODE)


def test_a_finding_has_all_that_is_needed(tmp_path):
    pages = pages_of(tmp_path, report(FIRST))
    assert set(pages) == {"index.html", "configs/mips-malta.html"}
    text = pages["index.html"].text
    assert "Conformance of port mine" in text
    assert "1 finding" in text
    assert "1 a traced call of leaf: args changed: a1" in text
    assert "breaks C1a argument registers survive the stub" in text
    assert "Every argument register" in text
    where = "mcount.S:172 in _mcount : lw $a1, 32($sp) wrote a1 last"
    assert f"{where}; called at mcount.S:190 , <entry>.S:9" in text
    assert "=> 172 restore_all" in text
    assert "=> 172 0x80101000 lw $a1, 32($sp)" in text
    assert "registers: a1: 0x1 -> 0x2" in text
    assert "2 clauses: C4g, C10b" in text
    assert "a-call-of-the-tracer; build: dynamic" in text
    assert "harness conform --port 'my port' -c mips-malta --clause C1a" in text


def test_without_findings_it_says_so(tmp_path):
    text = pages_of(tmp_path, report())["index.html"].text
    assert "Nothing fails." in text
    assert "0 findings" in text


def test_clauses_are_in_the_order_of_the_catalogue(tmp_path):
    """Also those that only the second config has."""
    page = pages_of(tmp_path, report(FIRST), report(config="other", passed=("C9k", "M1a")))
    rows = [one for one in page["index.html"].ids if one[0] in "CM"]
    assert rows == ["C1a", "C4g", "C9k", "C9p", "C10a", "C10b", "M1a"]


def test_one_fault_on_many_configs_is_one_finding(tmp_path):
    configs = [f"config-{number}" for number in range(12)]
    every = [report(FIRST, config=config) for config in configs]
    page = pages_of(tmp_path, *every)["index.html"]
    assert [one for one in page.ids if one.startswith("finding")] == ["finding-1"]
    assert "and on 6 more; what is seen there" in page.text
    for config in configs:
        assert f"harness conform --port 'my port' -c {config} --clause C1a" in page.text


def test_what_counts_comes_first(tmp_path):
    advised = finding("C3d", replace(LOST, place=None, message="too long"))
    known = finding("C1b", replace(LOST, place=None, message="ra is lost"))
    found = report(advised, known, FIRST)
    found.results[3].advised = True
    expected = {
        "clause": "C1b",
        "check": LOST.check,
        "build": "dynamic",
        "message": "ra is lost",
        "reason": "Linux does so <on purpose>",
    }
    apply_expected(found, ExpectFile.model_validate({"port": "mine", "failure": [expected]}))
    told = causes((OnConfig(one.config), one) for one in data(found))
    assert [one.first.clause for one in told] == ["C1a", "C3d", "C1b"]
    assert [one.number for one in told] == [1, 2, 3]
    page = pages_of(tmp_path, found)["index.html"]
    assert "2 findings 1 more expected" in page.text
    assert "expected Linux does so <on purpose>" in page.text
    assert "known" in page.text


def test_a_config_that_is_judged_twice_has_two_pages(tmp_path):
    pages = pages_of(tmp_path, report(FIRST), report(FIRST))
    assert {"configs/mips-malta.html", "configs/mips-malta-1.html"} < set(pages)


findings = st.builds(
    lambda clause, message, line: finding(
        clause, replace(LOST, message=message, place=replace(LOAD, line=line) if line else None)
    ),
    st.sampled_from(["C1a", "C1b"]),
    st.sampled_from(["a is 1", "a is 2", "b"]),
    st.sampled_from([0, 1, 2]),
)


@settings(max_examples=60)
@given(st.lists(st.lists(findings, max_size=5), max_size=4))
def test_no_finding_is_lost_and_those_of_one_report_stay_apart(given_):
    every = [
        (OnConfig(str(number)), *data(report(*one, config=str(number))))
        for number, one in enumerate(given_)
    ]
    found = causes(every)
    seen = [(one.config, one.first) for one in found]
    seen += [other for one in found for other in one.others]
    wanted = [(config, one) for config, told in every for one in told.findings]
    assert sorted(map(repr, seen)) == sorted(map(repr, wanted))
    for one in found:
        configs = [one.config, *(config for config, _ in one.others)]
        assert len(configs) == len(set(configs))
    assert [one.number for one in found] == list(range(1, len(found) + 1))


EVIL = "</pre><script>alert(1)</script>\"'{{ 7*7 }}a\x1b[31m\x9b\x00\ufffe\udce9\u202e\nforged"


@pytest.mark.parametrize("evil", [EVIL, "x" * 100_000, "\n" * 5000, "../../etc/passwd", ""])
def test_what_a_guest_or_a_port_says_stays_text(evil, tmp_path):
    place = Place(evil, evil, 1, 16, evil, evil)
    code = Listing(((1, evil),), (CodeLine(16, evil, evil, 1),))
    failure = Failure(evil, evil, evil, {evil: {evil: [evil]}, "guest": evil}, place=place)
    bad = finding("C1a", failure, [evil], listing=code)
    found = report(bad, config=evil, port=evil, passed=())
    found.fails_no_more = [evil]
    for result in found.results:
        result.reason = evil
    pages = pages_of(tmp_path, found, found)
    assert len(pages) == 3
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.html")) < 4_000_000


@settings(max_examples=15)
@given(st.text(), st.dictionaries(st.text(), st.lists(st.text()) | st.text()))
def test_any_text_makes_a_page(tmp_path_factory, text, evidence):
    told = finding("C1a", Failure(text, text, text, evidence))
    pages_of(tmp_path_factory.mktemp("p"), report(told, config=text, port=text))


def test_a_page_of_very_much_is_bounded(tmp_path):
    failure = replace(LOST, evidence={"found": [f"line {n}" for n in range(100_000)]})
    many = [replace(failure, message=f"check {chr(65 + n % 26)}{'x' * n}") for n in range(300)]
    told = finding("C1a", failure, listing=CODE)
    told.failures += [("C1a", one) for one in many]
    pages = pages_of(tmp_path, report(told))
    assert f"line {LINES - 1}" in pages["index.html"].text
    assert f"line {LINES}" not in pages["index.html"].text
    assert sum(file.stat().st_size for file in tmp_path.rglob("*.html")) < 4_000_000


def test_failures_that_say_the_same_are_one_line(tmp_path):
    told = finding("C1a", LOST)
    told.failures += [("C1a", replace(LOST, message=f"f{n}: no nop at {n:#x}")) for n in range(343)]
    text = pages_of(tmp_path, report(told))["configs/mips-malta.html"].text
    assert "the same in 342 more" in text


def test_the_json_read_again_is_the_same():
    text = as_json([report(FIRST)], COMMAND)
    assert read_reports(json.loads(text)) == data(report(FIRST))
    [one] = json.loads(text)["reports"][0]["findings"]
    assert one["listing"]["source"][1] == {"line": 172, "text": "\trestore_all"}
    assert one["listing"]["instructions"][1] == {
        "address": "0x80101000",
        "instruction": "lw $a1, 32($sp)",
        "file": "mcount.S",
        "line": 172,
    }
    assert one["expected"] == ""


def test_the_json_of_before_there_were_listings_is_read():
    old = as_object([report(FIRST)], COMMAND)
    del old["reports"][0]["findings"][0]["listing"], old["reports"][0]["findings"][0]["expected"]
    assert read_reports(old)[0].findings[0].listing.source == ()


@pytest.mark.parametrize("wrong", [None, [], {}, {"format": 2, "reports": []}, {"format": 1}])
def test_what_is_no_report_is_refused(wrong):
    with pytest.raises(FormatError, match="no report"):
        read_reports(wrong)


@pytest.mark.parametrize(
    ("evidence", "lines"),
    [
        ({"expected": {"0x10": "1", "0x14": "2"}, "found": {"0x10": "1", "0x14": "3"}},
         ["0x14: expected 2, found 3"]),
        ({"expected": ["a", "b"], "found": ["a", "c"]}, ["expected: b", "found: c"]),
        ({"expected": ["a", "b"], "found": ["b", "a"]},
         ["expected: a", "expected: b", "found: b", "found: a"]),
        ({"registers": {"a1": "1 -> 2"}, "guest": "a dump"}, ["registers: a1: 1 -> 2"]),
        ({"guest": "CPU 0\nKernel panic - not syncing: x\n"},
         ["console: Kernel panic - not syncing: x"]),
        ({"guest": "CPU 0"}, []),
    ],
)  # fmt: skip
def test_the_least_that_shows_it(evidence, lines):
    assert least(evidence) == lines


def test_source_is_that_of_the_port_alone(tmp_path):
    port = tmp_path / "port"
    port.mkdir()
    (tmp_path / "secret").write_text("the key\n")
    (port / "mcount.S").write_text("".join(f"\tline {number}\n" for number in range(1, 101)))
    (port / "link.S").symlink_to(tmp_path / "secret")
    (port / "binary").write_bytes(b"a\xff\x1b[2J\n")
    lines = list(source_around(port, "mcount.S", 50))
    assert [number for number, _ in lines] == list(range(50 - AROUND, 50 + AROUND + 1))
    assert lines[AROUND] == (50, "        line 50")
    assert next(source_around(port, "mcount.S", 2)) == (1, "        line 1")
    assert next(source_around(port, "binary", 1)) == (1, "a\N{REPLACEMENT CHARACTER}\\x1b[2J")
    for name in (
        "../secret",
        str(tmp_path / "secret"),
        "link.S",
        "nothing",
        ".",
        "a\0b",
        "/dev/zero",
    ):
        assert list(source_around(port, name, 1)) == [], name
    for line in (0, -1, 200):
        assert list(source_around(port, "mcount.S", line)) == []


def outcome(name, **changes):
    told = {"clause": "C9k", "check": "stores", "variant": "dynamic", "message": "not flushed"}
    return MutantOutcome("mips-malta", name, "what it does", ("C9k",), **told | changes)


def test_the_page_of_mutants(tmp_path):
    outcomes = [
        outcome("written"),
        outcome("elsewhere", clause="C1a"),
        outcome("lives", clause="", check="", message=""),
        outcome("dynamic/_mcount/1/drop"),
        outcome("dynamic/_mcount/2/drop", clause="", equivalent="it is a nop"),
        outcome("dynamic/_mcount/3/drop", built=False, clause=""),
        outcome(EVIL, message=EVIL, clause=EVIL),
    ]
    with pages_directory(tmp_path) as write:
        mutants_html.write_pages(write, outcomes, "harness conform --mutant all", 0.0)
    text = check_pages(tmp_path)["index.html"].text
    assert "Not as they should be (3)" in text
    assert "2 caught 1 survive 2 not as expected 1 equivalent 1 do not build" in text
    assert "dynamic/_mcount: 1 of 2 caught" in text
    assert "2 of 5" in text
