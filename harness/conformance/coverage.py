# SPDX-License-Identifier: MIT
"""Which clauses ``harness conform`` judges on a machine config, and why not the others."""

from enum import StrEnum

from harness.config import MachineConfig, Port
from harness.conformance.catalogue import Clause, load_catalogue
from harness.conformance.checks.registry import VARIANTS
from harness.conformance.combinations import CLAUSE as OF_COMBINATIONS
from harness.conformance.combinations import combinations
from harness.conformance.engine import checks_for
from harness.conformance.workshop import features_of


class Covered(StrEnum):
    """Whether a clause is judged."""

    YES = "yes"
    NO = "no"
    NOT_CLAIMED = "not claimed"
    NOT_OBSERVABLE = "not observable"


def judged(config: MachineConfig, port: Port) -> frozenset[str]:
    """The ids of the clauses that some build of the port has a check of on this config."""
    applying = [clause for clause in load_catalogue().clause if clause.applies_to(config)]
    found = {OF_COMBINATIONS} if any(combinations(config, port)) else set()
    for variant in VARIANTS:
        features = features_of(config, port, variant)
        if features is not None:
            for check in checks_for(config, variant, features, applying):
                found |= set(check.clauses)
    return frozenset(found)


def covered(clause: Clause, config: MachineConfig, port: Port, judged: frozenset[str]) -> Covered:
    """How the suite looks at a clause that applies to the config."""
    if clause.why_not_observable(config):
        return Covered.NOT_OBSERVABLE
    if not set(port.features).issuperset(clause.features):
        return Covered.NOT_CLAIMED
    return Covered.YES if clause.id in judged else Covered.NO
