# SPDX-License-Identifier: MIT
"""Run the checks on the builds of a port, and make verdicts of the results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from harness.config import KernelFile, MachineConfig, Port
from harness.conformance.catalogue import BuildKind, Clause, load_catalogue, order_of
from harness.conformance.checks import Check, all_checks
from harness.conformance.checks.not_observable import NOT_OBSERVABLE
from harness.conformance.findings import AT_BOOT, Told, find, shape
from harness.conformance.kernel_words import excused, narrowed
from harness.conformance.localization.patching import (
    locate_patching,
    locate_refusal,
    locate_refused_site,
)
from harness.conformance.registry import DYNAMIC, MODULES
from harness.conformance.under_test.bench import Bench, SingleFailure
from harness.conformance.under_test.build_guest import Variant
from harness.conformance.under_test.hang import Hang, NotLoaded, PortRefused
from harness.conformance.verdict import BOOT, ClauseResult, Failure, Finding, Layer, Verdict
from harness.errors import GdbError, GuestError
from harness.kbuild import GuestSpec

OF_BUILDS = frozenset({"FUNCTION_TRACE_MCOUNT_TEST", "FTRACE_NMI_ENTER"})
"""Features that only some builds of a port can have."""


@dataclass(frozen=True, slots=True)
class BuildFindings:
    """The checks that judged each clause on one build, and the failures; or why there is no build.

    ``unfinished`` has the clauses of checks in which the guest died, and the names of these checks.
    """

    variant: str
    judged: dict[str, set[str]]
    failures: dict[str, list[Failure]]
    reason: str = ""
    unfinished: Mapping[str, set[str]] = field(default_factory=dict)

    @property
    def told(self) -> list[Told]:
        """Each failure with its clause."""
        return [(clause, one) for clause, failures in self.failures.items() for one in failures]


def select(config: MachineConfig, wanted: Sequence[str] = ()) -> list[Clause]:
    """The clauses that apply to a config; ``wanted`` are ids or stems, all if empty."""
    return [
        clause
        for clause in load_catalogue().clause
        if clause.applies_to(config)
        and (not wanted or clause.id in wanted or clause.stem in wanted)
    ]


def checks_for(
    config: MachineConfig, variant: str, features: Sequence[str], clauses: Sequence[Clause]
) -> list[Check]:
    """The checks of these clauses that run on a build with these features."""
    having = {*features, *STATIC_MISSES, *OF_BUILDS}
    claimed = [clause for clause in clauses if not clause.why_not_claimed(having)]
    return [check for check in all_checks() if check.applies(config, variant, features, claimed)]


DIED = "the guest died of another clause before this could be seen"
DIED_LATER = "the guest died of another clause before all could be seen"

STATIC_MISSES = ("DYNAMIC_FTRACE",)
"""Features of the port that a static build lacks; each check names its builds itself."""


def run_checks(
    variant: Variant,
    checks: Sequence[Check],
    enough: Callable[[str, str], bool] | None = None,
) -> BuildFindings:
    """Run checks on one build of a port, each on a guest that has just booted.

    The run ends when a clause fails with a message that is ``enough``.
    """
    return run_on(Bench(variant, enough), checks)


def run_on(bench: Bench, checks: Sequence[Check]) -> BuildFindings:
    """The same on a bench, which is closed afterwards."""
    try:
        for check in checks:
            _run(bench, check)
    except SingleFailure:
        pass
    finally:
        bench.end()
    return BuildFindings(
        bench.variant.name, bench.judged, bench.failures, unfinished=bench.unfinished
    )


def cause_in_patching(builds: Sequence[BuildFindings]) -> Told | None:
    """The first failure of the port's patching functions, with its clause."""
    told = (one for found in builds for one in found.told)
    return next((one for one in told if one[1].layer is Layer.PATCHING), None)


def cause_of_death(found: BuildFindings) -> Finding | None:
    """What a build dies of before its workload; None if it boots."""
    findings = find(found.told, _every_clause())
    dead = (one for one in findings if any(failure.about == BOOT for _, failure in one.failures))
    return next(dead, None)


