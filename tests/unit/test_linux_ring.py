# SPDX-License-Identifier: MIT
"""Draining the ring buffer of a made-up Linux kernel, as its writer and its reader move on."""

from pathlib import Path

import pytest

from harness.errors import GuestError
from harness.linux.ring import LinuxRing
from harness.readout.linux import LinuxCollector
from harness.ring import LOST_UNKNOWN, page_header, scan_page
from tests.unit.linux_memory import BUFFER, GLOBAL_TRACE, NR_CPU_IDS, PAGE, LinuxMemory

KINDS = [("big", 4), ("little", 8), ("little", 4), ("big", 8)]


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}{8 * kind[1]}")
def memory(request: pytest.FixtureRequest) -> LinuxMemory:
    return LinuxMemory(*request.param)


def collector(memory: LinuxMemory, tmp_path: Path) -> LinuxCollector:
    def resize(size: int) -> None:
        raise AssertionError(size)

    return LinuxCollector(memory.kernel(), memory, tmp_path, resize)


def stamps(buffer: LinuxCollector) -> list[int]:
    stream = buffer.spools[0].stream
    stream.seek(0)
    data, found = stream.read(), []
    for at in range(0, len(data), PAGE):
        found += [stamp for stamp, _, _ in scan_page(data[at : at + PAGE], buffer.format)]
    return found


def events(stamp: int, count: int) -> list[int]:
    return list(range(stamp + 1, stamp + count + 1))


def test_reader_page_then_from_the_head_to_the_commit_page(
    memory: LinuxMemory, tmp_path: Path
) -> None:
    memory.fill(0, 100, 3)
    memory.fill(3, 200, 5)
    memory.fill(4, 300, 2)
    memory.fill(1, 50, 9)  # old
    memory.head(3)
    memory.cpu(commit_page=memory.page(4), entries=10)
    buffer = collector(memory, tmp_path)
    assert buffer.drain()
    assert stamps(buffer) == events(100, 3) + events(200, 5) + events(300, 2)
    assert buffer.counts.entries - buffer.counts.overrun == 10


def test_what_the_kernel_consumed_of_the_reader_page_is_left_out(
    memory: LinuxMemory, tmp_path: Path
) -> None:
    memory.fill(0, 100, 3)
    memory.put("buffer_page", memory.page(0), read=16)
    memory.cpu(entries=3, read=2)
    buffer = collector(memory, tmp_path)
    buffer.drain()
    assert stamps(buffer) == events(100, 3)[2:]
    assert buffer.counts.entries == 1


def test_drains_follow_the_writer_around_the_ring(memory: LinuxMemory, tmp_path: Path) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure()
    written: list[int] = []
    memory.fill(0, 1000, 4)
    memory.cpu(entries=4)
    buffer.drain()
    for lap in range(10):
        number, stamp = lap % 4 + 1, 2000 + 100 * lap
        memory.fill(number, stamp, 7)
        memory.head(number % 4 + 1)
        memory.cpu(commit_page=memory.page(number), entries=4 + 7 * (lap + 1))
        memory.cpu(overrun=7 * max(0, lap - 2))
        written += events(stamp, 7)
        if lap % 2:
            buffer.drain()
    assert stamps(buffer) == events(1000, 4) + written
    assert (buffer.counts.entries, buffer.counts.lost) == (74, 0)


def test_an_empty_sub_buffer_at_the_end_is_no_loss(memory: LinuxMemory, tmp_path: Path) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure()
    memory.fill(0, 1000, 4)
    memory.fill(1, 1100, 5)
    memory.cpu(commit_page=memory.page(2), entries=9)
    buffer.drain()
    memory.fill(2, 1200, 3)
    # Meanwhile the kernel has overwritten what was read.
    memory.cpu(entries=12, overrun=5)
    buffer.drain()
    assert stamps(buffer) == events(1000, 4) + events(1100, 5) + events(1200, 3)
    assert (buffer.counts.entries, buffer.counts.lost) == (12, 0)


