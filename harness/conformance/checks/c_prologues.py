# SPDX-License-Identifier: MIT
"""Functions whose prologue does not show where the return address is are not hijacked (C4i)."""

from collections.abc import Iterator, Mapping
from functools import partial

from harness.conformance.checks.c_events import DONE, Watched, answers, nested_functions, watch
from harness.conformance.localization.kept_words import decided_about
from harness.conformance.localization.retrace import Retrace
from harness.conformance.registry import BOTH, GRAPH, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.live_text import Change
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import PREPARE, come_to
from harness.conformance.verdict import Place
from harness.isa import CallSite
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent

OF_NESTED, CALLS_OF_NESTED = "check_static_chain", 2
"""A function of the workload, which returns true, and its calls of the nested function."""


@check("C4i", variants=BOTH, features=GRAPH)
def prologues_that_cannot_be_read(bench: Bench) -> None:
    """Some functions of the workload store their return address as no compiler does.

    They are left alone, or hijacked as if they had been read.  Not every CPU has another store.
    """
    stores = dict(_unusual_stores(bench))
    ips = {site.ip for site in stores}
    if not stores:
        return
    with watch(bench, stores.values()) as watched:
        watched.switch.graph(True)
        watched.on()
        bench.guest.tracer.clear()
        what = "with prologues that cannot be read"
        why = partial(_why_hijacked, bench, watched, stores)
        with bench.fail_if_guest_dies("C4i", locate=why):
            watched.run()
        answers(bench, ("C4i",), what)
        alone = watched.off | (ips - {site for _, site, _ in watched.graph})
        _, compared = watched.compare(graph=True, on=lambda site: site not in alone)
        shown = compared.shown(bench.image.symbolize)
        told = f"the events are not the calls and returns {what}"
        bench.require("C4i", compared.same, told, why, events=shown)


def _why_hijacked(
    bench: Bench, watched: Watched, stores: Mapping[CallSite, Change]
) -> Place | None:
    """Where the port decided about the prologue of that of these functions which began last."""
    known = {site.ip: site for site in stores}
    begun = [known[ip] for is_exit, ip, _ in watched.graph if ip in known and not is_exit]
    if not begun:
        return None
    retrace = Retrace(bench, partial(_hijacked, bench, begun[-1]))
    return decided_about(retrace, stores[begun[-1]])


def _hijacked(bench: Bench, *sites: CallSite) -> CallSite:
    """The guest as booted, with the graph tracer of some sites on; returns the first one."""
    bench.fresh()
    switch = Switch(bench)
    switch.graph(True)
    switch.sites(True, sites)
    return sites[0]


@check("C4i", variants=BOTH, features=GRAPH)
def another_word_than_the_return_address(bench: Bench) -> None:
    """A function that stores its return address is entered, and the port is given another one.

    The location that its prologue shows is then wrong.
    """
    found = next(_unusual_stores(bench), None)
    if found is None:
        return
    site, _ = found
    _hijacked(bench, site)
    abi, word = bench.isa.abi, bench.isa.word_size
    bench.guest.tracer.clear()
    with bench.fail_if_guest_dies("C4i"):
        caller = come_to(bench, site).caller
        bench.run_to(PREPARE)
        given = bench.registers.value(abi.argument_registers[0]) & bench.isa.mask
        # An address in the text, and not what the function has stored.
        bench.write_memory(given, site.address.to_bytes(word, bench.image.byteorder))
        bench.run_to(caller)
        # In a static build the functions that it calls make events.
        events = [
            event
            for event in bench.guest.tracer.events()
            if isinstance(event, FuncgraphEntryEvent) and event.func == site.ip
        ]
        bench.run_to(DONE)
    what = "whose return address is not where its prologue shows it"
    answers(bench, ("C4i",), f"with a function {what}")
    lines = [str(event) for event in events]
    bench.require("C4i", not events, f"{site.function} makes events, {what}", events=lines)


@check("C4d", "C4i", variants=BOTH, features=GRAPH)
def the_prologue_of_a_nested_function(bench: Bench) -> None:
    """It keeps the static chain, too, and where others are switched on it is left out."""
    nested = nested_functions(bench)
    if not nested or not bench.kernel.nested_functions:
        return
    _hijacked(bench, *nested)
    bench.guest.tracer.clear()
    clauses = ("C4d", "C4i") if bench.applies("C4i") else ("C4d",)
    with bench.fail_if_guest_dies(*clauses):
        right = bench.call(bench.image.address_of(OF_NESTED))
    found = [
        f"{'exit' if isinstance(event, FuncgraphExitEvent) else 'entry'} {site.function}"
        for event in bench.guest.tracer.events()
        for site in nested
        if isinstance(event, FuncgraphEntryEvent | FuncgraphExitEvent) and event.func == site.ip
    ]
    expected = [f"{what} {nested[0].function}" for what in ("entry", "exit")] * CALLS_OF_NESTED
    for clause in clauses:
        bench.require(
            clause,
            bool(right & 1) and found == expected,
            "a nested function is not hijacked as the others are",
            expected=expected,
            found=found,
        )


def _unusual_stores(bench: Bench) -> Iterator[tuple[CallSite, Change]]:
    """For every other function of the workload: the call site, and the words to write."""
    image, cflags = bench.image, bench.variant.spec.config.build.cflags
    for site in image.sites[::2]:
        if "workloads/" not in image.source_file(site.address):
            continue
        for address in range(site.function_address, site.address, 4):
            store = image.isa.abi.unusual_store(image.read(address, 4), cflags)
            if store is not None:
                yield site, (address, store)
