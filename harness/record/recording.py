# SPDX-License-Identifier: MIT
"""One recording: boot, enable the tracer in the live guest, run, disable it, close the file.

However the run ends, the events read until then are in the file.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.errors import GuestError, HarnessError, UsageError
from harness.files import atomic_file
from harness.guest import TIMEOUT, Guest, Outcome, Startable, start
from harness.record.limit import keep_first, total_events
from harness.record.live import LiveEvents
from harness.replay import Recorder
from harness.trace import write_trace_dat
from harness.tracer import SHOWN_OPTIONS

END = "workload_done"


@dataclass(frozen=True)
class Request:
    """What to record; the fields are the options of ``harness record``.

    ``duration`` is in seconds of the host, ``buffer_size`` in bytes per CPU, ``tick`` in Hz.
    ``live`` is called with each event as a line.  ``replayable`` keeps what `harness.replay` needs
    in a directory beside the file.
    """

    spec: Startable
    output: Path
    tracer: str = "function"
    filters: tuple[str, ...] = ()
    notrace: tuple[str, ...] = ()
    graph: tuple[str, ...] = ()
    trace_events: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    max_graph_depth: int = 0
    duration: float | None = None
    events: int | None = None
    until: str = END
    buffer_size: int | None = None
    overwrite: bool = False
    timeout: float = TIMEOUT
    lane: str = "auto"
    live: Callable[[str], None] | None = None
    tick: int | None = None
    replayable: bool = False


@dataclass(frozen=True)
class Recording:
    """The result: events in the file, lost events, events written by the guest, why it ended.

    ``disabled``: the guest's buffer was found disabled; events refused during that are not counted.
    """

    path: Path
    events: int
    lost: int
    written: int
    ended: str
    workload_status: int | None
    disabled: bool = False


def record(
    request: Request,
    *,
    wake: Callable[[], int] | None = None,
    progress: Callable[[str], None] = lambda line: None,
) -> Recording:
    """Record as requested into ``request.output``.

    ``wake`` is called when the recording begins; it returns a file descriptor that ends the
    recording when it becomes readable.

    Raises:
        UsageError: a name, glob or file of the request is wrong; no file is written.
        GuestError: the guest is at fault; the events until then are in the file.
        HostError: QEMU, gdb or the disk failed.
    """
    recorder = Recorder(request.spec, request.output) if request.replayable else None
    try:
        recording = _record(request, recorder, wake, progress)
    except GuestError:
        if recorder is not None:
            recorder.save()
        raise
    except BaseException:
        if recorder is not None:
            recorder.discard()
        raise
    if recorder is not None:
        recorder.save()
    return recording


def _record(
    request: Request,
    recorder: Recorder | None,
    wake: Callable[[], int] | None,
    progress: Callable[[str], None],
) -> Recording:
    failure: HarnessError | None = None
    with (
        atomic_file(request.output) as stream,
        start(
            request.spec,
            lane=request.lane,
            tick=request.tick,
            timeout=request.timeout,
            buffer_size=request.buffer_size,
            replay=None if recorder is None else recorder.log,
            begins=None if recorder is None else recorder.begins,
            progress=progress,
        ) as guest,
    ):
        _switch_on(guest, request)
        # Read the file's metadata while the guest is alive.
        guest.tracer.description()
        descriptor = None if wake is None else wake()
        progress(f"recording {request.tracer} on {guest.name}")
        outcome = None
        watched = LiveEvents(guest, request.live, request.events) if request.live else None
        guest.on_drain = lambda: _drained(guest, request, watched)
        try:
            outcome = guest.run(
                request.until, seconds=request.duration, timeout=request.timeout, wake=descriptor
            )
            guest.tracer.current = "nop"
            guest.tracer.set_event()
            guest.settle()
            guest.collector.drain()
        except HarnessError as error:
            failure = guest.control.cause(error)
            if isinstance(failure, GuestError) and not failure.evidence:
                failure.evidence = guest.describe()
            with suppress(HarnessError):
                guest.collector.drain()
        if watched is not None:
            watched.drained()
        spools = [spool.stream for spool in guest.collector.spools]
        form = guest.collector.format
        events, damage = total_events(spools, form)
        if request.events is not None:
            keep_first(spools, form, request.events)
            events = min(events, request.events)
        write_trace_dat(stream, guest.tracer.description(ask=failure is None), spools)
        counts, disabled = guest.collector.counts, bool(guest.collector.disabled)
        reached_end = outcome is Outcome.REACHED and request.until == END
        status = guest.workload_status if reached_end else None
        if recorder is not None:
            recorder.ends()
    if failure is not None:
        failure.advice = (
            f"The {events} events recorded up to then are in {request.output}. {failure.advice}"
        ).rstrip()
        raise failure
    if damage:
        raise GuestError(
            f"the guest's ring buffer is damaged: {damage}",
            f"The {events} events before the damage are in {request.output}.",
        )
    if request.events is None and events != counts.entries - counts.overrun:
        raise GuestError(
            f"the guest counted {counts.entries - counts.overrun} events in its ring buffer, "
            f"but its pages hold {events}",
            f"The ring buffer of the guest is damaged; the pages are in {request.output}.",
        )
    ended = request.until if outcome is Outcome.REACHED else str(outcome)
    written = counts.entries + counts.dropped
    return Recording(request.output, events, counts.lost, written, ended, status, disabled)


def _switch_on(guest: Guest, request: Request) -> None:
    guest.stop_addresses(request.until)
    guest.collector.configure(request.buffer_size, request.overwrite)
    if request.filters:
        guest.tracer.set_filter(*request.filters)
    if request.notrace:
        guest.tracer.set_notrace(*request.notrace)
    if request.graph:
        guest.tracer.graph.set_graph_function(*request.graph)
    if request.max_graph_depth:
        guest.tracer.graph.max_graph_depth = request.max_graph_depth
    if request.options:
        guest.tracer.set_option(*_recorded(request.options))
    if request.trace_events:
        guest.tracer.set_event(*request.trace_events)
    if request.pids:
        guest.tracer.set_ftrace_pid(*request.pids)
        guest.tracer.set_event_pid(*request.pids)
    guest.tracer.current = request.tracer


def _drained(guest: Guest, request: Request, watched: LiveEvents | None) -> bool:
    """After each drain: show new events; returns whether to continue."""
    if watched is not None:
        watched.drained()
    guest.tracer.remember_names()
    counts = guest.collector.counts
    return request.events is None or counts.entries - counts.overrun < request.events


def _recorded(options: Iterable[str]) -> list[str]:
    """The options; UsageError for those that only change how a trace is shown."""
    words = list(options)
    for word in words:
        if word.removeprefix("no") in SHOWN_OPTIONS:
            raise UsageError(
                f"-O {word} changes only how a trace is shown",
                f"Give it to the report: harness report -O {word}.",
            )
    return words
