# SPDX-License-Identifier: MIT
"""The views for programs: JSON, CSV, folded stacks."""

import csv
import io
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graph_files import NESTED, back, call, graph_pages, graph_trace, random_calls
from harness.errors import FormatError
from harness.ring import PageFormat, mark_lost
from harness.trace import (
    CpuStatistics,
    TraceDatReader,
    parse_filters,
    report_chrome,
    report_csv,
    report_flame,
    report_graph,
    report_json,
    report_text,
)
from harness.trace.views import flame
from ring_encoder import function_pages
from trace_files import FORMATS, address, calls, function_trace, trace_file

FORM = ("big", 4)
VIEWS = [report_text, report_graph, report_json, report_csv, report_flame, report_chrome]


def read(data):
    return TraceDatReader(io.BytesIO(data))


def lines(view, data, *filters):
    reader = read(data)
    return list(view(reader, keep=parse_filters(filters, reader.formats.values())))


def as_json(data, *filters):
    return json.loads("\n".join(lines(report_json, data, *filters)))


def as_rows(data, *filters):
    text = io.StringIO("\n".join(lines(report_csv, data, *filters)) + "\n", newline="")
    return list(csv.DictReader(text))


def lossy(form):
    """Three function events, seven and then an unknown number of events lost before two of them."""
    pages = [function_pages(*form, [event]) for event in calls(form[1], 3)]
    for index, lost in ((1, 7), (2, -1)):
        pages[index] = mark_lost(pages[index], PageFormat(*form), lost)
    return b"".join(pages)


def test_a_json_document():
    statistics = [CpuStatistics(3, 7, 1, 0)]
    data = trace_file(FORM, [lossy(FORM)], machine="a guest", statistics=statistics)
    document = as_json(data)
    events = document.pop("events")
    assert document == {
        "format": "ftrace-harness-trace",
        "version": 1,
        "tracer": "function",
        "clock": "local",
        "machine": "a guest",
        "cpus": 1,
        "statistics": [{"read": 3, "overrun": 7, "dropped": 1, "left": 0}],
    }
    assert events[1] == {
        "time": 5_000_001_000,
        "cpu": 0,
        "pid": 1,
        "comm": "workload",
        "flags": 0,
        "preempt_count": 0,
        "lost": 7,
        "event": "function",
        "fields": {"ip": "0x80100104", "parent_ip": "0x80100324"},
        "symbols": {"ip": "do_work", "parent_ip": "caller"},
        "number": 1,
    }
    assert [event["lost"] for event in events] == [0, 7, None]


@pytest.mark.parametrize("form", FORMATS)
def test_graph_events_in_json(form):
    entry, *_, last = as_json(graph_trace(form, NESTED))["events"]
    func = f"{address('start', form[1]):#x}"
    assert (entry["event"], entry["fields"]) == ("funcgraph_entry", {"func": func, "depth": 0})
    assert "duration" not in entry
    assert (last["event"], last["symbols"]) == ("funcgraph_exit", {"func": "start"})
    assert (last["duration"], last["fields"]["rettime"]) == (1_152_600, 5_001_152_700)


def test_json_has_one_event_a_line():
    shown = lines(report_json, graph_trace(FORM, NESTED))
    assert [json.loads(line.rstrip(",")) for line in shown[1:-1]] == as_json(
        graph_trace(FORM, NESTED)
    )["events"]


def test_json_without_events():
    assert as_json(trace_file(FORM, []))["events"] == []


def test_csv_rows():
    rows = as_rows(trace_file(FORM, [lossy(FORM)]))
    assert list(rows[1].values()) == [
        *("5000001000", "0", "1", "workload", "0", "0", "7"),
        *("function", "do_work", "caller", "", "", ""),
    ]
    assert [row["lost"] for row in rows] == ["0", "7", "unknown"]
    rows = as_rows(graph_trace(FORM, NESTED))
    assert [row["depth"] for row in rows] == ["0", "1", "2", "2", "2", "2", "1", "0"]
    assert [row["duration"] for row in rows][-2:] == ["152000", "1152600"]
    assert {row["parent"] for row in rows} == {""}


def test_other_events_have_a_message_in_csv():
    payload = (99).to_bytes(2, "big") + bytes(10)
    (row,) = as_rows(trace_file(FORM, [graph_pages(FORM, [(5, payload)])]))
    assert (row["event"], row["comm"], row["pid"]) == ("unknown", "<...>", "-1")
    assert row["message"].startswith("unknown: common_type=99 data=0063")


HOSTILE = ['=1+1";x', "+a,b", "-a\x1b[31m", "@\u202ea", "a;b", "q\"'<>&", "é\ud800", "%s%n", "{}[]"]


def hostile_trace():
    names = "".join(
        f"{address('start', 4, 0) + 0x100 * i:x} T {name}\n" for i, name in enumerate(HOSTILE)
    )
    kallsyms = names + f"{address('start', 4, 0) + 0x100 * len(HOSTILE):x} T _end\n"
    pids = range(1, len(HOSTILE) + 1)
    events = [
        (1000 * i, address("start", 4) + 0x100 * i, address("start", 4, 0x24) + 0x100 * i)
        for i in range(len(HOSTILE))
    ]
    cmdlines = dict(zip(pids, HOSTILE, strict=True))
    return trace_file(FORM, [function_pages(*FORM, events)], kallsyms=kallsyms, cmdlines=cmdlines)


