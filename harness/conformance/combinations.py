# SPDX-License-Identifier: MIT
"""Each combination of the features that a port claims compiles, links, boots and traces (C4m)."""

from collections.abc import Iterator
from dataclasses import replace

from harness.conformance.bench import Bench, Variant
from harness.conformance.checks.registry import DYNAMIC, STATIC
from harness.conformance.engine import BuildFindings
from harness.conformance.findings import COMBINATIONS
from harness.conformance.switch import Switch
from harness.conformance.variants import Edits, build_variant, variant_of
from harness.conformance.verdict import Failure
from harness.errors import GdbError, GuestError, UsageError
from harness.guest.answer import wrong_answer
from harness.kbuild import GuestSpec

CLAUSE = "C4m"
NAME = COMBINATIONS

OPTIONAL = ("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
OF_GRAPH = OPTIONAL[1:]


def combinations(spec: GuestSpec) -> Iterator[tuple[str, GuestSpec]]:
    """Variant and guest for each combination except that of all features, which all checks use."""
    for variant in (DYNAMIC, STATIC):
        built = variant_of(spec, variant)
        if built is None or OPTIONAL[0] not in built.features:
            continue
        base = tuple(feature for feature in built.features if feature not in OPTIONAL)
        yield variant, replace(built, features=base)
        options = [feature for feature in OF_GRAPH if feature in built.features]
        for number in range(2 ** len(options) - 1):
            chosen = [one for at, one in enumerate(options) if number >> at & 1]
            yield variant, replace(built, features=(*base, OPTIONAL[0], *chosen))


def try_combinations(spec: GuestSpec, edits: Edits) -> BuildFindings:
    """Build, boot and trace each combination; an error fails the clause."""
    failures: list[Failure] = []
    judged: dict[str, set[str]] = {}
    for variant, combined in combinations(spec):
        judged[CLAUSE] = {NAME}
        try:
            _trace(build_variant(combined, variant, edits))
        except (UsageError, GuestError, GdbError) as error:
            without = [feature for feature in OPTIONAL if feature not in combined.features]
            message = f"{variant} without {', '.join(without)}: {error.message}"
            used = frozenset(("function", "graph"))
            evidence = {"guest": error.evidence}
            failures.append(Failure(NAME, variant, message, evidence, died=True, used=used))
    return BuildFindings("builds", judged, {CLAUSE: failures} if failures else {})


def _trace(variant: Variant) -> None:
    """Run the workload under the available tracers; GuestError if its result is wrong."""
    bench = Bench(variant)
    bench.begin(NAME, (CLAUSE,))
    try:
        for graph in (False, True)[: 1 + ("ftrace_graph_caller" in bench.image.symbols)]:
            bench.fresh()
            switch = Switch(bench)
            switch.graph(True) if graph else switch.tracer(True)
            switch.sites(True)
            bench.run_to("workload_done")
            status = bench.guest.workload_status
            if status:
                raise GuestError(f"{wrong_answer(bench.image, status)} under a tracer")
            if not list(bench.guest.tracer.events()):
                raise GuestError("the tracer recorded nothing")
    finally:
        bench.close()
