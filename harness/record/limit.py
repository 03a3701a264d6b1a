# SPDX-License-Identifier: MIT
"""Count the events in streams of ring buffer pages, and cut the streams after the first so many."""

import heapq
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from harness.errors import FormatError
from harness.ring import PageFormat, count_events, scan_page, truncate_page


def read_pages(stream: BinaryIO, form: PageFormat) -> Iterator[bytes]:
    """The whole pages of a seekable stream, from its beginning."""
    position = 0
    while True:
        stream.seek(position)
        page = stream.read(form.page_size)
        if len(page) < form.page_size:
            return
        position += form.page_size
        yield page


def total_events(streams: Sequence[BinaryIO], form: PageFormat) -> tuple[int, str]:
    """How many events all streams, one a CPU, hold together, and what is wrong with them, if so.

    A stream ends in front of its first page that cannot be right: that and what follows is cut.
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
    """Cut the streams, one a CPU, so that the ``count`` earliest events of all of them remain."""
    kept = [0] * len(streams)
    merged = heapq.merge(*(_stamps(cpu, stream, form) for cpu, stream in enumerate(streams)))
    for _, cpu in islice(merged, count):
        kept[cpu] += 1
    for stream, events in zip(streams, kept, strict=True):
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
