# SPDX-License-Identifier: MIT
"""The latency view is the kernel's: header, relative times, delay marks."""

import io
import struct

from harness.trace import LATENCY, TraceDatReader, event_formats, parse_filters, report_text
from ring_encoder import PageEncoder, function_payload
from trace_files import address, trace_file

FORM = ("little", 4)
ORDER = "<"


def latency_trace(events, latency=True):
    """(stamp, function, caller, flags, preempt count), then the event that says how long it was."""
    encoder = PageEncoder(*FORM, stamp=events[0][0] if events else 0)
    last = encoder.stamp
    for stamp, function, caller, flags, preempt in events:
        addresses = address(function, 4), address(caller, 4)
        data = function_payload(*FORM, *addresses, flags=flags, preempt_count=preempt)
        encoder.event(stamp - last, data)
        last = stamp
    if latency:
        where = address("start", 4), address("leaf", 4)
        data = struct.pack("<HBBiQ2I", LATENCY.id, 1, 0, 1, last - events[0][0] - 100, *where)
        encoder.event(0, data)
    formats = [*event_formats(4), LATENCY.layout(4)]
    return trace_file(FORM, [encoder.page(), b""], events=formats, machine="a guest")


def view(data, *filters):
    reader = TraceDatReader(io.BytesIO(data))
    keep = parse_filters(filters, reader.formats.values())
    return list(report_text(reader, keep=keep))


EVENTS = [
    (5_000_000_000, "start", "caller", 1, 0),
    (5_000_001_400, "do_work", "start", 0x25, 1),
    (5_000_012_000, "leaf", "do_work", 9, 0),
    (5_000_120_000, "leaf", "caller", 1, 2),
]


def test_header_and_lines():
    assert view(latency_trace(EVENTS)) == [
        "# tracer: irqsoff",
        "#",
        "# irqsoff latency trace v1.1.5 on a guest",
        "# --------------------------------------------------------------------",
        "# latency: 120 us, #4/4, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)",
        "#    -----------------",
        "#    | task: workload-1 (uid:0 nice:0 policy:0 rt_prio:0)",
        "#    -----------------",
        "#  => started at: start",
        "#  => ended at:   leaf",
        "#",
        "#",
        "#                    _------=> CPU#            ",
        "#                   / _-----=> irqs-off/BH-disabled",
        "#                  | / _----=> need-resched    ",
        "#                  || / _---=> hardirq/softirq ",
        "#                  ||| / _--=> preempt-depth   ",
        "#                  |||| / _-=> migrate-disable ",
        "#                  ||||| /     delay           ",
        "#  cmd     pid     |||||| time  |   caller     ",
        "#     \\   /        ||||||  \\    |    /       ",
        "workload-1         0d....    0us : start <-caller",
        "workload-1         0dN.1.    1us+: do_work <-start",
        "workload-1         0d.h..   12us!: leaf <-do_work",
        "workload-1         0d..2.  120us : leaf <-caller",
    ]


def test_no_section_yet():
    lines = view(latency_trace([], latency=False))
    assert "# latency: 0 us, #0/0, CPU#0 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:2)" in lines
    assert not any("started at" in line for line in lines)


def test_a_filter_hides_lines_and_no_time():
    lines = view(latency_trace(EVENTS), "function: ip == leaf")
    assert [line for line in lines if not line.startswith("#")] == [
        "workload-1         0d.h..   12us!: leaf <-do_work",
        "workload-1         0d..2.  120us : leaf <-caller",
    ]
