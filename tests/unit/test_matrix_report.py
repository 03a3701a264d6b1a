# SPDX-License-Identifier: MIT
"""What has changed: planted regressions are found, and nothing else is said."""

import json
import re
from dataclasses import replace
from urllib.parse import unquote
from xml.etree import ElementTree as Xml

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.conformance.catalogue import load_catalogue
from harness.errors import UsageError
from harness.matrix.compare import bundles, compare, groups
from harness.matrix.history import History
from harness.matrix.html import verdict_lists, write_pages
from harness.matrix.report import choose, junit, lines, markdown, summary
from harness.matrix.result import CellOutcome, CellVerdict
from harness.matrix.tools import Tool
from harness.matrix.trends import nights
from matrix_drafts import RESULT, failed
from page_checks import Page, check_pages

NOW = replace(RESULT, id="b1", run="r2", revision="2222", started=2000.0)
QUIET = ("broke", "mended", "flaky", "failing", "slower", "faster", "unjudged", "missing", "new")


def said(found):
    """The lists that are not empty, and in them who it is about."""
    return {
        name: [f"{one.name or 'cell'}" if hasattr(one, "name") else one for one in entries]
        for name in QUIET
        if (entries := getattr(found, name))
    }


def test_nothing_changed_nothing_said():
    found = compare([RESULT], [NOW])
    assert said(found) == {}
    assert (found.cells, found.passed, found.worse) == (1, 1, False)


def test_a_planted_regression_in_a_verdict_is_found():
    found = compare([RESULT], [failed(NOW)])
    assert said(found) == {"broke": ["answer"]}
    (one,) = found.broke
    assert (one.cell, one.message, one.command) == (RESULT.cell, "wrong", RESULT.command)
    assert found.worse


def test_what_passes_again_is_mended():
    found = compare([failed(RESULT)], [NOW])
    assert said(found) == {"mended": ["answer"]}
    assert not found.worse


def test_what_failed_before_is_not_news():
    found = compare([failed(RESULT)], [failed(NOW)])
    assert said(found) == {"failing": ["answer"]}
    assert not found.worse


@pytest.mark.parametrize("before", [[], [RESULT], [failed(RESULT)]])
def test_what_passed_and_failed_at_one_revision_is_flaky(before):
    found = compare(before, [NOW, failed(replace(NOW, id="b2"))])
    assert said(found).pop("flaky") == ["answer"]
    assert not found.broke


@pytest.mark.parametrize("outcome", [CellOutcome.TIMEOUT, CellOutcome.MEMORY, CellOutcome.CRASH])
def test_a_cell_that_does_not_come_to_its_end_broke_itself(outcome):
    dead = replace(NOW, outcome=outcome, message="gone", verdicts=(), instructions=None)
    assert said(compare([RESULT], [dead])) == {"broke": ["cell"]}


def test_what_the_host_fails_at_is_neither_broken_nor_mended():
    lost = replace(NOW, outcome=CellOutcome.ERROR, message="no gdb", verdicts=(), instructions=None)
    assert said(compare([RESULT], [lost])) == {"unjudged": ["cell"]}
    assert said(compare([failed(RESULT)], [lost])) == {"unjudged": ["cell"]}
    # The next revision is compared with what is known.
    assert said(compare([lost], [failed(NOW)])) == {
        "broke": ["answer"],
        "new": [RESULT.cell],
    }


def clause(*failures, result=RESULT, verdict="fail"):
    outcome = {"outcome": CellOutcome.FAIL, "message": "C9f"} if verdict == "fail" else {}
    told = CellVerdict("C9f", verdict, "a", failures)
    return replace(result, verdicts=(told,), instructions=None, **outcome)


def test_one_more_failure_of_a_clause_that_fails_broke():
    found = compare([clause("a", "b")], [clause("b", "c", "d", result=NOW)])
    assert said(found) == {"broke": ["C9f"], "mended": ["C9f"]}
    assert found.broke[0].message == "new: c, and 1 more"
    assert found.mended[0].message == "fails no more: a"
    assert found.worse
    assert said(compare([clause("a", "b")], [clause("b", "a", result=NOW)])) == {"failing": ["C9f"]}


def test_failures_are_compared_with_all_attempts():
    before = [clause("a"), clause("b", result=replace(RESULT, id="a2"))]
    assert said(compare(before, [clause("b", result=NOW)])) == {
        "failing": ["C9f"],
        "mended": ["C9f"],
    }
    assert said(compare([clause("b")], [clause("b", result=NOW)])) == {"failing": ["C9f"]}


