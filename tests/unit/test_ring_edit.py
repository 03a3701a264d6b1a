# SPDX-License-Identifier: MIT
"""Pages made of pages: cut, continued, and marked as having lost events."""

import pytest

from harness.ring import (
    LOST_UNKNOWN,
    PageFormat,
    count_events,
    decode_page,
    mark_lost,
    page_header,
    rest_of_page,
    truncate_page,
)
from ring_encoder import PageEncoder

FORMATS = [(order, size) for order in ("big", "little") for size in (4, 8)]


def contents(page, form):
    return [(r.stamp, r.payload) for r in decode_page(page, form)]


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return PageFormat(*request.param)


def encoder_of(form, events=5):
    encoder = PageEncoder(form.byteorder, form.long_size, stamp=1000)
    for number in range(events):
        if number == 3:
            encoder.extend(1 << 30)
        encoder.event(number, f"event {number}".encode(), long_form=True)
    return encoder


def test_truncated_pages_keep_the_first_events(form):
    page = encoder_of(form).page()
    whole = contents(page, form)
    for count in range(7):
        assert contents(truncate_page(page, form, count), form) == whole[:count]


def test_truncated_pages_hold_nothing_of_what_was_cut(form):
    page = encoder_of(form).page()
    assert b"event 4" not in truncate_page(page, form, 4)


@pytest.mark.parametrize("lost", [7, LOST_UNKNOWN])
def test_truncated_pages_stay_marked(form, lost):
    page = mark_lost(encoder_of(form).page(), form, lost)
    cut = truncate_page(page, form, 2)
    assert page_header(cut, form).lost == lost
    assert count_events(cut, form) == 2


def test_marking_changes_no_event(form):
    page = encoder_of(form).page()
    for lost in (1, 2**31, LOST_UNKNOWN):
        marked = mark_lost(page, form, lost)
        assert page_header(marked, form).lost == lost
        assert contents(marked, form) == contents(page, form)


def test_a_count_that_does_not_fit_becomes_unknown(form):
    assert page_header(mark_lost(encoder_of(form).page(), form, 1 << 64), form).lost == LOST_UNKNOWN
    full = PageEncoder(form.byteorder, form.long_size)
    while full.room >= 8:
        full.event(0, b"abcd")
    marked = mark_lost(full.page(), form, 7)
    assert page_header(marked, form).lost == (7 if full.room >= form.long_size else LOST_UNKNOWN)
    assert contents(marked, form) == contents(full.page(), form)


def test_a_page_read_while_it_grows_is_read_once(form):
    encoder = encoder_of(form, events=2)
    first, cursor = rest_of_page(encoder.page(), form, 9)
    again, cursor = rest_of_page(encoder.page(), form, 9, cursor)
    for number in range(3):
        encoder.event(100 + number, b"late")
    second, cursor = rest_of_page(encoder.page(), form, 9, cursor)
    assert count_events(first, form) == 2
    assert count_events(again, form) == 0
    joined = contents(first, form) + contents(second, form)
    assert joined == contents(encoder.page(), form)
    assert (cursor.sequence, cursor.stamp) == (9, joined[-1][0])


def test_a_cursor_of_another_page_is_ignored(form):
    page = encoder_of(form).page()
    _, cursor = rest_of_page(page, form, 9)
    rest, _ = rest_of_page(page, form, 10, cursor)
    assert contents(rest, form) == contents(page, form)


def test_only_the_first_part_of_a_page_is_marked(form):
    page = mark_lost(encoder_of(form).page(), form, 7)
    first, cursor = rest_of_page(page, form, 1)
    rest, _ = rest_of_page(page, form, 1, cursor)
    assert page_header(first, form).lost == 7
    assert page_header(rest, form).lost == 0
