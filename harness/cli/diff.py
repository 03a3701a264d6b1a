# SPDX-License-Identifier: MIT
"""harness diff"""

import sys
from pathlib import Path

import click

from harness.cli.options import json_option


@click.command()
@click.argument("a", type=click.Path(path_type=Path))
@click.argument("b", type=click.Path(path_type=Path))
@click.option(
    "-F",
    "filters",
    metavar="EVENT[,EVENT...]:EXPR",
    multiple=True,
    help="Compare only matching events, as in `harness report`.",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Number of functions, and of call paths, to show.",
)
@json_option
def diff(a: Path, b: Path, filters: tuple[str, ...], most: int, as_json: bool) -> None:
    """Compare two traces of one workload: calls, times, call paths, and their order.

    Calls in interrupts are left out of paths and order.  Exit status 1: the calls differ, or their
    order; times may differ.
    """
    from harness import trace
    from harness.files import trace_file

    with trace_file(a) as one, trace_file(b) as two:
        found = trace.trace_difference(one, two, filters)
    names = str(a), str(b)
    if as_json:
        click.echo(trace.difference_json(found, names))
    else:
        for line in trace.difference_text(found, names, most=most):
            click.echo(line)
    sys.exit(0 if found.same else 1)
