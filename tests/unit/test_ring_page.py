# SPDX-License-Identifier: MIT
"""Pages written by an encoder that shares nothing with the decoder come back as they were meant."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import FormatError, UsageError
from harness.ring import (
    LOST_UNKNOWN,
    Cursor,
    PageFormat,
    count_events,
    decode_page,
    page_header,
    scan_page,
)
from ring_encoder import PageEncoder

FORMATS = [(order, size) for order in ("big", "little") for size in (4, 8)]
formats = st.sampled_from(FORMATS)

events = st.tuples(
    st.just("event"), st.integers(0, 2**27 - 1), st.binary(min_size=1, max_size=200), st.booleans()
)
extends = st.tuples(st.just("extend"), st.integers(0, 2**59 - 1))
absolutes = st.tuples(st.just("absolute"), st.integers(0, 2**58))
skips = st.tuples(st.just("skip"), st.integers(1, 2**27 - 1), st.integers(1, 20))
steps = st.lists(st.one_of(events, events, extends, absolutes, skips), max_size=40)


def both(byteorder, long_size, **more):
    return PageEncoder(byteorder, long_size, **more), PageFormat(byteorder, long_size)


def build(encoder, script):
    """Encode a script; what the decoder must find is computed beside it."""
    now, expected = encoder.stamp, []
    for kind, *rest in script:
        if encoder.room < 240:
            break
        if kind == "event":
            delta, payload, long_form = rest
            encoder.event(delta, payload, long_form=long_form)
            now += delta
            expected.append((now, payload))
        elif kind == "extend":
            encoder.extend(rest[0])
            now += rest[0]
        elif kind == "absolute":
            # Time only goes on; without upper bits to continue, 59 bits are all there is.
            if now < 2**59 <= now + rest[0]:
                continue
            now += rest[0]
            encoder.absolute(now)
        else:
            delta, words = rest
            encoder.skip(delta, 4 * words)
            now += delta
    return expected


@given(formats, st.integers(0, 2**60), steps)
def test_any_stream_comes_back(form, stamp, script):
    encoder, page_format = both(*form, stamp=stamp)
    expected = build(encoder, script)
    page = encoder.page()
    assert [(r.stamp, r.payload) for r in decode_page(page, page_format)] == expected
    assert count_events(page, page_format) == len(expected)
    assert page_header(page, page_format) == (stamp, len(encoder.data), 0)


@pytest.mark.parametrize("form", FORMATS)
def test_a_stamp_has_64_bits_as_the_kernels(form):
    encoder, page_format = both(*form, stamp=(1 << 64) - 10)
    encoder.event(4, b"word")
    encoder.skip(3, 8)
    encoder.event(4, b"word", long_form=True)
    encoder.event(20, b"word")
    stamps = [record.stamp for record in decode_page(encoder.page(), page_format)]
    assert stamps == [(1 << 64) - 6, 1, 21]


@given(formats, steps, st.data())
def test_reading_in_two_parts_is_reading_it_all(form, script, data):
    encoder, page_format = both(*form, stamp=10**9)
    expected = build(encoder, script)
    page = encoder.page()
    records = list(decode_page(page, page_format))
    if not records:
        return
    read = data.draw(st.integers(1, len(records)))
    last = records[read - 1]
    rest = decode_page(page, page_format, start=Cursor(3, last.end, last.stamp))
    assert [(r.stamp, r.payload) for r in rest] == expected[read:]


@given(formats, st.binary(max_size=600), st.integers(0, 2**32 - 1))
def test_garbage_is_refused_or_read_but_never_anything_else(form, garbage, commit):
    page_format = PageFormat(*form)
    byteorder, long_size = form
    page = bytes(8) + commit.to_bytes(long_size, byteorder) + garbage
    page = page.ljust(4096, b"\xff")[:4096]
    try:
        for _, offset, size in scan_page(page, page_format):
            assert page_format.data_offset < offset <= offset + size <= 4096
    except FormatError:
        pass


@settings(max_examples=200)
@given(formats, steps, st.lists(st.tuples(st.integers(8, 1000), st.integers(0, 255)), max_size=4))
def test_damaged_pages_raise_format_errors_only(form, script, damage):
    encoder, page_format = both(*form)
    build(encoder, script)
    page = bytearray(encoder.page())
    for where, value in damage:
        page[where] = value
    try:
        records = list(decode_page(page, page_format))
    except FormatError:
        return
    assert sum(len(record.payload) for record in records) <= 4096


@pytest.mark.parametrize(("byteorder", "long_size"), FORMATS)
@pytest.mark.parametrize(
    ("stored", "lost"), [(None, LOST_UNKNOWN), (7, 7), (0, 0), (-1, LOST_UNKNOWN)]
)
def test_lost_events(byteorder, long_size, stored, lost):
    encoder, page_format = both(byteorder, long_size)
    encoder.event(0, b"abcd")
    encoder.lost(None if stored is None else stored % 2 ** (8 * long_size))
    page = encoder.page()
    assert page_header(page, page_format).lost == lost
    assert count_events(page, page_format) == 1


@pytest.mark.parametrize(("byteorder", "long_size"), FORMATS)
def test_unused_rest_ends_the_page(byteorder, long_size):
    encoder, page_format = both(byteorder, long_size)
    encoder.event(5, b"abcd")
    encoder.unused()
    encoder.event(5, b"stale")
    assert [(r.stamp, r.payload) for r in decode_page(encoder.page(), page_format)] == [
        (5, b"abcd")
    ]


def test_a_full_page_and_an_empty_one():
    encoder, page_format = both("big", 4)
    assert list(decode_page(encoder.page(), page_format)) == []
    while encoder.room >= 8:
        encoder.event(1, b"abcd")
    assert encoder.room < 8
    assert count_events(encoder.page(), page_format) == (4096 - 12) // 8


def test_upper_bits_of_an_absolute_stamp_come_from_the_running_time():
    running = (3 << 59) + (1 << 59) - 10
    encoder, page_format = both("little", 8, stamp=running)
    encoder.absolute(running + 20)
    encoder.event(1, b"abcd")
    assert [r.stamp for r in decode_page(encoder.page(), page_format)] == [running + 21]


@pytest.mark.parametrize(
    ("commit", "words"),
    [
        (4096, []),
        (4084, []),
        (6, []),
        (1 << 31 | 1 << 30 | 4080, []),
        (8, [5]),
        (4, [29 | 32]),
        (4, [30]),
        (4, [0]),
        (8, [0, 3]),
        (8, [0, 9]),
        (8, [0, 0xFFFFFFFF]),
        (8, [29 | 32, 0]),
        (8, [29 | 32, 6]),
        (8, [29 | 32, 8]),
    ],
)
def test_pages_that_cannot_be(commit, words):
    page = bytes(8) + commit.to_bytes(8, "little")
    page += b"".join(word.to_bytes(4, "little") for word in words)
    with pytest.raises(FormatError, match="at byte"):
        list(scan_page(page.ljust(4096, b"\0"), PageFormat("little", 8)))


def test_events_before_the_damage_are_delivered():
    encoder, page_format = both("big", 4)
    encoder.event(1, b"abcd")
    encoder.event(1, b"efgh")
    encoder.head(20, 0)
    records = decode_page(encoder.page(), page_format)
    assert [next(records).payload, next(records).payload] == [b"abcd", b"efgh"]
    with pytest.raises(FormatError, match="at byte 0x1c "):
        next(records)


def test_a_cursor_outside_the_page_is_refused():
    encoder, page_format = both("big", 4)
    encoder.event(1, b"abcd")
    for offset in (8, 14, 24):
        with pytest.raises(FormatError, match="already read"):
            list(scan_page(encoder.page(), page_format, start=Cursor(0, offset, 0)))


def test_a_piece_of_a_page_is_refused():
    with pytest.raises(FormatError, match="4095 bytes where 4096"):
        page_header(bytes(4095), PageFormat("big", 4))


@pytest.mark.parametrize("wrong", [("middle", 4, 4096), ("big", 5, 4096), ("big", 4, 100)])
def test_formats_that_cannot_be(wrong):
    with pytest.raises(UsageError):
        PageFormat(*wrong)
