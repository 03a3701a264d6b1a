# SPDX-License-Identifier: MIT
"""Markers of tests, read from sources, and what they cover."""

import tomllib
from pathlib import Path

import pytest

from harness.config import list_configs, load_config
from harness.conformance import Check, Covered, covered, load_catalogue, load_checks
from harness.conformance.coverage import COVERAGE_FILE, dump_checks, matches_any
from harness.conformance.markers import collect
from harness.errors import UsageError

TESTS = Path(__file__).parents[1]

CONFTEST = """
@pytest.fixture
def watch(config, tmp_path): ...

@pytest.fixture
def other(tmp_path): ...
"""


@pytest.fixture
def markers_of(tmp_path):
    """A function: the markers in a test file of the given text, which has a conftest."""

    def read(text):
        room = tmp_path / "tests" / "room"
        room.mkdir(parents=True)
        (room / "conftest.py").write_text(CONFTEST)
        (room / "test_it.py").write_text(text)
        return collect(tmp_path / "tests")

    return read


def check(**changes):
    usual = {"test": "tests/x.py::test_x", "clauses": ("C2a",)}
    return Check(**{**usual, "builds": ("dynamic",), "configs": ("*",), **changes})


def test_the_table_is_made_from_the_markers():
    table = COVERAGE_FILE.read_text()
    assert table == dump_checks(collect(TESTS)), "run `python -m harness.conformance`"


def test_markers_name_clauses_and_configs_that_there_are():
    catalogue, configs = load_catalogue(), list(map(load_config, list_configs()))
    for one in load_checks():
        on = [config for config in configs if matches_any([config.name], one.configs)]
        assert on, one.test
        for id_ in one.clauses:
            clause = catalogue[id_]
            assert any(clause.applies_to(config) for config in on), f"{one.test}: {id_}"
            builds = {build for config in on for build in clause.builds_on(config)}
            assert builds & {*one.builds, "any"}, f"{one.test}: {id_}"


def test_a_marker_of_a_test_on_every_config(markers_of):
    (one,) = markers_of(
        '@pytest.mark.clause("C2a", "C2b")\n'
        '@pytest.mark.parametrize("globs", [[]])\n'
        "def test_a(config, globs): ...\n"
    )
    assert one == check(test="tests/room/test_it.py::test_a", clauses=("C2a", "C2b"))


def test_config_through_a_fixture(markers_of):
    text = (
        "@pytest.fixture\ndef deep(watch): ...\n@pytest.mark.clause('C2a')\ndef test_a(deep): ..."
    )
    assert [one.configs for one in markers_of(text)] == [("*",)]


def test_builds_and_configs_are_said(markers_of):
    (one,) = markers_of(
        "class TestIt:\n"
        '    @pytest.mark.clause("C3a", builds=["static", "dynamic"], configs=["mips*"])\n'
        "    def test_a(self, other): ...\n"
    )
    assert one.test == "tests/room/test_it.py::TestIt::test_a"
    assert (one.builds, one.configs) == (("static", "dynamic"), ("mips*",))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('@pytest.mark.clause("C2a")\ndef test_a(other): ...', "must say configs"),
        (
            '@pytest.mark.clause("C2a")\n@pytest.mark.guest(config="mips-malta")\n'
            "def test_a(config, guest): ...",
            "must say configs",
        ),
        (
            '@pytest.mark.clause("C2a")\n@pytest.mark.parametrize(("config", "x"), [])\n'
            "def test_a(config, x): ...",
            "must say configs",
        ),
        ("@pytest.mark.clause()\ndef test_a(config): ...", "names no clause"),
        ("@pytest.mark.clause(CLAUSE)\ndef test_a(config): ...", "must be written out"),
        ("@pytest.mark.clause('C2a', form='x')\ndef test_a(config): ...", "no argument form"),
        ("@pytest.mark.clause('C2a', builds=['fast'])\ndef test_a(config): ...", "fast"),
        ("pytestmark = pytest.mark.clause('C2a')", "not a decorator of a test"),
        ("@pytest.mark.clause('C2a')\ndef helper(config): ...", "not a decorator of a test"),
    ],
)
def test_a_marker_that_cannot_be_read(markers_of, text, said):
    with pytest.raises(UsageError, match=r"test_it\.py:\d+: .*" + said):
        markers_of(text)


@pytest.mark.parametrize(
    ("id_", "config", "checks", "expected"),
    [
        ("C2a", "mips-malta", [], Covered.NO),
        ("C2a", "mips-malta", [check()], Covered.DYNAMIC_ONLY),
        ("C2a", "mips-malta", [check(builds=("static",))], Covered.STATIC_ONLY),
        ("C2a", "mips-malta", [check(builds=("static",)), check()], Covered.YES),
        ("C2a", "mips-malta", [check(configs=("aarch64*",))], Covered.NO),
        ("C2a", "aarch64-virt-patchable", [check()], Covered.YES),
        ("C2a", "mips-malta", [check(clauses=("C2b",))], Covered.NO),
        ("C7a", "mips-malta", [check(clauses=("C7a",))], Covered.YES),
        ("C7a", "mips-malta", [check(clauses=("C7b",))], Covered.NO),
        ("C9a", "mips-malta", [check(clauses=("C9a",), builds=("static",))], Covered.NO),
        ("C9o", "mips-malta", [check(clauses=("C9o",))], Covered.NOT_OBSERVABLE),
        ("C9o", "aarch64-virt", [check(clauses=("C9o",))], Covered.YES),
    ],
)
def test_covered(id_, config, checks, expected):
    assert covered(load_catalogue()[id_], load_config(config), checks) is expected


def test_the_table_can_be_read_back():
    checks = (check(), check(clauses=("C2a", "M4b"), configs=("mips*", "x")))
    table = dump_checks(checks)
    assert tuple(Check.model_validate(one) for one in tomllib.loads(table)["check"]) == checks


def test_what_would_break_the_table_is_refused():
    with pytest.raises(ValueError, match="cannot stand"):
        dump_checks([check(configs=('"',))])
