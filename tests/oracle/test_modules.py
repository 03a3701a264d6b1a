# SPDX-License-Identifier: MIT
"""Functions of modules against the oracle: they are traced like the kernel's."""

from collections import defaultdict
from itertools import accumulate

import pytest

from harness.isa import SiteState
from harness.oracle import find_sites
from harness.oracle.compare import Settings

MODULES = ["callbacks", "numbers"]


def test_disassembly_and_tables_agree(watch):
    with watch("modules") as watched:
        for module in watched.guest.modules.find(*MODULES):
            sites = [site.ip for site in module.image.sites]
            assert find_sites(module.image) == sites != []


def test_every_event(watch):
    with watch("modules") as watched:
        images = watched.load(*MODULES)
        watched.switch("function")
        watched.guest.run(until="workload_done")
        assert watched.guest.workload_status == 0
        found = watched.check_function()
        seen = {event.ip for event in found}
        for image in images:
            assert len(seen & {site.ip for site in image.sites}) > 5


def test_every_call_and_return(watch):
    with watch("modules") as watched:
        watched.load(*MODULES)
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        assert watched.guest.workload_status == 0
        events, _ = watched.check_graph()
        assert len(events) > 100


@pytest.mark.parametrize(
    ("globs", "kept"),
    [
        ([":mod:callbacks"], lambda module, function: module == "callbacks"),
        (["mod_*:mod:*"], lambda module, function: module and function.startswith("mod_")),
        (["*:mod:!numbers"], lambda module, function: module != "numbers"),
        ([":mod:!"], lambda module, function: not module),
        (["*leaf*", "qsort"], lambda module, function: "leaf" in function or function == "qsort"),
    ],
)
def test_through_a_filter(watch, globs, kept):
    with watch("modules") as watched:
        watched.load(*MODULES)
        watched.switch("function", *globs)
        watched.guest.run(until="workload_done")
        module_at = watched.guest.image.module_at
        assert watched.check_function(traced=lambda call: kept(module_at(call.site), call.function))


def test_graph_functions_of_a_module(watch):
    with watch("modules") as watched:
        watched.load("callbacks")
        tracer = watched.guest.tracer
        tracer.graph.set_graph_function("mod_n*:mod:callbacks", "qsort")
        tracer.graph.set_graph_notrace("mod_leaf:mod:callbacks")
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        names = frozenset({"mod_nested", "qsort"})
        settings = Settings(graph=names, graph_notrace=frozenset({"mod_leaf"}))
        events, _ = watched.check_graph(settings)
        assert events


@pytest.mark.parametrize("tracer", ["function", "function_graph"])
def test_a_module_that_comes_and_goes_while_the_tracer_is_on(watch, tracer):
    """Its init and exit functions are traced too.  Calls by the debugger have no caller.  Without
    ticks: calls and events of each CPU are compared one by one, in order.
    """
    with watch("modules", tick=0) as watched:
        guest = watched.guest
        watched.switch(tracer)
        for turn in range(2):
            (image,) = watched.load("callbacks")
            assert guest.call("run_modules", turn) == 7
            guest.unload_module("callbacks")
            sites = {site.ip: site.function for site in image.sites}
            executed, traced = defaultdict(list), defaultdict(list)
            for call in watched.oracle.records():
                executed[call.cpu].append(call.site)
            for event in guest.tracer.events():
                if event.name != "funcgraph_exit":
                    site = event.func if tracer == "function_graph" else event.ip
                    traced[event.cpu].append(site)
            # Several CPUs may be asked for an interrupt at once: no order between them is certain.
            assert traced == executed
            named = [sites[site] for site in traced[0] if site in sites]
            assert named[0] == "callbacks_init"
            assert named[1] == "callbacks_run"
            assert named[-1] == "callbacks_exit"
            guest.tracer.clear()
            watched.oracle.reset()
        guest.run(until="workload_done")
        assert guest.workload_status == 0


def test_a_cpu_at_every_word_of_a_site(watch):
    """On and off, with the CPU at each word of the site: only the events differ."""
    with watch("modules") as watched:
        (image,) = watched.load("callbacks")
        guest, isa = watched.guest, watched.guest.image.isa
        (site,) = (site for site in image.sites if site.function == "mod_compare")
        words = isa.split(site.as_built)
        places, last = list(accumulate(map(len, words), initial=site.address)), len(words)
        off = isa.split(isa.sites.code_for(site, SiteState.NOP, 0))
        # Switched off, a site of many words is entered and left, and passed over in between.
        reached = {0, 1, last} if len(off) < last else {*range(last + 1)}
        for word in range(last + 1):
            for on in (True, False) if word in reached else (True,):
                guest.tracer.current = "function" if on else "nop"
                guest.run(until=site.address)
                stack = stack_pointer(guest)
                if word:
                    guest.run(until=places[word])
                guest.tracer.current = "nop" if on else "function"
                if word < last:
                    guest.run(until=places[last])
                assert stack_pointer(guest) == stack + isa.abi.at_site(site.form).pops
        guest.run(until="workload_done")
        assert guest.workload_status == 0


def stack_pointer(guest):
    return guest.debugger.read_register(guest.image.isa.abi.stack_register)
