# SPDX-License-Identifier: MIT
"""The stack tracer: the deepest stack is where gdb finds it, with the sizes of its frames."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from harness import boot
from harness.config import list_configs, load_config
from harness.errors import UsageError
from harness.tracer import TracerState

WORKLOAD = str(Path(__file__).with_name("workloads") / "dives.c")
DEPTH = 20
END = "__boot_stack_end"
COUNTING = ["FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", "DYNAMIC_FTRACE"]
STATIC = ["FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", "FUNCTION_GRAPH_TRACER"]


def pytest_generate_tests(metafunc):
    if "config" in metafunc.fixturenames:
        every = list_configs()
        static = metafunc.function is test_a_static_guest
        metafunc.parametrize("config", [one for one in every if not static or is_call(one)])


def is_call(config):
    """Whether call sites are calls as built, as a static guest needs them."""
    return load_config(config).build.form != "patchable-entry"


pytestmark = pytest.mark.guest(workload=WORKLOAD)


def stack_pointer(guest):
    return guest.debugger.read_register(guest.image.isa.abi.stack_register) & guest.image.isa.mask


def names(guest):
    return [
        guest.image.symbolize(one.address).partition("+")[0] for one in guest.tracer.stack.trace
    ]


def check_dive(guest):
    """From before the workload to the deepest call, whose depth is what gdb says."""
    guest.run(until="bottom")
    deepest = guest.image.symbols[END] - stack_pointer(guest)
    if not guest.image.isa.abi.return_register:
        # The call has pushed it, and it is no part of the caller's frame.
        deepest -= guest.image.isa.word_size
    guest.debugger.step_instruction()
    guest.run(until="plunge")
    found = guest.tracer.stack.trace
    assert names(guest)[: DEPTH + 2] == ["bottom", *["dive"] * DEPTH, "workload"]
    assert found[1].depth == deepest
    assert found[0].depth == guest.tracer.stack.max_size
    assert all(deeper.depth >= one.depth for deeper, one in pairwise(found))
    # One frame of dive() is like another.
    assert len({a.depth - b.depth for a, b in pairwise(found[1:DEPTH])}) == 1
    assert found[1].depth - found[2].depth > 200


@pytest.mark.parametrize("tracer", ["nop", "function", "function_graph"])
def test_the_deepest_stack(config, guest, tracer):
    guest.tracer.stack.enabled = True
    guest.tracer.current = tracer
    check_dive(guest)
    before = guest.tracer.stack.max_size
    guest.run()
    assert guest.workload_status == 0
    assert names(guest)[:2] == ["bottom", "plunge"]
    assert guest.tracer.stack.max_size > before + 10000


def test_the_size_is_set_and_the_tracer_switched_off(config, guest):
    tracer = guest.tracer
    assert tracer.stack.max_size == 0
    assert tracer.stack.trace == []
    tracer.stack.enabled = True
    tracer.stack.max_size = 10000
    guest.run(until="plunge")
    assert (tracer.stack.max_size, tracer.stack.trace) == (10000, [])
    tracer.stack.max_size = 0
    tracer.stack.enabled = False
    assert tracer.enabled_functions == []
    guest.run()
    assert tracer.stack.max_size == 0


def test_its_own_filter(config, guest):
    tracer = guest.tracer
    tracer.stack.set_filter("dive", "workload")
    assert tracer.stack.filter_functions == tracer.functions_of("dive", "workload")
    tracer.stack.set_filter("!workload", append=True)
    tracer.set_filter("plunge", "bottom")
    tracer.current = "function"
    tracer.stack.enabled = True
    assert set(tracer.enabled_functions) == {"dive", "plunge", "bottom"}
    guest.run()
    assert names(guest)[: DEPTH + 1] == [*["dive"] * DEPTH, "workload"]
    functions = [event.function for event in tracer.events() if event.name == "function"]
    assert functions == ["bottom", "plunge", "bottom"]
    tracer.stack.set_filter()
    assert tracer.stack.filter_functions is None


def test_graph_events_are_those_of_the_filter(config, guest):
    tracer = guest.tracer
    tracer.stack.enabled = True
    tracer.set_filter("dive", "plunge")
    tracer.current = "function_graph"
    guest.run()
    events = [event for event in tracer.events() if event.name.startswith("funcgraph_")]
    assert {event.function for event in events} == {"dive", "plunge"}
    assert len(events) == 2 * (DEPTH + 1)
    assert names(guest)[0] == "bottom"


def test_a_static_guest(config):
    with boot(config, WORKLOAD, features=STATIC) as guest:
        guest.tracer.stack.enabled = True
        check_dive(guest)
        with pytest.raises(UsageError, match="static"):
            guest.tracer.current = "function_graph"
        with pytest.raises(UsageError, match="static"):
            guest.tracer.stack.set_filter("dive")


def test_together_with_everything_else(config, guest):
    """The profiler, triggers and the function tracer each have their own functions."""
    tracer = guest.tracer
    tracer.set_filter("plunge", "bottom", "dive:stacktrace:2")
    tracer.current = "function"
    tracer.profiler.enabled = True
    tracer.stack.set_filter("dive")
    tracer.stack.enabled = True
    before = tracer.state.setup
    tracer.state = TracerState()
    tracer.adopt()
    after = tracer.state.setup
    assert (after.tracer, after.profile, after.stack_tracer) == ("function", before.profile, True)
    assert (after.chosen, after.stack_chosen) == (before.chosen, before.stack_chosen)
    guest.run()
    assert guest.workload_status == 0
    named = {site.ip: site.function for site in guest.image.sites}
    counted = Counter()
    for cpu in range(guest.config.qemu.smp):
        counted.update({named[one.site]: one.calls for one in tracer.profiler.profiles(cpu)})
    assert counted == {"plunge": 1, "bottom": 2}
    assert Counter(event.name for event in tracer.events()) == {"function": 3, "kernel_stack": 2}
    assert names(guest)[0] == "dive"


def test_a_guest_without_the_graph_tracer(config):
    with boot(config, WORKLOAD, features=COUNTING) as guest:
        tracer = guest.tracer
        tracer.profiler.enabled = True
        tracer.stack.enabled = True
        with pytest.raises(UsageError, match="either function or the function profiler"):
            tracer.current = "function"
        check_dive(guest)
        guest.run()
        assert tracer.profiler.profiles(0)[0].time == 0
        assert DEPTH in {one.calls for one in tracer.profiler.profiles(0)}
