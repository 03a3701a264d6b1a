# SPDX-License-Identifier: MIT
"""harness stat"""

from pathlib import Path

import click

from harness.cli.options import json_option


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("trace.dat"))
@click.option(
    "-F",
    "filters",
    metavar="EVENT[,EVENT...]:EXPR",
    multiple=True,
    help="Count only matching events, as in `harness report`.",
)
@click.option(
    "--functions",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of functions to show.",
)
@json_option
def stat(file: Path, filters: tuple[str, ...], functions: int, as_json: bool) -> None:
    """Statistics of a trace.dat: counts, rates, hottest functions, lost events per CPU.

    total is the time from entry to return, self is without traced callees; both need
    function_graph.
    """
    from harness import trace
    from harness.files import trace_file

    with trace_file(file) as reader:
        keep = trace.parse_filters(filters, reader.formats.values())
        sums = trace.trace_statistics(reader, keep=keep)
    if as_json:
        click.echo(trace.stat_json(sums))
        return
    for line in trace.stat_text(sums, functions=functions):
        click.echo(line)