def test_attempts_that_were_kept_without_their_failures_say_nothing_of_them():
    assert said(compare([clause()], [clause("a", result=NOW)])) == {"failing": ["C9f"]}


def test_what_is_expected_neither_broke_nor_is_it_mended():
    expected = clause(verdict="expected")
    now = clause(verdict="expected", result=NOW)
    for before in ([expected], [clause("a")], [clause(verdict="pass")]):
        assert said(compare(before, [now])) == {}
    assert said(compare([expected], [clause("b", result=NOW)])) == {"broke": ["C9f"]}
    assert said(compare([expected], [clause(verdict="pass", result=NOW)])) == {"mended": ["C9f"]}


def test_a_verdict_that_is_not_given_any_more_is_missed():
    fewer = replace(NOW, verdicts=NOW.verdicts[:1])
    assert said(compare([RESULT], [fewer])) == {"unjudged": ["events"]}


def test_cells_that_come_and_go_are_named():
    other = replace(NOW, cell="mips-malta/graph/gcc-O2-nofp/calls")
    assert said(compare([RESULT], [other])) == {"missing": [RESULT.cell], "new": [other.cell]}


def test_clauses_are_in_the_order_of_the_catalogue():
    names = ["C10a", "M1a", "C9p", "C1a"]
    ordered = ["C1a", "C9p", "C10a", "M1a"]
    verdicts = tuple(CellVerdict(name, "fail", "wrong") for name in names)
    found = compare([], [replace(NOW, verdicts=verdicts, outcome=CellOutcome.FAIL)])
    assert [one.name for one in found.broke] == ordered
    assert [line.split()[2] for line in lines(found) if line.startswith("broke")] == [
        f"{name}:" for name in ordered
    ]


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


CONFORM = {
    "config": "mips-malta",
    "port": "mips",
    "seconds": 1,
    "clauses": [],
    "findings": [
        {
            "clause": "C10a",
            "message": "the slot <i>is wrong",
            "check": "slots",
            "builds": ["dynamic"],
            "file": "mcount.S",
            "line": 7,
            "function": "ftrace_call",
            "instruction": "0x10: nop",
            "how": "was called",
            "evidence": {},
            "blocks": ["C10b"],
            "repeat": "harness conform --clause C10a",
        }
    ],
}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (json.dumps({"format": 1, "reports": [CONFORM]}), True),
        (json.dumps({"format": 2, "reports": [CONFORM]}), False),
        (json.dumps({"format": 1, "reports": [{}]}), False),
        ("[" * 100_000, False),
        ("", False),
    ],
)
def test_the_page_of_a_judged_port_shows_its_findings(written, shown, tmp_path):
    where = tmp_path / "run" / "cells" / NOW.cell / NOW.id
    where.mkdir(parents=True)
    (where / "log.txt").write_text("")
    (where / "conform.json").write_text(written)
    found = compare([], [NOW], names=("", "2222"))
    write_pages(tmp_path / "pages", found, [NOW], [NOW], tmp_path / "run")
    (page,) = (tmp_path / "pages" / "cells").iterdir()
    text = Page(page).text
    assert ("the slot <i>is wrong" in text) == shown
    assert ("mcount.S:7 in ftrace_call : nop was called" in text) == shown
    assert ("breaks C10a" in text) == shown


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


@pytest.mark.parametrize(
    ("number", "expected"),
    [(30655, None), (30961, None), (30962, "slower"), (30349, None), (30348, "faster")],
)
def test_a_planted_regression_in_instructions_is_found(number, expected):
    found = compare([RESULT], [replace(NOW, instructions=number)])
    assert list(said(found)) == ([expected] if expected else [])
    assert found.worse == (expected == "slower")
    if expected == "slower":
        (one,) = found.slower
        assert (one.before, one.now) == (30655, number)
        assert one.growth == pytest.approx(0.01, abs=1e-4)


def test_the_limit_of_slowness_is_a_choice():
    more = replace(NOW, instructions=30656)
    assert compare([RESULT], [more], slower=0).slower
    assert not compare([RESULT], [replace(NOW, instructions=60000)], slower=1).slower


