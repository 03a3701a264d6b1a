# SPDX-License-Identifier: MIT
"""Unmodified trace-cmd reads what we write, and we read what it writes."""

import io
import re
import shutil
import struct
import subprocess

import pytest

from graph_files import NESTED, back, call, graph_payload, graph_trace, random_calls
from harness.errors import FormatError
from harness.ring import LOST_UNKNOWN, PageFormat, mark_lost
from harness.trace import (
    CpuStatistics,
    GraphOptions,
    TraceDatReader,
    event_formats,
    parse_filters,
    report_graph,
)
from harness.trace.events import latency_flags
from ring_encoder import PageEncoder, function_payload
from support.trace_cmd import PLACE_AND_TIME
from trace_files import FORMATS, FUNCTIONS, address, function_trace, trace_file

pytestmark = pytest.mark.skipif(
    shutil.which("trace-cmd") is None, reason="trace-cmd is not installed (package trace-cmd)"
)

EVENT = re.compile(
    r"\s*(?P<comm>\S+)-(?P<pid>-?\d+)\s+" + PLACE_AND_TIME + r"function:"
    r"\s+(?P<function>\S+)(?: <-- (?P<parent>\S+))?"
)


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return request.param


def trace_cmd(*arguments, complaints=False):
    done = subprocess.run(
        ["trace-cmd", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0
    if not complaints:
        assert done.stderr == ""
    return done.stdout


def report(tmp_path, data, *options):
    path = tmp_path / "trace.dat"
    path.write_bytes(data)
    return trace_cmd("report", *options, path)


def test_arguments_are_printed_by_the_print_format(tmp_path):
    """The plugin of function events, which knows two fields, is left out by -N."""
    form, held = ("little", 8), (1, 0xFFFF_FFFF_FFFF_FFFF, 3, 4, 5, 6)
    place, caller = address("do_work", 8), address("caller", 8, 0x24)
    payload = function_payload(*form, place, caller) + struct.pack("<6Q", *held)
    page = PageEncoder(*form, stamp=5_000_000_000)
    page.event(0, payload)
    data = trace_file(form, [page.page()], events=event_formats(8, arguments=True))
    shown = ", ".join(map(hex, held))
    assert f"do_work({shown}) <-- caller" in report(tmp_path, data, "-N")
    assert EVENT.search(report(tmp_path, data))["function"] == "do_work"
    (event,) = TraceDatReader(io.BytesIO(data)).events()
    assert event.arguments == held
    assert event.message == f"do_work({shown}) <-caller"


def test_results_are_printed_by_the_print_format(tmp_path):
    """trace-cmd's own plugin of graph events does not know them: -N leaves it out."""
    form, results = ("little", 8), (0, 2**64 - 22, 0xFFFF_FFEA, 0x1234_5678_9ABC)
    page = PageEncoder(*form, stamp=5_000_000_000)
    stamp = 5_000_000_000
    for result in results:
        payload = graph_payload(form, back(stamp, "do_work", 0, 5_000_000_000))
        page.event(0, payload + struct.pack("<Q", result))
    data = trace_file(form, [page.page()], events=event_formats(8, results=True))
    shown = report(tmp_path, data, "-N")
    assert re.findall(r"<-- do_work .* retval: (\w+)", shown) == [f"{one:x}" for one in results]
    events = list(TraceDatReader(io.BytesIO(data)).events())
    assert [event.retval for event in events] == list(results)
    lines = list(report_graph(TraceDatReader(io.BytesIO(data))))[-len(results) :]
    ends = ["0x0", "-22", "-22", "0x123456789abc"]
    assert [line.partition("|")[2] for line in lines] == [
        f"  }} /* do_work = {one} */" for one in ends
    ]


GRAPH_EVENT = re.compile(
    r"\s*\S+\s+" + PLACE_AND_TIME + r"funcgraph_(?:entry|exit):"
    r"\s+(?:[!+#*@$] )?\s*(?:(?P<duration>[\d.]+) us)?\s+\|  (?P<call>.*)"
)
GRAPH_LINE = re.compile(r" *(?P<cpu>\d+)\) .\s+(?:(?P<duration>[\d.]+) us)?\s+\|  (?P<call>.*)")


def graph_lines(pattern, text):
    """CPU, duration and text of each call, from the output of either program."""
    matches = [match for match in map(pattern.match, text.splitlines()) if match]
    return [(int(m["cpu"]), m["duration"], m["call"]) for m in matches]


def seen(text):
    return [match.groupdict() for match in map(EVENT.match, text.splitlines()) if match]


def nanoseconds(event):
    seconds, _, fraction = event["time"].partition(".")
    return int(seconds) * 10**9 + int(fraction.ljust(9, "0"))


def ours(data):
    return list(TraceDatReader(io.BytesIO(data)).events())


def test_every_event_is_shown_as_we_read_it(form, tmp_path):
    data = function_trace(form, 1000, 300)
    events = seen(report(tmp_path, data, "-t", "-O", "parent"))
    assert [
        (int(e["cpu"]), nanoseconds(e), int(e["pid"]), e["comm"], e["function"], e["parent"])
        for e in events
    ] == [(e.cpu, e.stamp, e.pid, e.comm, e.function, e.parent) for e in ours(data)]
    assert len(events) == 1300
    assert {event["function"] for event in events} == set(FUNCTIONS[:3])


def test_plain_report(form, tmp_path):
    text = report(tmp_path, function_trace(form, 30, statistics=[CpuStatistics(30)]))
    assert text.startswith("cpus=1\n")
    assert [event["function"] for event in seen(text)] == list(FUNCTIONS[:3]) * 10


@pytest.mark.parametrize("option", ["ip == 0x{ip:x}", 'COMM == "workload" && ip == 0x{ip:x}'])
def test_filters(form, tmp_path, option):
    leaf = address("leaf", form[1])
    text = report(tmp_path, function_trace(form, 30), "-F", "function: " + option.format(ip=leaf))
    assert [event["function"] for event in seen(text)] == ["leaf"] * 10


def test_lost_events_are_shown(form, tmp_path):
    page_format = PageFormat(*form)
    pages = []
    for lost in (0, 7, LOST_UNKNOWN):
        encoder = PageEncoder(*form, stamp=1000 * len(pages))
        encoder.event(0, function_payload(*form, 16, 32), long_form=True)
        pages.append(mark_lost(encoder.page(), page_format, lost) if lost else encoder.page())
    lines = report(tmp_path, trace_file(form, [b"".join(pages)])).splitlines()
    assert lines.index("CPU:0 [7 EVENTS DROPPED]") == 2
    assert lines.index("CPU:0 [EVENTS DROPPED]") == 4


def test_statistics(form, tmp_path):
    data = function_trace(form, 3, statistics=[CpuStatistics(3, 7, 2)])
    text = report(tmp_path, data, "--stat")
    assert "CPU: 0\nentries: 0\noverrun: 7\ndropped events: 2\nread events: 3\n" in text


def test_time_is_kept_over_gaps_discarded_events_and_absolute_stamps(form, tmp_path):
    encoder = PageEncoder(*form, stamp=1_000_000_000)
    payload = function_payload(*form, 16, 32)
    encoder.event(0, payload, long_form=True)
    encoder.extend(5 << 27 | 12345)
    encoder.event(3, payload, long_form=True)
    encoder.skip(1000, 16)
    encoder.event(5, payload, long_form=True)
    encoder.absolute(10_000_000_123)
    encoder.event(7, payload, long_form=True)
    data = trace_file(form, [encoder.page()])
    stamps = [nanoseconds(event) for event in seen(report(tmp_path, data, "-t"))]
    assert stamps == [event.stamp for event in ours(data)]
    assert stamps[-1] == 10_000_000_130


def test_short_and_long_event_headers(form, tmp_path):
    encoder = PageEncoder(*form, stamp=1)
    for long_form in (False, True, False):
        encoder.event(1, function_payload(*form, 16, 32), long_form=long_form)
    assert len(seen(report(tmp_path, trace_file(form, [encoder.page()])))) == 3


@pytest.mark.parametrize(
    ("flags", "preempt_count"), [(0, 0), (1, 1), (0x24, 0), (8, 2), (16, 0), (24, 15), (2, 0)]
)
def test_latency_flags_mean_the_same(form, tmp_path, flags, preempt_count):
    """The flags that trace-cmd knows: it shows any need to reschedule as N, and no
    migrate-disable.
    """
    encoder = PageEncoder(*form, stamp=1)
    payload = function_payload(*form, 16, 32, flags=flags, preempt_count=preempt_count)
    encoder.event(1, payload, long_form=True)
    text = report(tmp_path, trace_file(form, [encoder.page()]), "-l")
    assert f" 0{latency_flags(flags, preempt_count)[:4]}" in text


def test_unnamed_addresses_and_tasks(form, tmp_path):
    data = function_trace(form, 3, kallsyms="", cmdlines={})
    events = seen(report(tmp_path, data))
    assert {event["comm"] for event in events} == {"<...>"}
    assert [int(event["function"], 16) for event in events] == [e.ip for e in ours(data)]


def test_a_trace_without_events(form, tmp_path):
    assert seen(report(tmp_path, function_trace(form, 0))) == []


def test_the_description_of_the_file(form, tmp_path):
    path = tmp_path / "trace.dat"
    path.write_bytes(function_trace(form, 3, machine="a guest", version="harness 1"))
    text = trace_cmd("dump", "--summary", "--options", "-i", path)
    assert "a guest" in text
    assert "harness 1" in text
    assert "[local] global counter" in text
    assert "[Flyrecord tracing data]" in text


def test_graph_events_nest(form, tmp_path):
    assert graph_lines(GRAPH_EVENT, report(tmp_path, graph_trace(form, NESTED))) == [
        (0, None, "start() {"),
        (0, None, "  do_work() {"),
        (0, "0.633", "    leaf();"),
        (0, "150.345", "    leaf();"),
        (0, "152.000", "  }"),
        (0, "1152.600", "}"),
    ]


def test_random_calls_are_shown_as_we_show_them(form, tmp_path):
    # One CPU after the other: trace-cmd sees a leaf only where no other CPU comes between.
    data = graph_trace(form, random_calls(1)[0], random_calls(2, start=10**9)[0])
    theirs = report(tmp_path, data, "-O", "fgraph:tailprint")
    ours = report_graph(TraceDatReader(io.BytesIO(data)), options=GraphOptions(tail=True))
    assert graph_lines(GRAPH_EVENT, theirs) == graph_lines(GRAPH_LINE, "\n".join(ours))
    assert len(graph_lines(GRAPH_EVENT, theirs)) > 100


@pytest.mark.parametrize(
    "option",
    [
        "funcgraph_entry",
        "funcgraph_entry: depth == 2",
        "funcgraph_entry: func == 'do_work'",
        "funcgraph_exit: depth < 2 && COMM == 'workload'",
        "funcgraph_entry, funcgraph_exit: depth & 2",
        "funcgraph_exit: !(depth == 0 || overrun == 3)",
    ],
)
def test_filters_choose_the_same(form, tmp_path, option):
    calls = [call(500, "start", 0), back(600, "do_work", 0, 100, overrun=3)]
    data = graph_trace(form, calls, NESTED)
    theirs = report(tmp_path, data, "-t", "-R", "-F", option.replace("'", '"'))
    reader = TraceDatReader(io.BytesIO(data))
    keep = parse_filters([option], reader.formats.values())
    times = re.findall(r" (\d+)\.(\d+): funcgraph", theirs)
    stamps = [int(seconds + fraction) for seconds, fraction in times]
    assert stamps == [event.stamp for event in reader.events() if keep(event)]
    assert stamps


def test_we_read_what_trace_cmd_writes(form, tmp_path):
    data = function_trace(form, 1000, 300, machine="a guest")
    path, copy = tmp_path / "trace.dat", tmp_path / "copy.dat"
    path.write_bytes(data)
    trace_cmd("convert", "--file-version", "6", "-i", path, "-o", copy, complaints=True)
    assert copy.read_bytes() != data
    with copy.open("rb") as stream:
        reader = TraceDatReader(stream)
        copied = [tuple(event)[:9] for event in reader.events()]
        assert reader.machine == "a guest"
    assert copied == [tuple(event)[:9] for event in ours(data)]


def test_version_7_is_recognised(form, tmp_path):
    path, copy = tmp_path / "trace.dat", tmp_path / "copy.dat"
    path.write_bytes(function_trace(form, 3))
    trace_cmd("convert", "--file-version", "7", "-i", path, "-o", copy, complaints=True)
    with copy.open("rb") as stream, pytest.raises(FormatError, match="version 7"):
        TraceDatReader(stream)
