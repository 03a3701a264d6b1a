# SPDX-License-Identifier: MIT
"""No event is lost without being counted, and none is read twice, whenever the guest is stopped."""

import re
import resource
import signal
import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import DeadlineMissed, GuestError, HostError, UsageError
from harness.readout import Collector
from harness.readout import collector as collector_module
from harness.ring import PageFormat, decode_page, page_header
from support.ring_model import BASE, PAGES, RingModel

FORM = PageFormat("big", 4)
PER_PAGE = (4096 - 12) // 20


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("spools")


def pages(collector):
    stream = collector.spools[0].stream
    stream.seek(0)
    data = stream.read()
    assert len(data) % 4096 == 0
    return [data[i : i + 4096] for i in range(0, len(data), 4096)]


def ips(collector):
    return [
        struct.unpack_from(">I", record.payload, 8)[0]
        for page in pages(collector)
        for record in decode_page(page, FORM)
    ]


def collect(model, directory):
    return Collector(model, BASE, "big", directory)


def drained_at_watermark(model, collector):
    model.watermark = lambda: collector.drain(full={0})


def test_a_partly_filled_page_is_read_again_and_never_twice(directory):
    model = RingModel()
    collector = collect(model, directory)
    for ip in range(10):
        model.event(ip)
        collector.drain()
    assert ips(collector) == list(range(10))


def test_nothing_is_lost_with_a_drain_at_each_watermark(directory):
    model = RingModel(nr_pages=2)
    collector = collect(model, directory)
    drained_at_watermark(model, collector)
    count = 25 * PER_PAGE + 3
    assert all(model.event(ip) for ip in range(count))
    collector.drain()
    assert ips(collector) == list(range(count))
    assert (collector.counts.entries, collector.counts.lost) == (count, 0)


def test_stopped_again_before_the_writer_left_the_watermark(directory):
    model = RingModel(nr_pages=2)
    collector = collect(model, directory)

    def twice():
        collector.drain(full={0})
        collector.drain()

    model.watermark = twice
    for ip in range(5 * PER_PAGE):
        model.event(ip)
    collector.drain()
    assert ips(collector) == list(range(5 * PER_PAGE))


def test_refused_events_are_counted(directory):
    model = RingModel(nr_pages=2)
    collector = collect(model, directory)
    taken = [model.event(ip) for ip in range(3 * PER_PAGE)]
    collector.drain()
    assert ips(collector) == list(range(2 * PER_PAGE))
    assert collector.counts.dropped == taken.count(False) == PER_PAGE


def test_overwritten_events_are_counted_and_marked_in_the_page(directory):
    model = RingModel(nr_pages=3, overwrite=True)
    collector = collect(model, directory)
    for ip in range(10 * PER_PAGE):
        model.event(ip)
    collector.drain()
    assert ips(collector) == list(range(7 * PER_PAGE, 10 * PER_PAGE))
    assert collector.counts.overrun == 7 * PER_PAGE
    assert page_header(pages(collector)[0], FORM).lost == 7 * PER_PAGE


@settings(max_examples=40, deadline=None)
@given(
    nr_pages=st.integers(2, 5),
    overwrite=st.booleans(),
    watermark=st.booleans(),
    bursts=st.lists(st.integers(1, 900), max_size=12),
)
def test_written_is_read_plus_lost(directory, nr_pages, overwrite, watermark, bursts):
    model = RingModel(nr_pages, overwrite)
    collector = collect(model, directory)
    if watermark:
        drained_at_watermark(model, collector)
    attempts = 0
    for burst in bursts:
        for _ in range(burst):
            model.event(attempts)
            attempts += 1
        collector.drain()
    collector.drain()
    read, counts = ips(collector), collector.counts
    assert read == sorted(set(read))
    assert attempts == counts.entries + counts.dropped
    assert len(read) == counts.entries - counts.overrun
    if watermark and not overwrite:
        assert read == list(range(attempts))


def test_counters_that_wrap_keep_counting(directory):
    model = RingModel()
    collector = collect(model, directory)
    for name in ("entries", "dropped"):
        model.set(name, 0xFFFFFFFF)
    collector.drain()
    model.set("entries", 4)
    collector.drain()
    assert collector.counts.entries == 0x100000004


def test_sequence_numbers_that_wrap_keep_the_order(directory):
    model = RingModel(nr_pages=4)
    model.set("head", 0xFFFFFFFE)
    model.set("tail", 0xFFFFFFFE)
    collector = collect(model, directory)
    drained_at_watermark(model, collector)
    for ip in range(12 * PER_PAGE):
        model.event(ip)
    collector.drain()
    assert ips(collector) == list(range(12 * PER_PAGE))


