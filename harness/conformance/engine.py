# SPDX-License-Identifier: MIT
"""Run the checks on the builds of a port, and make verdicts of what they find."""

import time
from collections.abc import Callable, Mapping, Sequence

from harness.config import MachineConfig, Port
from harness.conformance.bench import Bench, Hang, Variant
from harness.conformance.catalogue import Clause, load_catalogue
from harness.conformance.checks import Check, all_checks
from harness.conformance.checks.unseen import UNSEEN
from harness.conformance.verdict import ClauseResult, Report, Verdict
from harness.errors import GdbError, GuestError

Step = Callable[[Check, Bench], bool]
"""Called after each check; False ends the run."""


def judge(
    config: MachineConfig,
    port: Port,
    variants: Sequence[Variant],
    clauses: Sequence[Clause],
    on_check: Step = lambda _check, _bench: True,
) -> Report:
    """The verdicts of ``clauses`` for a port that has been built in these variants."""
    start = time.monotonic()
    benches: list[Bench] = []
    for variant in variants:
        bench = Bench(config, variant)
        benches.append(bench)
        try:
            if not _run_checks(bench, port, clauses, on_check):
                break
        finally:
            bench.close()
    results = [_result(clause, config, port, benches) for clause in clauses]
    return Report(config.name, port.name, results, time.monotonic() - start)


def select(config: MachineConfig, wanted: Sequence[str] = ()) -> list[Clause]:
    """The clauses that apply to a config; ``wanted`` are ids or stems, none means all."""
    return [
        clause
        for clause in load_catalogue().clause
        if clause.applies_to(config)
        and (not wanted or clause.id in wanted or clause.stem in wanted)
    ]


def checks_for(config: MachineConfig, variant: Variant, clauses: Sequence[Clause]) -> list[Check]:
    """The checks that run on a variant."""
    claimed = [c for c in clauses if set(c.features) - BUILD_FEATURES <= set(variant.features)]
    return [
        check
        for check in all_checks()
        if check.applies(config, variant.name, variant.features, claimed)
    ]


BUILD_FEATURES = {"FUNCTION_TRACE_MCOUNT_TEST", "FTRACE_NMI_ENTER"}


def _run_checks(bench: Bench, port: Port, clauses: Sequence[Clause], on_check: Step) -> bool:
    for check in checks_for(bench.config, bench.variant, clauses):
        bench.begin(check.name, check.clauses)
        try:
            check.run(bench)
        except GuestError as error:
            bench.died(error)
            if isinstance(error, Hang):
                bench.close()
        except GdbError as error:
            # What the guest did gdb could not follow; a gdb that is gone is another error.
            bench.died(GuestError(f"the debugger lost the guest: {error.message}"))
            bench.close()
        if not on_check(check, bench):
            return False
    return True


def _result(
    clause: Clause, config: MachineConfig, port: Port, benches: Sequence[Bench]
) -> ClauseResult:
    result = ClauseResult(clause.id, clause.title, Verdict.NOT_OBSERVABLE, advised=clause.advised)
    missing = [feature for feature in clause.features if feature not in port.features]
    if missing:
        result.verdict, result.reason = Verdict.NOT_CLAIMED, f"the port has no {missing[0]}"
        return result
    for bench in benches:
        name = bench.variant.name
        judged = bench.judged.get(clause.id, ())
        result.checks += [f"{check} ({name})" for check in sorted(judged)]
        result.failures += bench.failures.get(clause.id, ())
    if result.failures:
        result.verdict = Verdict.FAIL
    elif result.checks:
        result.verdict = Verdict.PASS
    else:
        result.reason = clause.why_not_observable(config) or _why_unseen(clause)
    return result


def _why_unseen(clause: Clause) -> str:
    reasons: Mapping[str, str] = UNSEEN
    return reasons.get(clause.id, "none of the checks for it applies to this guest")
