# SPDX-License-Identifier: MIT
"""Traced events against the oracle: the same functions, in the same order, from the same callers.

The window of the oracle opens and closes where the tracer is switched on and off, so the two lists
must be equal: no event is missing, none is extra.
"""

import fnmatch

import pytest

pytestmark = pytest.mark.every_config

PROGRAMS = ["calls", "flow", "interpreter", "lz", "sha256", "sort"]


def names(watched):
    """The functions that were called, except by interrupts."""
    return [call.function for call in watched.oracle.records() if call.level == 0]


@pytest.mark.parametrize("workload", PROGRAMS)
def test_every_event_of_a_workload(request, watch, workload):
    with watch(workload) as watched:
        watched.switch("function")
        watched.guest.run(until="workload_done")
        assert len(watched.check_function()) > 30
        assert watched.guest.workload_status == 0


@pytest.mark.parametrize("globs", [["do_*", "leaf"], ["*_second"], ["lea?"], ["*e*c*"]])
def test_every_event_through_a_filter(watch, globs):
    with watch("calls") as watched:
        watched.switch("function", *globs)
        watched.guest.run(until="workload_done")
        functions = {call.function for call in watched.oracle.records()}
        wanted = {
            name for name in functions if any(fnmatch.fnmatchcase(name, glob) for glob in globs)
        }
        assert wanted
        assert watched.check_function(wanted)


def test_switched_on_and_off_in_the_middle(watch):
    with watch("calls") as watched:
        guest = watched.guest
        guest.run(until="do_inner")
        watched.switch("function")
        guest.run(until="do_recursion")
        watched.switch("nop")
        assert names(watched) == ["do_inner", "leaf", "leaf", "do_loop", "leaf", "leaf", "leaf"]
        watched.check_function()
        guest.run(until="tail_second")
        watched.switch("function")
        guest.run(until="workload_done")
        assert "do_even" not in names(watched)
        watched.check_function()


def test_a_filter_that_changes_on_the_way(watch):
    with watch("calls") as watched:
        guest = watched.guest
        watched.switch("function", "leaf")
        guest.run(until="do_recursion")
        first = [(c.site, c.parent) for c in watched.oracle.records() if c.function == "leaf"]
        watched.oracle.reset()
        guest.tracer.set_filter("do_recursion")
        guest.run(until="workload_done")
        second = [
            (c.site, c.parent) for c in watched.oracle.records() if c.function == "do_recursion"
        ]
        assert (len(first), len(second)) == (6, 5)
        assert watched.traced == first + second


def test_switched_on_anywhere(watch):
    """At arbitrary moments: between the words of a site, before one, after one."""
    with watch("forever") as watched:
        for _ in range(5):
            watched.go_on("nested")
            watched.switch("function")
            watched.guest.run(until="round_begins")
            watched.switch("nop")
        assert len(watched.check_function()) > 100


def test_switched_off_anywhere(watch):
    """An event that is being written is recorded or given up; nothing else may differ.  Without
    ticks: a handler would run to its end after the window is closed.
    """
    with watch("forever", tick=0) as watched:
        expected = []
        for _ in range(5):
            watched.guest.run(until="round_begins")
            watched.oracle.reset()
            watched.switch("function")
            watched.go_on("round_begins")
            watched.switch("nop")
            watched.guest.run(until="round_begins")
            expected += watched.executed
            traced = watched.traced
            assert traced in (expected, expected[:-1])
            expected = traced
        assert len(expected) > 100
