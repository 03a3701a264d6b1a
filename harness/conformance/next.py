# SPDX-License-Identifier: MIT
"""The next part to write or to fix in a port, in the order in which a port is written."""

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from textwrap import wrap

from harness.conformance.catalogue import BuildKind, Clause
from harness.conformance.checks import all_checks
from harness.conformance.combinations import CLAUSE
from harness.conformance.engine import select, verdicts
from harness.conformance.expected import ExpectFile, apply_expected, message_of
from harness.conformance.run import BUILDS, do, jobs_for
from harness.conformance.steps import DYNAMIC_BUILDS, Step, load_steps, needs_of
from harness.conformance.variants import variant_of
from harness.conformance.verdict import ClauseResult, Failure, Report
from harness.kbuild import GuestSpec
from harness.process import workers
from harness.process.workers import Workers
from harness.units import one_line

Tell = Callable[[str], None]

WIDTH = 100
"""Columns of the output, except for commands."""


@dataclass(slots=True)
class Next:
    """The first step of a port on a config that is not complete.

    ``failed`` are its clauses that the port fails.  If there are none, ``missing`` are the features
    of the step that the port does not claim.  Without a step all is done.
    """

    spec: GuestSpec
    done: list[Step]
    step: Step | None = None
    failed: list[ClauseResult] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    optional: list[tuple[Step, list[str]]] = field(default_factory=list)

    @property
    def opens(self) -> list[Step]:
        """The steps that need this one directly."""
        if self.step is None:
            return []
        name = self.step.name
        return [
            other
            for other in load_steps().step
            if name in needs_of(other, True) and select(self.spec.effective_config, other.clauses)
        ]


def next_step(
    spec: GuestSpec,
    wanted: Sequence[str] = (),
    expected: ExpectFile | None = None,
    tell: Tell = lambda _line: None,
) -> Next:
    """Judge the steps of a port in order, up to the first that is not complete.

    ``wanted`` are the clauses or stems to judge, all if empty.
    """
    found = Next(spec, [])
    clauses = select(spec.effective_config, wanted)
    with workers() as pool:
        for step, builds in plan_steps(spec, clauses):
            of_step = [one for one in clauses if one.id in step.clauses]
            missing = [] if any(map(_claimed(spec), of_step)) else _missing(spec, of_step)
            if missing:
                _note_missing(found, step, missing)
                continue
            tell(f"{spec.config.name}: {step.name}: {step.title}")
            failed = _judge(spec, step, builds, expected, pool)
            if failed:
                found.step, found.failed, found.missing = step, failed, []
                return found
            found.done.append(step)
    return found


def _note_missing(found: Next, step: Step, missing: list[str]) -> None:
    if step.optional:
        found.optional.append((step, missing))
    elif found.step is None:
        found.step, found.missing = step, missing


def _claimed(spec: GuestSpec) -> Callable[[Clause], bool]:
    return lambda clause: not clause.why_not_claimed(spec.port.features)


def _missing(spec: GuestSpec, clauses: Sequence[Clause]) -> list[str]:
    words = (word for clause in clauses for word in clause.features)
    return [word for word in dict.fromkeys(words) if word not in spec.port.features]


Builds = dict[str, list[Clause]]


def plan_steps(spec: GuestSpec, clauses: Sequence[Clause]) -> Iterator[tuple[Step, Builds]]:
    """Each step, with its builds and the clauses to judge on them from then on."""
    steps = load_steps()
    order = {step.name: at for at, step in enumerate(steps.step)}
    plan: dict[str, Builds] = {name: {} for name in order}
    for build in [build for step in steps.step for build in step.builds]:
        if build != BUILDS and variant_of(spec, build) is None:
            continue
        for clause in clauses:
            stands_on = (steps.of_clause(clause.id), *steps.under(clause.id, build))
            for checked in _checks(clause, build):
                needed = (*stands_on, *([checked] if checked else []))
                last = max((step.name for step in needed), key=order.__getitem__)
                there = plan[last].setdefault(build, [])
                if clause not in there:
                    there.append(clause)
    for step in steps.step:
        if plan[step.name] or any(clause.id in step.clauses for clause in clauses):
            yield step, plan[step.name]


