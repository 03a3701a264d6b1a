# SPDX-License-Identifier: MIT
"""Files whose readers wait for more: ``trace_pipe`` as text, ``trace_pipe_raw`` as pages."""

from harness.readout import EventBuffer
from harness.ring import Cursor, page_header, rest_of_page
from harness.trace.events import lost_line
from harness.tracer import TracePipe


class EventLines:
    """The events of a pipe as lines; of one CPU, or of all."""

    def __init__(self, pipe: TracePipe, cpu: int | None = None) -> None:
        self._pipe = pipe
        self._cpu = cpu

    def take(self, everything: bool) -> bytes:
        """As of `Stream`."""
        lines = []
        for event in self._pipe.events():
            if self._cpu in (None, event.cpu):
                if event.lost:
                    lines.append(lost_line(event.cpu, event.lost))
                lines.append(str(event))
        return "".join(f"{line}\n" for line in lines).encode()


class RawPages:
    """The pages of one CPU's ring buffer.

    The page that the guest is still writing is only given if all is wanted; a later page has the
    events that follow, as in the kernel.
    """

    def __init__(self, collector: EventBuffer, cpu: int) -> None:
        self._collector = collector
        self._cpu = cpu
        self._sequence = 0
        self._place: Cursor | None = None
        self._cleared = collector.cleared

    def take(self, everything: bool) -> bytes:
        """As of `Stream`."""
        if self._cleared != self._collector.cleared:
            self._cleared, self._sequence, self._place = self._collector.cleared, 0, None
        form, spool = self._collector.format, self._collector.spools[self._cpu]
        spool.stream.seek(self._sequence * form.page_size)
        data = spool.stream.read()
        complete = spool.finished // form.page_size - self._sequence
        pages = []
        for index in range(len(data) // form.page_size):
            if index >= complete and not everything:
                break
            page = data[index * form.page_size : (index + 1) * form.page_size]
            rest, place = rest_of_page(page, form, self._sequence, self._place)
            if place != self._place and page_header(rest, form).used:
                pages.append(rest)
            self._place = place
            self._sequence += index < complete
        return b"".join(pages)
