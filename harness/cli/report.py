# SPDX-License-Identifier: MIT
"""harness report"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from harness.errors import FormatError, UsageError

if TYPE_CHECKING:
    from harness.trace import TraceDatReader

VIEWS = ("text", "graph", "json", "csv", "flame", "chrome")


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("trace.dat"))
@click.option(
    "-f",
    "form",
    type=click.Choice(VIEWS),
    default="text",
    show_default=True,
    help="text: as the kernel's trace file; graph: as the function_graph tracer prints it; "
    "flame: folded stacks; chrome: for ui.perfetto.dev.",
)
@click.option(
    "-F",
    "filters",
    metavar="EVENT[,EVENT...]:EXPR",
    multiple=True,
    help="Show only such events: 'function: ip == do_work && CPU == 0'.  Repeat for more.",
)
@click.option(
    "-O",
    "words",
    metavar="OPTION",
    multiple=True,
    help="An option of the graph view: funcgraph-tail, nofuncgraph-overhead, ...",
)
@click.option(
    "-o", "output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file."
)
def report(
    file: Path, form: str, filters: tuple[str, ...], words: tuple[str, ...], output: Path | None
) -> None:
    """Print a trace.dat."""
    from harness.record.output import whole_file
    from harness.trace import TraceDatReader

    with ExitStack() as stack:
        stream = stack.enter_context(_open(file))
        try:
            lines = _lines(TraceDatReader(stream), form, filters, words)
            if output is None:
                sys.stdout.writelines(f"{line}\n" for line in lines)
                sys.stdout.flush()
            else:
                target = stack.enter_context(whole_file(output))
                target.writelines(f"{line}\n".encode() for line in lines)
        except FormatError as error:
            raise FormatError(f"{file}: {error.message}", error.advice, error.evidence) from error


def _lines(
    reader: "TraceDatReader", form: str, filters: tuple[str, ...], words: tuple[str, ...]
) -> Iterator[str]:
    from harness import trace

    keep = trace.parse_filters(filters, reader.formats.values())
    options = trace.GraphOptions.parse(words)
    if form == "graph" or (form == "text" and reader.tracer == "function_graph"):
        return trace.report_graph(reader, keep=keep, options=options)
    if words:
        raise UsageError(
            f"-O {words[0]} is for the graph view, and this is another one",
            "Leave it out, or ask for the graph view: -f graph.",
        )
    views = {
        "text": trace.report_text,
        "json": trace.report_json,
        "csv": trace.report_csv,
        "flame": trace.report_flame,
        "chrome": trace.report_chrome,
    }
    return views[form](reader, keep=keep)


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
