# SPDX-License-Identifier: MIT
"""function_graph against the oracle: every call and every return, in order, with their depth.

One comparison checks all but the times (harness/oracle/compare.py), which are checked here.
"""

from collections import Counter

import pytest

from harness.oracle.compare import MAX_DEPTH, Settings
from support.interrupts import outside

GRAPH = Settings()
PROGRAMS = ["calls", "returns", "sort"]


def events(watched):
    return list(watched.guest.tracer.events())


def check(watched, settings=GRAPH):
    """The trace is as the oracle expects; returns its events."""
    found, _ = watched.check_graph(settings)
    return found


def of_workload(events):
    """The events of its thread: with ticks another CPU may be in a handler."""
    return [event for event in events if event.pid == 1]


@pytest.mark.parametrize("workload", PROGRAMS)
def test_every_call_and_return_of_a_workload(watch, workload):
    with watch(workload) as watched:
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        assert watched.guest.workload_status == 0
        assert len(check(watched)) > 60


def test_calls_that_are_too_deep_are_left_alone_and_counted(watch):
    with watch("returns") as watched:
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        found, model = watched.check_graph()
        entries = [event for event in found if event.name == "funcgraph_entry"]
        assert max(event.depth for event in entries) == MAX_DEPTH - 1
        assert of_workload(found)[-1].overrun == model.too_deep > 0
        assert len(entries) == len(watched.oracle.records()) - model.too_deep - model.coming


def test_what_longjmp_leaves_never_returns_and_all_else_does(watch):
    with watch("jumps") as watched:
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        assert watched.guest.workload_status == 0
        found, model = watched.check_graph()
        # Of each way to a jump all entries are there; what has an exit beside them lies below it.
        entries, exits = (
            Counter(
                event.function for event in of_workload(found) if event.name == f"funcgraph_{kind}"
            )
            for kind in ("entry", "exit")
        )
        assert entries - exits == Counter(
            second=8, third=8, throw_outer=4, throw_inner=4, first=4, catch_inner=4
        )
        assert model.left == 32
        assert places_taken(watched.guest) == 0


@pytest.mark.parametrize("workload", ["recursion", "flow"])
def test_jumps_and_tail_calls_on_both_sides_of_the_limit(watch, workload):
    with watch(workload) as watched:
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        assert watched.guest.workload_status == 0
        found, model = watched.check_graph()
        entries = sum(event.name == "funcgraph_entry" for event in found)
        calls = len(watched.oracle.records())
        assert entries == calls - model.too_deep - model.coming
        assert len(found) - entries == entries - model.left - model.open
        assert of_workload(found)[-1].overrun == model.too_deep > 100
        assert model.left > 10
        assert model.given_up == 0
        assert places_taken(watched.guest) == 0


def places_taken(guest):
    """The used entries of the ret_stack of the workload's thread."""
    (thread,) = [thread for thread in guest.threads() if thread.pid == 1]
    return thread.curr_ret_stack + 1


@pytest.mark.parametrize("globs", [["do_*", "leaf"], ["*_second"], ["do_middle", "workload"]])
def test_through_a_filter(watch, globs):
    with watch("calls") as watched:
        tracer = watched.guest.tracer
        watched.switch("function_graph", *globs)
        watched.guest.run(until="workload_done")
        found = check(watched, Settings(filter=frozenset(tracer.enabled_functions)))
        assert {event.function for event in found} == set(tracer.enabled_functions) & {
            call.function for call in watched.oracle.records()
        }


