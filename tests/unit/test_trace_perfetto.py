# SPDX-License-Identifier: MIT
"""The Perfetto view says what the Chrome view says, read back with Perfetto's own messages."""

import io
import json

import pytest
from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent

from graph_files import NESTED, back, call, graph_trace, random_calls
from harness.report import report_bytes
from harness.trace import TraceDatReader, parse_filters, report_chrome
from test_trace_chrome import switch
from test_trace_views import HOSTILE, hostile_trace
from trace_files import FORMATS, function_trace, trace_file

FORM = ("little", 4)

TYPES = {
    TrackEvent.TYPE_SLICE_BEGIN: "B",
    TrackEvent.TYPE_SLICE_END: "E",
    TrackEvent.TYPE_INSTANT: "i",
}


def perfetto(data, *filters):
    """The names of the tracks as paths, and what is drawn on each, as the viewer orders it."""
    reader = TraceDatReader(io.BytesIO(data))
    trace = Trace.FromString(b"".join(report_bytes(reader, "perfetto", filters)))
    described = {p.track_descriptor.uuid: p.track_descriptor for p in trace.packet
                 if p.HasField("track_descriptor")}  # fmt: skip
    assert {packet.trusted_packet_sequence_id for packet in trace.packet} <= {1}
    found = {}
    for uuid, track in described.items():
        if track.parent_uuid:
            found[uuid] = described[track.parent_uuid].name, track.name
    drawn = {path: [] for path in found.values()}
    events = [packet for packet in trace.packet if packet.HasField("track_event")]
    for packet in sorted(events, key=lambda packet: packet.timestamp):
        event = packet.track_event
        notes = {
            note.name: note.string_value or note.bool_value or note.uint_value
            for note in event.debug_annotations
        }
        drawn[found[event.track_uuid]].append(
            (TYPES[event.type], packet.timestamp, event.name, notes)
        )
    return drawn


def chrome(data, *filters):
    """The same of the Chrome view; calls of which only the end is known come as both ends."""
    reader = TraceDatReader(io.BytesIO(data))
    keep = parse_filters(filters, reader.formats.values())
    slices = json.loads("\n".join(report_chrome(reader, keep=keep)))["traceEvents"]
    groups = {
        one["pid"]: one["args"]["name"] for one in slices if one.get("name") == "process_name"
    }
    found, drawn = {}, {}
    for one in slices:
        if one["ph"] == "M" and one["name"] == "thread_name":
            found[one["tid"]] = groups[one["pid"]], one["args"]["name"]
            drawn[found[one["tid"]]] = []
    for one in slices:
        if one["ph"] == "M":
            continue
        track, stamp = drawn[found[one["tid"]]], round(one["ts"] * 1000)
        notes = one.get("args", {})
        if one["ph"] == "X":
            track.append(("B", stamp, one["name"], notes))
            track.append(("E", stamp + round(one["dur"] * 1000), "", {}))
        else:
            track.append((one["ph"], stamp, one.get("name", ""), notes))
    for track in drawn.values():
        track.sort(key=lambda event: event[1])
    return drawn


EDGES = [
    call(100, "leaf", 2),
    back(110, "leaf", 2, 100),
    back(120, "do_work", 1, 50),
    back(150, "start", 0, 10),
    call(160, "start", 0),
    7,
    call(170, "leaf", 1),
]
TURNS = [
    call(1000, "start", 0, pid=1),
    switch(2000, ("workload", 1), ("other", 2), pid=1),
    call(2500, "do_work", 0, pid=2),
    switch(3000, ("other", 2), ("workload", 1), pid=2),
    back(4000, "start", 0, 1000, pid=1),
]


@pytest.mark.parametrize(
    "data",
    [
        *(pytest.param(graph_trace(form, NESTED), id=f"{form[0]}{form[1]}") for form in FORMATS),
        pytest.param(graph_trace(FORM, EDGES), id="edges"),
        pytest.param(graph_trace(FORM, TURNS), id="turns"),
        pytest.param(function_trace(FORM, 3, 2), id="functions"),
        pytest.param(trace_file(FORM, []), id="nothing"),
        *(pytest.param(graph_trace(FORM, random_calls(n)[0]), id=f"random{n}") for n in range(5)),
    ],
)
def test_the_same_is_drawn_as_in_the_chrome_view(data):
    assert perfetto(data) == chrome(data)


def test_calls_nest_on_their_tracks():
    drawn = perfetto(graph_trace(FORM, NESTED))
    assert drawn["threads", "workload-1"] == drawn["CPUs", "CPU 0"]
    stack, closed = [], []
    for kind, stamp, name, _ in drawn["threads", "workload-1"]:
        if kind == "B":
            stack.append((stamp, name))
        else:
            closed.append((*stack.pop(), stamp))
    assert closed == [
        (5_000_001_000, "leaf", 5_000_001_633),
        (5_000_002_000, "leaf", 5_000_152_345),
        (5_000_000_500, "do_work", 5_000_152_500),
        (5_000_000_000, "start", 5_001_152_700),
    ]


def test_filters_and_names_of_a_stranger():
    assert perfetto(graph_trace(FORM, NESTED), "function: ip == leaf")["CPUs", "CPU 0"] == []
    names = {name for _, _, name, _ in perfetto(hostile_trace())["CPUs", "CPU 0"]}
    assert len(names) == len(HOSTILE)
    assert all(name.isprintable() for name in names)


def test_times_that_no_clock_has_are_cut():
    late = [back(5_000, "leaf", 0, 0x7000_0000_0000_0000)]
    assert perfetto(graph_trace(FORM, late))
