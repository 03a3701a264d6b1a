# SPDX-License-Identifier: MIT
"""The reports: what is alike is said once, and what a guest prints stays text."""

from dataclasses import replace
from xml.etree import ElementTree as Xml

from harness.conformance.catalogue import load_catalogue
from harness.matrix.compare import bundles, compare, groups
from harness.matrix.html import verdict_lists, write_pages
from harness.matrix.report import junit, lines, markdown, summary
from harness.matrix.result import CellOutcome, CellVerdict
from matrix_drafts import RESULT, failed
from page_checks import check_pages
from support.matrix_changes import EVIL, NOW

CLAUSES = [clause.id for clause in load_catalogue().clause][:39]


def test_clauses_that_one_fault_breaks_are_one_line(tmp_path):
    cells = ["mips-malta/dynamic/x/conform", "mips64-malta/dynamic/x/conform"]
    verdicts = tuple(CellVerdict(name, "fail", f"{name} is wrong") for name in CLAUSES)
    now = [
        replace(NOW, id=cell[:6], cell=cell, verdicts=verdicts, outcome=CellOutcome.FAIL)
        for cell in cells
    ]
    alone = failed(replace(NOW, id="b9"))
    found = compare([], [*now, alone], names=("", "2222"))
    together = bundles(groups(found.broke))
    assert [len(bundle.groups) for bundle in together] == [1, 39]
    assert [line for line in lines(found) if "C1" in line] == [
        "broke: mips-malta/dynamic/x/conform C1a: C1a is wrong",
        "    and 38 more of conform there: "
        "C1b, C1c, C1d, C1e, C1f, C1g, C1h, C1i, C1j, C2a and 28 more",
    ]
    assert "  - and 38 more of conform there: C1b, C1c" in markdown(found)
    every = [*now, alone]
    write_pages(tmp_path, found, every, every)
    page = check_pages(tmp_path)["index.html"].text
    assert "39 of conform in 2 cells: C1a, C1b, C1c, C1d, C1e, C1f, C1g, C1h and 31 more" in page
    # Other cells are another cause.
    few = [replace(now[0], verdicts=verdicts[:5]), replace(now[1], verdicts=verdicts[:4])]
    told = bundles(groups(compare([], few).broke))
    assert [len(bundle.groups) for bundle in told] == [1, 1, 1, 1, 1]


def test_of_many_verdicts_those_that_pass_are_one_line(tmp_path):
    verdicts = [CellVerdict(name, "pass") for name in CLAUSES]
    verdicts[3] = CellVerdict("C1d", "fail", "it is lost")
    verdicts[4] = CellVerdict("C1e", "expected", "known")
    one = replace(NOW, verdicts=tuple(verdicts), outcome=CellOutcome.FAIL)
    told, others = verdict_lists(one.verdicts)
    assert [verdict.name for verdict in told] == ["C1d", "C1e"]
    assert {word: len(several) for word, several in others.items()} == {"pass": 37}
    assert verdict_lists(one.verdicts[:8]) == (verdicts[:8], {})
    write_pages(tmp_path, compare([], [one], names=("", "2222")), [one], [one])
    pages = check_pages(tmp_path)
    (page,) = (page.text for name, page in pages.items() if name != "index.html")
    assert "37 pass" in page
    assert page.index("it is lost") < page.index("37 pass")


def test_one_reason_is_said_once():
    """The same verdict of one work in other cells comes with the first; each has its page."""
    old = [replace(RESULT, id=f"m{n}", cell=f"c{n:02}/x/y/calls") for n in range(40)]
    new = [failed(replace(one, id=f"n{one.id}"), message=f"wrong {one.id}") for one in old]
    new[7] = replace(new[7], verdicts=())
    found = compare(old, new, names=("1", "2"))
    assert len(found.broke) == 40
    assert [(group.name, len(group.changes)) for group in groups(found.broke)] == [
        ("answer", 39),
        ("", 1),
    ]
    first, again, others, *_ = lines(found)
    assert first == "broke: c00/x/y/calls answer: wrong m0"
    assert again == f"    {RESULT.command}"
    assert others == "    and in 38 more, such as c01/x/y/calls"
    assert "  - `c01/x/y/calls`\n" in markdown(found)
    assert "  - 28 more\n" in markdown(found)
    # What a cell does not say any more is one thing too.
    assert [one.message for one in found.unjudged] == [
        "2 that had a verdict have none now, such as answer"
    ]


def test_after_a_few_slower_ones_the_others_are_counted():
    old = [replace(RESULT, id=f"m{n}", cell=f"c{n:02}", instructions=1000) for n in range(30)]
    new = [replace(one, instructions=1100 + n) for n, one in enumerate(old)]
    said_ = [line for line in lines(compare(old, new)) if line.startswith("slower")]
    assert said_[0] == "slower: c29: 1000 to 1129 guest instructions, +12.9%"
    assert len(said_) == 11
    assert said_[-1] == "slower: 20 more, the last by +10.0%"


def test_after_a_few_cells_the_others_are_counted():
    many = [replace(RESULT, id=f"m{number}", cell=f"c{number:03}") for number in range(99)]
    said_ = [line for line in lines(compare(many, many[:2])) if line.startswith("not run")]
    assert said_ == [*(f"not run: c{number:03}" for number in range(2, 12)), "not run: 87 more"]


def test_what_a_guest_prints_stays_text_in_every_report():
    bad = failed(replace(NOW, verdicts=(CellVerdict("answer", "pass"),)), message=EVIL)
    found = compare([RESULT], [bad], names=("1111", "2222"))
    text = "\n".join(lines(found))
    assert "\x1b" not in text
    assert RESULT.command in text
    page = markdown(found)
    assert "<script>" not in page
    assert "\n# head" not in page
    tree = Xml.fromstring(junit([bad]))
    (failure,) = tree.iterfind(".//testcase[@name='answer']/failure")
    assert "<script>" in failure.text


def test_junit_has_a_case_for_each_verdict_of_the_last_attempt():
    verdicts = (*NOW.verdicts, CellVerdict("C7a", "not claimed", "the port has no graph"))
    last = failed(replace(NOW, id="b2", verdicts=verdicts))
    (suite,) = Xml.fromstring(junit([NOW, last]))
    assert suite.attrib | {"time": ""} == {
        "name": RESULT.cell,
        "tests": "4",
        "failures": "2",
        "errors": "0",
        "skipped": "1",
        "time": "",
    }
    assert [case.get("name") for case in suite] == ["the cell", "answer", "events", "C7a"]
    assert f"repeat: {RESULT.command}" in suite.find("./testcase[@name='answer']/failure").text


def test_the_summary_counts_everything():
    line = summary(compare([RESULT], [failed(NOW)], names=("1111", "2222")))
    assert line.startswith("2222 against 1111: 0 of 1 cells passed; 1 broke, 0 mended")
