# SPDX-License-Identifier: MIT
"""The order in which one writes a port, against the catalogue and the checks."""

import pytest
from pydantic import ValidationError

from harness.conformance import load_catalogue
from harness.conformance.catalogue import BuildKind
from harness.conformance.checks import all_checks
from harness.conformance.registry import DYNAMIC, MODULES, VARIANTS
from harness.conformance.run import BUILDS
from harness.conformance.steps import DYNAMIC_BUILDS, Steps, load_steps

STEPS = load_steps()


def steps(*changes):
    base = {"title": "a title", "clauses": ["C1a"]}
    return Steps.model_validate({"step": [{**base, **change} for change in changes]})


def names(found):
    return [step.name for step in found]


def test_every_clause_is_in_one_step():
    inside = [clause for step in STEPS.step for clause in step.clauses]
    assert sorted(inside) == sorted(clause.id for clause in load_catalogue().clause)


def test_every_build_begins_with_one_step():
    assert sorted(build for step in STEPS.step for build in step.builds) == sorted(
        (*VARIANTS, BUILDS)
    )
    assert set(DYNAMIC_BUILDS) == {DYNAMIC, MODULES}


def test_checks_that_need_a_step_are_there():
    known = {check.name: check for check in all_checks()}
    for step in STEPS.step:
        for name in step.checks:
            inside = [STEPS.of_clause(clause) for clause in known[name].clauses]
            assert any(STEPS.step.index(one) < STEPS.step.index(step) for one in inside), name
    assert STEPS.of_check("switching-every-site") is STEPS["make_call"]
    assert STEPS.of_check("text-after-boot") is None


def test_what_rests_on_patching_comes_behind_it():
    dynamic = STEPS.step.index(STEPS["make_nop"])
    for clause in load_catalogue().clause:
        if clause.builds == (BuildKind.DYNAMIC,):
            assert STEPS.step.index(STEPS.of_clause(clause.id)) >= dynamic, clause.id


@pytest.mark.parametrize(
    ("clause", "build", "expected"),
    [
        ("C7a", "dynamic", []),
        ("C3c", "static", ["sites"]),
        ("C2a", "static", ["sites", "return"]),
        ("C2a", "dynamic", ["sites", "return", "make_nop", "make_call", "slot"]),
        ("C2a", "static-modules", ["sites", "return", "modules"]),
        ("C9a", "dynamic", ["sites"]),
        ("C4d", "static", ["sites", "return"]),
        ("C13d", "static", ["return", "sites"]),
    ],
)
def test_what_a_clause_stands_on(clause, build, expected):
    assert set(names(STEPS.under(clause, build))) == set(expected)


def test_a_graph_in_a_module_stands_on_nearly_all():
    found = names(STEPS.under("C4e", "modules"))
    assert {"graph_slot", "slot", "tracer", "modules"} <= set(found)
    assert found == [step.name for step in STEPS.step if step.name in found]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ([{"name": "a"}, {"name": "a", "clauses": ["C1b"]}], "the step a stands twice"),
        ([{"name": "a"}, {"name": "b"}], "the clause C1a stands twice"),
        ([{"name": "a", "needs": ["b"]}], "there is no step b"),
        (
            [{"name": "a", "needs": ["b"]}, {"name": "b", "clauses": ["C1b"], "needs": ["a"]}],
            "need one another",
        ),
        (
            [{"name": "a", "dynamic": ["b"]}, {"name": "b", "clauses": ["C1b"], "needs": ["a"]}],
            "need one another",
        ),
        (
            [{"name": "a", "needs": ["b"]}, {"name": "b", "clauses": ["C1b"]}],
            "a comes before b, which it needs",
        ),
        ([{"name": "a", "clauses": []}], "at least 1 item"),
    ],
)
def test_an_order_that_is_none(changes, says):
    with pytest.raises(ValidationError, match=says):
        steps(*changes)
