# SPDX-License-Identifier: MIT
"""Reads the ring buffers of a Linux kernel into spool files.

Nothing in the guest changes: the position of reading is kept here, and the kernel continues to
overwrite its oldest events.  If no event may be lost, the guest must be stopped often enough: see
`room`.
"""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.errors import DeadlineMissed, FormatError, GuestError
from harness.linux import Kernel
from harness.linux.ring import CpuRing, LinuxRing, SubBuffer, Unread
from harness.readout.collector import DRAINING, PORTION
from harness.readout.lanes import Lane
from harness.readout.spools import EventBuffer, Spool, Totals
from harness.ring import (
    LOST_UNKNOWN,
    Cursor,
    PageFormat,
    PageHeader,
    count_events,
    mark_lost,
    page_header,
    rest_of_page,
    scan_page,
)

GAP = 2
"""Sub-buffers that begin at most so many sizes apart are read together."""

MARGIN = 2
"""The sub-buffer that is being written, and another one that the kernel is about to begin."""

Resize = Callable[[int], None]
"""Gives the kernel's buffer another size, in bytes per CPU."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The read position in one CPU's buffer: the last sub-buffer, and the kernel's own reads."""

    last: SubBuffer | None
    consumed: tuple[int, int, int]
    entries: int
    overrun: int
    skip: int


