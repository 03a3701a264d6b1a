# SPDX-License-Identifier: MIT
"""function_graph in live guests: registers at returns, errors of the port, refused requests."""

import re

import pytest

from harness import boot
from harness.config import load_config, load_port
from harness.errors import GuestDied, UsageError
from support.interrupts import outside

pytestmark = [pytest.mark.guest(workload="calls"), pytest.mark.every_config]

FEATURES = ["FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", "DYNAMIC_FTRACE"]
OPTIONS = ["FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"]

JUNK = 0x5A5A5A5A


def traced(guest):
    return [(event.name, event.function) for event in outside(guest.tracer.events())]


def text(guest):
    where = guest.image.text
    return guest.debugger.dump_memory(where.start, len(where))


def test_what_is_hijacked_when_the_tracer_goes_returns(config, guest):
    before = text(guest)
    guest.tracer.current = "function_graph"
    guest.run(until="do_inner")
    entries = traced(guest)
    guest.tracer.current = "nop"
    assert text(guest) == before
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert [name for _, name in entries[-2:]] == ["do_nested", "do_middle"]
    assert traced(guest) == entries


@pytest.mark.guest(workload="returns")
def test_results_survive_a_handler_that_uses_every_register(config, guest):
    """The guest's own handler does not use floating point; another one may."""
    guest.tracer.set_filter("return_*")
    guest.tracer.current = "function_graph"
    handler = guest.address_of("ftrace_return_to_handler")
    done = guest.address_of("workload_done")
    debugger, isa = guest.debugger, guest.image.isa
    for address in (handler, done):
        debugger.breakpoints.insert(address)
    # What results are returned in, but for the handler's own argument.
    general = [name for name in isa.abi.results if name != isa.abi.argument_registers[0]]
    junk = {register: JUNK + number for number, register in enumerate(general)}
    floats = {
        part: constant
        for number, register in enumerate(isa.abi.float_results)
        for part, constant in isa.abi.float_parts(register, number).items()
    }
    handled = 0
    while True:
        debugger.resume()
        assert debugger.wait_stop(30) is not None
        if debugger.read_register(isa.abi.pc_register) & isa.mask == done:
            break
        debugger.write_registers(junk | floats)
        handled += 1
    assert handled == len(guest.tracer.enabled_functions)
    assert guest.workload_status == 0


def test_a_wrong_frame_pointer_stops_the_guest(config, guest):
    guest.tracer.set_filter("do_inner")
    guest.tracer.current = "function_graph"
    guest.run(until="ftrace_return_to_handler")
    argument = guest.image.isa.abi.argument_registers[0]
    given = guest.debugger.read_register(argument) & guest.image.isa.mask
    if "FUNCTION_GRAPH_RETVAL" in load_port(load_config(config).port).features:
        registers = guest.image.structures.struct("ftrace_regs")
        (name,) = {"fp", "s0"} & registers.members.keys()
        place = given + registers.member(name).offset
        order = guest.image.byteorder
        right = int.from_bytes(guest.debugger.read_memory(place, 8), order)
        guest.debugger.write_memory(place, (right + 16).to_bytes(8, order))
    else:
        right = given
        guest.debugger.write_register(argument, right + 16)
    with pytest.raises(GuestDied) as caught:
        guest.run(until="workload_done")
    report = re.search(r"Bad frame pointer: expected (\w+), received (\w+)", caught.value.evidence)
    assert [int(number, 16) for number in report.groups()] == [right, right + 16]


def test_tracing_on_stops_recording_and_every_function_returns(config, guest):
    guest.tracer.current = "function_graph"
    guest.run(until="do_inner")
    before = traced(guest)
    guest.tracer.on = False
    guest.run(until="do_loop")
    assert traced(guest) == before
    guest.tracer.on = True
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert traced(guest)[len(before)] == ("funcgraph_entry", "do_loop")


def test_the_controls_keep_what_they_are_given(config, guest):
    graph = guest.tracer.graph
    assert (graph.max_graph_depth, graph.tracing_thresh) == (0, 0)
    graph.max_graph_depth, graph.tracing_thresh = 7, 1234
    graph.set_graph_function("do_*")
    graph.set_graph_notrace("leaf")
    assert (graph.max_graph_depth, graph.tracing_thresh) == (7, 1234)
    graph.set_graph_function()
    graph.set_graph_notrace()
    graph.max_graph_depth = graph.tracing_thresh = 0
    guest.tracer.current = "function_graph"
    guest.run(until="workload_done")
    assert ("funcgraph_entry", "leaf") in traced(guest)


@pytest.mark.guest(config="mips-malta", workload="calls")
def test_wrong_values_are_refused(guest):
    graph = guest.tracer.graph
    with pytest.raises(UsageError, match="depth of -1"):
        graph.max_graph_depth = -1
    with pytest.raises(UsageError, match="threshold of -1 us"):
        graph.tracing_thresh = -1
    with pytest.raises(UsageError, match="no traceable function matches 'laef'"):
        graph.set_graph_function("laef")
    assert (graph.max_graph_depth, graph.tracing_thresh) == (0, 0)


def test_a_guest_without_it_says_so(config):
    with boot(config, features=FEATURES) as guest:
        assert guest.tracer.available_tracers == ["nop", "function", "irqsoff"]
        with pytest.raises(UsageError, match="no tracer 'function_graph'"):
            guest.tracer.current = "function_graph"
        with pytest.raises(UsageError, match="no function_graph tracer"):
            _ = guest.tracer.graph
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        assert ("function", "leaf") in traced(guest)


@pytest.mark.builds
@pytest.mark.parametrize(
    "more",
    [[], ["FUNCTION_GRAPH_FP_TEST"], ["FUNCTION_GRAPH_RET_ADDR_PTR"], OPTIONS],
    ids=["plain", "fp-test", "ret-addr-ptr", "both"],
)
def test_every_choice_of_features(config, more):
    features = [*FEATURES, "FUNCTION_GRAPH_TRACER", *more]
    with boot(config, "returns", features=features) as guest:
        guest.tracer.current = "function_graph"
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        assert ("funcgraph_exit", "leaf") in traced(guest)
