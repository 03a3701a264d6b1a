# SPDX-License-Identifier: MIT
"""Files whose readers wait for more: ``trace_pipe`` as text, ``trace_pipe_raw`` as pages."""

from harness.readout import EventBuffer
from harness.trace.events import lost_line
from harness.tracer import TracePipe


class EventLines:
    """The events of a pipe as lines; of one CPU, or of all."""

    def __init__(self, pipe: TracePipe, cpu: int | None = None) -> None:
        self._pipe = pipe
        self._cpu = cpu

    def take(self, ended: bool) -> bytes:
        """As of `Stream`."""
        lines = []
        for event in self._pipe.events():
            if self._cpu in (None, event.cpu):
                if event.lost:
                    lines.append(lost_line(event.cpu, event.lost))
                lines.append(str(event))
        return "".join(f"{line}\n" for line in lines).encode()


class RawPages:
    """The pages of one CPU's ring buffer; the last, unfinished one when the guest has ended."""

    def __init__(self, collector: EventBuffer, cpu: int) -> None:
        self._collector = collector
        self._cpu = cpu
        self._offset = 0
        self._cleared = collector.cleared

    def take(self, ended: bool) -> bytes:
        """As of `Stream`."""
        if self._cleared != self._collector.cleared:
            self._cleared, self._offset = self._collector.cleared, 0
        spool = self._collector.spools[self._cpu]
        spool.stream.seek(self._offset)
        pages = spool.stream.read() if ended else spool.stream.read(spool.finished - self._offset)
        self._offset += len(pages)
        return pages