def test_configure_empties_and_resizes(directory):
    model = RingModel(nr_pages=4)
    collector = collect(model, directory)
    for ip in range(3 * PER_PAGE):
        model.event(ip)
    collector.drain()
    collector.configure(buffer_size=2 * 4096, overwrite=True)
    assert ips(collector) == []
    assert (model.get("nr_pages"), model.get("flags")) == (2, 1)
    model.event(1234)
    collector.drain()
    assert ips(collector) == [1234]
    collector.configure(overwrite=False)
    assert (model.get("nr_pages"), model.get("flags")) == (2, 0)


@pytest.mark.parametrize("size", [0, 4096, 9 * 4096, 1 << 40])
def test_an_impossible_size_is_refused(directory, size):
    model = RingModel(nr_pages=4)
    with pytest.raises(UsageError, match="not possible"):
        collect(model, directory).configure(buffer_size=size)
    assert model.get("nr_pages") == 4


@pytest.mark.parametrize(("offset", "value"), [(16, 2), (24, 8192)])
def test_a_header_that_changes_its_shape_is_damaged(directory, offset, value):
    model = RingModel()
    collector = collect(model, directory)
    struct.pack_into(">I", model.memory, offset, value)
    model.memory[48 + 128 : 48 + 256] = model.memory[48 : 48 + 128]
    with pytest.raises(GuestError, match="damaged: its header has changed"):
        collector.drain()


def test_a_full_disk_is_the_hosts_fault_and_what_was_read_stays_readable(directory):
    model = RingModel()
    collector = collect(model, directory)
    model.event(0x1000)
    collector.drain()
    spool = collector.spools[0]
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (6000, limits[1]))
    try:
        with pytest.raises(HostError, match=re.escape(f"cannot be kept in {directory}")):
            spool.append(bytes(4096), bytes(4096))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    spool.stream.seek(0)
    assert spool.stream.read(4096) == bytes(4096)


def test_a_damaged_header_is_the_guests_fault(directory):
    model = RingModel()
    collector = collect(model, directory)
    model.set("tail", 1000)
    with pytest.raises(GuestError, match="damaged"):
        collector.drain()


def test_a_snapshot_is_read_as_a_whole_and_anew(directory):
    """A second buffer, where the guest keeps what it likes; the first one is left alone."""
    model, other = RingModel(), RingModel()
    for ip in range(3):
        other.event(ip)
    gap = len(model.memory)
    memory = model.memory + other.memory
    shifted = struct.pack(">QQ", PAGES + gap, BASE + gap + 0x8000)
    memory[gap + 48 : gap + 64] = shifted
    model.memory = memory
    collector = collect(model, directory)
    model.event(77)
    collector.drain()
    collector.keep_snapshot(BASE + gap)
    collector.drain()
    # What lay there was of another time; from now on it is the guest that says how much there is.
    assert ips(collector) == []
    model.event(78)
    struct.pack_into(">II", memory, gap + 48 + 24, 0, 0)
    struct.pack_into(">I", memory, gap + 48 + 32, 3)
    for _ in range(2):
        collector.drain()
        assert ips(collector) == [0, 1, 2]
        assert collector.counts.entries == 3
    collector.clear()
    model.event(79)
    collector.drain()
    assert ips(collector) == [79]


def test_a_drain_that_is_broken_off_goes_on_with_the_next(directory, monkeypatch):
    """Neither twice nor lost: what was read is given back to the guest portion by portion."""
    monkeypatch.setattr(collector_module, "PORTION", 4096)
    model = RingModel(nr_pages=4)
    collector = collect(model, directory)
    count = 3 * PER_PAGE + 2
    for ip in range(count):
        model.event(ip)
    assert not collector.drain(give_up=lambda: True)
    assert ips(collector) == list(range(PER_PAGE))
    asked = iter([False, True])
    assert not collector.drain(give_up=lambda: next(asked))
    assert ips(collector) == list(range(3 * PER_PAGE))
    assert collector.drain()
    assert ips(collector) == list(range(count))
    assert (collector.counts.entries, collector.counts.lost) == (count, 0)


def test_a_drain_does_not_go_on_for_ever(directory, monkeypatch):
    monkeypatch.setattr(collector_module, "PORTION", 4096)
    monkeypatch.setattr(collector_module, "DRAINING", 0.0)
    model = RingModel(nr_pages=4)
    collector = collect(model, directory)
    for ip in range(3 * PER_PAGE):
        model.event(ip)
    with pytest.raises(DeadlineMissed, match="was not read to its end"):
        collector.drain()
    assert ips(collector) == list(range(PER_PAGE))
