# SPDX-License-Identifier: MIT
"""Pages made from other pages: the first events, the rest, a mark for lost events."""

from harness.ring.page import (
    COMMIT_LOST,
    COMMIT_LOST_STORED,
    LOST_UNKNOWN,
    STAMP_MASK,
    Buffer,
    Cursor,
    PageFormat,
    page_header,
    scan_page,
)
from harness.units import align_up


def truncate_page(page: Buffer, form: PageFormat, count: int) -> bytes:
    """``page`` with its first ``count`` events only; its mark for lost events stays."""
    end = form.data_offset
    for number, (_, offset, size) in enumerate(scan_page(page, form), start=1):
        if number > count:
            break
        end = align_up(offset + size, 4)
    header = page_header(page, form)
    kept = _build(header.stamp, page[form.data_offset : end], form)
    return mark_lost(kept, form, header.lost) if header.lost else kept


def rest_of_page(
    page: Buffer, form: PageFormat, sequence: int, start: Cursor | None = None
) -> tuple[bytes, Cursor]:
    """A page of the events behind ``start``, and the cursor behind the last of them.

    For the page that the guest is still writing.  ``sequence`` is the page's number; a ``start`` in
    another page is ignored.
    """
    header = page_header(page, form)
    if start is None or start.sequence != sequence:
        start = Cursor(sequence, form.data_offset, header.stamp)
    stamp, end = start.stamp, start.offset
    for stamp, offset, size in scan_page(page, form, start=start):  # noqa: B007
        end = align_up(offset + size, 4)
    rest = _build(start.stamp & STAMP_MASK, page[start.offset : end], form)
    if header.lost and start.offset == form.data_offset:
        rest = mark_lost(rest, form, header.lost)
    return rest, Cursor(sequence, end, stamp)


def mark_lost(page: Buffer, form: PageFormat, count: int) -> bytes:
    """``page``, marked as having lost ``count`` events (or `LOST_UNKNOWN`) before its first one.

    The number is stored behind the events if there is room; otherwise only the fact is stored.
    """
    header = page_header(page, form)
    commit = header.used | COMMIT_LOST
    marked = bytearray(page)
    end = form.data_offset + header.used
    if (
        count != LOST_UNKNOWN
        and count < 1 << (8 * form.long_size)
        and header.used + form.long_size <= form.capacity
    ):
        commit |= COMMIT_LOST_STORED
        form.long.pack_into(marked, end, count)
    form.header.pack_into(marked, 0, header.stamp, commit)
    return bytes(marked)


def _build(stamp: int, data: Buffer, form: PageFormat) -> bytes:
    return (form.header.pack(stamp, len(data)) + bytes(data)).ljust(form.page_size, b"\0")
