# SPDX-License-Identifier: MIT
"""What tools/false_alarms.py tells of a run."""

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools/false_alarms.py"))
alarms, Runs = TOOL["alarms"], TOOL["Runs"]


def clause(verdict="pass", *, failures=(), checks=("a",)):
    return {"verdict": verdict, "reason": "", "checks": [*checks], "failures": [*failures]}


def test_a_run_like_the_first_one_tells_nothing():
    assert alarms({"C1a": clause()}, {"C1a": clause()}) == []


def test_a_failure_is_told_even_in_the_first_run():
    failure = {"check": "a", "build": "static", "message": "it died"}
    failed = {"C1a": clause("fail", failures=[failure])}
    assert alarms(failed, failed) == ["C1a: a (static): it died"]


def test_whatever_differs_is_told():
    found = alarms({"C1a": clause("blocked", checks=())}, {"C1a": clause(), "C1b": clause()})
    assert found == [
        "C1a: verdict was pass, and is blocked",
        "C1a: checks was ['a'], and is []",
        "C1b: verdict was pass, and is None",
        "C1b: reason was , and is None",
        "C1b: checks was ['a'], and is None",
    ]


def test_runs_go_on_behind_those_that_were_judged_before(tmp_path):
    file = tmp_path / "runs.json"
    assert Runs(file, "one").add("mips-malta", {"C1a": clause()}) == []
    again = Runs(file, "one")
    assert again.of("mips-malta") == [[]]
    assert again.of("arm-virt") == []
    assert again.add("mips-malta", {"C1a": clause("lost")}) == [
        "C1a: verdict was pass, and is lost"
    ]
    assert len(Runs(file, "one").of("mips-malta")) == 2


def test_runs_of_another_harness_are_not_counted(tmp_path):
    Runs(tmp_path / "runs.json", "one").add("mips-malta", {"C1a": clause()})
    with pytest.raises(SystemExit, match="runs of one, not of two"):
        Runs(tmp_path / "runs.json", "two")
