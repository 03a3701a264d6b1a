# SPDX-License-Identifier: MIT
"""What a check is, and the decorator that makes a function one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.config import MachineConfig
from harness.conformance.bench import Bench
from harness.conformance.catalogue import Clause
from harness.conformance.verdict import Layer
from harness.isa import Form, Property

DYNAMIC, STATIC, STATIC_STOP = "dynamic", "static", "static-stop"
MODULES, STATIC_MODULES = "modules", "static-modules"
"""The ways in which a port is built for the checks: static-stop is static with function_trace_stop,
those with modules are dynamic or static with modules to load."""

Lacks = Callable[[MachineConfig], str]
"""Why a check says nothing on a machine; nothing where it does."""


def interrupts(config: MachineConfig) -> str:
    """For checks that raise interrupts."""
    return "" if config.injection else "the config names no way to raise an interrupt"


def nmis(config: MachineConfig) -> str:
    """For checks that raise NMIs."""
    lacking = Property.NO_NMI in config.properties
    return "nothing can raise an NMI on this machine" if lacking else ""


def several_cpus(config: MachineConfig) -> str:
    """For checks of what one CPU does to another."""
    return "" if config.qemu.smp > 1 else "the machine has one CPU"


VARIANTS = (DYNAMIC, STATIC, STATIC_STOP, STATIC_MODULES, MODULES)


@dataclass(frozen=True, slots=True)
class Check:
    """A function that finds out about some clauses on a booted guest of some build.

    ``features`` are what it needs of the port beyond what its clauses need; ``forms`` the forms of
    call sites that it knows; ``lacks`` says what a machine does not have that it needs.
    """

    name: str
    clauses: tuple[str, ...]
    variants: tuple[str, ...]
    features: frozenset[str]
    forms: tuple[Form, ...]
    run: Callable[[Bench], None]
    lacks: Lacks
    layer: Layer

    def applies(
        self, config: MachineConfig, variant: str, features: Sequence[str], wanted: Sequence[Clause]
    ) -> bool:
        """Whether it can say anything of the clauses wanted, on this config and build."""
        return (
            variant in self.variants
            and config.build.form in self.forms
            and self.features <= set(features)
            and not self.lacks(config)
            and any(clause.id in self.clauses for clause in wanted)
        )


registered: list[Check] = []


def check(
    *clauses: str,
    variants: Sequence[str] = (DYNAMIC,),
    features: Sequence[str] = (),
    forms: Sequence[Form] = tuple(Form),
    lacks: Lacks = lambda _config: "",
    layer: Layer = Layer.WORKLOAD,
) -> Callable[[Callable[[Bench], None]], Callable[[Bench], None]]:
    """Make a function a check of these clauses, named as the function is."""

    def register(run: Callable[[Bench], None]) -> Callable[[Bench], None]:
        name = run.__name__.replace("_", "-")
        if any(other.name == name for other in registered):
            raise ValueError(f"there are two checks {name}")
        needed = frozenset(features)
        registered.append(
            Check(name, clauses, tuple(variants), needed, tuple(forms), run, lacks, layer)
        )
        return run

    return register
