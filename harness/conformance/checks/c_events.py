# SPDX-License-Identifier: MIT
"""Events of a whole workload against QEMU's execution record, and the workload's results."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial

from harness.conformance.checks.b_graph_entry import graph_stub
from harness.conformance.checks.b_hijacked import why_it_dies_at_the_return, why_left_alone
from harness.conformance.places import place_of
from harness.conformance.registry import (
    BOTH,
    DYNAMIC,
    EVERY_KERNEL,
    GRAPH,
    MCOUNT_FORMS,
    STATIC,
    STATIC_STOP,
    check,
)
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.live_text import Changes
from harness.conformance.under_test.switch import Switch
from harness.conformance.verdict import NEEDLESS, Layer, Place
from harness.debugger import return_address
from harness.guest.answer import wrong_answer
from harness.isa import CallSite, Isa
from harness.oracle import Call, Oracle
from harness.oracle.compare import EventComparison, Expectation, Settings, compare, expect
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, TraceEvent
from harness.tracer import has_graph_tracer

DONE = "workload_done"
SHOWN = 6
"""Events shown."""


NESTED = re.compile(r"\w+\.\d+")
"""gcc's name of a nested function.  Parts of split functions have a word in it: place.isra.0."""


def nested_functions(bench: Bench) -> list[CallSite]:
    """The call sites of the kernel's functions within functions."""
    return [site for site in bench.image.sites if NESTED.fullmatch(site.function)]


@dataclass
class Watched:
    """A guest whose QEMU has the oracle's plugin."""

    bench: Bench
    oracle: Oracle
    switch: Switch
    off: set[int] = field(default_factory=set)

    def on(self) -> None:
        """Switch every site on, except those of nested functions if sites can be chosen.

        These write through a register of C1d; a port that loses it would fail every clause.
        """
        self.switch.sites(True)
        if self.switch.dynamic:
            nested = nested_functions(self.bench)
            self.switch.sites(False, nested)
            self.off = {site.ip for site in nested}

    def end(self) -> None:
        """Switch every site off again."""
        nested = [site for site in self.bench.image.sites if site.ip in self.off]
        self.switch.sites(True, nested)
        self.switch.sites(False)

    def run(self, place: str = DONE) -> None:
        """Continue with the oracle recording."""
        self.oracle.window(True)
        self.bench.run_to(place)
        self.oracle.window(False)

    @property
    def events(self) -> list[TraceEvent]:
        """All events of the ring buffer."""
        return list(self.bench.guest.tracer.events())

    @property
    def calls(self) -> list[FunctionEvent]:
        """The events of the function tracer."""
        return [event for event in self.events if isinstance(event, FunctionEvent)]

    def compare(
        self, *, graph: bool = False, on: Callable[[int], bool] | None = None
    ) -> tuple[Expectation, EventComparison]:
        """Compare the events of a tracer with the calls of the sites that are on."""
        chosen = on or (lambda site: site not in self.off)
        flow = [record for record in self.oracle.flow() if chosen(record.site)]
        expected = expect(flow, Settings(graph_tracer=graph), marked=False)
        return expected, compare(expected, self.events)

    @property
    def graph(self) -> list[tuple[bool, int, int]]:
        """The events of the graph tracer: whether each is an exit, its site, and its depth."""
        kinds = (FuncgraphEntryEvent, FuncgraphExitEvent)
        return [
            (isinstance(event, FuncgraphExitEvent), event.func, event.depth)
            for event in self.events
            if isinstance(event, kinds)
        ]


@contextmanager
def watch(bench: Bench, changes: Changes = ()) -> Iterator[Watched]:
    """Another guest, with the oracle; ``changes`` as of `BuildGuest.start`."""
    with bench.set_aside(again=not changes):
        if changes:
            bench.start(watched=True, changes=changes)
        else:
            bench.fresh(watched=True)
        yield Watched(bench, bench.oracle, Switch(bench))


@check("C3a", "C4b", "C8d", "C9a", "C3d", variants=BOTH)
def nothing_is_recorded_while_nothing_traces(bench: Bench) -> None:
    """The results of the workload are right, and there is no event."""
    clauses = ("C3a", "C4b") if bench.variant.name == STATIC else ("C8d", "C9a")
    with watch(bench) as watched:
        with bench.fail_if_guest_dies(*clauses):
            watched.run()
        answers(bench, clauses, "without a tracer")
        for clause in clauses:
            bench.require(clause, not watched.events, "events without a tracer")


