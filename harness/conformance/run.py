# SPDX-License-Identifier: MIT
"""Judge ports on configs, in processes of their own: one for each build of a port."""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass

from harness.config import MachineConfig, Port
from harness.conformance.catalogue import Clause
from harness.conformance.checks.registry import (
    DYNAMIC,
    MODULES,
    STATIC,
    STATIC_MODULES,
    VARIANTS,
)
from harness.conformance.combinations import CLAUSE, combinations, try_combinations
from harness.conformance.engine import (
    Findings,
    checks_for,
    run_checks,
    select,
    verdicts,
    with_cflags,
)
from harness.conformance.verdict import Report
from harness.conformance.workshop import (
    BuiltVariant,
    Edits,
    build_variant,
    check_claims,
    features_of,
)
from harness.errors import UsageError
from harness.process import workers

Tell = Callable[[str], None]

BUILDS = "builds"
"""In place of a variant: all of them, for the clause that asks for that."""


WITHOUT_MODULES = {MODULES: DYNAMIC, STATIC_MODULES: STATIC}
"""The same build without modules."""


@dataclass(frozen=True, slots=True)
class Job:
    """One build of a port, with the clauses to judge on it."""

    config: MachineConfig
    port: Port
    variant: str
    features: tuple[str, ...]
    clauses: tuple[Clause, ...]
    edits: Edits
    cflags: tuple[str, ...] = ()


def jobs_for(
    config: MachineConfig,
    port: Port,
    wanted: Sequence[str],
    edits: Edits | None = None,
    cflags: Sequence[str] = (),
) -> list[Job]:
    """The builds that say something of the clauses wanted; UsageError when there are none."""
    check_claims(port)
    clauses = tuple(select(with_cflags(config, cflags), wanted))
    if not clauses:
        raise UsageError(
            f"none of the clauses {', '.join(wanted)} applies to {config.name}",
            f"See: harness list clauses -c {config.name}",
        )
    jobs = []
    builds = {variant: features_of(config, port, variant) for variant in VARIANTS}
    if not any(builds.values()):
        raise UsageError(
            f"the port {port.name} cannot be built for {config.name}: call sites of the form "
            f"{config.build.form} are for DYNAMIC_FTRACE, which it does not claim",
            "Choose a config of another form, or add the feature to port.toml.",
        )
    for variant, features in builds.items():
        if features is not None and checks_for(config, variant, features, clauses):
            jobs.append(Job(config, port, variant, features, clauses, edits or {}, tuple(cflags)))
    if any(clause.id == CLAUSE for clause in clauses) and any(combinations(config, port)):
        # First all checks of the first build, then this: nothing takes longer, if all is compiled.
        jobs.insert(1, Job(config, port, BUILDS, (), clauses, edits or {}, tuple(cflags)))
    return jobs


def do(job: Job) -> Findings:
    """Build and check; UsageError when the port does not build."""
    if job.variant == BUILDS:
        return try_combinations(job.config, job.port, job.edits, job.cflags)
    try:
        built = _build(job, job.variant)
    except UsageError as error:
        if job.variant not in WITHOUT_MODULES:
            raise
        # If that does not build either, it is the port itself that does not.
        _build(job, WITHOUT_MODULES[job.variant]).close()
        complaint = error.message.splitlines()[1:2] or [error.message]
        return Findings(job.variant, {}, {}, f"no module builds with this port: {complaint[0]}")
    with built as variant:
        checks = checks_for(job.config, job.variant, job.features, job.clauses)
        return run_checks(with_cflags(job.config, job.cflags), variant, checks)


def _build(job: Job, variant: str) -> BuiltVariant:
    return build_variant(job.config, job.port, variant, job.features, job.edits, job.cflags)


def conform(
    configs: Sequence[MachineConfig],
    port_of: Callable[[MachineConfig], Port],
    wanted: Sequence[str] = (),
    tell: Tell = lambda _line: None,
    cflags: Sequence[str] = (),
) -> Iterator[Report]:
    """A report for each config, in their order, as soon as it is there.

    ``cflags`` are compiler flags for every build, behind the config's.
    """
    with workers() as pool:
        started = time.monotonic()
        waiting = []
        for config in configs:
            jobs = jobs_for(config, port_of(config), wanted, cflags=cflags)
            waiting.append((config, jobs, [pool.submit(do, job) for job in jobs]))
        for config, jobs, futures in waiting:
            for done, future in enumerate(as_completed(futures), 1):
                tell(f"{config.name}: {future.result().variant}, {done} of {len(futures)} builds")
            port = jobs[0].port if jobs else port_of(config)
            findings = [future.result() for future in futures]
            built = with_cflags(config, cflags)
            results = verdicts(built, port, select(built, wanted), findings)
            yield Report(config.name, port.name, results, time.monotonic() - started)
            started = time.monotonic()
