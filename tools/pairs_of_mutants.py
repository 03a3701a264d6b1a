#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Plant two faults at once, and see whether one hides the other.

    .venv/bin/python tools/pairs_of_mutants.py -c CONFIG --pairs 100 --seed 1

The faults are those written by hand of the config's reference port, and pairs of them are drawn at
random; two that edit the same lines are no pair.  A pair has to be caught, for a clause that one of
the faults breaks.  The exit status is 1 if one is not.
"""

import argparse
import sys
from collections.abc import Iterator
from concurrent.futures import as_completed
from itertools import combinations
from random import Random

from harness.conformance.variants import suite_spec, variant_of
from harness.errors import UsageError
from harness.kbuild import GuestSpec
from harness.mutation.kill_table import MutantOutcome, Task, judge_mutant
from harness.mutation.mutants import Mutant, load
from harness.process import workers


def both(one: Mutant, other: Mutant) -> Mutant:
    """A mutant with both faults."""
    return Mutant(
        id=f"{one.id}+{other.id}"[:80],
        about=f"{one.id} and {other.id}"[:100],
        clauses=tuple(dict.fromkeys((*one.clauses, *other.clauses))),
        variants=tuple(dict.fromkeys((*one.variants, *other.variants))),
        edit=(*one.edit, *other.edit),
    )


def tasks(spec: GuestSpec, pairs: int, seed: int) -> Iterator[Task]:
    """Pairs of a port's mutants that fit together."""
    config = spec.effective_config
    mutants = [one for one in load(spec.port.name).mutants if one.applies_to(config)]
    drawn = list(combinations(mutants, 2))
    Random(seed).shuffle(drawn)
    found = 0
    for one, other in drawn:
        pair = both(one, other)
        try:
            edits = pair.edits(spec.port)
        except UsageError:
            continue
        variants = tuple(name for name in pair.variants if variant_of(spec, name))
        if variants:
            yield Task(spec, pair.id, pair.about, pair.clauses, variants, edits)
            found += 1
        if found == pairs:
            return


def show(outcome: MutantOutcome) -> None:
    """Print what was not caught, or for another clause."""
    caught = f"{outcome.clause} {outcome.check}: {outcome.message}" if outcome.killed else "alive"
    print(f"! {outcome.config} {outcome.name}: {caught}", flush=True)


def main() -> int:
    """Judge the pairs; the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("-c", "--config", action="append", required=True)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    status = 0
    for config in options.config:
        outcomes = []
        with workers() as pool:
            chosen = tasks(suite_spec(config), options.pairs, options.seed)
            for future in as_completed([pool.submit(judge_mutant, task) for task in chosen]):
                outcomes.append(outcome := future.result())
                if outcome.built and not outcome.right:
                    show(outcome)
                    status = 1
        built = [outcome for outcome in outcomes if outcome.built]
        caught = sum(outcome.killed for outcome in built)
        right = sum(outcome.right for outcome in built)
        print(f"{config}: {len(built)} pairs, {caught} caught, {right} for one of their clauses")
    return status


if __name__ == "__main__":
    sys.exit(main())
