# SPDX-License-Identifier: MIT
"""What tools/false_alarms.py tells of a run."""

import runpy
from pathlib import Path

TOOL = Path(__file__).parents[2] / "tools/false_alarms.py"
alarms = runpy.run_path(str(TOOL))["alarms"]


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
