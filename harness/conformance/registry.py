# SPDX-License-Identifier: MIT
"""The class of a check, and the decorator that registers one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.config import MachineConfig
from harness.conformance.catalogue import Clause
from harness.conformance.under_test.bench import Bench
from harness.conformance.verdict import Layer
from harness.isa import Form, Property

DYNAMIC, STATIC, STATIC_STOP = "dynamic", "static", "static-stop"
MODULES, STATIC_MODULES = "modules", "static-modules"
"""The builds of a port for the checks: static-stop is static with function_trace_stop; those with
modules are dynamic or static, with modules to load."""

BOTH = (DYNAMIC, STATIC)

GRAPH = ("FUNCTION_GRAPH_TRACER",)
"""The feature of checks of the graph tracer."""

MCOUNT_FORMS = (Form.MCOUNT, Form.MCOUNT_RA_ADDRESS)
"""The forms of kernels whose call sites call _mcount."""

Lacks = Callable[[MachineConfig], str]
"""Why a check does not apply to a machine; empty if it does."""


def interrupts(config: MachineConfig) -> str:
    """For checks that raise interrupts."""
    return "" if config.injection else "the config names no way to raise an interrupt"


def nmis(config: MachineConfig) -> str:
    """For checks that raise NMIs."""
    lacking = Property.NO_NMI in config.properties
    return "nothing can raise an NMI on this machine" if lacking else ""


def several_cpus(config: MachineConfig) -> str:
    """For checks with two CPUs."""
    return "" if config.qemu.smp > 1 else "the machine has one CPU"


EVERY_KERNEL = (DYNAMIC, STATIC, STATIC_STOP)
"""All kernels without modules: also one that looks at function_trace_stop first."""

VARIANTS = (DYNAMIC, STATIC, STATIC_STOP, STATIC_MODULES, MODULES)


@dataclass(frozen=True, slots=True)
class Check:
    """A function that judges some clauses on a booted guest of some builds.

    ``features`` are features of the port that it needs besides those of its clauses; ``forms`` the
    forms of call sites that it supports; ``lacks`` says why a machine is not suitable.
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
        """Whether it can judge any of the clauses wanted, on this config and build."""
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
    """Register a function as a check of these clauses, with the function's name."""

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
