# SPDX-License-Identifier: MIT
"""Drains the guest's per-CPU ring buffers into spool files, and accounts for every event.

The layout is in the guest's header (docs/ring-buffer.rst).  A complete page is read once, appended
to the CPU's spool and released by moving ``head``; the current page is read up to its ``commit``,
and again next time.  The guest must be stopped during every call.
"""

import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import cast

from harness.errors import DeadlineMissed, FormatError, GuestError, NotBegun, UsageError
from harness.readout.lanes import Lane
from harness.readout.spools import COUNTER_MASK, EventBuffer, Totals
from harness.ring import FIXED_SIZE, RingCpu, RingHeader, header_length, mark_lost
from harness.ring.header import OVERWRITE
from harness.units import KIB, MIB, ByteOrder

PORTION = MIB
"""Bytes of pages to read at once."""

DRAINING = 30.0
"""Timeout of one drain in seconds, many times that of the largest buffers."""

ANYWHERE = range(1 << 64)
"""The memory of a guest of unknown size."""


class Collector(EventBuffer):
    """Reads the ring buffer with its header at ``address`` and its pages in ``memory``."""

    def __init__(
        self,
        lane: Lane,
        address: int,
        byteorder: ByteOrder,
        directory: Path,
        memory: range = ANYWHERE,
    ) -> None:
        self._lane = lane
        self._address = address
        self._byteorder: ByteOrder = byteorder
        self._memory = memory
        self._snapshot: int | None = None
        header = self.header()
        super().__init__(header.page_format, len(header.cpus), directory)

    def header(self) -> RingHeader:
        """The guest's current header.

        Raises:
            NotBegun: the guest has not set it up.
            GuestError: it is invalid.
        """
        return self._header(self._address)

    def _header(self, address: int) -> RingHeader:
        try:
            fixed = self._lane.read(address, FIXED_SIZE)
            if not any(fixed):
                raise NotBegun(
                    "the guest has not begun: its ring buffer is not set up yet",
                    "Let it run first, as with tbreak workload and c.",
                )
            size = header_length(fixed, self._byteorder)
            header = RingHeader.parse(self._lane.read(address, size), self._byteorder)
            header.check_within(self._memory)
            return header
        except FormatError as error:
            raise GuestError(f"the guest's ring buffer is damaged: {error.message}") from error

    def configure(self, buffer_size: int | None = None, overwrite: bool = False) -> None:
        """Empty the buffer; set its size (bytes per CPU) and whether it overwrites old events.

        No CPU may be `writing`, as of `clear`.
        """
        self._snapshot = None
        header = self.header()
        page_size = self.format.page_size
        for cpu in header.cpus:
            pages = cpu.nr_pages if buffer_size is None else buffer_size // page_size
            if not 2 <= pages <= cpu.max_pages:
                raise UsageError(
                    f"a buffer of {pages * page_size // KIB} KB per CPU is not possible",
                    f"Choose {2 * page_size // KIB} to {cpu.max_pages * page_size // KIB} KB.",
                )
            self._reset(cpu, pages)
        flags = header.flags | OVERWRITE if overwrite else header.flags & ~OVERWRITE
        self._store(header.field_offset("flags"), flags)
        self._forget()

    @property
    def sizes(self) -> list[int]:
        """As of `EventBuffer`."""
        return [cpu.nr_pages * self.format.page_size for cpu in self.header().cpus]

    @property
    def overwriting(self) -> bool:
        """As of `EventBuffer`."""
        return self.header().overwrite

    def follow_snapshot(self, address: int) -> None:
        """Make `drain` read the buffer of `keep_snapshot`, without changing the guest."""
        self._snapshot = address

    def keep_snapshot(self, address: int) -> None:
        """Empty the buffer for a tracer that copies parts of it.

        From now on `drain` reads the copy, whose header is at ``address`` and which the guest may
        replace as a whole.  `clear` and `configure` return to the main buffer.
        """
        self.clear()
        flags = self.header().flags | OVERWRITE
        self._store(RingHeader.field_offset("flags"), flags)
        # head = tail + 1: empty.
        for cpu in self._header(address).cpus:
            for field, value in (("head", 1), ("tail", 0), ("entries", 0), ("overrun", 0)):
                offset = address - self._address + cpu.field_offset(field)
                self._store(offset, value)
        self._snapshot = address

    def clear(self) -> None:
        """Delete all events, in the guest and in the spools.

        No CPU may be `writing`: its event would be committed to a page that is empty.
        """
        self._snapshot = None
        for cpu in self.header().cpus:
            self._reset(cpu, cpu.nr_pages)
        self._forget()

    @property
    def recording(self) -> bool:
        """``tracing_on``: whether the guest's ring buffer accepts events."""
        return not self.header().record_disabled

    @recording.setter
    def recording(self, on: bool) -> None:
        self._store(RingHeader.field_offset("record_disabled"), int(not on))

    @property
    def cpumask(self) -> frozenset[int]:
        """``tracing_cpumask``: the CPUs whose events are recorded while `recording`.

        UsageError for a CPU that the guest does not have.
        """
        return frozenset(cpu.index for cpu in self.header().cpus if not cpu.record_disabled)

    @cpumask.setter
    def cpumask(self, cpus: frozenset[int]) -> None:
        unknown = cpus - frozenset(range(len(self.spools)))
        if unknown:
            raise UsageError(
                f"there is no CPU {min(unknown)}", f"CPUs: 0 to {len(self.spools) - 1}."
            )
        for cpu in self.header().cpus:
            self._store(cpu.field_offset("record_disabled"), int(cpu.index not in cpus), 2)

    def drain(
        self, full: Collection[int] = (), give_up: Callable[[], bool] = lambda: False
    ) -> bool:
        """Read the new events of every CPU; returns whether all were read.

        ``full`` are the CPUs stopped in ``ring_buffer_watermark()``, whose tail page is complete.
        ``give_up`` is called after every `PORTION`, as the amount is determined by the guest.  The
        next drain reads the rest.

        Raises:
            GuestError: the header or a page is invalid.
            DeadlineMissed: it took longer than `DRAINING`.
        """
        end = time.monotonic() + DRAINING
        snapshot = self._snapshot
        header = self.header() if snapshot is None else self._header(snapshot)
        if (header.page_format, len(header.cpus)) != (self.format, len(self.spools)):
            raise GuestError(
                "the guest's ring buffer is damaged: its header has changed to "
                f"{len(header.cpus)} CPUs and pages of {header.page_format.page_size} bytes"
            )
        off = bool(header.record_disabled)
        self.disabled |= {cpu.index for cpu in header.cpus if off or cpu.record_disabled}
        for cpu, spool in zip(header.cpus, self.spools, strict=True):
            if snapshot is not None:
                spool.clear()
            unread = cpu.unread_pages
            finished = len(unread if cpu.index in full else cpu.complete_pages)
            overwritten = spool.counts.advance(cpu)
            portion = max(1, PORTION // self.format.page_size)
            for first in range(0, max(1, len(unread)), portion):
                pages = self._read_pages(cpu, unread[first : first + portion])
                complete = min(finished - first, portion)
                if complete > 0 and snapshot is None:
                    head = unread[first + complete - 1] + 1
                    self._store(cpu.field_offset("head"), head & COUNTER_MASK)
                if overwritten and first == 0:
                    pages = self._mark(pages, overwritten)
                boundary = max(0, complete) * self.format.page_size
                spool.append(pages[:boundary], pages[boundary:])
                if give_up():
                    return False
                if time.monotonic() > end:
                    raise DeadlineMissed(
                        f"the ring buffer was not read to its end within {DRAINING:g} s",
                        "The guest reports too much to read, or QEMU answers slowly.",
                    )
        return True

    def writing(self) -> list[int]:
        """The CPUs between the reserve and the commit of an event."""
        return [cpu.index for cpu in self.header().cpus if cpu.writing]

    def totals(self) -> Totals:
        """As of `EventBuffer`."""
        cpus = self.header().cpus
        return Totals(
            sum(cpu.entries for cpu in cpus), sum(cpu.overrun + cpu.dropped for cpu in cpus)
        )

    def _place(self) -> object:
        return self._snapshot

    def _return(self, place: object) -> None:
        self._snapshot = cast(int | None, place)

    def _read_pages(self, cpu: RingCpu, sequences: list[int]) -> bytes:
        """Pages in order, with one transfer for each contiguous range."""
        size = self.format.page_size
        stretches: list[tuple[int, int]] = []
        for address in map(cpu.page_address, sequences):
            if stretches and address == stretches[-1][0] + stretches[-1][1]:
                stretches[-1] = (stretches[-1][0], stretches[-1][1] + size)
            else:
                stretches.append((address, size))
        return b"".join(self._lane.read(address, size) for address, size in stretches)

    def _mark(self, pages: bytes, lost: int) -> bytes:
        """``pages`` with a mark for ``lost`` overwritten events on the first one."""
        size = self.format.page_size
        try:
            return mark_lost(pages[:size], self.format, lost) + pages[size:] if pages else pages
        except FormatError as error:
            raise GuestError(f"the guest's ring buffer is damaged: {error.message}") from error

    def _reset(self, cpu: RingCpu, pages: int) -> None:
        for field in ("head", "tail", "entries", "overrun", "dropped"):
            self._store(cpu.field_offset(field), 0)
        self._store(cpu.field_offset("nr_pages"), pages)
        self._store(cpu.field_offset("tail_page"), cpu.page_address(0), 8)
        self._lane.write(cpu.first_entry_address(0), bytes(4))
        self._lane.write(cpu.page_address(0), bytes(self.format.data_offset))

    def _store(self, offset: int, value: int, size: int = 4) -> None:
        self._lane.write(self._address + offset, value.to_bytes(size, self._byteorder))