@check("C2a", "C2b", "C2c", "C2d", "C3b", "C8e", "C1i", "C16b", variants=EVERY_KERNEL)
def every_call_makes_one_event(bench: Bench) -> None:
    """With the function tracer and every site on: events in order, with callers, and no others."""
    reached = "C8e" if bench.variant.name == DYNAMIC else "C3b"
    with watch(bench) as watched:
        watched.switch.tracer(True)
        watched.on()
        bench.guest.tracer.clear()
        with bench.fail_if_guest_dies(reached, "C1i"):
            watched.run()
        expected, compared = watched.compare()
        calls, events = [one.call for one in expected.events], watched.calls
        answers(bench, (reached,), "under the function tracer")
        bench.require(
            reached,
            len(events) == len(calls),
            f"{len(events)} events of {len(calls)} calls",
            events=compared.shown(bench.image.symbolize),
        )
        pairs = list(zip(calls, events, strict=False))
        sites = {site.ip for site in bench.image.sites}
        judge_pairs(bench, ["C2a"], pairs, has_ip, "ip is not the site that was run")
        clauses = ["C2b", *(["C2d"] if bench.applies("C2d") else [])]
        has_parent = partial(has_caller, bench.isa)
        judge_pairs(bench, clauses, pairs, has_parent, "parent_ip is not the caller")
        in_order = partial(is_in_order, sites)
        judge_pairs(bench, ["C2c"], pairs, in_order, "ip and parent_ip are exchanged")
        bench.require("C1i", bool(events), "there are no events")
        if bench.variant.name == STATIC_STOP:
            bench.require("C16b", compared.same, "the events are not those of the calls")


@check("C9h")
def only_sites_that_are_on_make_events(bench: Bench) -> None:
    """With some sites on, there are only events of these."""
    with watch(bench) as watched:
        chosen = [site for site in bench.image.sites if site.function.startswith(("take_", "leaf"))]
        watched.switch.tracer(True)
        watched.switch.sites(True, chosen[:12])
        bench.guest.tracer.clear()
        watched.run()
        on = {site.ip for site in chosen[:12]}
        _, compared = watched.compare(on=lambda site: site in on)
        bench.require(
            "C9h",
            compared.same,
            "the events are not those of the sites that are on",
            events=compared.shown(bench.image.symbolize),
        )


@check(
    "C4d",
    "C4e",
    "C4f",
    "C4g",
    "C4i",
    "C4j",
    "C4n",
    "C5c",
    "C5f",
    "C6b",
    "C11b",
    "C20a",
    variants=EVERY_KERNEL,
    features=GRAPH,
)
def every_entry_has_its_exit(bench: Bench) -> None:
    """With the graph tracer and every site on: calls and returns in order, with their depth."""
    clauses = ("C4d", "C4g", "C4n", "C5c", *(c for c in ("C4i", "C4j", "C5f") if bench.applies(c)))
    if bench.variant.name == DYNAMIC:
        clauses = (*clauses, graph_stub(bench))
    if "FUNCTION_GRAPH_FP_TEST" in bench.variant.features:
        clauses = (*clauses, "C6b")
    with watch(bench) as watched:
        watched.switch.graph(True)
        watched.on()
        bench.guest.tracer.clear()
        died = partial(_why_it_dies, bench, watched)
        with bench.fail_if_guest_dies(*clauses, "C4f", locate=died):
            watched.run()
        answers(bench, clauses, "under the graph tracer")
        expected, compared = watched.compare(graph=True)
        sites = {call.site for call in watched.oracle.records()} - watched.off
        wrong = {func for _, func, _ in watched.graph} - sites
        shown = compared.shown(bench.image.symbolize)
        message = "the events are not the calls and returns"
        # The search makes the guest fresh.
        why = cache(partial(_why_missing, bench, compared))
        for clause in clauses:
            bench.require(clause, compared.same, message, why, events=shown)
        bench.require("C4e", not wrong, "func is no call site", found=[hex(at) for at in wrong])
        bench.require(
            "C4f", expected.too_deep > 0 and compared.same, "calls too deep are not left alone"
        )


def _why_missing(bench: Bench, compared: EventComparison) -> Place | None:
    """Where the port does not hijack the first function that has no events."""
    missing = compared.missing
    return None if missing is None else why_left_alone(bench, missing.function)


def _why_it_dies(bench: Bench, watched: Watched) -> Place | None:
    """What is wrong with the hijacked call that had begun last when the guest died."""
    running: list[int] = []
    for is_exit, site, depth in watched.graph:
        running[depth:] = [] if is_exit else [site]
    sites = {site.ip: site.function for site in bench.image.sites}
    # The guest may have recorded anything.
    function = sites.get(running[-1]) if running else None
    return None if function is None else why_it_dies_at_the_return(bench, function)


