# SPDX-License-Identifier: MIT
"""trace.dat: what was written comes back, and a damaged file is refused with the place named."""

import io

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.ring import LOST_UNKNOWN, PageFormat, mark_lost
from harness.trace import (
    CpuStatistics,
    EventFormat,
    FunctionEvent,
    TraceDatReader,
    event_formats,
    write_trace_dat,
)
from ring_encoder import PageEncoder, function_pages, function_payload
from test_trace_formats import SCHED_SWITCH
from trace_files import (
    FORMATS,
    FUNCTIONS,
    address,
    calls,
    description,
    function_trace,
    kallsyms,
    trace_file,
)


def read(data):
    return TraceDatReader(io.BytesIO(data))


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return request.param


def test_events_come_back(form):
    reader = read(function_trace(form, 1000))
    events = list(reader.events())
    assert [(e.stamp, e.ip, e.parent_ip) for e in events] == calls(form[1], 1000)
    assert all(isinstance(event, FunctionEvent) for event in events)
    assert [event.function for event in events[:3]] == list(FUNCTIONS[:3])
    assert {(e.cpu, e.pid, e.comm, e.parent, e.lost) for e in events} == {
        (0, 1, "workload", "caller", 0)
    }
    assert reader.count_events() == 1000


def test_what_the_file_says(form):
    reader = read(
        function_trace(
            form,
            10,
            0,
            clock="global",
            machine="guest mips-malta",
            version="harness 1",
            statistics=[CpuStatistics(10, 7, 2, 1), CpuStatistics(0)],
        )
    )
    assert reader.page_format == PageFormat(*form)
    assert reader.formats == {f.id: f for f in event_formats(form[1])}
    assert reader.cmdlines == {1: "workload"}
    assert (reader.clock, reader.machine, reader.recorder) == (
        "global",
        "guest mips-malta",
        "harness 1",
    )
    assert reader.cpu_count == 2
    assert reader.statistics == [CpuStatistics(10, 7, 2, 1), CpuStatistics(0)]
    assert reader.symbols.name(address("leaf", form[1])) == "leaf"


def test_cpus_are_merged_by_time(form):
    long_size = form[1]
    even = calls(long_size, 500, start=0, step=2000)
    odd = calls(long_size, 500, start=1000, step=2000)
    data = trace_file(form, [function_pages(*form, even), b"", function_pages(*form, odd)])
    events = list(read(data).events())
    assert [event.stamp for event in events] == [1000 * i for i in range(1000)]
    assert [event.cpu for event in events] == [0, 2] * 500


def test_events_are_read_as_they_are_asked_for(form):
    stream = io.BytesIO(function_trace(form, 5000))
    events = TraceDatReader(stream).events()
    next(events)
    assert stream.tell() <= 4096 * 3


def test_pages_begin_where_readers_can_map_them(form):
    data = function_trace(form, 300, 300)
    reader = read(data)
    for cpu in range(2):
        for page in reader.pages(cpu):
            assert data.index(page) % 4096 == 0


def test_an_incomplete_last_page_is_left_out(form):
    pages = function_pages(*form, calls(form[1], 1000))
    whole = len(list(read(trace_file(form, [pages])).events()))
    cut = list(read(trace_file(form, [pages[:-100]])).events())
    assert 0 < len(cut) < whole


def test_lost_events_are_told_at_the_next_event(form):
    pages = function_pages(*form, calls(form[1], 1000))
    page_format = PageFormat(*form)
    first, second, third = (pages[i : i + 4096] for i in (0, 4096, 8192))
    empty = PageEncoder(*form).page()
    data = trace_file(
        form,
        [
            first
            + mark_lost(empty, page_format, 3)
            + mark_lost(second, page_format, 4)
            + mark_lost(third, page_format, LOST_UNKNOWN)
        ],
    )
    assert [event.lost for event in read(data).events() if event.lost] == [7, LOST_UNKNOWN]


def test_flags_and_tasks(form):
    encoder = PageEncoder(*form)
    payload = function_payload(*form, 16, 32, pid=0, flags=0x41, preempt_count=3)
    encoder.event(0, payload, long_form=True)
    for pid in (42, -5):
        encoder.event(0, function_payload(*form, 16, 32, pid=pid), long_form=True)
    idle, unknown, negative = read(trace_file(form, [encoder.page()])).events()
    assert (idle.flags, idle.preempt_count, idle.comm) == (0x41, 3, "<idle>")
    assert (unknown.pid, unknown.comm) == (42, "<...>")
    assert (negative.pid, negative.comm) == (-5, "<XXX>")


def test_events_of_a_system_with_texts_and_unknown_ones(form):
    byteorder = form[0]
    switch = EventFormat.parse(SCHED_SWITCH, "sched")
    payload = function_payload(byteorder, 4, 0, 0, number=314)[:8]
    payload += b"sh\x1b\0stale".ljust(16, b"!") + (-7).to_bytes(4, byteorder, signed=True)
    payload += (5 << 16 | 32).to_bytes(4, byteorder) + b"what\0..."
    encoder = PageEncoder(*form)
    encoder.event(0, payload, long_form=True)
    encoder.event(0, function_payload(*form, 16, 32, number=99), long_form=True)
    data = trace_file(form, [encoder.page()], events=[*event_formats(form[1]), switch])
    reader = read(data)
    assert reader.formats[314] == switch
    event, unknown = reader.events()
    assert event.name == "sched_switch"
    assert event.fields == {"prev_comm": "sh\\x1b", "prev_pid": -7, "what": "what"}
    assert unknown.fields["common_type"] == 99


