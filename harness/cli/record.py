# SPDX-License-Identifier: MIT
"""harness record"""

import sys
import time
from pathlib import Path
from typing import Any

import click

from harness.cli.options import (
    GuestOptions,
    config_option,
    finite,
    guest_options,
    tick_option,
)
from harness.cli.progress import progress
from harness.cli.signals import orderly_end
from harness.units import KIB


@click.command()
@config_option
@click.option("-p", "tracer", help="The tracer; default: function, or nop with -e.")
@click.option("-l", "filters", multiple=True, metavar="GLOB", help="Trace only these functions.")
@click.option("-n", "notrace", multiple=True, metavar="GLOB", help="Do not trace these functions.")
@click.option("-g", "graph", multiple=True, metavar="GLOB", help="function_graph: with callees.")
@click.option(
    "-e",
    "trace_events",
    multiple=True,
    metavar="EVENT",
    help="Also record this event: EVENT, SYSTEM or SYSTEM:EVENT, each a glob.",
)
@click.option(
    "-O",
    "options",
    multiple=True,
    metavar="OPTION",
    help="trace_options: stacktrace, func_stack_trace, func-args, funcgraph-retval, "
    "nofuncgraph-irqs.",
)
@click.option("-P", "--pid", "pids", type=int, multiple=True, help="Trace only this thread.")
@click.option(
    "--max-graph-depth",
    type=click.IntRange(min=0),
    default=0,
    help="function_graph: maximum depth.",
)
@guest_options()
@click.option(
    "--duration",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    help="Stop after SECONDS.",
)
@click.option("--events", type=click.IntRange(1, sys.maxsize), help="Stop after this many events.")
@click.option(
    "--until",
    metavar="FUNC",
    default="workload_done",
    show_default=True,
    help="Stop at the entry of this function; of a Linux kernel at power-off, restart or halt.",
)
@tick_option
@click.option(
    "--lane",
    type=click.Choice(["auto", "stub"]),
    default="auto",
    show_default=True,
    help="How to read the ring buffer; auto: QEMU writes large parts to a file.",
)
@click.option(
    "--buffer-size",
    type=click.IntRange(min=1),
    callback=lambda context, parameter, kilobytes: kilobytes and kilobytes * KIB,
    metavar="KB",
    help="Ring buffer size per CPU.",
)
@click.option("--overwrite", is_flag=True, help="Keep the newest events when the buffer is full.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    default=60.0,
    show_default=True,
    help="Timeout in seconds for booting, and for running.",
)
@click.option(
    "--replayable",
    is_flag=True,
    help="Keep in FILE.replay what harness shell --replay FILE needs to go back into the run.",
)
@click.option("--live", is_flag=True, help="Print events as they come, or their number.")
@click.option(
    "-o",
    "output",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("trace.dat"),
    show_default=True,
    help="The trace.dat to write.",
)
def record(config: str, guest: GuestOptions, live: bool, **chosen: Any) -> None:
    """Record a trace of a live guest to a trace.dat.

    The guest boots up to its workload, modules are loaded, call sites are patched, and it runs
    until the workload is done or an option ends the recording.  Ctrl-C ends it too, with a complete
    file.  Before the recording has begun, Ctrl-C leaves no file.

    A config with a table [linux] is a Linux kernel, traced from outside.

    Example: harness record -c mips-malta -p function -l 'do_*' --workload calls
    """
    from harness.record import Request
    from harness.record import record as run

    began = time.monotonic()
    printed = _Printed()
    chosen["tracer"] = chosen["tracer"] or ("nop" if chosen["trace_events"] else "function")
    # All other options have the names of the request's fields.
    request = Request(spec=guest.startable(config), live=printed if live else None, **chosen)
    with orderly_end() as wake, progress(live=not live) as tell:
        recording = run(request, wake=wake, progress=tell)
    uncounted = "; none was recorded or counted while record_disabled was set"
    click.echo(
        f"{recording.path}: {recording.events} events, {recording.lost} lost, "
        f"ended by {recording.ended}, {time.monotonic() - began:.1f} s"
        f"{uncounted if recording.disabled else ''}"
    )
    if printed.error is not None:
        raise printed.error
    if recording.workload_status:
        click.echo(f"harness: workload() returned {recording.workload_status}", err=True)
        raise click.exceptions.Exit(1)


class _Printed:
    """Prints lines until the output is closed; the recording continues."""

    def __init__(self) -> None:
        self.error: OSError | None = None

    def __call__(self, line: str) -> None:
        if self.error is None:
            try:
                click.echo(line)
            except OSError as error:
                self.error = error
