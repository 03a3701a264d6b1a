# SPDX-License-Identifier: MIT
"""What has changed: planted regressions are found, and nothing else is said."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.matrix.compare import compare
from harness.matrix.report import lines
from harness.matrix.result import CellOutcome, CellVerdict
from matrix_drafts import RESULT, failed
from support.matrix_changes import NOW, said


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
