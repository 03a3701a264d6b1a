# SPDX-License-Identifier: MIT
"""Every combination of features that a port claims: it compiles, links, boots and traces (C4m)."""

from collections.abc import Iterator, Sequence

from harness.config import MachineConfig, Port
from harness.conformance.bench import Bench, Variant
from harness.conformance.checks.registry import DYNAMIC, STATIC
from harness.conformance.engine import Findings
from harness.conformance.switch import Switch
from harness.conformance.verdict import Failure
from harness.conformance.workshop import Edits, build_variant, features_of
from harness.errors import GdbError, GuestError, UsageError

CLAUSE = "C4m"
NAME = "every-combination-of-features"

OPTIONAL = ("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
OF_GRAPH = OPTIONAL[1:]


def combinations(config: MachineConfig, port: Port) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Variant and features, for each combination but the one with all, which all checks use."""
    for variant in (DYNAMIC, STATIC):
        features = features_of(config, port, variant)
        if features is None or OPTIONAL[0] not in features:
            continue
        base = tuple(feature for feature in features if feature not in OPTIONAL)
        yield variant, base
        options = [feature for feature in OF_GRAPH if feature in features]
        for number in range(2 ** len(options) - 1):
            chosen = [one for at, one in enumerate(options) if number >> at & 1]
            yield variant, (*base, OPTIONAL[0], *chosen)


def try_combinations(
    config: MachineConfig, port: Port, edits: Edits, cflags: Sequence[str] = ()
) -> Findings:
    """Build, boot and trace each of them; what goes wrong fails the clause."""
    failures: list[Failure] = []
    judged: dict[str, set[str]] = {}
    for variant, features in combinations(config, port):
        judged[CLAUSE] = {NAME}
        try:
            with build_variant(config, port, variant, features, edits, cflags) as built:
                _trace(config, built)
        except (UsageError, GuestError, GdbError) as error:
            without = [feature for feature in OPTIONAL if feature not in features]
            message = f"{variant} without {', '.join(without)}: {error.message}"
            failures.append(Failure(NAME, variant, message, {"guest": error.evidence}))
    return Findings("builds", judged, {CLAUSE: failures} if failures else {})


def _trace(config: MachineConfig, variant: Variant) -> None:
    """Run the workload under the tracers that are there; GuestError when it is not right."""
    bench = Bench(config, variant)
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
                raise GuestError(f"check {status} of the workload is wrong under a tracer")
            if not list(bench.guest.tracer.events()):
                raise GuestError("the tracer recorded nothing")
    finally:
        bench.close()
