# SPDX-License-Identifier: MIT
"""The sums of a trace against the events that were put into it."""

import io
import json

import pytest

from graph_files import NESTED, back, call, graph_trace
from harness.cli.report import VIEWS as OFFERED
from harness.report import VIEWS
from harness.trace import (
    CpuStatistics,
    TraceDatReader,
    stat_json,
    stat_text,
    trace_statistics,
)
from trace_files import FORMATS, function_trace

FORM = FORMATS[0]


def sums_of(data):
    return trace_statistics(TraceDatReader(io.BytesIO(data)))


@pytest.mark.parametrize("form", FORMATS)
def test_the_sums_agree_with_the_events(form):
    data = function_trace(form, 300, 20)
    events = list(TraceDatReader(io.BytesIO(data)).events())
    sums = sums_of(data)
    assert sums.events == len(events) == sum(t.calls for t in sums.functions.values())
    assert sums.span == events[-1].stamp - events[0].stamp
    assert {n: c.events for n, c in sums.cpus.items()} == {0: 300, 1: 20}
    assert sums.kinds == {"function": len(events)}
    assert sum(sums.tasks.values()) == len(events)


def test_a_call_takes_its_own_time_and_that_of_what_it_calls():
    steps = [call(100, "start", 0), call(150, "leaf", 1)]
    steps += [back(180, "leaf", 1, 150), back(300, "start", 0, 100)]
    sums = sums_of(graph_trace(FORM, steps))
    outer, inner = sums.functions["start"], sums.functions["leaf"]
    assert (outer.calls, outer.total, outer.own) == (1, 200, 170)
    assert (inner.calls, inner.total, inner.own) == (1, 30, 30)
    assert [name for name, _ in sums.hottest()] == ["start", "leaf"]


def test_a_recursive_call_takes_the_time_of_the_outermost():
    steps = [call(100, "leaf", 0), call(120, "start", 1), call(130, "leaf", 2)]
    steps += [call(140, "leaf", 3), back(150, "leaf", 3, 140), back(170, "leaf", 2, 130)]
    steps += [back(180, "start", 1, 120), back(200, "leaf", 0, 100)]
    sums = sums_of(graph_trace(FORM, steps))
    leaf, start = sums.functions["leaf"], sums.functions["start"]
    assert (leaf.calls, leaf.total, leaf.own) == (3, 100, 80)
    assert (start.calls, start.total, start.own) == (1, 60, 20)


def test_recursive_calls_in_one_without_an_exit_count_once():
    steps = [call(100, "leaf", 0), call(120, "leaf", 1), call(130, "leaf", 2)]
    steps += [back(170, "leaf", 2, 130), back(200, "leaf", 0, 100)]
    assert sums_of(graph_trace(FORM, steps)).functions["leaf"].total == 100


def test_a_call_without_an_entry_may_be_the_outermost_of_recursive_calls():
    steps = [call(100, "leaf", 2), back(200, "leaf", 2, 100), back(250, "start", 1, 90)]
    steps += [back(300, "leaf", 0, 50)]
    sums = sums_of(graph_trace(FORM, steps))
    assert (sums.functions["leaf"].calls, sums.functions["leaf"].total) == (2, 250)


def test_an_exit_alone_counts_as_a_call():
    sums = sums_of(graph_trace(FORM, [back(300, "leaf", 0, 100)]))
    assert (sums.functions["leaf"].calls, sums.functions["leaf"].total) == (1, 200)


def test_the_page_and_the_json_say_the_same():
    sums = sums_of(graph_trace(FORM, NESTED))
    text = "\n".join(stat_text(sums))
    document = json.loads(stat_json(sums))
    assert document["events"] == sums.events
    for function in document["functions"]:
        assert function["function"] in text


@pytest.mark.parametrize("disabled", [True, False])
def test_a_buffer_that_was_off_is_told(disabled):
    counted = [CpuStatistics(3), CpuStatistics(2, disabled=disabled)]
    sums = sums_of(function_trace(FORM, 3, 2, statistics=counted))
    said = "record_disabled was set on CPU 1: nothing was counted then"
    assert (said in list(stat_text(sums))) is disabled
    assert [cpu["disabled"] for cpu in json.loads(stat_json(sums))["cpus"]] == [False, disabled]


def test_the_command_offers_every_view():
    assert OFFERED == VIEWS
