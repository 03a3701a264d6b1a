# SPDX-License-Identifier: MIT
"""harness report"""

import sys
from pathlib import Path

import click

VIEWS = ("text", "graph", "json", "csv", "flame", "chrome", "perfetto", "html")


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("trace.dat"))
@click.option(
    "-f",
    "form",
    type=click.Choice(VIEWS),
    default="text",
    show_default=True,
    help="text: the kernel's trace file; graph: the output of the function_graph tracer; "
    "flame: folded stacks; chrome, perfetto: for ui.perfetto.dev, as JSON and as protobuf; "
    "html: a page with timeline and flame graph.",
)
@click.option(
    "-F",
    "filters",
    metavar="EVENT[,EVENT...]:EXPR",
    multiple=True,
    help="Show only matching events: 'function: ip == do_work && CPU == 0'.  Repeatable.",
)
@click.option(
    "-O",
    "words",
    metavar="OPTION",
    multiple=True,
    help="An option of the graph view: funcgraph-tail, nofuncgraph-overhead, ...; or number: the "
    "number of each event, for goto in a replay.  json and html have it anyway.",
)
@click.option(
    "-o", "output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file."
)
def report(
    file: Path, form: str, filters: tuple[str, ...], words: tuple[str, ...], output: Path | None
) -> None:
    """Print a trace.dat."""
    from harness.files import atomic_file, trace_file
    from harness.report import report_bytes, report_lines

    with trace_file(file) as reader:
        if output is not None:
            with atomic_file(output) as target:
                target.writelines(report_bytes(reader, form, filters, words))
            return
        if form in ("perfetto", "html") and not sys.stdout.isatty():
            sys.stdout.buffer.writelines(report_bytes(reader, form, filters, words))
        else:
            lines = report_lines(reader, form, filters, words)
            sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()