results = st.lists(
    st.builds(
        lambda number, cell, fails, instructions: replace(
            failed(NOW) if fails else NOW,
            id=f"a{number}",
            cell=f"c{cell}",
            instructions=None if fails else instructions,
        ),
        st.integers(),
        st.integers(0, 3),
        st.booleans(),
        st.integers(1, 1000),
    ),
    max_size=12,
)


@given(results, results)
def test_laws_of_comparing(before, now):
    found, back = compare(before, now), compare(now, before)
    # To and fro: what is slower one way is fewer instructions the other way.
    assert {one.cell for one in found.slower} >= {one.cell for one in back.faster}
    assert found.missing == (back.new if now else found.missing)
    assert not said(compare(now, now)).keys() - {"flaky", "failing"}
    keys = [(one.cell, one.name) for one in (*found.broke, *found.flaky, *found.failing)]
    assert len(keys) == len(set(keys))
    assert compare(before[::-1], now).broke == found.broke
    assert {one.cell for one in found.mended}.isdisjoint(
        one.cell for one in now if one.outcome is CellOutcome.FAIL
    )


@pytest.fixture
def base(tmp_path):
    with History(tmp_path / "h.sqlite") as opened:
        yield opened


def test_the_last_revision_is_compared_with_the_one_before(base):
    first = replace(RESULT, id="a0", run="r0", revision="0000", started=500.0)
    again = replace(RESULT, id="a3", run="r3", started=3000.0)
    base.add([first, RESULT, NOW])
    assert [side[0] for side in choose(base)] == ["1111", "2222"]
    assert [side[0] for side in choose(base, at="11")] == ["0000", "1111"]
    assert [side[0] for side in choose(base, since="0000")] == ["0000", "2222"]
    assert choose(base, at="0000")[0] == ("", [])
    # An old revision that was run again lately is the newest one.
    base.add([again])
    (before, _), (now, found) = choose(base)
    assert (before, now) == ("2222", "1111")
    assert found == [RESULT, again]


def test_a_run_is_compared_with_the_last_run(base):
    night = failed(replace(RESULT, id="a2", run="r2", started=2000.0))
    base.add([RESULT, night])
    before, now = choose(base, since="r1")
    assert (before, now) == (("r1", [RESULT]), ("r2", [night]))
    assert said(compare(before[1], now[1])) == {"broke": ["answer"]}


NEW_GCC = {"gcc": "gcc 13"}


def test_what_fails_with_a_new_compiler_at_the_same_revision_broke(base):
    """And it got slower, and what the compiler had no part in stays as it was."""
    other = replace(RESULT, id="o1", cell="c/slow/x/y", started=1001.0)
    third = replace(RESULT, id="t1", cell="c/same/x/y", started=1002.0, versions={})
    base.add([RESULT, other, third])
    base.add([failed(replace(RESULT, id="a2", run="r2", started=2000.0, versions=NEW_GCC))])
    slow = replace(other, id="o2", run="r2", started=2001.0, versions=NEW_GCC, instructions=60000)
    base.add([slow, replace(third, id="t2", run="r2", started=2002.0)])
    (before, old), (now, new) = choose(base)
    assert (before, now) == ("1111", "1111")
    found = compare(old, new, names=(before, now))
    assert [(one.cell, one.name) for one in found.broke] == [(RESULT.cell, "answer")]
    assert [one.cell for one in found.slower] == ["c/slow/x/y"]
    assert not found.flaky + found.new
    assert found.tools == [Tool("gcc", "gcc 12", "gcc 13")]
    assert "changed: gcc: gcc 13; before: gcc 12" in list(lines(found))
    assert "| gcc | gcc 12 | gcc 13 |" in markdown(found)
    # With the new one again, and it passes: that is flaky.
    base.add([replace(RESULT, id="a3", run="r3", started=3000.0, versions=NEW_GCC)])
    found = compare(*(side[1] for side in choose(base)))
    assert [(one.cell, one.name) for one in found.flaky] == [(RESULT.cell, "answer")]


def test_after_a_new_revision_the_tools_are_compared_too(base):
    base.add([RESULT, replace(RESULT, id="a2", run="r2", started=1500.0, versions=NEW_GCC)])
    base.add([replace(NOW, versions={"gcc": "gcc 14", "clang": "clang 14"})])
    (before, old), (now, new) = choose(base)
    assert (before, now) == ("1111", "2222")
    assert compare(old, new).tools == [Tool("gcc", "gcc 13", "gcc 14")]


