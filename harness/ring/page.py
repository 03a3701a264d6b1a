# SPDX-License-Identifier: MIT
"""One ring buffer page, in the layout of Linux's sub-buffers (docs/ring-buffer.rst).

Used for pages of our guests and for pages of real kernels in a trace.dat.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from harness.errors import FormatError, UsageError
from harness.units import ByteOrder, align_up

Buffer = bytes | bytearray | memoryview

LOST_UNKNOWN = -1
"""An unknown number of events was lost."""

COMMIT_USED = (1 << 27) - 1
COMMIT_LOST_STORED = 1 << 30
COMMIT_LOST = 1 << 31

DELTA_BITS = 27
DELTA_MASK = (1 << DELTA_BITS) - 1
MAX_TYPE_LEN = 28
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31

STAMP_MASK = (1 << 64) - 1
# An absolute time stamp has 59 bits; the upper bits are those of the previous event.
ABSOLUTE_LIMIT = 1 << 59

MIN_PAGE_SIZE = 256
MAX_PAGE_SIZE = 1 << 20


@dataclass(frozen=True)
class PageFormat:
    """The format of a guest's pages: byte order, size of ``long`` (4 or 8), bytes of a page."""

    byteorder: ByteOrder
    long_size: int
    page_size: int = 4096

    def __post_init__(self) -> None:
        if self.byteorder not in ("big", "little"):
            raise UsageError(f"{self.byteorder!r} is not a byte order (big or little)")
        if self.long_size not in (4, 8):
            raise UsageError(f"a long of {self.long_size} bytes is not possible (4 or 8)")
        if not MIN_PAGE_SIZE <= self.page_size <= MAX_PAGE_SIZE or self.page_size % 8:
            raise UsageError(
                f"a ring buffer page of {self.page_size} bytes is not possible "
                f"({MIN_PAGE_SIZE} to {MAX_PAGE_SIZE})"
            )

    @property
    def data_offset(self) -> int:
        """The offset of the first event, behind the time stamp and the ``long`` commit."""
        return 8 + self.long_size

    @property
    def capacity(self) -> int:
        """The size in bytes of a page's data."""
        return self.page_size - self.data_offset

    @property
    def order(self) -> str:
        """The byte order as `struct` writes it."""
        return ">" if self.byteorder == "big" else "<"

    @property
    def long_code(self) -> str:
        """An ``unsigned long`` as `struct` writes it."""
        return "I" if self.long_size == 4 else "Q"

    @cached_property
    def header(self) -> struct.Struct:
        """The time stamp and the commit word at the start of a page."""
        return struct.Struct(f"{self.order}Q{self.long_code}")

    @cached_property
    def long(self) -> struct.Struct:
        """One ``unsigned long``."""
        return struct.Struct(f"{self.order}{self.long_code}")


class PageHeader(NamedTuple):
    """The header of a page.

    ``stamp`` is the base of the time deltas.  ``used`` is the size of the events in bytes.
    ``lost`` is the number of events lost before this page: 0, a number, or `LOST_UNKNOWN`.
    """

    stamp: int
    used: int
    lost: int


class Cursor(NamedTuple):
    """A position between two events of a page that is being written.

    ``sequence`` is the page's sequence number, ``offset`` the byte offset of the next event's
    header, ``stamp`` the time of the previous event.
    """

    sequence: int
    offset: int
    stamp: int


class Record(NamedTuple):
    """One event in a page: its time, the offset of its payload, the payload."""

    stamp: int
    offset: int
    payload: bytes

    @property
    def end(self) -> int:
        """The offset behind this event."""
        return align_up(self.offset + len(self.payload), 4)


def add_lost(before: int, lost: int) -> int:
    """The sum of two numbers of lost events, either of which may be `LOST_UNKNOWN`."""
    return LOST_UNKNOWN if LOST_UNKNOWN in (before, lost) else before + lost


