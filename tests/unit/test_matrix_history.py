# SPDX-License-Identifier: MIT
"""The history keeps each attempt once, and knows what it is a file of."""

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import HostError, UsageError
from harness.matrix import history
from harness.matrix.history import History, default_file
from harness.matrix.result import CellOutcome, CellVerdict
from matrix_drafts import RESULT, failed


@pytest.fixture
def file(tmp_path):
    return tmp_path / "new" / "matrix.sqlite"


def test_what_is_added_comes_back(file):
    other = failed(replace(RESULT, id="a2", run="r2", revision="2222", started=2000.0))
    with History(file) as base:
        assert base.add([RESULT, other]) == 2
    with History(file) as base:
        assert base.attempts() == [RESULT, other]
        assert base.attempts(revision="2222") == [other]
        assert base.attempts(run="r1") == [RESULT]
        assert [(s.id, s.revision, s.started) for s in base.runs()] == [
            ("r1", "1111", 1000.0),
            ("r2", "2222", 2000.0),
        ]


attempts = st.builds(
    lambda number, outcome, verdicts: replace(
        RESULT,
        id=f"a{number}",
        started=float(number),
        outcome=outcome,
        verdicts=tuple(CellVerdict(name, "fail", "\0'\"; \ud7ff") for name in sorted(verdicts)),
    ),
    st.integers(0, 30),
    st.sampled_from(CellOutcome),
    st.sets(st.sampled_from("abcdef"), max_size=4),
)


def test_failures_come_back_in_their_order(file):
    said = CellVerdict("C9f", "fail", "b", ("b", "a", "\0'"))
    one = replace(RESULT, verdicts=(said, CellVerdict("C9g", "pass")))
    with History(file) as base:
        base.add([one])
        assert base.attempts() == [one]


@settings(max_examples=20)
@given(st.permutations(["C2a", "C9p", "C10a", "C10b", "M1a"]))
def test_clauses_come_back_as_the_catalogue_has_them(tmp_path_factory, names):
    said = tuple(CellVerdict(name, "pass") for name in names)
    with History(tmp_path_factory.mktemp("x") / "matrix.sqlite") as base:
        base.add([replace(RESULT, verdicts=said)])
        [one] = base.attempts()
    assert [verdict.name for verdict in one.verdicts] == ["C2a", "C9p", "C10a", "C10b", "M1a"]


@settings(max_examples=25)
@given(st.lists(attempts, unique_by=lambda one: one.id), st.randoms())
def test_nothing_is_counted_twice_in_whatever_order_it_comes(tmp_path_factory, found, random):
    file = tmp_path_factory.mktemp("history") / "h.sqlite"
    with History(file) as base:
        for part in (found[: len(found) // 2], found, random.sample(found, len(found))):
            base.add(part)
        assert base.attempts() == sorted(found, key=lambda one: (one.started, one.id))
        assert base.add(found) == 0


def test_a_file_from_before_failures_were_kept(file, monkeypatch):
    monkeypatch.setattr(history, "MIGRATIONS", history.MIGRATIONS[:1])
    with History(file) as base:
        base._base.execute(
            "INSERT INTO attempt VALUES"
            " ('a1', 'c/x/y/z', 'r1', '1111', 'pass', '', '', 1000.0, 2.0, 1, NULL)"
        )
    monkeypatch.undo()
    with History(file) as base:
        base.add([replace(RESULT, id="a2", verdicts=(CellVerdict("C9f", "fail", "a", ("a",)),))])
    with History(file) as base:
        assert [one.id for one in base.attempts()] == ["a1", "a2"]
        assert base.attempts()[1].verdicts[0].failures == ("a",)


def test_a_failure_in_the_middle_adds_nothing(file):
    twice = replace(RESULT, id="a2", verdicts=(CellVerdict("x", "pass"), CellVerdict("x", "fail")))
    with History(file) as base:
        with pytest.raises(UsageError):
            base.add([RESULT, twice])
        assert base.attempts() == []
        assert base.add([RESULT]) == 1


def test_an_older_file_is_brought_up_to_date_with_all_it_holds(file, monkeypatch):
    with History(file) as base:
        base.add([RESULT])
    newer = (*history.MIGRATIONS, "CREATE TABLE more (x INTEGER) STRICT")
    monkeypatch.setattr(history, "MIGRATIONS", newer)
    for _ in range(2):
        with History(file) as base:
            assert base.attempts() == [RESULT]
    with sqlite3.connect(file) as raw:
        assert raw.execute("PRAGMA user_version").fetchone() == (len(newer),)
        assert raw.execute("SELECT count(*) FROM more").fetchone() == (0,)


def test_a_migration_that_fails_leaves_the_file_as_it_was(file, monkeypatch):
    with History(file) as base:
        base.add([RESULT])
    broken = (*history.MIGRATIONS, "CREATE TABLE more (x INTEGER) STRICT; CREATE NONSENSE")
    monkeypatch.setattr(history, "MIGRATIONS", broken)
    with pytest.raises(HostError):
        History(file)
    monkeypatch.undo()
    with History(file) as base:
        assert base.attempts() == [RESULT]


def test_a_newer_file_is_refused(file, monkeypatch):
    with monkeypatch.context() as later:
        later.setattr(history, "MIGRATIONS", (*history.MIGRATIONS, "SELECT 1"))
        History(file).close()
    before = file.read_bytes()
    with pytest.raises(UsageError, match=f"version {len(history.MIGRATIONS) + 1}"):
        History(file)
    assert file.read_bytes() == before


def test_something_else_is_refused_and_left_as_it_is(tmp_path):
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as raw:
        raw.execute("CREATE TABLE photographs (x)")
    text = tmp_path / "text"
    text.write_text("this is no database, and is long enough to be seen as none" * 20)
    for file, message in ((other, "something else"), (text, "no history")):
        before = file.read_bytes()
        with pytest.raises(UsageError, match=message):
            History(file)
        assert file.read_bytes() == before


def test_a_full_disk_adds_all_or_nothing(file):
    with History(file) as base:
        base.add([RESULT])
        pages = base._base.execute("PRAGMA page_count").fetchone()[0]
        base._base.execute(f"PRAGMA max_page_count = {pages + 4}")
        many = [replace(RESULT, id=f"b{n}", message="x" * 300) for n in range(500)]
        with pytest.raises(HostError, match="full"):
            base.add(many)
        assert base.attempts() == [RESULT]
        base._base.execute("PRAGMA max_page_count = 100000")
        assert base.add(many) == 500


def test_a_place_that_cannot_be_written_is_the_hosts_fault(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HostError):
        History(tmp_path / "file" / "matrix.sqlite")


@pytest.mark.parametrize(("value", "start"), [("/x", "/x/"), ("x", "/home/me/"), ("", "/home/me/")])
def test_it_lies_in_the_state_directory(monkeypatch, value, start):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_STATE_HOME", value)
    assert str(default_file()).startswith(start)


def test_each_port_has_a_history_of_its_own():
    files = {default_file(port) for port in (None, Path("/x/port"), Path("/y/port"), Path("/y/?"))}
    assert len({file.name for file in files}) == 4
    assert len({file.parent for file in files}) == 1
    assert default_file(Path("/x/y/../port")) == default_file(Path("/x/port"))