def _checks(clause: Clause, build: str) -> list[Step | None]:
    """For each check of a clause on a build, the step that it names, if any."""
    if build == BUILDS:
        return [None] if clause.id == CLAUSE else []
    kind = BuildKind.DYNAMIC if build in DYNAMIC_BUILDS else BuildKind.STATIC
    if {kind, BuildKind.ANY}.isdisjoint(clause.builds):
        return []
    return [
        load_steps().of_check(check.name)
        for check in all_checks()
        if clause.id in check.clauses and build in check.variants
    ]


def _judge(
    spec: GuestSpec, step: Step, builds: Builds, expected: ExpectFile | None, pool: Workers
) -> list[ClauseResult]:
    jobs = [
        (job, clauses)
        for build, clauses in builds.items()
        for job in jobs_for(spec, [clause.id for clause in clauses])
        if job.variant == build
    ]
    futures = [pool.submit(do, job) for job, _ in jobs]
    failed: dict[str, ClauseResult] = {}
    for (_, clauses), future in zip(jobs, futures, strict=True):
        results, _ = verdicts(spec, clauses, [future.result()])
        report = Report(spec.config.name, spec.port.name, results)
        if expected is not None:
            apply_expected(report, expected)
        for result in report.results:
            result.failures = [one for one in result.failures if not _is_early(one, step)]
        for result in report.results:
            # A clause that a later step blocks still belongs to this step.
            if result.failures and not (result.advised or result.expected):
                failed.setdefault(result.clause, result)
    others = [clause for other in load_steps().step for clause in other.clauses]
    return [
        failed[clause] for clause in dict.fromkeys((*step.clauses, *others)) if clause in failed
    ]


def _is_early(failure: Failure, step: Step) -> bool:
    """Whether the check needs a later step, and so may have failed because of it."""
    steps = load_steps()
    own = steps.of_check(failure.check)
    return own is not None and steps.step.index(own) > steps.step.index(step)


def next_lines(found: Next, command: Sequence[str]) -> Iterator[str]:
    """The output; ``command`` judges the port, and ``-c`` and ``--clause`` are appended."""
    config, port = found.spec.config.name, found.spec.port.name
    yield f"{config}, port {port}: {_names(found.done) or 'nothing'} done"
    if found.step is None:
        yield "next: nothing; every clause that the port claims is kept"
    elif found.failed:
        yield from _mend(found, command)
    else:
        yield f"next: {' and '.join(found.missing)}, which port.toml does not list"
        yield f"  step: {found.step.name}: {found.step.title}"
        yield "  what it asks:"
        for clause in select(found.spec.effective_config, found.step.clauses):
            yield f"    {clause.id:5} {clause.title}"
    if found.opens:
        yield "  behind it:"
        yield from (f"    {step.name}: {step.title}" for step in found.opens)
    for step, missing in found.optional if not found.failed else ():
        yield f"could be claimed too: {' and '.join(missing)} ({step.title})"


def _mend(found: Next, command: Sequence[str]) -> Iterator[str]:
    assert found.step is not None
    first, *others = found.failed
    [clause] = select(found.spec.effective_config, [first.clause])
    new = [failure for failure in first.failures if not failure.expected]
    more = f", and {len(new) - 1} more" if len(new) > 1 else ""
    alone = [*command, "-c", found.spec.config.name, "--clause", clause.id]
    yield f"next: {clause.id} {clause.title}"
    yield f"  step: {found.step.name}: {found.step.title}"
    said = f"{new[0].check} ({new[0].variant}): {message_of(new[0])}{more}"
    yield from _wrapped(f"requires: {clause.requires}")
    yield from _wrapped(f"found: {said}")
    if others:
        yield from _wrapped(f"of this step too: {', '.join(result.clause for result in others)}")
    yield f"  alone: {one_line(shlex.join(alone))}"


def _wrapped(text: str) -> list[str]:
    return wrap(text, WIDTH, initial_indent="  ", subsequent_indent="    ")


def _names(steps: Sequence[Step]) -> str:
    return ", ".join(step.name for step in steps)
