# SPDX-License-Identifier: MIT
"""trace_options that change what a live guest records."""

from itertools import pairwise
from pathlib import Path

import pytest

from harness.errors import UsageError

WORKLOAD = str(Path(__file__).with_name("workloads") / "plain.c")

HARDIRQ = 8

pytestmark = pytest.mark.guest(workload=WORKLOAD)


def recorded(guest):
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    return list(guest.tracer.events())


def test_a_stack_behind_every_function(config, guest):
    guest.tracer.set_filter("leaf", "middle")
    guest.tracer.set_option("func_stack_trace")
    guest.tracer.current = "function"
    events = [event for event in recorded(guest) if event.name in ("function", "kernel_stack")]
    assert len(events) == 2 * 9
    for function, stack in zip(events[::2], events[1::2], strict=True):
        assert (function.name, stack.name) == ("function", "kernel_stack")
        assert stack.functions[:2] == (function.function, function.parent)


def test_a_stack_behind_every_event(config, guest):
    guest.tracer.set_option("stacktrace")
    for event, following in pairwise(recorded(guest)):
        if event.name == "print":
            assert following.name == "kernel_stack"
            assert following.functions[0] == "speak"


def test_options_can_be_switched_off_again(config, guest):
    assert "nostacktrace" in guest.tracer.trace_options
    guest.tracer.set_option("stacktrace", "func_stack_trace")
    assert {"stacktrace", "func_stack_trace"} <= set(guest.tracer.trace_options)
    guest.tracer.set_option("nostacktrace", "nofunc_stack_trace")
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function"
    assert {event.name for event in recorded(guest)} == {"function", "print"}


def test_the_trace_is_shown_with_the_options(config, guest):
    guest.tracer.set_option("funcgraph-proc", "funcgraph-tail")
    guest.tracer.set_filter("leaf", "middle")
    guest.tracer.current = "function_graph"
    recorded(guest)
    lines = list(guest.tracer.trace())
    assert "TASK/PID" in lines[2]
    assert any(line.endswith("} /* middle */") and "workloa-1" in line for line in lines)


@pytest.mark.guest(config="mips-malta", workload=WORKLOAD)
def test_wrong_options_are_refused(guest):
    with pytest.raises(UsageError, match="'stacktrac' is not an option"):
        guest.tracer.set_option("stacktrac")


@pytest.mark.guest(config="mips-malta", workload=WORKLOAD)
def test_arguments_need_tracers_that_get_them(guest):
    with pytest.raises(UsageError, match="get no arguments of functions"):
        guest.tracer.set_option("func-args")
    assert not any("func-args" in word for word in guest.tracer.trace_options)


TICKS = str(Path(WORKLOAD).with_name("ticks.c"))


@pytest.mark.guest(workload=TICKS, tick=1000)
def test_interrupts_are_marked(config, guest):
    guest.tracer.current = "function_graph"
    assert any(event.flags & HARDIRQ for event in recorded(guest))
    assert any("==========>" in line for line in guest.tracer.trace())


@pytest.mark.guest(workload=TICKS, tick=1000)
def test_the_graph_tracer_can_leave_interrupts_out(config, guest):
    guest.tracer.set_option("nofuncgraph-irqs")
    guest.tracer.current = "function_graph"
    assert not any(event.flags & HARDIRQ for event in recorded(guest))
    lines = list(guest.tracer.trace())
    assert not any("==========>" in line for line in lines)
    assert sum("leaf()" in line for line in lines) == 20