def test_a_host_without_the_tool_is_no_change_of_tools(base):
    lost = replace(
        RESULT, id="a2", run="r2", started=2000.0, outcome=CellOutcome.ERROR, verdicts=()
    )
    base.add([RESULT, replace(lost, versions={})])
    assert choose(base)[0] == ("", [])


@pytest.mark.parametrize("name", ["3333", "", "x"])
def test_a_revision_that_is_not_there_is_a_mistake(base, name):
    with pytest.raises(UsageError, match="empty"):
        choose(base)
    base.add([RESULT, NOW])
    with pytest.raises(UsageError, match="revision or run"):
        choose(base, at=name or "zzz")


EVIL = "<script>alert(`1`)</script> | *x* \x1b[31m\n# head ]]> \x00 \ud800"


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


LINK = re.compile(r'(?:href|src)="([^"]*)"')


def test_pages_hold_together_and_need_nothing_from_elsewhere(tmp_path):
    new = {"started": 2002.0, "versions": NEW_GCC}
    graph = replace(NOW, id="b2", cell="mips-malta/graph/gcc-O0-fp/calls", **new)
    now = [NOW, failed(replace(NOW, id="b3", started=2001.0)), graph]
    found = compare([RESULT], now, names=("1111", "2222"))
    write_pages(tmp_path, found, now, [RESULT, *now])
    pages = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.html"))
    assert len(pages) == 3
    for page in pages:
        text = (tmp_path / page).read_text()
        links = LINK.findall(text)
        assert links
        for link in links:
            file, _, anchor = link.partition("#")
            assert (tmp_path / (page.parent / unquote(file) if file else page)).is_file()
            assert not anchor or f'id="{anchor}"' in text
        assert "//" not in text
        assert "<script" not in text
        assert 'name="viewport"' in text
    index = (tmp_path / "index.html").read_text()
    assert '<a class="mark flaky" href="cells/mips-malta~dynamic~gcc-O2-nofp~calls.html"' in index
    assert "Flaky (1)" in index
    assert "<td>gcc</td><td>gcc 12</td><td>gcc 13</td>" in index
    cell = (tmp_path / "cells" / "mips-malta~dynamic~gcc-O2-nofp~calls.html").read_text()
    assert "<polyline" in cell
    assert "30\N{NARROW NO-BREAK SPACE}655" in cell
    assert RESULT.command in cell


def test_what_a_guest_prints_stays_text_on_every_page(tmp_path):
    bad = failed(replace(NOW, versions={EVIL: EVIL}), message=EVIL)
    strange = replace(bad, id="b2", cell='../../x"><script>/../a')
    found = compare([RESULT], [bad, strange], names=(EVIL, EVIL))
    target = tmp_path / "pages"
    write_pages(target, found, [bad, strange], [bad, strange])
    assert {path.parent for path in tmp_path.rglob("*.html")} == {target, target / "cells"}
    for page in target.rglob("*.html"):
        assert "<script" not in page.read_text()


def test_a_page_shows_the_end_of_the_log_and_links_to_what_the_run_kept(tmp_path):
    where = tmp_path / "run" / "cells" / NOW.cell / NOW.id
    where.mkdir(parents=True)
    (where / "log.txt").write_text("first\n" + "x\n" * 500 + f"last {EVIL}\n", errors="replace")
    (where / "trace #1.dat").write_text("")
    found = compare([], [NOW], names=("", "2222"))
    write_pages(tmp_path / "pages", found, [NOW], [NOW], tmp_path / "run")
    (page,) = (tmp_path / "pages" / "cells").iterdir()
    text = page.read_text()
    assert "first" not in text
    assert "last " in text
    assert "<script" not in text
    links = [unquote(link) for link in LINK.findall(text)]
    assert (page.parent / links[-1]).resolve() == where / "trace #1.dat"


def test_nights_are_counted_by_run_and_instructions_by_cells_that_both_counted():
    other = replace(RESULT, id="x", cell="other", instructions=10)
    past = [
        *(RESULT, other, replace(other, id="y", outcome=CellOutcome.ERROR, instructions=None)),
        replace(NOW, instructions=RESULT.instructions * 2),
        replace(NOW, id="n2", cell="new", instructions=5),
    ]
    first, second = nights(past)
    assert (first.cells, first.passed, first.failed, first.unjudged) == (2, 1, 0, 1)
    assert (first.run, first.started, first.instructions) == (RESULT.run, RESULT.started, 1.0)
    assert (second.cells, second.passed, second.instructions) == (2, 2, 2.0)