def test_offsets_in_the_file_are_authoritative(form):
    """A kernel that stores the caller first is read rightly."""
    byteorder, long_size = form
    text = event_formats(long_size)[0].text
    text = text.replace("unsigned long ip;", "unsigned long x;")
    text = text.replace("parent_ip;", "ip;").replace(" x;", " parent_ip;")
    swapped = EventFormat.parse(text, "ftrace")
    encoder = PageEncoder(*form)
    encoder.event(0, function_payload(byteorder, long_size, 32, 16), long_form=True)
    (event,) = read(trace_file(form, [encoder.page()], events=[swapped])).events()
    assert (event.ip, event.parent_ip) == (16, 32)


def test_an_event_too_short_for_its_format(form):
    encoder = PageEncoder(*form)
    encoder.event(0, function_payload(*form, 16, 32))
    encoder.event(0, function_payload(*form, 16, 32)[:12], long_form=True)
    events = read(trace_file(form, [encoder.page()])).events()
    next(events)
    with pytest.raises(FormatError, match=r"page 0 of CPU 0: an event 'function' .* has 12 bytes"):
        next(events)


def test_hostile_task_names(form):
    data = function_trace(form, 1, cmdlines={1: "a\n2 b\x1b[31m", 7: "x" * 1000})
    assert read(data).cmdlines[1] == "a 2 b\\x1b[31m"
    assert len(read(data).cmdlines[7]) < 80


def test_no_cpus_and_no_events(form):
    assert list(read(trace_file(form, [])).events()) == []
    assert list(read(trace_file(form, [b"", b""])).events()) == []


def test_large_traces_are_copied_in_pieces():
    class Spool(io.BytesIO):
        largest = 0

        def read(self, size=-1):
            Spool.largest = max(Spool.largest, size if size >= 0 else 1 << 40)
            return super().read(size)

    spool = Spool(bytes(4096) * 1000)
    write_trace_dat(io.BytesIO(), description("big", 4), [spool])
    assert Spool.largest <= 1 << 20


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "not a trace.dat"),
        (b"\x7fELF" * 100, "not a trace.dat"),
        (b"\x17\x08\x44tracing7\0" + bytes(100), "version 7, which"),
        (b"\x17\x08\x44tracing99\0" + bytes(100), "version '99'"),
        (b"\x17\x08\x44tracing" + b"6" * 1000, "version does not end"),
        (b"\x17\x08\x44tracing6\0\2\4" + bytes(100), "byte order 2 and word size 4"),
    ],
)
def test_files_of_another_kind(data, says):
    with pytest.raises(FormatError, match=says):
        read(data)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (b"header_page\0", b"header_fage\0", "'header_page' was expected, found 'header_fage'"),
        (b"header_event\0", b"header_erent\0", "'header_event' was expected"),
        (b"offset:8;\tsize:4", b"offset:8;\tsize:9", "header_page does not describe"),
        (b"size:4084", b"size:9999", "pages of 10011 bytes"),
        (b"flyrecord\0", b"flyrecorn\0", "'flyrecord' was expected"),
        (b"flyrecord\0", b"latency  \0", "latency tracer"),
        (b"ID: 1\n", b"ID:??\n", "no name or no ID"),
    ],
)
def test_damaged_words(old, new, says):
    data = function_trace(("big", 4), 10)
    assert old in data
    with pytest.raises(FormatError, match=says):
        read(data.replace(old, new, 1))


def test_a_file_cut_short_anywhere_is_refused():
    data = function_trace(("little", 8), 10)
    for length in [*range(0, 1200, 7), len(data) - 1]:
        with pytest.raises(FormatError):
            read(data[:length])


def test_lengths_are_not_believed():
    data = function_trace(("little", 4), 10)
    where = data.index(b"header_page\0") + 12
    with pytest.raises(FormatError, match="more than the rest of the file"):
        read(data[:where] + b"\xff" * 8 + data[where + 8 :])
    where = data.index(b"options  \0") - 4
    with pytest.raises(FormatError, match="CPUs are not possible"):
        read(data[:where] + b"\xff" * 4 + data[where + 4 :])
    where = data.index(b"flyrecord\0") + 10
    with pytest.raises(FormatError, match="the pages of CPU 0 reach to byte"):
        read(data[:where] + b"\xff" * 16 + data[where + 16 :])


@settings(max_examples=300, suppress_health_check=[HealthCheck.too_slow])
@example(("big", 4), [(552, ord("2"))])  # common_type lies over the two fields behind it
@example(("big", 4), [(781, 1)])  # in the name of a field
@given(
    st.sampled_from(FORMATS),
    st.lists(st.tuples(st.integers(0, 1 << 14), st.integers(0, 255)), min_size=1, max_size=6),
)
def test_damaged_files_raise_format_errors_only(form, damage):
    data = bytearray(_SAMPLES[form])
    for where, value in damage:
        data[where % len(data)] = value
    try:
        events = read(bytes(data)).events()
        shown = [str(event) for event in events]
    except FormatError:
        return
    assert len(shown) < 10_000
    assert all(line.isprintable() for line in shown)


_SAMPLES = {form: function_trace(form, 200, 20) for form in FORMATS}


def test_kallsyms_of_the_samples_end_in_a_terminator():
    assert kallsyms(4).splitlines()[-1].endswith("_end")
