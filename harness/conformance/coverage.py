# SPDX-License-Identifier: MIT
"""The clauses that ``harness conform`` judges on a machine config, and why not the others."""

from enum import StrEnum

from harness.config import MachineConfig, Port
from harness.conformance.catalogue import Clause, load_catalogue
from harness.conformance.combinations import CLAUSE as OF_COMBINATIONS
from harness.conformance.combinations import combinations
from harness.conformance.engine import checks_for
from harness.conformance.kernel_words import excused
from harness.conformance.registry import VARIANTS
from harness.conformance.variants import variant_of
from harness.kbuild import GuestSpec


class Covered(StrEnum):
    """Whether a clause is judged, and if not, why."""

    YES = "yes"
    NO = "no"
    NOT_CLAIMED = "not claimed"
    NOT_OBSERVABLE = "not observable"


def judged(spec: GuestSpec) -> frozenset[str]:
    """The ids of the clauses that have a check for some build of the guest's port."""
    config = spec.effective_config
    applying = [clause for clause in load_catalogue().clause if clause.applies_to(config)]
    found = {OF_COMBINATIONS} if any(combinations(spec)) else set()
    for variant in VARIANTS:
        built = variant_of(spec, variant)
        if built is not None:
            for check in checks_for(config, variant, built.features, applying):
                found |= set(check.clauses)
    return frozenset(found)


def covered(clause: Clause, config: MachineConfig, port: Port, judged: frozenset[str]) -> Covered:
    """Whether the suite judges a clause that applies to the config."""
    if clause.why_not_observable(config):
        return Covered.NOT_OBSERVABLE
    if clause.why_not_claimed(port.features) or excused(port.kernel, clause.id):
        return Covered.NOT_CLAIMED
    return Covered.YES if clause.id in judged else Covered.NO
