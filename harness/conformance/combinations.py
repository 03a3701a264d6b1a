# SPDX-License-Identifier: MIT
"""Each combination of the features that a port claims compiles, links, boots and traces (C4m)."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from harness.conformance.checks.b_crossing import LEAF, judge_tracer
from harness.conformance.comparison import GROUPS, compare
from harness.conformance.engine import BuildFindings
from harness.conformance.findings import COMBINATIONS
from harness.conformance.localization.retrace import Retrace
from harness.conformance.places import condition_of, definition_of
from harness.conformance.registry import DYNAMIC, STATIC
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import Variant
from harness.conformance.under_test.hang import NeverBoots
from harness.conformance.under_test.switch import TRACER, Switch
from harness.conformance.variants import Edits, build_variant, variant_of
from harness.conformance.verdict import BOOT, Failure
from harness.errors import GdbError, GuestError, UsageError
from harness.guest.answer import wrong_answer
from harness.isa import CallSite
from harness.kbuild import GuestSpec, NotDefined
from harness.trace import FuncgraphEntryEvent, FunctionEvent
from harness.tracer import has_graph_tracer

CLAUSE = "C4m"
NAME = COMBINATIONS

OPTIONAL = (
    *("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"),
    "FUNCTION_GRAPH_RETVAL",
)
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
    """Build, boot and trace each combination; a failure of any clause fails this one.

    Behind one that does not boot the others are only built: they would say the same, and what is
    judged on the builds of all features says more.
    """
    failures: list[Failure] = []
    judged: dict[str, set[str]] = {}
    boots = True
    for variant, combined in combinations(spec):
        judged[CLAUSE] = {NAME}
        without = [feature for feature in OPTIONAL if feature not in combined.features]
        build = f"{variant} without {', '.join(without)}"
        try:
            built = build_variant(combined, variant, edits)
            found = _trace(built) if boots else []
        except (UsageError, GuestError, GdbError) as error:
            used = frozenset(("function", "graph"))
            evidence = {"guest": error.evidence}
            about = BOOT if isinstance(error, NeverBoots) else ""
            boots = boots and not about
            names = error.names if isinstance(error, NotDefined) else ()
            port = spec.port.directory
            place = condition_of(port, *names) or definition_of(port, *names)
            found = [
                Failure(
                    NAME,
                    variant,
                    error.message,
                    evidence,
                    place=place,
                    died=True,
                    used=used,
                    about=about,
                )
            ]
        failures += [replace(one, message=f"{build}: {one.message}") for one in found]
    return BuildFindings("builds", judged, {CLAUSE: failures} if failures else {})


def _trace(variant: Variant) -> list[Failure]:
    """Run the workload under each tracer, and step through one call; GuestError if it fails."""
    bench = Bench(variant)
    bench.begin(NAME, (CLAUSE,))
    seen: list[set[int]] = []
    try:
        sites = {site.ip for site in bench.image.sites}
        for graph in (False, True)[: 1 + has_graph_tracer(bench.image.symbols)]:
            _cross(bench, graph)
            bench.fresh()
            _switch(bench, graph)
            bench.run_to("workload_done")
            status = bench.guest.workload_status
            if status:
                raise GuestError(f"{wrong_answer(bench.image, status)} under a tracer")
            seen.append(_sites_of_events(bench))
            if not seen[-1]:
                raise GuestError("the tracer recorded nothing")
            wrong = [f"{at:#x} {bench.image.symbolize(at)}" for at in sorted(seen[-1] - sites)]
            bench.require(CLAUSE, not wrong, "events are of no call sites", found=wrong)
        missing = _of_workload(bench, sites & seen[0] - seen[-1])
        bench.require(
            CLAUSE, not missing, "the graph tracer misses traced functions", found=missing
        )
    finally:
        bench.end()
    return [one for found in bench.failures.values() for one in found]


def _cross(bench: Bench, graph: bool) -> None:
    """Step through one traced call."""
    retrace = Retrace(bench, partial(_prepare, bench, graph))
    call = retrace.go(home=True)
    what = f"a {'hijacked' if graph else 'traced'} call of {LEAF}"
    compare(retrace, call, what, dict.fromkeys(GROUPS, CLAUSE), hijacked=graph)
    if not graph and TRACER in call.called:
        judge_tracer(retrace, call, what)


def _prepare(bench: Bench, graph: bool) -> CallSite:
    bench.fresh()
    site = bench.sites.of(LEAF)
    _switch(bench, graph, [site])
    return site


def _switch(bench: Bench, graph: bool, sites: Sequence[CallSite] | None = None) -> None:
    switch = Switch(bench)
    switch.graph(True) if graph else switch.tracer(True)
    switch.sites(True, sites)


def _sites_of_events(bench: Bench) -> set[int]:
    """The call sites of all calls that were recorded."""
    events = list(bench.guest.tracer.events())
    calls = {event.ip for event in events if isinstance(event, FunctionEvent)}
    return calls | {event.func for event in events if isinstance(event, FuncgraphEntryEvent)}


def _of_workload(bench: Bench, sites: set[int]) -> list[str]:
    """Those of the workload: interrupts come at other times under another tracer."""
    lines = {site: bench.image.source_line(site) for site in sorted(sites)}
    return [
        bench.image.symbolize(site)
        for site, line in lines.items()
        if line is not None and "workloads/" in line.file
    ]
