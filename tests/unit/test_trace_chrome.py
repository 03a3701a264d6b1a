# SPDX-License-Identifier: MIT
"""The Chrome view keeps to the Trace Event format, and its slices nest on every track."""

import io
import json
import struct
from collections import defaultdict

import pytest

from graph_files import NESTED, back, call, graph_trace, random_calls
from harness.trace import TraceDatReader, parse_filters, report_chrome
from test_trace_views import hostile_trace
from trace_files import FORMATS, function_trace, trace_file

FORM = ("little", 4)
CPUS, THREADS = 1, 2

NUMBER = (int, float)
# What the Trace Event format wants of each phase that we use.
PHASES = {
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
    "B": {"name": str, "pid": int, "tid": int, "ts": NUMBER},
    "E": {"pid": int, "tid": int, "ts": NUMBER},
    "X": {"name": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER},
    "i": {"name": str, "pid": int, "tid": int, "ts": NUMBER, "s": str},
}


def load(data, *filters):
    """The slices of a trace, after every rule of the format was checked."""
    reader = TraceDatReader(io.BytesIO(data))
    keep = parse_filters(filters, reader.formats.values())
    lines = report_chrome(reader, keep=keep)
    return check(json.loads("\n".join(lines), parse_constant=pytest.fail))


def check(document):
    """The slices of a document that keeps to the format."""
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    assert document["displayTimeUnit"] == "ns"
    for one in document["traceEvents"]:
        for key, kind in PHASES[one["ph"]].items():
            assert isinstance(one[key], kind), one
        assert set(one) <= {*PHASES[one["ph"]], "ph", "args"}
        assert isinstance(one.get("args", {}), dict)
        assert one.get("dur", 0) >= 0
    named = track_names(document["traceEvents"])
    drawn = {(e["pid"], e["tid"]) for e in document["traceEvents"] if e["ph"] != "M"}
    assert drawn <= set(named)
    return document["traceEvents"]


def track_names(slices):
    """The names of all tracks, by group and track."""
    named = [one for one in slices if one["ph"] == "M" and one["name"] == "thread_name"]
    names = {(one["pid"], one["tid"]): one["args"]["name"] for one in named}
    assert len(names) == len(named) == len({one["tid"] for one in named})
    return names


def tracks(slices):
    """Complete calls (start, end, depth, name) by the name of their track, in nanoseconds.

    Times never go back, ends have a beginning, and what lies inside of a call ends before it.
    """
    names = track_names(slices)
    found, stacks, last = defaultdict(list), defaultdict(list), defaultdict(float)
    for one in slices:
        track = one["pid"], one["tid"]
        if one["ph"] in "BE":
            assert one["ts"] >= last[track]
            last[track] = one["ts"]
        if one["ph"] == "B":
            stacks[track].append(one)
        elif one["ph"] == "E":
            begin = stacks[track].pop()
            start, end = round(begin["ts"] * 1000), round(one["ts"] * 1000)
            found[names[track]].append((start, end, len(stacks[track]), begin["name"]))
        elif one["ph"] == "X":
            start = round(one["ts"] * 1000)
            found[names[track]].append((start, start + round(one["dur"] * 1000), -1, one["name"]))
    assert not [stack for stack in stacks.values() if stack]
    for calls in found.values():
        calls.sort(key=lambda call: (call[0], -call[1]))
        inside = []
        for start, end, _, _ in calls:
            while inside and inside[-1] <= start:
                inside.pop()
            assert not inside or end <= inside[-1]
            inside.append(end)
    return dict(found)


@pytest.mark.parametrize("form", FORMATS)
def test_calls_of_one_thread(form):
    slices = load(graph_trace(form, NESTED))
    calls = [
        (5_000_000_000, 5_001_152_700, 0, "start"),
        (5_000_000_500, 5_000_152_500, 1, "do_work"),
        (5_000_001_000, 5_000_001_633, 2, "leaf"),
        (5_000_002_000, 5_000_152_345, 2, "leaf"),
    ]
    assert tracks(slices) == {"CPU 0": calls, "workload-1": calls}
    assert [e["args"] for e in slices if e["ph"] == "E"][-1] == {"duration_ns": 1_152_600}


def test_threads_that_take_turns_on_two_cpus():
    first = [
        call(0, "start", 0),
        call(10, "do_work", 0, pid=2),
        call(20, "leaf", 1),
        back(40, "leaf", 1, 20),
    ]
    second = [back(50, "start", 0, 0), back(60, "do_work", 0, 10, pid=2)]
    data = graph_trace(FORM, first, second, cmdlines={1: "one", 2: "two"})
    assert tracks(load(data)) == {
        "one-1": [(0, 50, 0, "start"), (20, 40, 1, "leaf")],
        "two-2": [(10, 60, 0, "do_work")],
        "CPU 0": [
            (0, 10, 0, "start"),
            (10, 20, 0, "do_work"),
            (20, 50, 0, "start"),
            (20, 40, 1, "leaf"),
        ],
        "CPU 1": [(50, 50, 0, "start"), (60, 60, 0, "do_work")],
    }


