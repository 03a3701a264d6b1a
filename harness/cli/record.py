# SPDX-License-Identifier: MIT
"""harness record"""

import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from harness.cli.options import (
    cflags_option,
    config_option,
    features_option,
    port_option,
    progress,
    words,
    workload_option,
)
from harness.units import KIB


@click.command()
@config_option
@click.option("-p", "tracer", help="The tracer: function, or nop with -e, unless given.")
@click.option("-l", "filters", multiple=True, metavar="GLOB", help="Trace only these functions.")
@click.option("-n", "notrace", multiple=True, metavar="GLOB", help="Do not trace these functions.")
@click.option(
    "-g", "graph", multiple=True, metavar="GLOB", help="function_graph: these and what they call."
)
@click.option(
    "-e",
    "events_on",
    multiple=True,
    metavar="EVENT",
    help="Record this event too: EVENT, SYSTEM or SYSTEM:EVENT, each a glob.",
)
@click.option(
    "-O",
    "options",
    multiple=True,
    metavar="OPTION",
    help="trace_options: stacktrace, func_stack_trace, nofuncgraph-irqs.",
)
@click.option("-P", "--pid", "pids", type=int, multiple=True, help="Trace only this thread.")
@click.option(
    "--max-graph-depth", type=click.IntRange(min=0), default=0, help="function_graph: deepest call."
)
@workload_option
@port_option
@cflags_option
@features_option
@click.option("--duration", type=click.FloatRange(min=0, min_open=True), help="Stop after SECONDS.")
@click.option("--events", type=click.IntRange(1, sys.maxsize), help="Stop after so many events.")
@click.option("--until", metavar="FUNC", help="Stop where the guest enters this function.")
@click.option(
    "--tick",
    type=click.IntRange(0, 100_000),
    metavar="HZ",
    help="Timer interrupts a second on each CPU; by default only while threads wait for a CPU.",
)
@click.option(
    "--lane",
    type=click.Choice(["auto", "stub"]),
    default="auto",
    show_default=True,
    help="How the ring buffer is read: auto has QEMU write large parts to a file.",
)
@click.option(
    "--buffer-size", type=click.IntRange(min=1), metavar="KB", help="Ring buffer size per CPU."
)
@click.option("--overwrite", is_flag=True, help="Keep the newest events when the buffer is full.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    help="Seconds after which a guest that has not come to its end counts as hung.",
)
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("trace.dat"),
    show_default=True,
    help="The trace.dat to write.",
)
def record(
    config: str,
    tracer: str | None,
    filters: tuple[str, ...],
    notrace: tuple[str, ...],
    graph: tuple[str, ...],
    events_on: tuple[str, ...],
    options: tuple[str, ...],
    pids: tuple[int, ...],
    max_graph_depth: int,
    workload: str,
    port: str | None,
    cflags: tuple[str, ...],
    features: str | None,
    duration: float | None,
    events: int | None,
    until: str | None,
    tick: int | None,
    lane: str,
    buffer_size: int | None,
    overwrite: bool,
    timeout: float,
    output: Path,
) -> None:
    """Record a trace of a live guest into a trace.dat.

    The guest boots, is stopped in front of its workload, gets its call sites rewritten and runs on
    until the workload is done or an option ends it.  Ctrl-C ends it too; the file is whole then.
    Before the recording has begun Ctrl-C leaves nothing behind.

    Example: harness record -c mips-malta -p function -l 'do_*' --workload calls
    """
    from harness.record import Request
    from harness.record import record as run
    from harness.record.recording import END

    began = time.monotonic()
    request = Request(
        config=config,
        output=output,
        tracer=tracer or ("nop" if events_on else "function"),
        filters=filters,
        notrace=notrace,
        graph=graph,
        trace_events=events_on,
        options=options,
        pids=pids,
        max_graph_depth=max_graph_depth,
        workload=workload,
        port=port,
        cflags=cflags,
        features=words(features),
        duration=duration,
        events=events,
        until=until or END,
        buffer_size=None if buffer_size is None else buffer_size * KIB,
        overwrite=overwrite,
        timeout=timeout,
        lane=lane,
        tick=tick,
    )
    with _signals() as wake, progress() as tell:
        recording = run(request, wake=wake, progress=tell)
    click.echo(
        f"{recording.path}: {recording.events} events, {recording.lost} lost, "
        f"ended by {recording.ended}, {time.monotonic() - began:.1f} s"
    )
    if recording.workload_status:
        click.echo(f"harness: workload() returned {recording.workload_status}", err=True)
        raise click.exceptions.Exit(1)


@contextmanager
def _signals() -> Iterator[Callable[[], int]]:
    """What SIGINT, SIGTERM and SIGHUP do: interrupt, until a recording has something to close.

    The function says that it has: the next signal then only makes the descriptor that it returns
    readable, and the one after that interrupts.
    """
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    orderly = False

    def arm() -> int:
        nonlocal orderly
        orderly = True
        return reader.fileno()

    def handle(number: int, frame: object) -> None:
        nonlocal orderly
        if not orderly:
            raise KeyboardInterrupt
        orderly = False

    wanted = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup sets it
        wanted.append(signal.SIGHUP)
    saved = {number: signal.signal(number, handle) for number in wanted}
    previous = signal.set_wakeup_fd(writer.fileno())
    try:
        yield arm
    finally:
        signal.set_wakeup_fd(previous)
        for number, handler in saved.items():
            signal.signal(number, handler)
        reader.close()
        writer.close()
