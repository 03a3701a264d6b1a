# SPDX-License-Identifier: MIT
"""What strangers wrote: results, runs and histories that lie are refused in a sentence."""

import json
import os
import sqlite3
from dataclasses import asdict, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import FormatError, HarnessError, UsageError
from harness.matrix import DEFAULT, Result, expand, load_matrix, rundir
from harness.matrix.cells import Cell
from harness.matrix.history import History
from harness.matrix.result import FINDINGS, RESULT, checked, read_findings, read_result, write_json
from matrix_drafts import CELL
from matrix_drafts import RESULT as GOOD


def written(where, **changes):
    """A result.json; gives its directory."""
    where.mkdir(parents=True, exist_ok=True)
    (where / RESULT).write_text(json.dumps({"format": 1, **asdict(GOOD), **changes}))
    return where


def run_of(directory, attempt="a1", **changes):
    """A run with one attempt, of which the result may lie."""
    directory.mkdir(exist_ok=True)
    rundir.open_run(directory, "1111")
    written(directory / "cells" / CELL.name / attempt, **changes)
    return directory


def tree(directory):
    return {path: path.read_bytes() if path.is_file() else None for path in directory.rglob("*")}


@pytest.fixture
def target(tmp_path):
    """A directory that holds what must not be touched."""
    directory = run_of(tmp_path / "target", "a0", id="a0")
    other = CELL.name.replace("calls", "sort")
    written(directory / "cells" / other / "a2", id="a2", cell=other)
    (tmp_path / "target" / "lock").touch()
    return directory


PATHS = ["..", ".", "", "/", "/etc", "../sort", "a/b", "a\0b", ".hidden", "-o", "a\n", "x" * 300]


@pytest.mark.parametrize("key", ["id", "run"])
@pytest.mark.parametrize("name", PATHS)
def test_an_attempt_is_called_by_no_path_and_nothing_is_touched(tmp_path, target, key, name):
    before = tree(target)
    source = run_of(tmp_path / "source", **{key: name})
    with pytest.raises(FormatError, match=f"{key} cannot be"):
        rundir.merge([source], target)
    assert tree(target) == before
    with pytest.raises(FormatError, match=f"{key} cannot be"):
        rundir.merge([source], tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "name",
    ["../../../../x", "a/b/c", "a/b/c/d/e", "a//b/c", "/a/b/c", "a/../c/d", "a/b/c/.", "é/b/c/d"],
)
def test_a_cell_is_called_as_cells_are(tmp_path, name):
    with pytest.raises(FormatError, match="cell cannot be"):
        read_result(written(tmp_path, cell=name))


def test_what_we_make_has_names_that_we_read():
    for cell in expand(load_matrix(DEFAULT)).cells:
        made = replace(GOOD, cell=cell.name, id=rundir.new_id(), run=rundir.new_id())
        assert checked(Result, asdict(made), "x") == made


def test_a_result_lies_where_it_says(tmp_path, target):
    source = run_of(tmp_path / "source", "a7", id="a8")
    with pytest.raises(FormatError, match="of another cell or attempt"):
        rundir.merge([source], target)


def test_what_was_not_copied_to_its_end_is_no_attempt(tmp_path):
    source = run_of(tmp_path / "source")
    whole = rundir.results(source)
    run_of(source, ".a1.part")
    assert rundir.results(source) == whole


def test_files_that_cannot_be_copied_or_read_hold_nobody_up(tmp_path, target):
    source = run_of(tmp_path / "source")
    where = source / "cells" / CELL.name / "a1"
    os.mkfifo(where / "fifo")
    rundir.merge([source], target)
    assert [path.name for path in (target / "cells" / CELL.name / "a1").iterdir()] == [RESULT]
    (where / RESULT).unlink()
    os.mkfifo(where / RESULT)
    with pytest.raises(FormatError, match="is not a regular file"):
        rundir.merge([source], target)


LIES = {
    "format": [0, 2, "1", None, [1]],
    "id": [5, None, ["a"], "\ud800"],
    "revision": [5, "", "a\x1b[31m", "a\nb", "\ud800", "x" * 201],
    "outcome": ["great", 5, None, "Pass"],
    "message": [5, None, {}],
    "started": ["1", -1, 1e300, float("nan"), float("inf"), True, None, 1 << 70],
    "seconds": ["1", -1, float("nan"), 1 << 2000],
    "peak": [1.5, -1, 1 << 63, 1 << 70, "1", True, None],
    "instructions": [1.5, -1, 1 << 63, 1 << 70, "1", True, []],
    "command": [5, None, ["harness"]],
    "versions": [
        5,
        None,
        "gcc",
        ["gcc"],
        {"gcc": 12},
        {"": "12"},
        {str(n): "" for n in range(101)},
    ],
    "verdicts": [
        *(5, None, {"name": "a"}, ["a"], [{"name": "a"}], [{"name": "", "verdict": "pass"}]),
        [{"name": "a", "verdict": "pass"}] * 2,
        [{"name": "a", "verdict": "pass", "more": 1}],
        [{"name": "a", "verdict": "pass", "message": 5}],
    ],
    "more": [1],
}


@pytest.mark.parametrize(("key", "value"), [(key, one) for key in LIES for one in LIES[key]])
def test_a_result_that_lies_is_refused_in_a_sentence(tmp_path, key, value):
    with pytest.raises(FormatError) as caught:
        read_result(written(tmp_path, **{key: value}))
    assert caught.value.message.isprintable() or "\ud800" in str(value)
    assert len(caught.value.message) < len(str(tmp_path)) + 300


@pytest.mark.parametrize("key", asdict(GOOD))
def test_a_result_without_a_key_is_refused(tmp_path, key):
    data = {"format": 1, **asdict(GOOD)}
    del data[key]
    (tmp_path / RESULT).write_text(json.dumps(data))
    with pytest.raises(FormatError, match=f"it has no {key}"):
        read_result(tmp_path)


