# SPDX-License-Identifier: MIT
"""``trace_pipe``: each event once, as soon as it was read from the guest."""

import heapq
import struct
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter

from harness.readout import EventBuffer, Spool
from harness.ring import Cursor, page_header, scan_page
from harness.trace import TraceDescription, TraceEvent
from harness.trace.decode import event_decoder, unknown_decoder
from harness.trace.symbols import Symbols
from harness.units import align_up


class TracePipe:
    """Events by time, from the end of the previous read on.

    The collector's spools are read without consuming them, so a trace.dat is still complete.
    """

    def __init__(
        self,
        collector: EventBuffer,
        description: TraceDescription,
        task_names: Callable[[], Mapping[int, str]],
    ) -> None:
        """``task_names`` updates the mapping in ``description`` with the current threads."""
        form = description.page_format
        symbols = Symbols(description.kallsyms, description.printk_formats)
        self._collector = collector
        self._task_names = task_names
        self._number = struct.Struct(f"{form.order}H").unpack_from
        self._decoders = {
            event.id: event_decoder(event, form, symbols, description.cmdlines)
            for event in description.events
        }
        self._symbols = symbols
        self._places = [Cursor(0, form.data_offset, 0) for _ in collector.spools]
        self._cleared = collector.cleared

    def events(self) -> Iterator[TraceEvent]:
        """The events drained since the last call, by time; if the caller stops, the last one is
        repeated.
        """
        self._notice_clearing()
        self._task_names()
        streams = [self._new(cpu, spool) for cpu, spool in enumerate(self._collector.spools)]
        yield from heapq.merge(*streams, key=attrgetter("stamp"))

    def skip(self) -> int:
        """Skip the events drained since the last call; returns their number."""
        self._notice_clearing()
        skipped = 0
        form = self._collector.format
        for cpu, spool in enumerate(self._collector.spools):
            while (page := self._page(cpu, spool)) is not None:
                place = self._places[cpu]
                start = place if place.offset > form.data_offset else None
                end = place
                for stamp, offset, size in scan_page(page, form, start=start):
                    skipped += 1
                    end = Cursor(place.sequence, align_up(offset + size, 4), stamp)
                self._places[cpu] = end
                if not self._advance(cpu, spool):
                    break
        return skipped

    def _notice_clearing(self) -> None:
        if self._cleared != self._collector.cleared:
            offset = self._collector.format.data_offset
            self._places = [Cursor(0, offset, 0) for _ in self._places]
            self._cleared = self._collector.cleared

    def _page(self, cpu: int, spool: Spool) -> bytes | None:
        """The page at a CPU's position, as far as it was read from the guest."""
        size = self._collector.format.page_size
        spool.stream.seek(self._places[cpu].sequence * size)
        page = spool.stream.read(size)
        return page if len(page) == size else None

    def _advance(self, cpu: int, spool: Spool) -> bool:
        """Go to the next page if this one is complete."""
        form, sequence = self._collector.format, self._places[cpu].sequence
        if (sequence + 1) * form.page_size > spool.finished:
            return False
        self._places[cpu] = Cursor(sequence + 1, form.data_offset, 0)
        return True

    def _new(self, cpu: int, spool: Spool) -> Iterator[TraceEvent]:
        form = self._collector.format
        while (page := self._page(cpu, spool)) is not None:
            place = self._places[cpu]
            header = page_header(page, form)
            fresh = place.offset == form.data_offset
            lost = header.lost if fresh else 0
            start = None if fresh else place
            for stamp, offset, size in scan_page(page, form, start=start):
                (number,) = self._number(page, offset)
                decode = self._decoders.get(number)
                if decode is None:
                    decode = self._decoders[number] = unknown_decoder(number, self._symbols)
                yield decode(stamp, cpu, page, offset, size, lost)
                # After the yield: an event at which the caller stops is repeated.
                self._places[cpu] = Cursor(place.sequence, align_up(offset + size, 4), stamp)
                lost = 0
            if not self._advance(cpu, spool):
                return
