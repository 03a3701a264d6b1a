# SPDX-License-Identifier: MIT
"""harness report"""

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import click

from harness.errors import FormatError, UsageError


@click.command()
@click.argument("file", type=click.Path(path_type=Path), default=Path("trace.dat"))
@click.option(
    "-f",
    "form",
    type=click.Choice(["text"]),
    default="text",
    show_default=True,
    help="text: as the kernel's trace file.",
)
@click.option(
    "-o", "output", type=click.Path(dir_okay=False, path_type=Path), help="Write to a file."
)
def report(file: Path, form: str, output: Path | None) -> None:
    """Print a trace.dat."""
    from harness.record.output import whole_file
    from harness.trace import TraceDatReader, report_text

    del form  # one so far
    with ExitStack() as stack:
        stream = stack.enter_context(_open(file))
        try:
            lines = report_text(TraceDatReader(stream))
            if output is None:
                sys.stdout.writelines(f"{line}\n" for line in lines)
                sys.stdout.flush()
            else:
                target = stack.enter_context(whole_file(output))
                target.writelines(f"{line}\n".encode() for line in lines)
        except FormatError as error:
            raise FormatError(f"{file}: {error.message}", error.advice, error.evidence) from error


def _open(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from error