def test_clear_with_an_empty_sub_buffer_at_the_end(memory: LinuxMemory, tmp_path: Path) -> None:
    memory.fill(0, 1000, 4)
    memory.fill(1, 1100, 5)
    memory.cpu(commit_page=memory.page(2), entries=9)
    buffer = collector(memory, tmp_path)
    buffer.configure()
    memory.fill(2, 1200, 3)
    memory.cpu(entries=12, overrun=5)
    buffer.drain()
    assert stamps(buffer) == events(1200, 3)
    assert (buffer.counts.entries, buffer.counts.lost) == (3, 0)


def test_a_drain_that_gives_up_goes_on_behind_what_it_read(
    memory: LinuxMemory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.readout.linux.PORTION", 2 * PAGE)
    memory.fill(0, 1000, 4)
    for number in (1, 2, 3):
        memory.fill(number, 1000 + 100 * number, 5)
    memory.cpu(commit_page=memory.page(3), entries=19)
    buffer = collector(memory, tmp_path)
    assert not buffer.drain(give_up=lambda: True)
    assert buffer.drain()
    written = events(1000, 4) + [
        one for number in (1, 2, 3) for one in events(1000 + 100 * number, 5)
    ]
    assert stamps(buffer) == written
    assert (buffer.counts.entries, buffer.counts.lost) == (19, 0)


def test_sub_buffers_behind_an_event_that_is_being_written_are_not_free(
    memory: LinuxMemory, tmp_path: Path
) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure()
    assert buffer.room == 2
    memory.fill(1, 1000, 4)
    # Interrupts have filled two more meanwhile.
    memory.cpu(commit_page=memory.page(1), tail_page=memory.page(3), entries=20)
    buffer.drain()
    assert stamps(buffer) == events(1000, 4)
    assert buffer.room == 0
    for number in (2, 3):
        memory.fill(number, 1000 + 100 * number, 8)
    memory.cpu(commit_page=memory.page(3))
    assert buffer.room == 0
    buffer.drain()
    assert buffer.room == 2
    assert (buffer.counts.entries, buffer.counts.lost) == (20, 0)


def test_overwritten_events_are_counted_and_marked(memory: LinuxMemory, tmp_path: Path) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure(overwrite=True)
    memory.fill(1, 1000, 4)
    memory.cpu(commit_page=memory.page(1), entries=4)
    buffer.drain()
    for lap in range(1, 9):
        number = lap % 4 + 1
        memory.fill(number, 1000 + 100 * lap, 5)
        memory.head(number % 4 + 1)
        memory.cpu(
            commit_page=memory.page(number), entries=4 + 5 * lap, overrun=5 * max(0, lap - 4)
        )
    memory.fill(0, 900, 1)  # the reader's, older than all
    buffer.drain()
    kept = [one for lap in range(5, 9) for one in events(1000 + 100 * lap, 5)]
    assert stamps(buffer) == events(1000, 4) + kept
    assert (buffer.counts.entries, buffer.counts.lost) == (44, 20)
    stream = buffer.spools[0].stream
    stream.seek(PAGE)
    assert page_header(stream.read(PAGE), buffer.format).lost == LOST_UNKNOWN


def test_emptying_an_empty_buffer_excuses_no_loss(memory: LinuxMemory, tmp_path: Path) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure(overwrite=True)
    buffer.expect_reset()
    for lap in range(8):
        number = lap % 4 + 1
        memory.fill(number, 100 * (lap + 1), 5)
        memory.head(number % 4 + 1)
        memory.cpu(
            commit_page=memory.page(number), entries=5 * (lap + 1), overrun=5 * max(0, lap - 3)
        )
    buffer.drain()
    assert stamps(buffer) == [one for lap in range(5, 9) for one in events(100 * lap, 5)]
    assert (buffer.counts.entries, buffer.counts.lost) == (40, 20)


def test_events_survive_when_the_kernel_reads_them_itself(
    memory: LinuxMemory, tmp_path: Path
) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure()
    memory.fill(1, 1000, 4)
    memory.cpu(commit_page=memory.page(1), entries=4)
    buffer.drain()
    memory.fill(2, 1100, 3)
    memory.cpu(commit_page=memory.page(2), entries=7)
    # The kernel's reader takes sub-buffer 1 out of the ring and puts its own in.
    memory.put("buffer_page", memory.page(0), **{"list.next": memory.page(2) | 1})
    memory.put("buffer_page", memory.page(4), **{"list.next": memory.page(0)})
    memory.cpu(reader_page=memory.page(1), read=4, pages=memory.page(4))
    buffer.drain()
    assert stamps(buffer) == events(1000, 4) + events(1100, 3)
    assert buffer.counts.lost == 0


def test_a_kernel_may_empty_its_buffer(memory: LinuxMemory, tmp_path: Path) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure()
    memory.fill(0, 100, 3)
    memory.cpu(entries=3)
    buffer.drain()
    memory.fill(0, 500, 2)
    memory.cpu(entries=2)
    buffer.drain()
    assert stamps(buffer) == events(100, 3) + events(500, 2)
    assert (buffer.counts.entries, buffer.counts.lost) == (5, 0)


@pytest.mark.parametrize("after", [2, 3, 7])
@pytest.mark.parametrize("read_before", [True, False])
def test_only_what_was_not_read_before_a_reset_is_lost(
    memory: LinuxMemory, tmp_path: Path, read_before: bool, after: int
) -> None:
    buffer = collector(memory, tmp_path)
    buffer.configure()
    memory.fill(0, 100, 3)
    memory.cpu(entries=3)
    buffer.drain()
    if read_before:
        buffer.expect_reset()
    memory.fill(0, 500, after)
    # The last one was written inside of one that is not complete.
    memory.cpu(entries=after + read_before)
    buffer.drain()
    if read_before:
        assert (buffer.counts.entries, buffer.counts.overrun) == (4 + after, 0)
    stream = buffer.spools[0].stream
    stream.seek(PAGE)
    lost = page_header(stream.read(PAGE), buffer.format).lost
    assert lost == (0 if read_before else LOST_UNKNOWN)


def test_clear_forgets_what_was_there(memory: LinuxMemory, tmp_path: Path) -> None:
    memory.fill(0, 100, 3)
    memory.cpu(entries=3)
    buffer = collector(memory, tmp_path)
    buffer.clear()
    buffer.drain()
    assert stamps(buffer) == []
    memory.fill(0, 100, 5)
    memory.cpu(entries=5)
    buffer.drain()
    assert stamps(buffer) == events(100, 5)[3:]
    assert buffer.counts.entries == 2


def test_tracing_on_is_a_bit_of_record_disabled(memory: LinuxMemory, tmp_path: Path) -> None:
    buffer = collector(memory, tmp_path)
    memory.put("trace_buffer", BUFFER, record_disabled=3)
    assert buffer.recording
    buffer.recording = False
    assert not buffer.recording
    assert (
        LinuxRing(memory.kernel(), lambda addresses, size: {}).buffer["record_disabled"]
        == 1 << 20 | 3
    )


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: m.cpu(nr_pages=1 << 30), "has 1073741824 sub-buffers"),
        (lambda m: m.cpu(pages=0x1000), "cannot be read"),
        (lambda m: m.store(NR_CPU_IDS, 1 << 20, 4), "has 1048576 CPUs"),
        (lambda m: m.cpu(commit_page=m.page(40)), "does not lead to the sub-buffer"),
        (
            lambda m: m.put("buffer_page", m.page(2), **{"list.next": m.page(2)}),
            "has more than its 4 sub-buffers",
        ),
        (
            lambda m: m.put("trace_array", GLOBAL_TRACE, **{"array_buffer.buffer": 0}),
            "yet",
        ),
    ],
)
def test_a_damaged_ring_is_refused(damage, message: str, tmp_path: Path) -> None:
    memory = LinuxMemory()
    memory.fill(1, 10, 1)
    memory.cpu(commit_page=memory.page(1))
    damage(memory)
    with pytest.raises(GuestError, match=message):
        collector(memory, tmp_path).drain()


def test_a_sub_buffer_that_cannot_be_read_is_the_guests_fault(tmp_path: Path) -> None:
    memory = LinuxMemory()
    memory.fill(1, 10, 1)
    memory.cpu(commit_page=memory.page(1))
    buffer = collector(memory, tmp_path)
    buffer.drain()
    # The kernel has overwritten what was read, so all are looked at.
    memory.fill(1, 100, 1)
    memory.put("buffer_page", memory.page(2), page=0x1000)
    with pytest.raises(GuestError, match="has a sub-buffer that cannot be read"):
        buffer.drain()
