# SPDX-License-Identifier: MIT
"""Events of modules against the oracle's record."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from harness.conformance.checks.b_crossing import LEAF
from harness.conformance.checks.b_graph_entry import why_not_hijacked
from harness.conformance.checks.b_hijacked import hijacked
from harness.conformance.checks.c_events import (
    Watched,
    has_caller,
    has_ip,
    judge_pairs,
    watch,
)
from harness.conformance.checks.f_modules import (
    RIGHT,
    RUN,
    both,
    enter_modules,
    load,
    sites_of,
    where_ip_was_made,
)
from harness.conformance.localization.decisions import decided_last
from harness.conformance.localization.retrace import Retrace
from harness.conformance.places import function_of
from harness.conformance.registry import MODULES, STATIC_MODULES, check
from harness.conformance.under_test.actions import MODULE_INIT
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.live_modules import load_module, put_module
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import GRAPH_ENTER, prepare_of
from harness.conformance.variants import LOADED
from harness.conformance.verdict import Place
from harness.errors import GuestDied
from harness.image import ModuleImage
from harness.isa import CallSite
from harness.kbuild import module_beside
from harness.oracle import Call

NOT_HIJACKED = "prepares the calls of modules, which are not hijacked as the kernel's are"


@contextmanager
def _loaded_and_watched(bench: Bench) -> Iterator[tuple[Watched, list[ModuleImage]]]:
    """A guest with loaded modules and the oracle, which knows their sites."""
    with watch(bench) as watched:
        modules = []
        for name in LOADED:
            path = module_beside(bench.variant.kernel, name)
            watched.oracle.add_module(ModuleImage(path.read_bytes(), str(path)))
            modules.append(load_module(bench, name))
        yield watched, modules


def _run(bench: Bench, clauses: list[str], watched: Watched, what: str) -> None:
    watched.oracle.window(True)
    with bench.fail_if_guest_dies(*clauses):
        result = bench.call(bench.image.address_of(RUN), 1)
    watched.oracle.window(False)
    for clause in clauses:
        bench.require(
            clause, result == RIGHT, f"under {what} {result} of {RIGHT} answers are right"
        )


def _traced(bench: Bench, sites: list[CallSite]) -> set[int]:
    """The sites that are traced after switching: in a static guest all of them."""
    static = bench.variant.name == STATIC_MODULES
    return {site.ip for site in (*sites, *(bench.image.sites if static else ()))}


def _why_not_hijacked(bench: Bench, ip: int) -> Place | None:
    """Where the port decides not to hijack a call, or has prepared what it decides by."""
    traced, own = (
        Retrace(bench, partial(enter_modules, bench, ip, graph=graph)) for graph in (False, True)
    )
    call, prepare = own.go(home=False), prepare_of(bench.image)
    place = why_not_hijacked(own, call, traced)
    if GRAPH_ENTER in call.called or prepare not in call.called:
        return place
    is_told = call.site.ip in [value & bench.isa.mask for value in call.first(prepare).values()]
    prepares = function_of(bench.image, MODULE_INIT, how=NOT_HIJACKED)
    if not is_told or prepares is None or not _hijacks(bench, LEAF):
        return place
    return _decided_last(bench) or prepares


def _decided_last(bench: Bench) -> Place | None:
    """The port's last decision where it prepares a module; None if that takes too long."""
    bench.fresh()
    module = put_module(bench, LOADED[0])
    bench.enter(bench.image.address_of("load_module"), module.this_module)
    bench.run_to(MODULE_INIT)
    return decided_last(bench, f"decided last; it {NOT_HIJACKED}")


def _hijacks(bench: Bench, name: str) -> bool:
    """Whether the port hijacks a call of the kernel's."""
    with suppress(GuestDied):
        return GRAPH_ENTER in Retrace(bench, partial(hijacked, bench, name)).go(home=False).called
    return False