@pytest.mark.parametrize(
    ("functions", "notrace", "depth"),
    [
        (["do_nested"], [], 0),
        (["do_nested", "do_tail", "leaf"], [], 0),
        ([], ["do_nested"], 0),
        ([], ["do_middle", "do_recursion", "tail_first"], 0),
        (["do_nested"], ["do_inner"], 0),
        (["do_inner"], ["do_middle"], 0),
        ([], [], 1),
        ([], [], 3),
        (["do_nested"], [], 2),
        ([], ["do_middle"], 2),
    ],
)
def test_graph_controls(watch, functions, notrace, depth):
    with watch("calls") as watched:
        graph = watched.guest.tracer.graph
        graph.set_graph_function(*functions)
        graph.set_graph_notrace(*notrace)
        graph.max_graph_depth = depth
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        settings = Settings(
            graph=frozenset(functions) or None,
            graph_notrace=frozenset(notrace),
            max_depth=depth or MAX_DEPTH,
        )
        assert watched.guest.workload_status == 0
        check(watched, settings)


def test_tracing_thresh_leaves_only_the_ends_of_what_took_long(watch):
    with watch("slow", deterministic=True) as watched:
        watched.guest.tracer.graph.tracing_thresh = 50
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        found = events(watched)
        assert {event.name for event in found} == {"funcgraph_exit"}
        # Under ticks their handler may take long, too.
        own = [event for event in found if event.function in ("slow", "outer", "workload")]
        names = [(event.function, event.depth) for event in own]
        assert names[:3] == [("slow", 2), ("outer", 1), ("workload", 0)]
        assert all(event.duration >= 50_000 for event in found)


def test_a_threshold_that_nothing_reaches(watch):
    with watch("slow") as watched:
        watched.guest.tracer.graph.tracing_thresh = 1_000_000_000
        watched.switch("function_graph")
        watched.guest.run(until="workload_done")
        assert events(watched) == []
        assert watched.guest.workload_status == 0


def test_switched_on_and_off_in_the_middle(watch):
    """Functions that are hijacked when the tracer is switched off return, without events."""
    with watch("calls") as watched:
        guest = watched.guest
        guest.run(until="do_nested")
        watched.switch("function_graph")
        guest.run(until="do_inner")
        watched.switch("nop")
        guest.run(until="do_loop")
        watched.switch("function_graph")
        guest.run(until="tail_second")
        watched.switch("nop")
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        found = check_flow(watched)
        assert [name for name, _ in found[:2]] == ["do_nested", "do_middle"]
        assert found[2] == ("do_loop", 0)


def check_flow(watched):
    return [(event.function, event.depth) for event in outside(check(watched))]


def test_switched_on_again_below_what_is_still_hijacked(watch):
    """The entries of hijacked frames stay used: new ones are deeper."""
    with watch("calls") as watched:
        guest = watched.guest
        watched.switch("function_graph")
        guest.run(until="do_middle")
        watched.switch("nop")
        guest.run(until="do_inner")
        watched.switch("function_graph")
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        assert ("do_inner", 2) in check_flow(watched)


def test_switched_on_again_while_a_call_finds_no_tracer(watch):
    """The call's own test of the tracer decides: a later event would be in a wrong place."""
    with watch("calls") as watched:
        guest = watched.guest
        guest.run(until="do_nested")
        watched.switch("function_graph")
        guest.run(until="function_graph_enter")
        watched.switch("nop")
        guest.run(until="call_graph_entry")
        watched.switch("function_graph")
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        _, model = watched.check_graph()
        assert model.given_up == 1


@pytest.mark.parametrize(
    "tracers", [("function", "function_graph"), ("function_graph", "function")]
)
def test_from_one_tracer_to_the_other(watch, tracers):
    with watch("calls") as watched:
        guest, (first, second) = watched.guest, tracers
        guest.tracer.current = first
        guest.run(until="do_inner")
        guest.tracer.current = second
        # What a CPU was writing has been finished.
        seen = len(events(watched))
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        kinds = {"function": {"function"}, "function_graph": {"funcgraph_entry", "funcgraph_exit"}}
        found = events(watched)
        assert {event.name for event in found[:seen]} <= kinds[first]
        assert {event.name for event in found[seen:]} <= kinds[second]
        assert 0 < seen < len(found)
