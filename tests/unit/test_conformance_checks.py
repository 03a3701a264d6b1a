# SPDX-License-Identifier: MIT
"""Every clause is judged by a check, or says why it is not."""

from collections import Counter

import pytest

from harness.config import list_configs, load_config, load_port
from harness.conformance import load_catalogue
from harness.conformance.catalogue import BuildKind
from harness.conformance.checks import all_checks
from harness.conformance.checks.j_tracers import every_switch, switched
from harness.conformance.checks.not_observable import NOT_OBSERVABLE
from harness.conformance.combinations import CLAUSE
from harness.conformance.engine import (
    BuildFindings,
    about,
    checks_for,
    select,
    verdicts,
    why_not_judged,
)
from harness.conformance.registry import DYNAMIC, MODULES, VARIANTS
from harness.conformance.variants import features_of, suite_spec
from harness.conformance.verdict import Verdict
from harness.isa import Property, cpu_of

CLAUSES = {clause.id: clause for clause in load_catalogue().clause}


def test_checks_name_clauses_that_exist():
    for check in all_checks():
        assert set(check.clauses) <= set(CLAUSES), check.name
        assert set(check.variants) <= set(VARIANTS), check.name
        assert check.run.__doc__, check.name


def test_every_clause_is_judged_or_says_why_not():
    judged = {CLAUSE, *(clause for check in all_checks() for clause in check.clauses)}
    never = {id_ for id_, clause in CLAUSES.items() if "*" in clause.not_observable}
    assert judged | set(NOT_OBSERVABLE) | never == set(CLAUSES)
    assert not judged & set(NOT_OBSERVABLE)


@pytest.mark.parametrize("name", list_configs())
def test_on_every_config_each_clause_that_a_check_judges_has_one_that_applies(name):
    config = load_config(name)
    port = load_port(config.port)
    clauses = select(config)
    applying = Counter([CLAUSE])
    for variant in VARIANTS:
        features = features_of(config, port, variant)
        if features is not None:
            for check in checks_for(config, variant, features, clauses):
                applying.update(check.clauses)
    for clause in clauses:
        claimed = not clause.why_not_claimed(port.features)
        if claimed and not clause.not_observable:
            assert bool(applying[clause.id]) != bool(why_not_judged(clause, config)), clause.id


@pytest.mark.parametrize("name", list_configs())
def test_a_guest_that_dies_at_once_fails_a_clause_of_each_check_and_none_of_other_builds(name):
    config = load_config(name)
    port = load_port(config.port)
    for variant in VARIANTS:
        features = features_of(config, port, variant)
        if features is not None:
            build = BuildKind.DYNAMIC if variant in (DYNAMIC, MODULES) else BuildKind.STATIC
            for check in checks_for(config, variant, features, select(config)):
                at_stake = [
                    CLAUSES[id_] for id_ in about(check, config, variant, features, port.kernel)
                ]
                assert at_stake, (check.name, variant)
                for clause in at_stake:
                    assert clause.applies_to(config)
                    assert {build, BuildKind.ANY} & set(clause.builds), (clause.id, variant)
                    assert set(clause.features) <= set(features), (clause.id, variant)


@pytest.mark.parametrize(
    ("id_", "name", "reason"),
    [
        ("C9l", "mips-malta", "the machine has one CPU"),
        ("C9l", "mips-malta-smp", ""),
        ("C17b", "aarch64-virt", ""),
        ("C17b", "mips-malta", "nothing there can raise an NMI"),
        ("C14a", "aarch64-virt", "a property of the kernel"),
        ("C1a", "aarch64-virt", ""),
    ],
)
def test_why_nobody_sees_a_clause(id_, name, reason):
    found = why_not_judged(CLAUSES[id_], load_config(name))
    assert found.startswith(reason)
    assert bool(found) == bool(reason)


def test_a_pass_is_none_where_nothing_can_be_seen(monkeypatch):
    """The instruction is for the CPU that executes it, and QEMU shows no omission on others."""
    spec = suite_spec("aarch64-virt-smp")
    found = BuildFindings(DYNAMIC, {"C9l": {"a check"}}, {})
    (result,), _ = verdicts(spec, [CLAUSES["C9l"]], [found])
    assert result.verdict is Verdict.PASS
    local = classmethod(lambda *_: frozenset({Property.LOCAL_FETCH}))
    monkeypatch.setattr(cpu_of(spec.config.architecture), "properties", local)
    (result,), _ = verdicts(spec, [CLAUSES["C9l"]], [found])
    assert result.verdict is Verdict.NOT_OBSERVABLE
    assert result.reason.startswith("the instruction that synchronises the fetches")


@pytest.mark.parametrize(("count", "states"), [(1, 2), (2, 5), (3, 16)])
def test_each_tracer_is_switched_in_every_state(count, states):
    made, state = set(), ()
    for number in every_switch(count):
        made.add((state, number))
        state = switched(state, number)
    assert len({state for state, _ in made}) == states
    assert len(made) == states * count


def test_a_tracer_that_is_switched_on_is_the_newest():
    assert switched(switched((), 2), 0) == (0, 2)
    assert switched((0, 2), 2) == (0,)