@pytest.mark.parametrize("view", VIEWS)
def test_hostile_names_stay_text(view):
    shown = lines(view, hostile_trace())
    assert all(line.isprintable() for line in shown)
    "\n".join(shown).encode()


def test_hostile_names_are_no_formulas_and_no_separators():
    rows = as_rows(hostile_trace())
    assert not [row for row in rows if row["function"].startswith(("=", "+", "-", "@"))]
    assert rows[0]["function"] == "'=1+1\";x"
    for line in lines(report_flame, hostile_trace()):
        stack, _, number = line.rpartition(" ")
        assert (stack.count(";"), int(number)) == (2, 1)
    assert as_json(hostile_trace())["events"][5]["symbols"]["ip"] == HOSTILE[5]


@pytest.mark.parametrize("view", [report_json, report_csv])
def test_filters_keep_what_was_lost(view):
    shown = lines(view, trace_file(FORM, [lossy(FORM) + lossy(FORM)]), "function: ip == do_work")
    text = "\n".join(shown)
    if view is report_json:
        assert [event["lost"] for event in json.loads(text)["events"]] == [7, None]
    else:
        assert [row.split(",")[6] for row in shown[1:]] == ["7", "unknown"]


def test_self_times():
    assert lines(report_flame, graph_trace(FORM, NESTED)) == [
        "workload-1;start 1000600",
        "workload-1;start;do_work 1022",
        "workload-1;start;do_work;leaf 150978",
    ]


def test_self_times_of_threads_that_take_turns():
    first = [call(0, "start", 0), call(20, "leaf", 0, pid=2), call(30, "leaf", 0, pid=0)]
    second = [back(40, "leaf", 0, 20, pid=2), back(50, "start", 0, 0), call(55, "leaf", 0, pid=0)]
    data = graph_trace(FORM, first, second, cmdlines={1: "one", 2: "two"})
    assert lines(report_flame, data) == ["one-1;start 50", "two-2;leaf 20"]


def test_time_at_the_edges_of_the_trace():
    events = [
        call(100, "leaf", 2),
        back(110, "leaf", 2, 100),
        back(120, "do_work", 1, 50),
        call(130, "do_work", 1),
        back(150, "start", 0, 10),
        call(160, "start", 0),
        call(170, "leaf", 1),
        call(190, "do_work", 1),
    ]
    assert lines(report_flame, graph_trace(FORM, events)) == [
        "workload-1;[unknown];[unknown];leaf 10",
        # 70 ns less the 10 in leaf; the rest of start's 140; then until the thread's last event
        "workload-1;[unknown];do_work 60",
        "workload-1;start 60",
        "workload-1;start;do_work 20",
        "workload-1;start;leaf 20",
    ]


def test_the_return_of_another_function_ends_what_was_open():
    events = [call(0, "start", 0), back(100, "leaf", 0, 60), call(110, "start", 0)]
    assert lines(report_flame, graph_trace(FORM, events)) == [
        "workload-1;leaf 40",
        "workload-1;start 100",
    ]


def test_calls_are_counted_by_caller_in_a_function_trace():
    assert lines(report_flame, function_trace(FORM, 7)) == [
        "workload-1;caller;do_work 2",
        "workload-1;caller;leaf 2",
        "workload-1;caller;start 3",
    ]


def test_stacks_without_bound_are_folded_together(monkeypatch):
    monkeypatch.setattr(flame, "MAX_STACKS", 2)
    assert lines(report_flame, function_trace(FORM, 7)) == [
        "workload-1;[others] 2",
        "workload-1;caller;do_work 2",
        "workload-1;caller;start 3",
    ]


@pytest.mark.parametrize("seed", range(20))
def test_self_times_of_random_calls(seed):
    events, times = random_calls(seed)
    expected = [f"workload-1;{';'.join(path)} {number}" for path, number in times.items()]
    assert lines(report_flame, graph_trace(FORMATS[seed % 4], events)) == sorted(
        expected, key=lambda line: line.rpartition(" ")[0].split(";")
    )


GRAPHS = {form: graph_trace(form, random_calls(1)[0], random_calls(2)[0]) for form in FORMATS}


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(FORMATS),
    st.sampled_from(VIEWS),
    st.lists(st.tuples(st.integers(0, 1 << 13), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_damaged_files_raise_format_errors_only(form, view, damage):
    data = bytearray(GRAPHS[form])
    pages = len(data) - 2 * 4096
    for where, value in damage:
        data[(pages + where) % len(data)] = value
    try:
        for line in view(read(bytes(data))):
            assert len(line) < 10_000
            # A stack trace has a line for each function.
            assert all(part.isprintable() for part in line.split("\n"))
    except FormatError:
        return
