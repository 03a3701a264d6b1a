# SPDX-License-Identifier: MIT
"""Judge ports on configs, with processes for each build of a port."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from contextlib import nullcontext
from dataclasses import dataclass, field, replace

from harness.conformance.catalogue import Clause
from harness.conformance.checks import Check
from harness.conformance.combinations import CLAUSE, combinations, try_combinations
from harness.conformance.engine import (
    BuildFindings,
    can_be_repeated,
    cause_in_patching,
    cause_of_death,
    checks_for,
    explain_by_patching,
    run_checks,
    select,
    verdicts,
)
from harness.conformance.findings import Told
from harness.conformance.registry import (
    DYNAMIC,
    MODULES,
    STATIC,
    STATIC_MODULES,
    STATIC_STOP,
    VARIANTS,
)
from harness.conformance.variants import Edits, build_variant, check_claims, variant_of
from harness.conformance.verdict import Failure, Report
from harness.errors import UsageError
from harness.kbuild import GuestSpec
from harness.process import workers
from harness.process.workers import Workers

Tell = Callable[[str], None]

BUILDS = "builds"
"""In place of a variant: all combinations of features (C4m)."""

LONGEST_FIRST = (DYNAMIC, STATIC, BUILDS, MODULES, STATIC_STOP, STATIC_MODULES)
"""The order of jobs, so that the last ones are short.

The static one is started first: it is the longest if the dynamic one dies at boot.
"""

SHORT = 10
"""Checks of a job that is not worth a second boot, at most."""

WITHOUT_MODULES = {MODULES: DYNAMIC, STATIC_MODULES: STATIC}
"""The same build without modules."""


@dataclass(frozen=True, slots=True)
class Job:
    """One build of a port, with the clauses to judge on it."""

    spec: GuestSpec
    variant: str
    clauses: tuple[Clause, ...]
    edits: Edits = field(default_factory=dict)
    share: tuple[int, int] = (0, 1)
    """Which of how many parts of the checks."""


def jobs_for(spec: GuestSpec, wanted: Sequence[str]) -> list[Job]:
    """The builds on which the wanted clauses are judged; UsageError if there are none."""
    config, port = spec.effective_config, spec.port
    check_claims(port)
    clauses = tuple(select(config, wanted))
    if not clauses:
        raise UsageError(
            f"none of the clauses {', '.join(wanted)} applies to {config.name}",
            f"See: harness list clauses -c {config.name}",
        )
    jobs = []
    builds = {variant: variant_of(spec, variant) for variant in VARIANTS}
    if not any(builds.values()):
        raise UsageError(
            f"the port {port.name} cannot be built for {config.name}: call sites of the form "
            f"{config.build.form} are for DYNAMIC_FTRACE, which it does not claim",
            "Choose a config of another form, or add the feature to port.toml.",
        )
    for variant, built in builds.items():
        if built is not None and checks_for(config, variant, built.features, clauses):
            jobs.append(Job(built, variant, clauses))
    if any(clause.id == CLAUSE for clause in clauses) and any(combinations(spec)):
        jobs.append(Job(spec, BUILDS, clauses))
    return sorted(jobs, key=lambda job: LONGEST_FIRST.index(job.variant))


def do(job: Job) -> BuildFindings:
    """Build and check; UsageError when the port does not build."""
    if job.variant == BUILDS:
        return try_combinations(job.spec, job.edits)
    try:
        built = build_variant(job.spec, job.variant, job.edits)
    except UsageError as error:
        if job.variant not in WITHOUT_MODULES:
            raise
        # If that does not build either, the fault is in the port itself.
        build_variant(replace(job.spec, modules=()), WITHOUT_MODULES[job.variant], job.edits)
        complaint = error.message.splitlines()[1:2] or [error.message]
        return BuildFindings(
            job.variant, {}, {}, f"no module builds with this port: {complaint[0]}"
        )
    return run_checks(built, _checks(job))


def _checks(job: Job) -> list[Check]:
    first, step = job.share
    every = checks_for(job.spec.effective_config, job.variant, job.spec.features, job.clauses)
    return every[first::step]


def parts_of(job: Job) -> list[Job]:
    """A job that takes longer than all others together, in two; each boots a guest of its own."""
    parts = 2 if job.variant == DYNAMIC and len(_checks(job)) > SHORT else 1
    return [replace(job, share=(part, parts)) for part in range(parts)]


def joined(job: Job, parts: Sequence[BuildFindings]) -> BuildFindings:
    """The findings of all parts of a job, in the order of its checks."""
    if len(parts) == 1:
        return parts[0]
    order = {check.name: at for at, check in enumerate(_checks(job))}
    told = [one for part in parts for one in part.told]
    failures: dict[str, list[Failure]] = {}
    for clause, one in sorted(told, key=lambda told: order[told[1].check]):
        failures.setdefault(clause, []).append(one)
    reason = next((part.reason for part in parts if part.reason), "")
    judged, unfinished = (
        _union(found) for found in zip(*((p.judged, p.unfinished) for p in parts), strict=True)
    )
    return BuildFindings(job.variant, judged, failures, reason, unfinished)


def _union(all_found: Sequence[Mapping[str, set[str]]]) -> dict[str, set[str]]:
    clauses = dict.fromkeys(clause for found in all_found for clause in found)
    return {clause: set().union(*(f.get(clause, ()) for f in all_found)) for clause in clauses}


def explain(job: Job, found: BuildFindings, cause: Told) -> BuildFindings:
    """Find which of a build's failures come from one of the patching functions."""
    built = build_variant(job.spec, job.variant, job.edits)
    return explain_by_patching(built, _checks(job), found, cause)