@check("C5g", "C4b", "C11b", "C20a", variants=BOTH, features=GRAPH)
def what_is_hijacked_returns_after_the_end(bench: Bench) -> None:
    """The graph tracer is switched off while hijacked functions run."""
    with watch(bench) as watched:
        watched.switch.graph(True)
        watched.on()
        bench.guest.tracer.clear()
        with bench.fail_if_guest_dies("C5g"):
            bench.run_to("recurse")
            watched.end()
            watched.switch.graph(False)
            before = len(watched.events)
            bench.run_to(DONE)
        answers(bench, ("C5g",), "when the graph tracer ends in the middle")
        after = len(watched.events)
        bench.require("C5g", before > 0, "nothing had been hijacked")
        if bench.variant.name == STATIC:
            bench.require("C4b", after == before, "events after the pointers are the stubs again")


@check("C9m")
def patching_makes_no_events(bench: Bench) -> None:
    """With every site and the tracer on, the port's patching functions are called."""
    bench.fresh()
    switch = Switch(bench)
    switch.tracer(True)
    switch.sites(True)
    site = bench.sites.of("leaf")
    bench.guest.tracer.clear()
    with bench.fail_if_guest_dies("C9m"):
        switch.sites(False, [site])
        switch.sites(True, [site])
        switch.tracer(True)
        if has_graph_tracer(bench.image.symbols):
            switch.graph(True)
            switch.graph(False)
    # Another CPU that the port waits for takes an interrupt, whose handler is traced.
    events = [event for event in bench.guest.tracer.events() if event.cpu == bench.cpu]
    lines = [str(event) for event in events[:SHOWN]]

    def caller() -> Place | None:
        calls = (event for event in events if isinstance(event, FunctionEvent))
        places = (place_of(bench.image, call.parent_ip, "calls what is traced") for call in calls)
        return next(filter(None, places), None)

    bench.require("C9m", not events, "the code that patches made events", caller, events=lines)


def answers(bench: Bench, clauses: Iterable[str], when: str) -> None:
    """The results of the workload are right."""
    status = bench.guest.workload_status
    for clause in clauses:
        bench.require(clause, status == 0, f"{wrong_answer(bench.image, status)} {when}")


def judge_pairs(
    bench: Bench,
    clauses: Sequence[str],
    pairs: Iterable[tuple[Call, FunctionEvent]],
    right: Callable[[Call, FunctionEvent], bool],
    message: str,
    locate: Callable[[int], Place | None] = lambda site: None,
) -> None:
    """The clauses fail if a call of the record and its event are not ``right``.

    ``locate`` finds the place that the first of them comes from, by its call site.
    """
    wrong = [(call, event) for call, event in pairs if not right(call, event)]
    named = bench.image.symbolize
    events = [
        f"expected {named(call.site)} from {named(call.parent)}, "
        f"found {named(event.ip)} from {named(event.parent_ip)}"
        for call, event in wrong[:SHOWN]
    ]
    for clause in clauses:
        bench.require(clause, not wrong, message, lambda: locate(wrong[0][0].site), events=events)


def has_ip(call: Call, event: FunctionEvent) -> bool:
    """Whether ip is the site."""
    return event.ip == call.site


def has_caller(isa: Isa, call: Call, event: FunctionEvent) -> bool:
    """Whether parent_ip is the caller."""
    return isa.pointed_to(event.parent_ip) == call.parent


def is_in_order(sites: set[int], _call: Call, event: FunctionEvent) -> bool:
    """Whether parent_ip is no site."""
    return event.parent_ip not in sites


@check("C3d", variants=(STATIC,), forms=MCOUNT_FORMS, layer=Layer.CALL)
def the_way_without_a_tracer(bench: Bench) -> None:
    """In single steps: only comparisons and the return, and no store that is not needed."""
    limit = 32
    bench.fresh()
    isa = bench.isa
    mcount = bench.image.address_of(isa.sites.mcount)
    bench.run_to(mcount)
    back = return_address(bench.guest.debugger, isa.abi)
    stores: list[int] = []
    steps, here = 0, mcount
    while here != back and steps < 4 * limit:
        # A step takes a branch's delay slot along.
        both = dict.fromkeys((here, bench.code.in_slot(here)))
        stores += [at for at in both if isa.cpu.is_store(bench.code.instruction(at))]
        here = bench.guest.debugger.step_instruction().address & isa.mask
        steps += 1
    needed = isa.abi.compares_by_stack
    bench.require(
        "C3d",
        needed or not stores,
        "something is stored",
        lambda: place_of(bench.image, stores[0], NEEDLESS),
        found=lambda: [bench.code.listing(at, bench.code.instruction(at))[0] for at in stores],
    )
    bench.require("C3d", steps <= limit, f"{steps} instructions from the call to its return")