def test_half_characters_and_long_texts_can_be_kept(tmp_path):
    half = {"name": "a\ud800", "verdict": "fail", "message": "\udfff" + "x" * 100_000}
    where = written(
        tmp_path,
        message="a\ud800",
        command="\ud800",
        versions={"\ud800": "\ud800"},
        verdicts=[half],
    )
    found = read_result(where)
    assert (found.message, found.versions) == ("a\\ud800", {"\\ud800": "\\ud800"})
    assert found.verdicts[0].name == "a\\ud800"
    assert len(found.verdicts[0].message) < 70_000
    with History(tmp_path / "h.sqlite") as base:
        base.add([found])
        assert base.attempts() == [found]


names = st.text(st.characters(), min_size=1, max_size=600)


@settings(deadline=None)
@given(st.lists(names, unique=True, max_size=3), st.text(st.characters(), max_size=600))
def test_what_a_cell_said_stays_as_it_is_when_it_is_read_again(tmp_path_factory, named, message):
    where = tmp_path_factory.mktemp("said")
    said = [{"name": name, "verdict": "fail", "message": message} for name in named]
    write_json(where / FINDINGS, {"verdicts": said, "instructions": 7})
    try:
        found = read_findings(where)
    except FormatError:
        # What is too long is cut, and two may be one then.
        assert len({name[:400] for name in named}) < len(named)
        return
    again = read_result(written(where, **asdict(found)))
    assert (again.verdicts, again.instructions) == (found.verdicts, found.instructions)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(["format", *asdict(GOOD)]), json_values), st.booleans())
def test_any_result_is_one_or_is_refused(tmp_path_factory, changes, verdict):
    where = tmp_path_factory.mktemp("any")
    if verdict:
        changes = {"verdicts": [changes]}
    try:
        found = read_result(written(where, **changes))
    except FormatError:
        return
    with History(where / "h.sqlite") as base:
        base.add([found])
        assert base.attempts() == [found]


@pytest.mark.parametrize("depth", [500, 900, 960, 980, 990, 995, 100_000])
def test_what_is_deep_is_refused(tmp_path, depth):
    written(tmp_path)
    content = (tmp_path / RESULT).read_text()
    (tmp_path / RESULT).write_text(
        content.replace('"message": ""', f'"message": {"[" * depth}{"]" * depth}')
    )
    with pytest.raises(FormatError):
        read_result(tmp_path)
    data = json.loads(json.dumps(CELL.as_json())) | {"features": 5}
    with pytest.raises(UsageError, match="does not describe a cell"):
        Cell.from_json(data)
    with pytest.raises(UsageError, match="does not describe a cell"):
        Cell.from_json(data | {"features": [[]]})


def changed(file, *statements):
    """A history with one attempt, after these statements."""
    with History(file) as base:
        base.add([GOOD])
    with sqlite3.connect(file) as raw:
        raw.execute("PRAGMA writable_schema = ON")
        for statement in statements:
            raw.execute(statement)
    return file


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE attempt SET outcome = 'great'",
        "UPDATE attempt SET id = '../x'",
        "UPDATE attempt SET cell = 'x'",
        "UPDATE attempt SET run = '\x1b[31m'",
        "UPDATE attempt SET revision = ''",
        "UPDATE attempt SET revision = CAST(x'ff0a' AS TEXT)",
        "UPDATE attempt SET started = 9e999",
        "UPDATE attempt SET seconds = -1",
        "UPDATE attempt SET peak = -9223372036854775808",
        "UPDATE attempt SET instructions = -1",
    ],
)
def test_a_history_that_lies_is_refused_in_a_sentence(tmp_path, statement):
    file = changed(tmp_path / "h.sqlite", statement)
    with History(file) as base, pytest.raises(FormatError, match="that is none"):
        base.attempts()


def test_bytes_that_are_no_text_are_shown_as_escapes(tmp_path):
    lie = "UPDATE attempt SET message = CAST(x'61ff1b' AS TEXT)"
    with History(changed(tmp_path / "h.sqlite", lie)) as base:
        assert base.attempts()[0].message == "a\\xff\x1b"


FOREVER = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x FROM n) SELECT x FROM n"


@pytest.mark.parametrize(
    "statements",
    [
        ["DROP TABLE version"],
        ["DROP INDEX attempt_run"],
        ["ALTER TABLE attempt RENAME COLUMN peak TO most"],
        ["ALTER TABLE attempt ADD COLUMN more TEXT"],
        ["DROP TABLE attempt", f"CREATE VIEW attempt AS {FOREVER}"],
        ["CREATE TRIGGER t AFTER INSERT ON attempt BEGIN DELETE FROM attempt; END"],
        ["PRAGMA user_version = -1"],
        ["PRAGMA user_version = 0"],
        ["UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'attempt'"],
        ["UPDATE sqlite_schema SET sql = replace(sql, 'STRICT', '')"],
        ["UPDATE sqlite_schema SET rootpage = 4711 WHERE name = 'attempt'"],
    ],
)
def test_a_history_with_other_tables_is_refused_in_a_sentence(tmp_path, statements):
    file = changed(tmp_path / "h.sqlite", *statements)
    with pytest.raises(UsageError, match="is no history"), History(file) as base:
        base.attempts()


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_a_damaged_history_is_one_or_is_refused(tmp_path_factory, data):
    file = changed(tmp_path_factory.mktemp("damaged") / "h.sqlite")
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    file.write_bytes(content)
    try:
        with History(file) as base:
            base.runs()
            base.attempts()
            base.add([replace(GOOD, id="a2")])
    except HarnessError:
        pass