def _every_clause() -> list[str]:
    return [clause.id for clause in load_catalogue().clause]


def can_be_repeated(failure: Failure) -> bool:
    """Whether `explain_by_patching` repeats a failure: at boot the port's functions patch."""
    at_boot = failure.about == BOOT or failure.check in AT_BOOT
    return failure.layer > Layer.PATCHING and not at_boot


def explain_by_patching(
    variant: Variant, checks: Sequence[Check], found: BuildFindings, cause: Told
) -> BuildFindings:
    """Repeat failed checks of other layers, with the debugger in place of the patching functions.

    Failures that go away are reported as caused by a failure of those functions.  A check
    that fails in another way is no evidence: it may not have reached the first failure.
    """
    told = found.told
    failed = {one.check for _, one in told if can_be_repeated(one)}
    bench = Bench(variant)
    bench.by_port = False
    try:
        for check in checks:
            if check.name in failed:
                _run(bench, check)
    finally:
        bench.end()
    before = {(clause, one.check, shape(one.message)) for clause, one in told}
    again = {
        (clause, one.check, shape(one.message))
        for clause, failures in bench.failures.items()
        for one in failures
    }
    useless = {check for _, check, _ in again - before}
    still = {(clause, check) for clause, check, _ in again}
    explained: dict[str, list[Failure]] = {}
    for clause, one in told:
        follows = (
            can_be_repeated(one) and one.check not in useless and (clause, one.check) not in still
        )
        explained.setdefault(clause, []).append(replace(one, cause=cause) if follows else one)
    return replace(found, failures=explained)


def about(
    check: Check,
    config: MachineConfig,
    variant: str,
    features: Sequence[str],
    kernel: KernelFile,
) -> tuple[str, ...]:
    """The clauses of a check that can fail on this build of a port."""
    build = BuildKind.DYNAMIC if variant in (DYNAMIC, MODULES) else BuildKind.STATIC
    return tuple(
        clause.id
        for clause in map(load_catalogue().__getitem__, check.clauses)
        if clause.applies_to(config)
        and not {build, BuildKind.ANY}.isdisjoint(clause.builds)
        and not clause.why_not_claimed(features)
        and not excused(kernel, clause.id)
    )


def verdicts(
    spec: GuestSpec, clauses: Sequence[Clause], builds: Sequence[BuildFindings]
) -> tuple[list[ClauseResult], list[Finding]]:
    """The verdict of each clause from the checks of all builds, and the causes of the failures.

    A clause that is not in ``clauses`` has a result too if it failed in a check that ended
    before it judged one of them.
    """
    config = spec.effective_config
    results = [_result(clause, config, spec.port, builds) for clause in clauses]
    chosen = {result.clause for result in results}
    results += [
        _result(load_catalogue()[clause], config, spec.port, builds)
        for clause in _broken_instead(results, builds) - chosen
    ]
    results.sort(key=lambda result: order_of(result.clause))
    wanted = {result.clause for result in results if result.verdict is Verdict.FAIL}
    findings = find([one for b in builds for one in b.told if one[0] in wanted], _every_clause())
    for result in results:
        if result.verdict is Verdict.FAIL:
            _block(result, findings)
        elif result.reason in (DIED, DIED_LATER):
            _block_unfinished(result, builds, findings)
    for finding in findings:
        finding.blocks.sort(key=order_of)
    return results, findings


def _broken_instead(results: Sequence[ClauseResult], builds: Sequence[BuildFindings]) -> set[str]:
    """The clauses that failed in checks that ended before they judged another clause."""
    unfinished = {
        at
        for result in results
        if result.reason in (DIED, DIED_LATER)
        for at in _unfinished(result.clause, builds)
    }
    return {
        clause
        for found in builds
        for clause, failure in found.told
        if (failure.variant, failure.check) in unfinished
    }


