# SPDX-License-Identifier: MIT
"""Tracers with an ops and registers, in one slot: their events are those that were executed."""

import pytest

from harness.config import list_configs, load_config, load_port
from harness.errors import UsageError
from harness.trace import FuncgraphEntryEvent, FunctionEvent

ARGS = "DYNAMIC_FTRACE_WITH_ARGS"
CONFIGS = [name for name in list_configs() if ARGS in load_port(load_config(name).port).features]
"""Machine configs with such tracers."""


def pytest_generate_tests(metafunc):
    """These machine configs."""
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


def test_record_event_and_filter_name_a_site_by_the_same_word(watch):
    with watch("calls") as watched:
        guest = watched.guest
        site = next(site for site in guest.image.sites if site.function == "leaf")
        changing = guest.image.read(guest.address_of("mcount_insn_size"), 4)
        assert site.ip == site.address + 8 - int.from_bytes(changing, guest.image.byteorder)
        _, records = guest.port.records()
        assert set(records) & {site.address, site.ip} == {site.ip}
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


def test_arguments_are_those_in_the_registers(watch):
    with watch("calls") as watched:
        guest = watched.guest
        guest.tracer.set_option("func-args")
        assert "func-args" in guest.tracer.trace_options
        watched.switch("function")
        held = []
        for function in ("do_nested", "do_inner", "do_recursion", "do_even"):
            guest.run(until=function)
            registers = guest.debugger.registers()
            names = guest.image.isa.abi.argument_registers[:6]
            held.append((function, tuple(registers[name] for name in names)))
        guest.run(until="workload_done")
        events = watched.check_function()
        found = {}
        for event in events:
            found.setdefault(event.function, event.arguments)
        assert [(function, found[function]) for function, _ in held] == held
        every = [event.arguments[0] for event in events if event.function == "do_recursion"]
        assert every == [4, 3, 2, 1, 0]
        line = next(line for line in guest.tracer.trace() if " do_recursion(" in line)
        assert f"do_recursion({', '.join(map(hex, found['do_recursion']))}) <-workload" in line


def test_arguments_are_left_out_again(watch):
    with watch("calls") as watched:
        tracer = watched.guest.tracer
        with pytest.raises(UsageError, match="either stacks or arguments"):
            tracer.set_option("func-args", "func_stack_trace")
        tracer.set_option("func-args")
        tracer.current = "function"
        watched.guest.run(until="do_loop")
        tracer.set_option("nofunc-args")
        watched.guest.run(until="workload_done")
        arguments = [len(event.arguments) for event in tracer.events()]
        assert set(arguments) == {0, 6}
        assert arguments == sorted(arguments, reverse=True)
        tracer.clear()
        assert "args[]" not in str(tracer.formats)
