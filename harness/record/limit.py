# SPDX-License-Identifier: MIT
"""Counts the events in streams of ring buffer pages, and limits their number."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from harness.errors import FormatError
from harness.ring import PageFormat, count_events, scan_page, truncate_page


def read_pages(stream: BinaryIO, form: PageFormat) -> Iterator[bytes]:
    """The whole pages of a seekable stream, from position 0."""
    position = 0
    while True:
        stream.seek(position)
        page = stream.read(form.page_size)
        if len(page) < form.page_size:
            return
        position += form.page_size
        yield page


def total_events(streams: Sequence[BinaryIO], form: PageFormat) -> tuple[int, str]:
    """The number of events in all streams, one per CPU, and a description of damage, if any.

    A stream is truncated at its first invalid page.
    """
    events = 0
    damage = ""
    for cpu, stream in enumerate(streams):
        position = 0
        for page in read_pages(stream, form):
            try:
                events += count_events(page, form)
            except FormatError as error:
                stream.truncate(position)
                damage = (
                    damage or f"page {position // form.page_size} of CPU {cpu}: {error.message}"
                )
                break
            position += form.page_size
    return events, damage


def keep_first(streams: Sequence[BinaryIO], form: PageFormat, count: int) -> None:
    """Truncate the streams, one per CPU, to the ``count`` earliest events of all."""
    events_of = [0] * len(streams)
    merged = heapq.merge(*(_stamps(cpu, stream, form) for cpu, stream in enumerate(streams)))
    for _, cpu in islice(merged, count):
        events_of[cpu] += 1
    for stream, events in zip(streams, events_of, strict=True):
        _cut(stream, form, events)


def _stamps(cpu: int, stream: BinaryIO, form: PageFormat) -> Iterator[tuple[int, int]]:
    for page in read_pages(stream, form):
        for stamp, _, _ in scan_page(page, form):
            yield stamp, cpu


def _cut(stream: BinaryIO, form: PageFormat, events: int) -> None:
    position = 0
    for page in read_pages(stream, form):
        if events <= 0:
            break
        held = count_events(page, form)
        if held > events:
            stream.seek(position)
            stream.write(truncate_page(page, form, events))
        events -= held
        position += form.page_size
    stream.truncate(position)
