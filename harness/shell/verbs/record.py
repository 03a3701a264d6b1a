# SPDX-License-Identifier: MIT
"""trace-cmd's commands record, report and stat as verbs, with its options."""

import math
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from harness.errors import UsageError
from harness.files import atomic_file, trace_file
from harness.report import VIEWS, report_bytes, report_lines
from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verb import UNLIMITED, Arguments, verb
from harness.trace import TraceDatReader, parse_filters, stat_text, trace_statistics
from harness.tracer.triggers import is_trigger

GROUP = "trace-cmd"

_FILE = click.Argument(["file"], required=False, type=click.Path(path_type=Path))
_FILTER = click.Option(["-F", "filters"], multiple=True)
_RECORD = click.Command(
    "record",
    params=[
        click.Option(["-p", "tracer"]),
        click.Option(["-l", "filters"], multiple=True),
        click.Option(["-n", "notrace"], multiple=True),
        click.Option(["-g", "graph"], multiple=True),
        click.Option(["-o", "output"], type=click.Path(dir_okay=False, path_type=Path)),
        click.Option(["--until"]),
        click.Option(["--duration"], type=click.FloatRange(min=0, min_open=True, max=1e9)),
    ],
    add_help_option=False,
)
_REPORT = click.Command(
    "report",
    params=[
        _FILE,
        click.Option(["-f", "form"], type=click.Choice(VIEWS), default="text"),
        _FILTER,
        click.Option(["-O", "words"], multiple=True),
        click.Option(["-o", "output"], type=click.Path(dir_okay=False, path_type=Path)),
    ],
    add_help_option=False,
)
_STAT = click.Command("stat", params=[_FILE, _FILTER], add_help_option=False)


@verb(
    "[-p TRACER] [-l GLOB] [-n GLOB] [-g GLOB] [--until FUNC | --duration S] [-o FILE]",
    most=UNLIMITED,
    completes="functions",
    example="record -p function -l do_* -o trace.dat",
    group=GROUP,
)
def record(session: Session, arguments: Arguments) -> None:
    """Trace while the guest runs to the end of its workload; without -p only write a file.

    With -p earlier events are deleted first, and the tracer is disabled at the end.
    """
    chosen = _options(_RECORD, arguments)
    if chosen["tracer"]:
        _check(session, chosen)
    elif any(chosen[name] for name in ("filters", "notrace", "graph", "until", "duration")):
        raise UsageError("record runs the guest only with a tracer", "Add one: -p function")
    elif not chosen["output"]:
        raise UsageError("record what, or where to?", "See: help record")
    with atomic_file(chosen["output"]) if chosen["output"] else nullcontext() as stream:
        if chosen["tracer"]:
            _run(session, chosen)
        if stream is not None:
            with session.recorded():
                session.guest.tracer.write(stream, ask=not session.gone)
    if chosen["output"]:
        session.say(f"{chosen['output']}: {session.guest.collector.counts.entries} events")


def _check(session: Session, chosen: dict[str, Any]) -> None:
    """UsageError before anything changes."""
    session.need_workload()
    guest = session.live
    if chosen["tracer"] not in guest.tracer.available_tracers:
        raise UsageError(
            f"this guest has no tracer {chosen['tracer']!r}",
            f"Tracers: {', '.join(guest.tracer.available_tracers)}.",
        )
    for globs in (chosen["filters"], chosen["notrace"], chosen["graph"]):
        guest.tracer.sites_of(*(glob for glob in globs if not is_trigger(glob)))
    guest.stop_addresses(chosen["until"] or "workload_done")
    if chosen["duration"] is not None and not math.isfinite(chosen["duration"]):
        raise UsageError(f"{chosen['duration']} is not a number of seconds")


def _run(session: Session, chosen: dict[str, Any]) -> None:
    guest = session.live
    tracer = guest.tracer
    tracer.current = "nop"
    tracer.clear()
    tracer.set_filter(*chosen["filters"])
    tracer.set_notrace(*chosen["notrace"])
    if chosen["graph"]:
        tracer.graph.set_graph_function(*chosen["graph"])
    tracer.current = chosen["tracer"]
    try:
        gdb.run(session, chosen["until"] or "workload_done", chosen["duration"])
    finally:
        if not session.gone:
            tracer.current = "nop"
            guest.settle()
            guest.collector.drain()
    counts = guest.collector.counts
    session.say(f"{counts.entries} events, {counts.lost} lost")


@verb(
    "[FILE] [-f VIEW] [-F FILTER] [-O OPTION] [-o FILE]",
    most=UNLIMITED,
    completes="files",
    example="report -f graph",
    group=GROUP,
)
def report(session: Session, arguments: Arguments) -> None:
    """Show the events so far, or those of a trace.dat, in any view of `harness report`.

    -o writes the output to a file.
    """
    chosen = _options(_REPORT, arguments)
    wanted = chosen["form"], chosen["filters"], chosen["words"]
    with _source(session, chosen["file"]) as reader:
        if chosen["output"] is None:
            session.print_all(report_lines(reader, *wanted))
            return
        with atomic_file(chosen["output"]) as stream:
            stream.writelines(report_bytes(reader, *wanted))


@verb("[FILE] [-F FILTER]", most=UNLIMITED, completes="files", example="stat", group=GROUP)
def stat(session: Session, arguments: Arguments) -> None:
    """Statistics of the events so far, or of a trace.dat: counts, rates, hottest functions."""
    chosen = _options(_STAT, arguments)
    with _source(session, chosen["file"]) as reader:
        keep = parse_filters(chosen["filters"], reader.formats.values())
        session.print_all(stat_text(trace_statistics(reader, keep=keep)))


def _source(session: Session, file: Path | None) -> AbstractContextManager[TraceDatReader]:
    return session.recorded() if file is None else trace_file(file)


def _options(command: click.Command, arguments: Arguments) -> dict[str, Any]:
    if arguments.redirect:
        raise UsageError(f"{command.name} takes no {arguments.redirect}", "Write with -o FILE.")
    words: Sequence[str] = arguments.words
    try:
        return command.make_context(command.name, list(words)).params
    except click.ClickException as error:
        raise UsageError(error.format_message(), f"See: help {command.name}") from error
