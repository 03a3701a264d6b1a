# SPDX-License-Identifier: MIT
"""Tracers with an ops and registers, in one slot: their events are those that were executed."""

import pytest

from harness import boot
from harness.config import list_configs, load_config, load_port
from harness.errors import UsageError
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent
from harness.tracer import has_call_ops, literal_of
from harness.tracer.setup import Hooks

ARGS = "DYNAMIC_FTRACE_WITH_ARGS"
CALL_OPS, RETVAL = "DYNAMIC_FTRACE_WITH_CALL_OPS", "FUNCTION_GRAPH_RETVAL"
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
        if has_call_ops(guest.image.symbols):
            return
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


def configs_with(feature):
    """One machine config with such a port is enough."""
    return [name for name in CONFIGS if feature in load_port(load_config(name).port).features][:1]


@pytest.mark.parametrize("machine", configs_with(CALL_OPS))
def test_sites_have_the_ops_of_what_is_on(machine):
    function, graph = "function_trace_call", "trace"
    with boot(machine, workload="calls") as guest:
        leaf, other = (guest.tracer.sites_of(name)[0] for name in ("leaf", "do_loop"))

        def ops(hooks=None):
            return literal_of(guest.image, hooks)

        def found():
            return [guest.debugger.read_memory(site.literal, 8) for site in (leaf, other)]

        assert found() == [ops(), ops()]
        guest.tracer.set_filter("leaf")
        guest.tracer.current = "function"
        assert found() == [ops(Hooks(function)), ops()]
        guest.tracer.current = "function_graph"
        assert found() == [ops(Hooks(graph=graph)), ops()]
        guest.tracer.set_filter()
        guest.tracer.profiler.enabled = False
        assert found() == 2 * [ops(Hooks(graph=graph))]
        guest.tracer.current = "function"
        guest.tracer.profiler.enabled = True
        assert found() == 2 * [ops(Hooks(function, graph))]
        guest.tracer.profiler.enabled = False
        guest.tracer.current = "nop"
        assert found() == [ops(), ops()]


@pytest.mark.parametrize("machine", configs_with(RETVAL))
def test_results_are_those_in_the_registers(machine):
    with boot(machine, workload="calls") as guest:
        abi, debugger = guest.image.isa.abi, guest.debugger
        guest.tracer.set_option("funcgraph-retval")
        guest.tracer.set_filter("do_*", "leaf")
        guest.tracer.current = "function_graph"
        held = []
        while guest.run(until=["return_to_handler", "workload_done"]) is not None:
            if debugger.read_register("pc") == guest.address_of("workload_done"):
                break
            held.append(debugger.read_register(abi.results[0]))
        events = [one for one in guest.tracer.events() if isinstance(one, FuncgraphExitEvent)]
        assert [event.retval for event in events] == held
        assert len(held) > 20
        assert len(set(held)) > 5
        lines = "\n".join(guest.tracer.trace())
        assert f" = {events[0].result} */" in lines
        guest.tracer.set_option("nofuncgraph-retval")
        assert " = " not in "\n".join(guest.tracer.trace())


@pytest.mark.parametrize("machine", CONFIGS[:1])
def test_results_need_a_port_that_hands_them_over(machine):
    with boot(machine, workload="calls") as guest:
        with pytest.raises(UsageError, match="gets no results of functions"):
            guest.tracer.set_option("funcgraph-retval")
        assert not any("retval" in word for word in guest.tracer.trace_options)
