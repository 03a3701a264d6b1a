# SPDX-License-Identifier: MIT
"""The tracer of a live guest: its controls and the events that it has recorded."""

from collections.abc import Iterator

from harness.image import Image
from harness.patcher import Cpus, Text
from harness.readout import Collector
from harness.trace import TraceDescription, TraceEvent
from harness.tracer.control import TracerControl


class Tracer(TracerControl):
    """What tracefs offers, for a guest that is stopped.

    Setting ``current`` or a filter rewrites call sites at once; the guest sees it when it runs on.
    """

    def __init__(self, image: Image, text: Text, cpus: Cpus, collector: Collector) -> None:
        super().__init__(image, text, cpus)
        self._collector = collector

    @property
    def on(self) -> bool:
        """``tracing_on``: whether the ring buffer takes events.  Call sites stay as they are."""
        return self._collector.recording

    @on.setter
    def on(self, on: bool) -> None:
        self._collector.recording = on

    def events(self) -> Iterator[TraceEvent]:
        """Every event since the trace was cleared, of all CPUs, by time; reading takes none away."""
        self._collector.drain()
        return self._collector.events(self.description())

    def clear(self) -> None:
        """Forget all events, as writing to ``trace`` does."""
        self._collector.clear()
