# SPDX-License-Identifier: MIT
"""The tracer of a live guest: its controls and the events that it has recorded."""

import tempfile
from collections.abc import Iterator
from functools import cached_property

from harness import __version__
from harness.image import Image, RunningImage
from harness.patcher import Cpus, Text
from harness.readout import Collector
from harness.trace import (
    CpuStatistics,
    TraceDatReader,
    TraceDescription,
    TraceEvent,
    event_formats,
    write_trace_dat,
)
from harness.tracer.control import TracerControl
from harness.tracer.graph import GraphControl

TASKS = {1: "workload"}
"""Names of the guest's threads; 0 is the boot thread, which every reader knows as idle."""


class Tracer(TracerControl):
    """What tracefs offers, for a guest that is stopped.

    Setting ``current`` or a filter rewrites call sites at once; the guest sees it when it runs on.
    """

    def __init__(self, image: RunningImage, text: Text, cpus: Cpus, collector: Collector) -> None:
        super().__init__(image, text, cpus)
        self._collector = collector

    @cached_property
    def graph(self) -> GraphControl:
        """The controls of function_graph; `UsageError` on a guest without it."""
        return GraphControl(self._image, self._text, self.sites_of)

    @property
    def on(self) -> bool:
        """``tracing_on``: whether the ring buffer takes events.  Call sites stay as they are."""
        return self._collector.recording

    @on.setter
    def on(self, on: bool) -> None:
        self._collector.recording = on

    def events(self) -> Iterator[TraceEvent]:
        """Every event since the trace was cleared, by time; reading takes none away."""
        self._collector.drain()
        with tempfile.TemporaryFile() as stream:
            spools = [spool.stream for spool in self._collector.spools]
            write_trace_dat(stream, self.description(), spools)
            yield from TraceDatReader(stream).events()

    def module_went(self, module: Image) -> None:
        """As of `TracerControl`; the graph tracer's lists lose the module's functions too."""
        super().module_went(module)
        if "ftrace_graph_control" in self._image.symbols:
            self.graph.forget(module.text)

    def clear(self) -> None:
        """Forget all events, as writing to ``trace`` does."""
        self._collector.clear()

    def description(self) -> TraceDescription:
        """What a trace.dat says about this guest besides its events."""
        form = self._collector.format
        return TraceDescription(
            page_format=form,
            events=event_formats(form.long_size),
            kallsyms=self._image.kallsyms(),
            cmdlines=TASKS,
            machine=f"{self._image.isa.name} guest, build id {self._image.build_id.hex()}",
            version=f"ftrace-harness {__version__}",
            statistics=[
                CpuStatistics(
                    read=counts.entries - counts.overrun,
                    overrun=counts.overrun,
                    dropped=counts.dropped,
                )
                for counts in (spool.counts for spool in self._collector.spools)
            ],
        )
