# SPDX-License-Identifier: MIT
"""Guests without DYNAMIC_FTRACE: every function calls _mcount, which tests the pointers."""

from itertools import combinations

import pytest

from harness import boot
from harness.config import list_configs, load_config
from harness.errors import GuestError, UsageError
from harness.isa import Form, SiteState
from support.interrupts import outside

FUNCTION = ["FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD"]
GRAPH = [*FUNCTION, "FUNCTION_GRAPH_TRACER"]
FEATURES = [*GRAPH, "FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"]

STOP = "FUNCTION_TRACE_MCOUNT_TEST"
OPTIONS = ["FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"]
# What may be built besides FUNCTION_TRACER; the table of sites is nobody's but the harness's.
CHOICES = [[]] + [
    ["FTRACE_MCOUNT_RECORD", *graph, *stop]
    for graph in (
        [],
        *(
            ["FUNCTION_GRAPH_TRACER", *chosen]
            for count in range(len(OPTIONS) + 1)
            for chosen in combinations(OPTIONS, count)
        ),
    )
    for stop in ([], [STOP])
]

PATCHABLE = [
    config for config in list_configs() if load_config(config).build.form is Form.PATCHABLE_ENTRY
]
STATIC = [config for config in list_configs() if config not in PATCHABLE]

NESTED = ["do_nested", "do_middle", "do_inner", "leaf", "leaf"]


@pytest.fixture(params=STATIC)
def machine(request):
    return request.param


@pytest.fixture
def guest(machine):
    with boot(machine, features=FEATURES) as running:
        yield running


def functions(guest):
    return [event.function for event in outside(guest.tracer.events())]


def text(guest):
    where = guest.image.text
    return guest.debugger.dump_memory(where.start, len(where))


def test_every_site_stays_a_call(guest):
    isa, symbols = guest.image.isa, guest.image.symbols
    for site in guest.image.sites:
        code = isa.sites.code_for(site, SiteState.BOOT, symbols[isa.sites.mcount])
        assert guest.debugger.read_memory(site.address, len(code)) == code


def test_nothing_is_recorded_while_off(guest):
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert functions(guest) == []


def test_every_function_is_traced_and_no_text_changes(guest):
    before = text(guest)
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert text(guest) == before
    found = functions(guest)
    assert found[:2] == ["workload", "leaf"]
    assert found[2:7] == NESTED


def test_filters_are_refused_and_change_nothing(guest):
    tracer = guest.tracer
    for refused in (
        lambda: tracer.set_filter("leaf"),
        lambda: tracer.set_filter("leaf", append=True),
        lambda: tracer.set_notrace("do_*"),
    ):
        with pytest.raises(UsageError, match=r"a static guest traces every function\nBuild it"):
            refused()
    tracer.set_filter()
    tracer.set_notrace()
    tracer.current = "function"
    guest.run(until="workload_done")
    assert {"leaf", "do_loop"} <= set(functions(guest))


def test_tracing_on(guest):
    guest.tracer.current = "function"
    guest.tracer.on = False
    guest.run(until="do_nested")
    assert functions(guest) == []
    guest.tracer.on = True
    guest.run(until="do_loop")
    assert functions(guest) == NESTED


def test_on_and_off_in_the_middle(guest):
    guest.run(until="do_inner")
    guest.tracer.current = "function"
    guest.run(until="do_loop")
    guest.tracer.current = "nop"
    guest.run(until="workload_done")
    assert functions(guest) == ["do_inner", "leaf", "leaf"]
    assert guest.workload_status == 0


def test_what_is_hijacked_when_the_tracer_goes_returns(guest):
    guest.tracer.current = "function_graph"
    guest.run(until="do_inner")
    entries = functions(guest)
    guest.tracer.current = "function"
    guest.run(until="do_loop")
    guest.tracer.current = "nop"
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert functions(guest) == [*entries, "do_inner", "leaf", "leaf"]


def test_graph_controls_need_no_sites(guest):
    guest.tracer.graph.set_graph_function("do_nested")
    guest.tracer.graph.set_graph_notrace("do_inner")
    guest.tracer.graph.max_graph_depth = 2
    guest.tracer.current = "function_graph"
    guest.run(until="workload_done")
    events = [(event.name[10:], event.function) for event in outside(guest.tracer.events())]
    assert events == [
        ("entry", "do_nested"),
        ("entry", "do_middle"),
        ("exit", "do_middle"),
        ("entry", "leaf"),
        ("exit", "leaf"),
        ("exit", "do_nested"),
    ]


def test_clear(guest):
    guest.tracer.current = "function"
    guest.run(until="do_nested")
    guest.tracer.clear()
    guest.run(until="do_loop")
    assert functions(guest) == NESTED


def test_there_is_nothing_to_patch_with(guest):
    with pytest.raises(GuestError, match="no symbol ftrace_update_ftrace_func"):
        guest.port.update_ftrace_func("function_trace_call")


@pytest.mark.parametrize("tracer", ["function", "function_graph"])
def test_function_trace_stop(machine, tracer):
    with boot(machine, features=[*FEATURES, "FUNCTION_TRACE_MCOUNT_TEST"]) as guest:
        stop, order = guest.address_of("function_trace_stop"), guest.image.byteorder
        guest.tracer.current = tracer
        guest.debugger.write_memory(stop, (1).to_bytes(4, order))
        guest.run(until="do_nested")
        assert functions(guest) == []
        guest.debugger.write_memory(stop, bytes(4))
        guest.run(until="do_inner")
        guest.debugger.write_memory(stop, (1).to_bytes(4, order))
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        seen = [
            event.function for event in outside(guest.tracer.events()) if "exit" not in event.name
        ]
        assert seen == ["do_nested", "do_middle"]


@pytest.mark.builds
@pytest.mark.parametrize("features", CHOICES, ids=lambda words: "+".join(words) or "function")
def test_every_choice_of_features(machine, features):
    with boot(machine, "returns", features=["FUNCTION_TRACER", *features]) as guest:
        assert ("function_trace_stop" in guest.image.symbols) == (STOP in features)
        graph = "FUNCTION_GRAPH_TRACER" in features
        guest.tracer.current = "function_graph" if graph else "function"
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        assert "leaf" in functions(guest)


@pytest.mark.parametrize("patchable", PATCHABLE)
def test_a_guest_of_patchable_entries_cannot_be_static(patchable):
    with (
        pytest.raises(UsageError, match="patchable-entry needs DYNAMIC_FTRACE"),
        boot(patchable, features=FEATURES),
    ):
        pass