def _block_unfinished(
    result: ClauseResult, builds: Sequence[BuildFindings], findings: Sequence[Finding]
) -> None:
    """A clause whose check could not finish is blocked by the clause that the guest died of."""
    unfinished = _unfinished(result.clause, builds)
    for finding in findings:
        if any((failure.variant, failure.check) in unfinished for _, failure in finding.failures):
            finding.blocks.append(result.clause)
            result.verdict = Verdict.BLOCKED
            result.reason = _blocked_by(finding)
            return


def _unfinished(clause: str, builds: Sequence[BuildFindings]) -> set[tuple[str, str]]:
    """The builds and the checks that did not finish before they judged a clause."""
    return {(found.variant, name) for found in builds for name in found.unfinished.get(clause, ())}


def _blocked_by(finding: Finding) -> str:
    return f"by what breaks {finding.clause}: {finding.message}"


def _block(result: ClauseResult, findings: Sequence[Finding]) -> None:
    """A clause with no failure except those that another clause's cause explains is blocked."""
    blocking = [finding for finding in findings if finding.blocks_alone(result.clause)]
    under = [f for f in findings if any(clause == result.clause for clause, _ in f.failures)]
    if blocking and len(blocking) == len(under):
        result.verdict = Verdict.BLOCKED
        result.reason = _blocked_by(blocking[0])


def _run(bench: Bench, check: Check) -> None:
    variant = bench.variant
    asked = about(check, bench.config, variant.name, variant.features, bench.kernel)
    bench.begin(check.name, asked, check.layer)
    try:
        check.run(bench)
    except GuestError as error:
        if isinstance(error, NotLoaded):
            bench.locate = partial(locate_refused_site, bench)
        if isinstance(error, PortRefused):
            bench.locate = partial(locate_refusal, bench)
        bench.guest_died(error)
        if isinstance(error, Hang):
            bench.close()
    except GdbError as error:
        # gdb could not follow the guest; if gdb itself is gone, that is another error.
        bench.guest_died(GuestError(f"the debugger lost the guest: {error.message}"))
        bench.close()
    locate_patching(bench)


def _result(
    clause: Clause, config: MachineConfig, port: Port, builds: Sequence[BuildFindings]
) -> ClauseResult:
    result = ClauseResult(clause.id, clause.title, Verdict.NOT_OBSERVABLE, advised=clause.advised)
    result.reason = clause.why_not_claimed(port.features) or excused(port.kernel, clause.id)
    if result.reason:
        result.verdict = Verdict.NOT_CLAIMED
        return result
    for found in builds:
        result.checks += [
            f"{name} ({found.variant})" for name in sorted(found.judged.get(clause.id, ()))
        ]
        result.failures += found.failures.get(clause.id, ())
    unfinished = any(clause.id in found.unfinished for found in builds)
    result.reason = less = narrowed(port.kernel, clause.id)
    if result.failures:
        result.verdict = Verdict.FAIL
    elif result.checks and unfinished:
        result.reason = DIED_LATER
    elif result.checks and not clause.why_not_observable(config):
        result.verdict = Verdict.PASS
    else:
        not_built = (found.reason for found in builds if found.reason)
        unjudged = why_not_judged(clause, config) or (DIED if unfinished else "")
        if less and not unjudged and _could_be_judged(clause, builds):
            result.verdict = Verdict.NOT_CLAIMED
            return result
        result.reason = unjudged or next(not_built, "") or "none of its checks applies to this port"
    return result


def _could_be_judged(clause: Clause, findings: Sequence[BuildFindings]) -> bool:
    """Whether there was a build on which a check of the clause runs."""
    built = {found.variant for found in findings if not found.reason}
    return any(clause.id in check.clauses and built & set(check.variants) for check in all_checks())


def why_not_judged(clause: Clause, config: MachineConfig) -> str:
    """Why the suite cannot judge a clause on a config; empty if it can."""
    checks = [check for check in all_checks() if clause.id in check.clauses]
    lacking = [check.lacks(config) for check in checks]
    return (
        clause.why_not_observable(config)
        or NOT_OBSERVABLE.get(clause.id, "")
        or ("" if "" in lacking or not lacking else lacking[0])
    )
