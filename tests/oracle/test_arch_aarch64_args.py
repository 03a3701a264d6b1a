# SPDX-License-Identifier: MIT
"""Tracers with an ops and registers, in one slot: their events are those that were executed."""

import pytest

from harness.trace import FuncgraphEntryEvent, FunctionEvent

CONFIGS = ["aarch64-virt-args", "aarch64-virt-regs"]


def pytest_generate_tests(metafunc):
    """These machine configs alone."""
    if "config" in metafunc.fixturenames:
        metafunc.parametrize("config", CONFIGS)


@pytest.mark.parametrize("workload", ["calls", "flow", "interpreter", "threads"])
def test_every_function_event(watch, workload):
    with watch(workload) as watched:
        watched.switch("function")
        watched.guest.run(until="workload_done")
        assert len(watched.check_function()) > 30
        assert watched.guest.workload_status == 0


@pytest.mark.parametrize("workload", ["calls", "flow", "recursion", "threads"])
def test_every_graph_event(watch, workload):
    with watch(workload) as watched:
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        events, _ = watched.check_graph()
        assert len(events) > 30
        assert watched.guest.workload_status == 0


def test_record_event_and_filter_name_a_site_by_its_second_word(watch):
    with watch("calls") as watched:
        guest = watched.guest
        site = next(site for site in guest.image.sites if site.function == "leaf")
        assert site.ip == site.address + 4 == guest.image.isa.sites.call_address(site)
        _, records = guest.port.records()
        assert site.ip in records
        assert site.address not in records
        guest.tracer.graph.set_graph_function("leaf")
        guest.tracer.set_filter("do_loop:traceoff")
        guest.tracer.current = "function_graph"
        guest.run(until="workload_done")
        entered = [e for e in guest.tracer.events() if isinstance(e, FuncgraphEntryEvent)]
        assert {event.func for event in entered} == {site.ip}
        assert len(entered) == 3


def test_function_tracer_and_profiler_share_the_slot(watch):
    with watch("calls") as watched:
        guest = watched.guest
        guest.tracer.profiler.enabled = True
        watched.switch("function")
        guest.run(until="workload_done")
        watched.switch("nop")
        events = [event for event in guest.tracer.events() if isinstance(event, FunctionEvent)]
        counted = {one.site: one.calls for one in guest.tracer.profiler.profiles(0)}
        assert len(events) == sum(counted.values())
        assert {event.ip for event in events} == set(counted)
        code = guest.debugger.read_memory(guest.address_of("ftrace_call"), 4)
        slot = guest.address_of("ftrace_call")
        assert guest.image.isa.sites.call_target(slot, code) == guest.address_of(
            "ftrace_graph_func"
        )
        guest.tracer.profiler.enabled = False
        code = guest.debugger.read_memory(slot, 4)
        assert code == guest.image.isa.sites.nop