@check("C7f", "M2a", "M2c", "C2a", "C2b", "C3b", "C8e", variants=(MODULES, STATIC_MODULES))
def events_of_modules(bench: Bench) -> None:
    """The function tracer on every site of the modules: ip, caller, and the workload's results."""
    reached = "C8e" if bench.variant.name == MODULES else "C3b"
    clauses = ["C7f", reached, *both(bench, "M2a", "M2c")]
    with _loaded_and_watched(bench) as (watched, modules):
        sites = sites_of(modules)
        watched.switch.tracer(True)
        watched.switch.sites(True, sites)
        bench.guest.tracer.clear()
        _run(bench, clauses, watched, "the function tracer")
        own = _traced(bench, sites)
        calls = [call for call in watched.oracle.records() if call.site in own]
        events = watched.calls
        pairs = list(zip(calls, events, strict=False))
        count = f"{len(events)} events of {len(calls)} calls in modules"
        for clause in ("C7f", reached, *both(bench, "M2a")):
            bench.require(clause, len(calls) == len(events) > 0, count)
        # A form of modules alone has a clause of its own.
        own_form = {site.ip for site in sites} if bench.applies("M2c") else set()
        others = [pair for pair in pairs if pair[0].site not in own_form]
        made = partial(where_ip_was_made, bench)
        judge_pairs(bench, ["C2a"], others, has_ip, "ip is not the site", made)
        of_form = [pair for pair in pairs if pair[0].site in own_form]
        # Static and dynamic stubs find it by instructions of their own.
        stub = "ftrace_caller" if bench.variant.name == MODULES else bench.isa.sites.mcount
        message = f"the ip that {stub} passes for a module's function is not its site"
        judge_pairs(bench, both(bench, "M2c"), of_form, has_ip, message, made)
        # RUN was called by the debugger, which is not in QEMU's record.
        called = [pair for pair in pairs if pair[0].function != RUN]
        has_parent = partial(has_caller, bench.isa)
        judge_pairs(bench, ["C2b"], called, has_parent, "parent_ip is not the caller")


@check(
    *("C4e", "C4g", "C7f", "C5c"),
    variants=(MODULES, STATIC_MODULES),
    features=("FUNCTION_GRAPH_TRACER",),
)
def graph_events_of_modules(bench: Bench) -> None:
    """The graph tracer on every site of the modules, and on the kernel's function that calls them:
    entries, exits, and the workload's results.
    """
    with _loaded_and_watched(bench) as (watched, modules):
        caller = next(site for site in bench.image.sites if site.function == RUN)
        sites = [*sites_of(modules), caller]
        watched.switch.graph(True)
        watched.switch.sites(True, sites)
        bench.guest.tracer.clear()
        _run(bench, ["C7f", "C5c"], watched, "the graph tracer")
        own = {site.ip for site in sites}
        flow = [record for record in watched.oracle.flow() if record.site in own]
        expected = [(not isinstance(record, Call), record.site) for record in flow]
        # It returns to a breakpoint, at which the record ends.
        expected.append((True, caller.ip))
        every = [(leaves, site) for leaves, site, _ in watched.graph]
        # In a static guest the kernel's calls before and after the modules are traced too.
        static = bench.variant.name == STATIC_MODULES
        found = [one for one in every if one[1] in own] if static else every
        wrong = {site for _, site in every} - _traced(bench, sites)
        bench.require(
            "C4e",
            not wrong,
            "func is no site that is on",
            found=[f"{site:#x}" for site in sorted(wrong)],
        )
        # If all functions with a call of one length lack their events, the port does not handle
        # such sites.
        sizes = {site.ip: bench.sites.size(site) for site in sites}
        missing = {sizes[at] for _, at in expected} - {sizes.get(at) for _, at in found}
        first = next((at for _, at in expected if sizes[at] in missing), 0)
        why = partial(_why_not_hijacked, bench, first)
        bench.require("C4g", not missing, f"calls of {missing} bytes have no graph events", why)
        shown: Callable[[tuple[bool, int]], str] = lambda one: (  # noqa: E731
            f"{'exit' if one[0] else 'entry'} {bench.image.symbolize(one[1])}"
        )
        for clause in ("C4g", "C7f"):
            bench.require(
                clause,
                found == expected and bool(found),
                "the graph events of modules are not their calls and returns",
                expected=[shown(one) for one in expected[:16]],
                found=[shown(one) for one in found[:16]],
            )


@check("C4a", "C4e", variants=(STATIC_MODULES,), features=("FUNCTION_GRAPH_TRACER",))
def either_pointer_is_enough_for_modules(bench: Bench) -> None:
    """With either pointer set, ftrace_graph_caller reports a module's call with its site."""
    isa = bench.isa
    for way in ({"entry": "ftrace_graph_entry_stub"}, {"leave": "ftrace_stub"}):
        site = next(one for one in sites_of(load(bench)) if one.function == "mod_leaf")
        Switch(bench).graph(True, **way)
        with bench.fail_if_guest_dies("C4a"):
            bench.enter(bench.image.address_of(RUN), 1)
            bench.run_to(site.address)
            bench.run_to(bench.image.address_of(GRAPH_ENTER))
        func = bench.registers.value(isa.abi.argument_registers[1]) & isa.mask
        bench.require(
            "C4e",
            func == site.ip,
            f"with {' '.join(way.values())} func is not the call site of a module",
            expected=f"{site.ip:#x}",
            found=f"{func:#x}",
        )
