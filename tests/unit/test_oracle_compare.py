# SPDX-License-Identifier: MIT
"""Expected events against recorded ones: a difference of any kind is found."""

from dataclasses import replace

import pytest

from harness.oracle import Call, Mark, Return, Window
from harness.oracle.compare import Settings, compare, expect
from harness.trace import FuncgraphEntryEvent, FuncgraphExitEvent, FunctionEvent, Symbols

OUTER, INNER = 0x100, 0x200
CALLS = [Call(0, OUTER, 1, "outer", 0), Call(0, INNER, 2, "inner", 0)]
RETURNS = [Return(0, call.site, call.parent, call.function, 0, late=False) for call in CALLS]
FLOW = [*CALLS, *reversed(RETURNS)]
ENTER, LEAVE = Mark(0, "function_graph_enter", 0, 0), Mark(0, "ftrace_return_to_handler", 0, 0)
MARKED = [CALLS[0], ENTER, CALLS[1], ENTER, LEAVE, RETURNS[1], LEAVE, RETURNS[0]]


def event(kind, cpu=0, **fields):
    return kind(0, cpu, kind.__name__, 1, "", 0, 0, fields, 0, Symbols())


def entry(site, depth, cpu=0):
    return event(FuncgraphEntryEvent, cpu, func=site, depth=depth)


def leave(site, depth, cpu=0):
    return event(FuncgraphExitEvent, cpu, func=site, depth=depth)


GRAPH = [entry(OUTER, 0), entry(INNER, 1), leave(INNER, 1), leave(OUTER, 0)]
FUNCTION = [event(FunctionEvent, ip=call.site, parent_ip=call.parent) for call in CALLS]


@pytest.mark.parametrize(("records", "marked"), [(FLOW, False), (FLOW, True), (MARKED, True)])
def test_events_of_calls_and_returns(records, marked):
    """A call without a mark has an event, which the tracer has to have recorded."""
    assert compare(expect(records, Settings(), marked=marked), GRAPH).same
    function = Settings(graph_tracer=False)
    assert compare(expect(FLOW, function, marked=marked), FUNCTION + GRAPH).same


@pytest.mark.parametrize(
    "events",
    [
        GRAPH[:-1],
        GRAPH[1:],
        [*GRAPH, GRAPH[-1]],
        [GRAPH[0], GRAPH[1], GRAPH[3], GRAPH[2]],
        [GRAPH[0], entry(INNER, 2), *GRAPH[2:]],
        [GRAPH[0], entry(INNER + 4, 1), *GRAPH[2:]],
        [*GRAPH[:3], leave(OUTER, 0, cpu=1)],
    ],
)
def test_differences(events):
    compared = compare(expect(MARKED, Settings()), events)
    assert not compared.same
    shown = compared.shown(hex)
    assert shown["expected"] != shown["found"]


def test_the_first_call_without_an_event():
    model = expect(MARKED, Settings())
    assert compare(model, GRAPH).missing is None
    assert compare(model, GRAPH[2:]).missing is None
    assert compare(model, [GRAPH[0], GRAPH[3]]).missing == CALLS[1]


def test_a_call_in_the_stub_when_the_tracer_is_switched_off():
    records = [CALLS[0], ENTER, CALLS[1], Window(False), replace(RETURNS[1], late=True)]
    model = expect(records, Settings())
    assert compare(model, GRAPH[:1]).same
    assert (model.given_up, model.open) == (1, 1)


def test_the_last_event_of_a_running_cpu_may_be_missing():
    model = expect(MARKED, Settings())
    assert not compare(model, GRAPH[:3]).same
    assert compare(model, GRAPH[:3], running=[0]).same
    assert not compare(model, GRAPH[:2], running=[0]).same


def test_an_interrupt_before_the_mark_is_first():
    call = Call(0, INNER, 2, "inner", 0, level=1)
    back = Return(0, INNER, 2, "inner", 0, late=False, level=1)
    inside = [replace(mark, level=1) for mark in (ENTER, LEAVE)]
    records = [CALLS[0], call, inside[0], inside[1], back, ENTER, LEAVE, RETURNS[0]]
    found = [entry(INNER, 0), leave(INNER, 0), entry(OUTER, 0), leave(OUTER, 0)]
    assert compare(expect(records, Settings()), found).same
