# SPDX-License-Identifier: MIT
"""Which results of a history are compared, and how its nights are counted."""

from dataclasses import replace

import pytest

from harness.errors import UsageError
from harness.matrix.compare import compare
from harness.matrix.history import History
from harness.matrix.report import choose, lines, markdown
from harness.matrix.result import CellOutcome
from harness.matrix.tools import Tool
from harness.matrix.trends import nights
from matrix_drafts import RESULT, failed
from support.matrix_changes import NEW_GCC, NOW, said


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
