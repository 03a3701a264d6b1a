# SPDX-License-Identifier: MIT
"""The oracle's instruction counts, against known code and against single steps.

Without ticks: their handler does not always execute the same.
"""

from itertools import pairwise

import pytest

STEPS = 600


def distances(calls):
    """Instructions from each call to the next one."""
    stamps = [call.instructions for call in calls]
    return [after - before for before, after in pairwise(stamps)]


def test_stretches_differ_by_their_length(watch):
    with watch("nops", tick=0) as watched:
        watched.oracle.window(True)
        watched.guest.run(until="workload_done")
        marks = [call for call in watched.oracle.records() if call.function == "mark"]
        assert len(marks) == 10
        for one, thousand, twelve_thousand, _ in (distances(marks[:5]), distances(marks[5:])):
            assert thousand - one == 1000
            assert twelve_thousand - one == 12000


def test_total_is_the_sum_of_the_parts(watch):
    with watch("calls", tick=0) as watched:
        watched.oracle.window(True)
        watched.guest.run(until="leaf")
        first = watched.oracle.instructions
        assert first > 0
        watched.guest.run(until="workload_done")
        assert watched.oracle.instructions > first
        assert watched.oracle.records()[-1].instructions < watched.oracle.instructions


@pytest.mark.one_cpu
def test_counting_guest_time_changes_nothing(watch):
    """-icount ends translation blocks at other places."""
    runs = []
    for deterministic in (False, True, True):
        with watch("calls", deterministic=deterministic, tick=0) as watched:
            watched.oracle.window(True)
            watched.guest.run(until="workload_done")
            runs.append((watched.oracle.records(), watched.oracle.instructions))
    assert runs[0] == runs[1] == runs[2]


@pytest.mark.one_cpu
def test_single_steps_change_nothing(watch):
    """A step may end between a branch and its delay slot; no call or count may get lost."""
    with watch("calls", tick=0) as watched:
        watched.oracle.window(True)
        watched.guest.run(until="workload_done")
        expected, total = watched.oracle.records(), watched.oracle.instructions
    with watch("calls", tick=0) as watched:
        watched.oracle.window(True)
        for step in range(STEPS):
            watched.guest.debugger.step_instruction()
            if step < 10:
                assert watched.oracle.instructions == step + 1
        assert len(watched.oracle.records()) > 10
        watched.guest.run(until="workload_done")
        assert watched.oracle.records() == expected
        assert watched.oracle.instructions == total
