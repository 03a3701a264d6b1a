# SPDX-License-Identifier: MIT
"""The per-CPU ring buffers of a stopped Linux kernel: where their sub-buffers lie, in which order.

A writer may have been stopped anywhere.  Sub-buffers are linked in a ring; the low bits of a link
say what the sub-buffer behind it is (1 head, 2 being moved).  One more, the reader's, is outside of
the ring.  The kernel's own ``head_page`` may be out of date, and is not used.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.errors import FormatError, GdbError, GuestError
from harness.linux.kernel import Kernel, View
from harness.ring import PageFormat

FLAGS = 3
"""The low bits of a link: RB_FLAG_MASK."""

USED = 0xFFFFF
"""The bits of ``write`` with a number of bytes: RB_WRITE_MASK."""

OVERWRITE = 1
"""RB_FL_OVERWRITE, in the flags of a buffer."""

MAX_PAGES = 1 << 18
"""Sub-buffers of one CPU: 1 GB."""

UNREAD = -1

LOCKED_DOWN = "kernel_locked_down"
"""Its level of lockdown, an enum; tracing is refused at confidentiality, the highest, from the
beginning of tracer_alloc_buffers() on.
"""
NOT_SET_UP = "Let the kernel boot further: it sets up its ring buffer in early_trace_init()."


@dataclass(frozen=True, slots=True)
class SubBuffer:
    """A sub-buffer: its ``struct buffer_page``, its data, and the time of its first event.

    The time is 0 if it has no event yet: the kernel sets it with the first one.  It is `UNREAD`
    where the data is to be read anyway.
    """

    page: int
    data: int
    stamp: int


@dataclass(frozen=True, slots=True)
class Unread:
    """What has not been read of one CPU, oldest first.

    The last sub-buffer is the one that is being written; the first ``skip`` bytes of the first one
    were consumed by the kernel.  ``gone``: earlier events were overwritten.
    """

    pages: list[SubBuffer]
    skip: int = 0
    gone: bool = False


Gather = Callable[[Collection[int], int], Mapping[int, bytes]]


class CpuRing:
    """The ring buffer of one CPU, as of now."""

    def __init__(self, kernel: Kernel, cpu: int, view: View, gather: Gather) -> None:
        self._kernel = kernel
        self._gather = gather
        self._view = view
        self.cpu = cpu
        self.address = view.address
        self.nr_pages = view["nr_pages"]
        if not 2 <= self.nr_pages <= MAX_PAGES:
            raise self._damaged(f"has {self.nr_pages} sub-buffers")
        self.entries = view["entries"]
        self.overrun = view["overrun"]
        self.dropped = view.get("dropped_events")
        self.reader = view["reader_page"]
        self.commit = view["commit_page"]
        self.tail = view["tail_page"]

    @property
    def writing(self) -> bool:
        """Whether the CPU is between the reserve and the commit of an event."""
        return bool(self._view["committing"])

    @property
    def disabled(self) -> bool:
        """Whether it refuses events, without counting them."""
        return bool(self._view["record_disabled"])

    @property
    def consumed(self) -> tuple[int, int, int]:
        """Changes when the kernel itself reads events."""
        return self._view["read"], self._view.get("pages_read"), self.reader

    @property
    def held(self) -> int:
        """The number of events in the buffer that the kernel has not read, by its counters."""
        read = self._view["read"]
        return self.entries - self.overrun - read & self._kernel.image.isa.mask

    def current(self) -> tuple[SubBuffer, int]:
        """The last sub-buffer with events, and how many bytes of it are used."""
        pages = [self.reader]
        if self.reader != self.commit:
            pages += [one.page for one in self._until_commit(self._ring())]
        found = next((one for one in map(self._page, reversed(pages)) if one.stamp), None)
        found = found or self._page(self.commit)
        return found, self._used(found.data)

    def begun_behind(self, page: int) -> int:
        """How many sub-buffers the kernel has begun behind this one.

        They are more than `unread` has while an event is being written: those behind it are filled
        by interrupts.
        """
        if self.tail in (page, self.reader):
            return 0
        behind = self._ring() if page == self.reader else self._behind(page)
        for number, one in enumerate(behind, 1):
            if one == self.tail:
                return number
        raise self._damaged("does not lead to the sub-buffer that is filled")

    def unread(
        self, last: SubBuffer | None, consumed: tuple[int, int, int] | None, overrun: int = 0
    ) -> Unread:
        """What has not been read, if ``last`` was the last sub-buffer of the time before."""
        if last is None:
            return self._from_the_oldest()
        now = self._page(last.page)
        begun = last.stamp != 0
        kept = now.stamp == last.stamp if begun else self.overrun == overrun
        if kept and consumed == self.consumed:
            return Unread(list(self._from(now)))
        # The kernel has moved sub-buffers, or has overwritten what was not read.
        every = self._pages([self.reader, *self._ring()])
        later = sorted(
            (one for one in every if one.stamp and one.stamp >= last.stamp),
            key=lambda one: one.stamp,
        )
        if begun:
            kept = any(one.stamp == last.stamp for one in later)
        return Unread(later, gone=not kept)

    def _from_the_oldest(self) -> Unread:
        reader = self._page(self.reader)
        skip = self._kernel.view("buffer_page", self.reader)["read"]
        pages = [reader] if skip < self._used(reader.data) else []
        if self.reader != self.commit:
            pages += self._until_commit(self._ring())
        return Unread(pages, skip if pages and pages[0] is reader else 0)

    def _from(self, first: SubBuffer) -> Iterator[SubBuffer]:
        """From a sub-buffer to the one that is being written."""
        yield first
        if first.page == self.commit:
            return
        if first.page == self.reader:
            yield from self._until_commit(self._ring())
        else:
            yield from self._until_commit(self._behind(first.page))

    def _until_commit(self, pages: Iterable[int]) -> Iterator[SubBuffer]:
        for page in pages:
            data = self._kernel.view("buffer_page", page)["page"]
            yield SubBuffer(page, data, UNREAD)
            if page == self.commit:
                return
        raise self._damaged("does not lead to the sub-buffer that is being written")

    def _behind(self, page: int) -> Iterator[int]:
        """The sub-buffers behind one in the ring, once around."""
        for _ in range(self.nr_pages):
            page = self._next(page)[0]
            yield page

    def _ring(self) -> list[int]:
        """The sub-buffers of the ring from its head on."""
        offset = self._kernel.layouts["buffer_page"].place("list.next").offset
        first = self._view["pages"] - offset
        pages: list[int] = []
        head = 0
        at = first
        for _ in range(self.nr_pages + 1):
            at, flags = self._next(at)
            if flags:
                head = len(pages)
            pages.append(at)
            if at == first:
                return pages[head:] + pages[:head]
        raise self._damaged(f"has more than its {self.nr_pages} sub-buffers")

    def _next(self, page: int) -> tuple[int, int]:
        """The sub-buffer behind one in the ring, and the flags of the link."""
        place = self._kernel.layouts["buffer_page"].place("list.next")
        link = self._kernel.pointer(page + place.offset)
        return (link & ~FLAGS) - place.offset, link & FLAGS

    def _page(self, page: int) -> SubBuffer:
        data = self._kernel.view("buffer_page", page)["page"]
        stamp = self._kernel.number(data, 8) if self._used(data) else 0
        return SubBuffer(page, data, stamp)

    def _pages(self, pages: Sequence[int]) -> list[SubBuffer]:
        """As `_page`, for many."""
        layout, order = self._kernel.layouts["buffer_data_page"], self._kernel.image.byteorder
        stamp, commit = layout.place("time_stamp"), layout.place("commit")
        held = {page: self._kernel.view("buffer_page", page)["page"] for page in pages}
        try:
            heads = self._gather(held.values(), layout.place("data").offset)
        except GdbError as error:
            raise self._damaged("has a sub-buffer that cannot be read") from error
        found = []
        for page, data in held.items():
            used = commit.number(heads[data], order) & USED
            found.append(SubBuffer(page, data, stamp.number(heads[data], order) if used else 0))
        return found

    def _used(self, data: int) -> int:
        place = self._kernel.layouts["buffer_data_page"].place("commit")
        return self._kernel.number(data + place.offset, place.size) & USED

    def _damaged(self, what: str) -> GuestError:
        return GuestError(
            f"the kernel's ring buffer is damaged: that of CPU {self.cpu} {what}",
            "It was overwritten, or it is being resized.",
        )


class LinuxRing:
    """The ring buffer of the kernel's ``global_trace``."""

    def __init__(self, kernel: Kernel, gather: Gather) -> None:
        """``gather`` reads so many bytes at each of some addresses."""
        self._kernel = kernel
        self._gather = gather
        self.trace_array = kernel.symbol("global_trace", "TRACING")

    @property
    def buffer(self) -> View:
        """The ``struct trace_buffer``; GuestError before the kernel has set it up."""
        place = self._kernel.layouts["trace_array"].first(
            "array_buffer.buffer", "trace_buffer.buffer"
        )
        address = self._kernel.pointer(self.trace_array + place.offset)
        if not address:
            symbols = self._kernel.image.symbols
            if LOCKED_DOWN in symbols and self._kernel.number(symbols[LOCKED_DOWN], 4):
                raise GuestError(
                    "the kernel is locked down, and has no ring buffer",
                    "Boot it without lockdown=confidentiality.",
                )
            raise GuestError("the kernel has not set up its ring buffer yet", NOT_SET_UP)
        return self._kernel.view("trace_buffer", address)

    @cached_property
    def format(self) -> PageFormat:
        """The format of its sub-buffers."""
        kernel, layout = self._kernel, self._kernel.layouts["buffer_data_page"]
        form = PageFormat(kernel.image.byteorder, kernel.word, self._page_size())
        places = layout.place("time_stamp"), layout.place("commit"), layout.place("data")
        if [place.offset for place in places] != [0, 8, form.data_offset]:
            raise FormatError(
                f"the sub-buffers of {kernel.image.name} have their events at byte "
                f"{places[2].offset}, and no reader of trace.dat expects them there"
            )
        return form

    def _page_size(self) -> int:
        """Bytes of a sub-buffer: of a page, unless the kernel knows another size."""
        buffer, layout = self.buffer, self._kernel.layouts["buffer_data_page"]
        if "subbuf_size" in buffer.layout:
            size = buffer["subbuf_size"] + layout.place("data").offset
        else:
            size = self._kernel.image.size_of(self._kernel.image.isa.linux.page_object)
        if not 4096 <= size <= 1 << 20 or size & (size - 1):
            raise GuestError(f"the kernel's sub-buffers cannot have {size} bytes")
        return size

    def cpus(self) -> list[CpuRing]:
        """The ring buffers of the CPUs that have one, by number."""
        buffer = self.buffer
        word = self._kernel.word
        found = []
        for cpu in range(self._kernel.cpu_count):
            address = self._kernel.pointer(buffer["buffers"] + word * cpu)
            if address:
                view = self._kernel.view("ring_buffer_per_cpu", address)
                found.append(CpuRing(self._kernel, cpu, view, self._gather))
        return found

    @property
    def overwrites(self) -> bool:
        """Whether a full buffer overwrites its oldest events."""
        return bool(self.buffer["flags"] & OVERWRITE)

    @overwrites.setter
    def overwrites(self, on: bool) -> None:
        buffer = self.buffer
        flags = buffer["flags"] & ~OVERWRITE | OVERWRITE * on
        self._kernel.write("trace_buffer", buffer.address, "flags", flags)

    @property
    def recording(self) -> bool:
        """``tracing_on``: RB_BUFFER_OFF is not set."""
        return not self.buffer["record_disabled"] & RECORD_OFF

    @recording.setter
    def recording(self, on: bool) -> None:
        buffer = self.buffer
        value = buffer["record_disabled"] & ~RECORD_OFF | RECORD_OFF * (not on)
        self._kernel.write("trace_buffer", buffer.address, "record_disabled", value)


RECORD_OFF = 1 << 20
"""RB_BUFFER_OFF: set by ``tracing_on`` 0."""