class LinuxCollector(EventBuffer):
    """The ring buffer of a Linux kernel's ``global_trace``."""

    def __init__(self, kernel: Kernel, lane: Lane, directory: Path, resize: Resize) -> None:
        self._lane = lane
        self._ring = LinuxRing(kernel, self._gather)
        self._resize = resize
        cpus = self._ring.cpus()
        super().__init__(
            self._ring.format, 1 + max((one.cpu for one in cpus), default=0), directory
        )
        self._seen: dict[int, Seen] = {}
        self._reset: dict[int, int] = {}
        self.overwrites = True
        """Whether events may be lost, the oldest first; so it is until `configure` is called."""

    def configure(self, buffer_size: int | None = None, overwrite: bool = False) -> None:
        """Forget all events so far; set the size and whether events may be lost."""
        have = min(one.nr_pages for one in self._ring.cpus()) * self.format.page_size
        # The kernel rounds up to whole sub-buffers, and has one more for the reader.
        if buffer_size is not None and not 0 <= have - buffer_size <= 2 * self.format.page_size:
            self._resize(buffer_size)
        self._ring.overwrites = True
        self.overwrites = overwrite
        self.clear()

    @property
    def sizes(self) -> list[int]:
        """As of `EventBuffer`."""
        return [one.nr_pages * self.format.page_size for one in self._ring.cpus()]

    @property
    def overwriting(self) -> bool:
        """As of `EventBuffer`."""
        return self.overwrites

    def clear(self) -> None:
        """Forget all events so far.  The kernel keeps its own."""
        self._forget()
        self._seen.clear()
        for one in self._ring.cpus():
            last, used = one.current()
            self._seen[one.cpu] = Seen(last, one.consumed, one.entries, one.overrun, used)

    def expect_reset(self) -> None:
        """All has been read, and before the next drain the kernel may empty its buffer.

        One without events is the same afterwards, so what is lost later is lost by overwriting.
        """
        self._reset = {cpu: seen.entries for cpu, seen in self._seen.items() if seen.entries}

    @property
    def recording(self) -> bool:
        """``tracing_on``."""
        return self._ring.recording

    @recording.setter
    def recording(self, on: bool) -> None:
        self._ring.recording = on

    @property
    def may_lose_nothing(self) -> bool:
        """Whether the guest must be stopped before anything is overwritten."""
        return not self.overwrites and self.recording

    @property
    def room(self) -> int:
        """How many sub-buffers may be begun, by all CPUs, before an unread one is overwritten.

        The one that the kernel may be about to begin is not counted.
        """
        return max(0, min(map(self._free, self._ring.cpus())) - MARGIN)

    def _free(self, cpu: CpuRing) -> int:
        """How many sub-buffers have nothing unread, with the last one that was read."""
        seen = self._seen.get(cpu.cpu)
        begun = cpu.begun_behind(seen.last.page) if seen and seen.last else 0
        return cpu.nr_pages - begun

    def drain(
        self, full: Collection[int] = (), give_up: Callable[[], bool] = lambda: False
    ) -> bool:
        """As of `EventBuffer`.

        Raises:
            GuestError: the buffer or a sub-buffer is invalid.
            DeadlineMissed: it took longer than `DRAINING`.
        """
        end = time.monotonic() + DRAINING
        for one in self._ring.cpus():
            if one.cpu >= len(self.spools):
                raise GuestError(f"the kernel's ring buffer is damaged: it has a CPU {one.cpu}")
            if not self._drain_cpu(one, self.spools[one.cpu], end, give_up):
                return False
        return True

    def writing(self) -> list[int]:
        """As of `EventBuffer`."""
        return [one.cpu for one in self._ring.cpus() if one.writing]

    def totals(self) -> Totals:
        """Events written and lost since the buffer was set up or cleared by the kernel."""
        cpus = self._ring.cpus()
        return Totals(sum(one.entries for one in cpus), sum(one.overrun for one in cpus))

    def _drain_cpu(
        self, cpu: CpuRing, spool: Spool, end: float, give_up: Callable[[], bool]
    ) -> bool:
        self.disabled |= {cpu.cpu} if cpu.disabled else set()
        seen = self._seen.get(cpu.cpu)
        if seen is None:
            # Earlier events were not read: begin with the contents of the buffer.
            seen = Seen(None, cpu.consumed, cpu.entries - cpu.held, cpu.overrun, 0)
        unread, known = self._find_unread(cpu, seen)
        if unread is None:
            # The kernel has emptied its buffer, as it does when it switches tracers.
            unread = replace(cpu.unread(None, None), gone=True)
            seen = Seen(None, cpu.consumed, 0, 0, 0)
        skip = seen.skip if seen.last is not None else unread.skip
        if unread.gone:
            spool.finish()
            skip = 0
        portion = max(1, PORTION // self.format.page_size)
        entries = cpu.entries - seen.entries
        held = 0
        # Looked for only if no sub-buffer that is read has events: that walks around the ring.
        place = None
        if not unread.pages:
            place = cpu.current()
            self._seen[cpu.cpu] = Seen(place[0], cpu.consumed, cpu.entries, cpu.overrun, place[1])
        for first in range(0, len(unread.pages), portion):
            part = unread.pages[first : first + portion]
            pages = self._read(part)
            is_last = first + portion >= len(unread.pages)
            if unread.gone:
                held += sum(count_events(page, self.format) for page in pages)
            whole = len(pages) - is_last
            reached = self._reached(part, pages, whole, skip if first == 0 else 0)
            if first == 0 and skip:
                pages[0] = _behind(pages[0], self.format, skip)
            if first == 0 and unread.gone and not known:
                pages[0] = mark_lost(pages[0], self.format, LOST_UNKNOWN)
            spool.append(self._with_events(pages[:whole]), self._with_events(pages[whole:]))
            place = reached or place or cpu.current()
            self._seen[cpu.cpu] = Seen(
                place[0],
                cpu.consumed,
                cpu.entries if is_last else seen.entries,
                cpu.overrun,
                place[1],
            )
            if time.monotonic() > end:
                raise DeadlineMissed(
                    f"the ring buffer was not read to its end within {DRAINING:g} s",
                    "The kernel has too much to read, or QEMU answers slowly.",
                )
            if give_up() and not is_last:
                return False
        spool.counts.entries += entries
        spool.counts.dropped = cpu.dropped
        # Events inside of one that is not complete are counted, and will be read.
        if unread.gone and not known:
            spool.counts.overrun += max(0, entries - held)
        return True

    def _find_unread(self, cpu: CpuRing, seen: Seen) -> tuple[Unread | None, bool]:
        """The sub-buffers to read, None if the buffer was emptied; whether no event was lost."""
        expected = self._reset.pop(cpu.cpu, None) == seen.entries
        if cpu.entries < seen.entries:
            return None, expected
        unread = cpu.unread(seen.last, seen.consumed, seen.overrun)
        if unread.gone and expected:
            return None, True
        return unread, False

    def _reached(
        self, part: Sequence[SubBuffer], pages: Sequence[bytes], whole: int, skip: int
    ) -> tuple[SubBuffer, int] | None:
        """The last sub-buffer with events, and how many of its bytes need not be read again.

        An empty one says nothing about whether the kernel has moved on.
        """
        for index in reversed(range(len(pages))):
            header = self._header(pages[index])
            if header.used:
                done = header.used if index < whole else skip if index == 0 else 0
                return replace(part[index], stamp=header.stamp), done
        return None

    def _header(self, page: bytes) -> PageHeader:
        """FormatError becomes a GuestError."""
        try:
            return page_header(page, self.format)
        except FormatError as error:
            raise GuestError(f"the kernel's ring buffer is damaged: {error.message}") from error

    def _with_events(self, pages: Sequence[bytes]) -> bytes:
        """The pages that have any."""
        return b"".join(page for page in pages if self._header(page).used)

    def _read(self, pages: Sequence[SubBuffer]) -> list[bytes]:
        """The contents of sub-buffers; neighbours in memory are read together."""
        found = self._gather([one.data for one in pages], self.format.page_size)
        return [found[one.data] for one in pages]

    def _gather(self, addresses: Collection[int], size: int) -> dict[int, bytes]:
        """So many bytes at each address of a sub-buffer, or its beginning."""
        apart = GAP * self.format.page_size
        found: dict[int, bytes] = {}
        group: list[int] = []
        for address in [*sorted(set(addresses)), None]:
            if group and (
                address is None or address - group[-1] > apart or address - group[0] >= PORTION
            ):
                memory = self._lane.read(group[0], group[-1] + size - group[0])
                for one in group:
                    found[one] = memory[one - group[0] : one - group[0] + size]
                group = []
            if address is not None:
                group.append(address)
        return found


def _behind(page: bytes, form: PageFormat, skip: int) -> bytes:
    """A page without the events in its first ``skip`` bytes."""
    stamp = page_header(page, form).stamp
    offset = form.data_offset + skip
    for stamp_, at, _ in scan_page(page, form):
        if at >= offset:
            break
        stamp = stamp_
    return rest_of_page(page, form, 0, Cursor(0, offset, stamp))[0]
