# SPDX-License-Identifier: MIT
"""Which pairs of mutants tools/pairs_of_mutants.py draws."""

import runpy
from pathlib import Path

from harness.conformance.variants import suite_spec
from harness.mutation.mutants import load

TOOL = Path(__file__).parents[2] / "tools/pairs_of_mutants.py"
tasks = runpy.run_path(str(TOOL))["tasks"]
SPEC = suite_spec("aarch64-virt-call-ops")


def test_a_pair_has_both_faults_and_the_clauses_of_both():
    mutants = {mutant.id: mutant for mutant in load(SPEC.port.name).mutants}
    drawn = list(tasks(SPEC, 40, 1))
    assert len({task.name for task in drawn}) == 40
    for task in drawn:
        pair = [mutants[name] for name in task.name.split("+") if name in mutants]
        assert len(pair) == 2 or len(task.name) == 80
        for mutant in pair:
            assert set(mutant.clauses) <= set(task.clauses)
            for edit in mutant.edit:
                assert edit.new in task.edits[edit.file]


def test_the_same_seed_draws_the_same_pairs():
    first, again, other = ([one.name for one in tasks(SPEC, 10, seed)] for seed in (1, 1, 2))
    assert first == again != other
