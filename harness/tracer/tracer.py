# SPDX-License-Identifier: MIT
"""The tracer of a live guest: its controls and its recorded events."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import BinaryIO

from harness.errors import DeadlineMissed, FormatError, GuestError, UsageError
from harness.image import Image, RunningImage
from harness.patcher import Cpus, Text
from harness.readout import Collector, EventBuffer
from harness.trace import (
    LATENCY,
    CpuStatistics,
    EventFormat,
    TraceDatReader,
    TraceDescription,
    TraceEvent,
    event_formats,
    report_text,
    write_trace_dat,
)
from harness.tracer.control import TracerControl, TracerState
from harness.tracer.event_filters import OPTION_FILTERS
from harness.tracer.events import EventControl, event_control
from harness.tracer.graph import GraphControl, graph_memory
from harness.tracer.irqsoff import IRQSOFF, IrqsoffControl
from harness.tracer.options import (
    FUNC_ARGS,
    FUNC_STACK_TRACE,
    GRAPH_IRQS,
    GRAPH_RETVAL,
    STACKTRACE,
    TraceOptions,
)
from harness.tracer.pids import PidControl, PidList
from harness.tracer.pipe import TracePipe
from harness.tracer.setup import WITH_ARGUMENTS, Setup, has_graph_tracer
from harness.tracer.threads import ThreadControl
from harness.version import __version__

# TRACE_OPTION_* of guests/kernel/include/linux/trace_events.h
_STACKTRACE, _NO_IRQS = 1, 4

SETTLE_STEPS = 1000
"""Maximum number of instructions from reserve to commit of an event."""

SETTLING = 5.0
"""Their timeout in seconds."""


def settle(collector: EventBuffer, cpus: Cpus) -> None:
    """Step each CPU until its current event is complete.

    Before that counters and pages do not agree, and its commit would bring back deleted events.
    """
    end = time.monotonic() + SETTLING
    for _ in range(SETTLE_STEPS):
        writing = collector.writing()
        if not writing:
            return
        if time.monotonic() > end:
            break
        for cpu in writing:
            cpus.step(cpu)
    raise DeadlineMissed(
        f"an event is still being written after {SETTLE_STEPS} instructions or {SETTLING:g} s",
        "The guest's ring buffer is damaged, or the guest hangs inside it.",
    )


class Tracer(TracerControl):
    """The files of tracefs for a stopped guest.

    Setting ``current`` or a filter changes call sites at once; the guest sees that when it
    continues.
    """

    def __init__(self, image: RunningImage, text: Text, cpus: Cpus, collector: EventBuffer) -> None:
        super().__init__(image, text, cpus)
        self._collector = collector
        self._threads = ThreadControl(image, text)
        self._cmdlines: dict[int, str] = {}
        self._latency_trace = False
        self._arguments = False
        self._options = TraceOptions()

    @property
    def state(self) -> TracerState:
        """As of `TracerControl`, with the options and what the trace holds: irqsoff's section, or
        arguments of functions.
        """
        return replace(
            super().state,
            options=self._options,
            latency_trace=self._latency_trace,
            arguments=self._arguments,
        )

    @state.setter
    def state(self, state: TracerState) -> None:
        self._setup, self._enabled = state.setup, state.enabled
        self._touched = state.touched
        self._options, self._latency_trace = state.options, state.latency_trace
        self._arguments = state.arguments
        self._adjust_graph()

    def adopt(self) -> None:
        """As of `TracerControl`, with the options and irqsoff's state in guest memory."""
        super().adopt()
        recorded = event_control(self._image, self._text).read("options")
        words = [STACKTRACE] * bool(recorded & _STACKTRACE)
        words += [f"no{GRAPH_IRQS}"] * bool(recorded & _NO_IRQS)
        words += [FUNC_STACK_TRACE] * self._setup.stacks + [FUNC_ARGS] * self._setup.arguments
        self._arguments = self._setup.arguments
        self._options = TraceOptions().with_words(words)
        self._latency_trace = self.current == IRQSOFF
        if self._latency_trace:
            self._irqsoff.adopt()
        self._adjust_graph()

    @cached_property
    def graph(self) -> GraphControl:
        """The controls of function_graph; `UsageError` for a guest without it."""
        return GraphControl(self._image, graph_memory(self._image, self._text), self.sites_of)

    @cached_property
    def event_control(self) -> EventControl:
        """The events besides those of the tracer."""
        return EventControl(self._image, self._text, self._threads)

    @cached_property
    def _pids(self) -> PidControl:
        return PidControl(self._image, self._text, self._threads)

    @property
    def available_events(self) -> list[str]:
        """All events known to `set_event`, as ``SYSTEM:EVENT``."""
        return self.event_control.available

    @property
    def enabled_events(self) -> list[str]:
        """The contents of ``set_event``."""
        return self.event_control.enabled

    def set_event(self, *patterns: str, append: bool = False) -> None:
        """``set_event``: enable these events (`EventControl.set_event`); without patterns, none."""
        self.event_control.set_event(*patterns, append=append)

    def set_ftrace_pid(self, *pids: int) -> None:
        """``set_ftrace_pid``: functions of these threads only; without arguments, of all."""
        self.set_pids(PidList.FTRACE, pids)

    def set_event_pid(self, *pids: int) -> None:
        """``set_event_pid``: events of these threads only; without arguments, of all."""
        self.set_pids(PidList.EVENT, pids)

    def set_pids(self, which: PidList, pids: Sequence[int]) -> None:
        """Replace one of the lists of process ids (`PidControl.set_pids`)."""
        self._pids.set_pids(which, pids)

    def pids(self, which: PidList) -> list[int]:
        """The contents of a list; empty without any."""
        return self._pids.pids(which)

    @cached_property
    def _irqsoff(self) -> IrqsoffControl:
        assert isinstance(self._collector, Collector)
        return IrqsoffControl(self._image, self._text, self._collector)

    @property
    def tracing_max_latency(self) -> int:
        """``tracing_max_latency``: the longest section so far, in microseconds."""
        return self._irqsoff.tracing_max_latency

    @tracing_max_latency.setter
    def tracing_max_latency(self, microseconds: int) -> None:
        self._irqsoff.tracing_max_latency = microseconds

    @property
    def trace_options(self) -> list[str]:
        """The contents of ``trace_options``: each option, with ``no`` before disabled ones."""
        unknown = {FUNC_ARGS} if not self._takes_arguments else set()
        unknown |= {GRAPH_RETVAL} if not self._gets_results else set()
        return [word for word in self._options.words if word.removeprefix("no") not in unknown]

    @property
    def _takes_arguments(self) -> bool:
        return WITH_ARGUMENTS in self._image.symbols

    @cached_property
    def _gets_results(self) -> bool:
        if not has_graph_tracer(self._image.symbols):
            return False
        return "retval" in self._image.structures.struct("ftrace_graph_ret_entry").members

    def set_option(self, *words: str) -> None:
        """``trace_options``: ``stacktrace``, ``nofuncgraph-irqs``, ...; all of them or none."""
        options = self._options.with_words(words)
        arguments = options[FUNC_ARGS]
        if arguments and not self._takes_arguments:
            raise UsageError(
                "the tracers of this guest get no arguments of functions",
                "Build it with a port that has DYNAMIC_FTRACE_WITH_ARGS.",
            )
        if options[GRAPH_RETVAL] and not self._gets_results:
            raise UsageError(
                "the graph tracer of this guest gets no results of functions",
                "Build it with a port that has FUNCTION_GRAPH_RETVAL.",
            )
        stacks = options[FUNC_STACK_TRACE]
        self._switch(replace(self._setup, stacks=stacks, arguments=arguments))
        recorded = _STACKTRACE * options[STACKTRACE] | _NO_IRQS * (not options[GRAPH_IRQS])
        control = event_control(self._image, self._text)
        control.write(options=recorded | control.read("options") & OPTION_FILTERS)
        self._options = options
        self._adjust_graph()

    def _switch(self, setup: Setup) -> None:
        before = self.current
        super()._switch(setup)
        self._adjust_graph()
        tracer = setup.tracer
        self._arguments |= setup.function == WITH_ARGUMENTS
        if tracer == before:
            return
        if IRQSOFF in (tracer, before):
            self._switch_irqsoff(tracer == IRQSOFF)
        # The section of irqsoff stays until another tracer is enabled.
        if self._latency_trace and tracer not in (IRQSOFF, "nop"):
            self._delete_events()
        self._latency_trace = tracer == IRQSOFF or (self._latency_trace and tracer == "nop")

    def _adjust_graph(self) -> None:
        """The fast path of the graph tracer does not check for triggers and interrupts."""
        setup = self._setup
        thorough = bool(setup.triggers) or setup.stack_tracer or not self._options[GRAPH_IRQS]
        if "ftrace_graph_control" in self._image.symbols and thorough != self.graph.thorough:
            self.graph.thorough = thorough

    @property
    def on(self) -> bool:
        """``tracing_on``: whether the ring buffer accepts events.  Call sites stay as they are."""
        return self._collector.recording

    @on.setter
    def on(self, on: bool) -> None:
        self._collector.recording = on

    def events(self) -> Iterator[TraceEvent]:
        """All events since the trace was cleared, by time; they are not consumed."""
        with self.reader() as reader:
            yield from reader.events()

    def trace(
        self, *, drain: bool = True, cpu: int | None = None, pages: int | None = None
    ) -> Iterator[str]:
        """The lines of the ``trace`` file, in the format of the current tracer.

        ``drain`` and ``pages`` are those of `reader`, and ``cpu`` chooses the events of one CPU.
        """
        keep = None if cpu is None else lambda event: event.cpu == cpu
        with self.reader(drain, pages) as reader:
            tracer = reader.tracer if self.current == "nop" else self.current
            yield from report_text(reader, tracer=tracer, keep=keep, options=self._options.graph)

    @contextmanager
    def reader(self, drain: bool = True, pages: int | None = None) -> Iterator[TraceDatReader]:
        """All events since the trace was cleared, read as from a trace.dat.

        Without ``drain`` the guest is not accessed.  With ``pages`` they are those of so many last
        pages of each CPU.  GuestError if the guest has damaged its ring buffer.
        """
        if drain:
            self._collector.drain()
        with tempfile.TemporaryFile() as stream:
            self.write(stream, ask=drain, pages=pages)
            try:
                yield TraceDatReader(stream)
            except FormatError as error:
                raise GuestError(f"the guest's ring buffer is damaged: {error.message}") from error

    def write(self, stream: BinaryIO, *, ask: bool = True, pages: int | None = None) -> None:
        """Write a trace.dat of all events read so far; ``ask``: read names from the guest.

        ``pages`` is that of `reader`.
        """
        kept = self._collector.spools
        size = self._collector.format.page_size
        spools = [one.stream if pages is None else one.end(pages * size) for one in kept]
        write_trace_dat(stream, self.description(ask=ask), spools)

    def pipe(self) -> TracePipe:
        """``trace_pipe``: events not read by a pipe yet, and those drained from now on."""
        return TracePipe(self._collector, self.description(), self.remember_names)

    def module_went(self, module: Image) -> None:
        """As of `TracerControl`; also updates the lists of the graph tracer."""
        super().module_went(module)
        if "ftrace_graph_control" in self._image.symbols:
            self.graph.forget(module.text)

    def clear(self) -> None:
        """Delete all events, as writing to ``trace`` does."""
        if self.current == IRQSOFF:
            self._switch_irqsoff(True)
        else:
            self._delete_events()
            self._latency_trace = False
        self._arguments = self._setup.function == WITH_ARGUMENTS

    def _delete_events(self) -> None:
        settle(self._collector, self._cpus)
        self._collector.clear()

    def _switch_irqsoff(self, on: bool) -> None:
        if on:
            settle(self._collector, self._cpus)  # for it deletes all events
        self._irqsoff.switch(on)

    def remember_names(self) -> dict[int, str]:
        """Read and return the names of threads.

        An ended thread's name is lost when its entry is used again, so call this now and then.
        """
        self._cmdlines |= self._threads.names()
        return self._cmdlines

    @property
    def _machine(self) -> str:
        return f"{self._image.isa.name} guest"

    @property
    def formats(self) -> Sequence[EventFormat]:
        """The formats of all events that the guest may record."""
        return self._event_formats(self._collector.format.long_size, True)

    def _printk_formats(self, _ask: bool) -> str:
        return ""

    def _event_formats(self, long_size: int, _ask: bool) -> Sequence[EventFormat]:
        return [
            *event_formats(
                long_size, arguments=self._arguments, results=self._options[GRAPH_RETVAL]
            ),
            *([LATENCY.layout(long_size)] if self._latency_trace else []),
            *self.event_control.formats,
        ]

    def description(self, *, ask: bool = True) -> TraceDescription:
        """The description of this guest in a trace.dat; ``ask``: read names from the guest."""
        form = self._collector.format
        return TraceDescription(
            page_format=form,
            events=self._event_formats(form.long_size, ask),
            kallsyms=self._image.kallsyms(),
            printk_formats=self._printk_formats(ask),
            cmdlines=self.remember_names() if ask else self._cmdlines,
            machine=f"{self._machine}, build id {self._image.build_id.hex()}",
            version=f"ftrace-harness {__version__}",
            statistics=[
                CpuStatistics(
                    read=counts.entries - counts.overrun,
                    overrun=counts.overrun,
                    dropped=counts.dropped,
                    disabled=cpu in self._collector.disabled,
                )
                for cpu, counts in enumerate(spool.counts for spool in self._collector.spools)
            ],
        )