def test_idle_threads_are_one_for_each_cpu():
    pair = [call(0, "leaf", 0, pid=0), back(5, "leaf", 0, 0, pid=0)]
    found = tracks(load(graph_trace(FORM, pair, pair)))
    assert set(found) == {"CPU 0", "CPU 1", "<idle>/0", "<idle>/1"}


def test_edges_of_the_trace():
    events = [
        call(100, "leaf", 2),
        back(110, "leaf", 2, 100),
        back(120, "do_work", 1, 50),
        back(150, "start", 0, 10),
        call(160, "start", 0),
        call(170, "leaf", 1),
    ]
    slices = load(graph_trace(FORM, events))
    assert tracks(slices) == {
        "workload-1": [
            (10, 150, -1, "start"),
            (50, 120, -1, "do_work"),
            (100, 110, 0, "leaf"),
            (160, 170, 0, "start"),
            (170, 170, 1, "leaf"),
        ],
        "CPU 0": [
            (100, 150, -1, "start"),
            (100, 120, -1, "do_work"),
            (100, 110, 0, "leaf"),
            (160, 170, 0, "start"),
            (170, 170, 1, "leaf"),
        ],
    }
    unfinished = [e for e in slices if e.get("args") == {"unfinished": True}]
    assert len(unfinished) == 2


def test_losses_and_function_events_are_instants():
    slices = load(graph_trace(FORM, [call(0, "start", 0), 7, back(9, "leaf", 1, 5)]))
    assert [e["name"] for e in slices if e["ph"] == "i"] == ["LOST 7 EVENTS"]
    slices = load(function_trace(FORM, 1, 1))
    instants = [e for e in slices if e["ph"] == "i"]
    assert [(e["name"], e["args"]) for e in instants] == [("start", {"parent": "caller"})] * 4
    assert {e["pid"] for e in instants} == {CPUS, THREADS}


@pytest.mark.parametrize("seed", range(10))
def test_random_calls(seed):
    events, _ = random_calls(seed)
    found = tracks(load(graph_trace(FORM, events)))
    assert found["CPU 0"] == found["workload-1"]
    assert len(found["CPU 0"]) == len(events) // 2


@pytest.mark.parametrize("seed", range(10))
def test_random_calls_with_holes_still_nest(seed):
    events, _ = random_calls(seed)
    holes = [event for index, event in enumerate(events) if (index * 7 + seed) % 5]
    tracks(load(graph_trace(FORM, holes)))


def test_hostile_names():
    load(hostile_trace())


def test_filters_and_nothing():
    assert tracks(load(graph_trace(FORM, NESTED), "function")) == {}
    assert tracks(load(trace_file(FORM, []))) == {}
    found = tracks(load(graph_trace(FORM, NESTED), "funcgraph_*: func == leaf"))
    assert [name for *_, name in found["workload-1"]] == ["leaf", "leaf"]


def switch(stamp, prev, following, *, pid):
    """A sched_switch event: what a CPU leaves and what it goes on with, as (name, pid)."""
    fields = struct.pack(
        "<HBBi16siiI16sii",
        *(32, 1, 0, pid),
        *(prev[0].encode(), prev[1], 120, 0),
        *(following[0].encode(), following[1], 120),
    )
    return stamp, fields


def test_a_switch_ends_the_calls_of_a_cpu_and_begins_those_of_the_next_thread():
    events = [
        call(1000, "start", 0, pid=1),
        switch(2000, ("workload", 1), ("other", 2), pid=1),
        call(2500, "do_work", 0, pid=2),
        switch(3000, ("other", 2), ("workload", 1), pid=2),
        back(4000, "start", 0, 1000, pid=1),
    ]
    slices = load(graph_trace(FORM, events))
    drawn = [
        (one["ph"], one["ts"], one.get("name"))
        for one in slices
        if one["pid"] == CPUS and one["ph"] in "BE"
    ]
    assert drawn == [
        ("B", 1, "start"),
        ("E", 2, None),
        ("B", 2.5, "do_work"),
        ("E", 3, None),
        ("B", 3, "start"),
        ("E", 4, None),
    ]
    assert {"workload-1", "other-2"} <= set(track_names(slices).values())


def test_the_idle_thread_has_a_track_on_each_cpu():
    events = [switch(2000, ("workload", 1), ("swapper/0", 0), pid=1)]
    assert "<idle>/0" in track_names(load(graph_trace(FORM, events))).values()