def page_header(page: Buffer, form: PageFormat) -> PageHeader:
    """Decode the header of ``page`` (exactly one page); `FormatError` if it is invalid."""
    if len(page) != form.page_size:
        raise FormatError(
            f"a ring buffer page has {len(page)} bytes where {form.page_size} were expected"
        )
    stamp, commit = form.header.unpack_from(page)
    used = commit & COMMIT_USED
    if used > form.capacity or used % 4:
        raise FormatError(
            f"the commit word of a ring buffer page, at byte 8, is {commit:#x}: "
            f"{used} bytes used of {form.capacity}"
        )
    if not commit & COMMIT_LOST:
        return PageHeader(stamp, used, 0)
    if not commit & COMMIT_LOST_STORED:
        return PageHeader(stamp, used, LOST_UNKNOWN)
    if used + form.long_size > form.capacity:
        raise FormatError(
            f"a ring buffer page promises a count of lost events at byte "
            f"{form.data_offset + used:#x}, where no room is left for it"
        )
    (lost,) = form.long.unpack_from(page, form.data_offset + used)
    # trace-cmd split stores -1 for an unknown number.
    unknown = lost == (1 << 8 * form.long_size) - 1
    return PageHeader(stamp, used, LOST_UNKNOWN if unknown else lost)


def scan_page(
    page: Buffer, form: PageFormat, *, start: Cursor | None = None
) -> Iterator[tuple[int, int, int]]:
    """The events of ``page``: (time stamp, offset of the payload, size of the payload in bytes).

    ``start`` skips events that have been read.  `FormatError` is raised at the first invalid event;
    the events before it have been yielded.
    """
    header = page_header(page, form)
    base = form.data_offset
    count = header.used // 4
    words = struct.unpack_from(f"{form.order}{count}I", page, base)
    big = form.byteorder == "big"
    stamp = header.stamp
    index = 0
    if start is not None:
        if start.offset < base or start.offset % 4 or start.offset > base + header.used:
            raise FormatError(
                f"a ring buffer page ends at byte {base + header.used:#x}, "
                f"but was already read up to byte {start.offset:#x}"
            )
        stamp = start.stamp
        index = (start.offset - base) // 4
    while index < count:
        word = words[index]
        if big:
            type_len, delta = word >> DELTA_BITS, word & DELTA_MASK
        else:
            type_len, delta = word & 31, word >> 5
        if 0 < type_len <= MAX_TYPE_LEN:
            stamp = stamp + delta & STAMP_MASK
            following = index + 1 + type_len
            if following > count:
                raise _overrun(base + 4 * index, type_len * 4, header, form)
            yield stamp, base + 4 * index + 4, type_len * 4
            index = following
            continue
        if type_len == PADDING and delta == 0:
            return
        if index + 1 >= count:
            raise _overrun(base + 4 * index, 4, header, form)
        extra = words[index + 1]
        if type_len == TIME_EXTEND:
            stamp = (stamp + (extra << DELTA_BITS) + delta) & STAMP_MASK
            index += 2
        elif type_len == TIME_STAMP:
            stamp = _absolute((extra << DELTA_BITS) + delta, stamp)
            index += 2
        elif type_len == PADDING:
            stamp = stamp + delta & STAMP_MASK
            following = index + 1 + extra // 4
            if extra < 4 or extra % 4 or following > count:
                raise _overrun(base + 4 * index, extra, header, form)
            index = following
        else:
            # The length word counts itself; the payload is padded to whole words.
            stamp = stamp + delta & STAMP_MASK
            following = index + 1 + align_up(extra, 4) // 4
            if extra < 4 or following > count:
                raise _overrun(base + 4 * index, extra, header, form)
            yield stamp, base + 4 * index + 8, extra - 4
            index = following


def _absolute(low: int, running: int) -> int:
    """A 64-bit time stamp from the 59 stored bits, not before the previous event."""
    low &= ABSOLUTE_LIMIT - 1
    upper = running & (STAMP_MASK ^ (ABSOLUTE_LIMIT - 1))
    if not upper:
        return low
    stamp = upper | low
    return stamp if stamp >= running else (stamp + ABSOLUTE_LIMIT) & STAMP_MASK


def _overrun(offset: int, size: int, header: PageHeader, form: PageFormat) -> FormatError:
    return FormatError(
        f"a ring buffer page has an event at byte {offset:#x} with a length of {size} bytes, "
        f"but its events end at byte {form.data_offset + header.used:#x}"
    )


def decode_page(page: Buffer, form: PageFormat, *, start: Cursor | None = None) -> Iterator[Record]:
    """The events of ``page`` with their payloads; errors as of `scan_page`."""
    for stamp, offset, size in scan_page(page, form, start=start):
        yield Record(stamp, offset, bytes(page[offset : offset + size]))


def count_events(page: Buffer, form: PageFormat) -> int:
    """The number of events in ``page``; errors as of `scan_page`."""
    return sum(1 for _ in scan_page(page, form))