def _explained(pool: Workers, jobs: Sequence[Job], builds: list[BuildFindings]) -> None:
    cause = cause_in_patching(builds)
    if cause is None:
        return
    again = {}
    for at, (job, found) in enumerate(zip(jobs, builds, strict=True)):
        failed = any(can_be_repeated(failure) for _, failure in found.told)
        if job.variant in (DYNAMIC, MODULES) and failed:
            again[at] = pool.submit(explain, job, found, cause)
    for at, future in again.items():
        builds[at] = future.result()


def conform(
    specs: Sequence[GuestSpec],
    wanted: Sequence[str] = (),
    tell: Tell = lambda _line: None,
    own: Workers | None = None,
) -> Iterator[Report]:
    """A report for each guest of `suite_spec`, in their order, as soon as it is complete.

    The work is done in the caller's ``own`` workers, or in new ones.
    """
    with nullcontext(own) if own else workers() as pool:
        started = time.monotonic()
        waiting = []
        for spec in specs:
            jobs = jobs_for(spec, wanted)
            running = {
                job.variant: [pool.submit(do, part) for part in parts_of(job)]
                for job in sorted(jobs, key=lambda job: job.variant != STATIC)
            }
            waiting.append((spec, jobs, [running[job.variant] for job in jobs]))
        for spec, jobs, futures in waiting:
            builds = _judged(spec, jobs, futures, tell)
            _explained(pool, jobs, builds)
            results, findings = verdicts(spec, select(spec.effective_config, wanted), builds)
            took = time.monotonic() - started
            yield Report(spec.config.name, spec.port.name, results, took, findings=findings)
            started = time.monotonic()


def why_dead(found: BuildFindings) -> str:
    """For the progress: that a build does not boot, the clause that it dies of, and the place."""
    cause = cause_of_death(found)
    if cause is None:
        return ""
    place = cause.place
    where = f", {place.file}:{place.line}, {place.function}" if place else ""
    return f"; {found.variant} does not boot: {cause.clause}{where}"


def _judged(
    spec: GuestSpec,
    jobs: Sequence[Job],
    futures: Sequence[Sequence[Future[BuildFindings]]],
    tell: Tell,
) -> list[BuildFindings]:
    """The findings of each job; ``futures`` has those of its parts.

    The first build that does not boot is named at once, and then to the end.
    """
    name, done, dead = spec.config.name, 0, ""
    tell(f"{name}: judging {len(jobs)} builds")
    numbers = {part: at for at, parts in enumerate(futures) for part in parts}
    left = [len(parts) for parts in futures]
    for part in as_completed(numbers):
        at, found = numbers[part], part.result()
        left[at] -= 1
        if left[at] == 0:
            done += 1
            if not dead and found.variant != BUILDS:
                dead = why_dead(joined(jobs[at], [one.result() for one in futures[at]]))
            tell(f"{name}: {found.variant}, {done} of {len(jobs)} builds{dead}")
    return [
        joined(job, [part.result() for part in parts])
        for job, parts in zip(jobs, futures, strict=True)
    ]
