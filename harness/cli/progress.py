# SPDX-License-Identifier: MIT
"""Progress on standard error, and output meanwhile."""

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.status import Status

VERDICTS = (
    (re.compile(r"[\w.+-]+, port .*: 0 findings"), "green"),
    (re.compile(r"[\w.+-]+, port .*: \d+ findings?"), "red"),
    (re.compile(r"\d+\. C\d+[a-z]\b.*"), "red"),
    (re.compile(r"fails no more: .*"), "yellow"),
    (re.compile(r"MISSING\b"), "red"),
    (re.compile(r"ok\b"), "green"),
    (re.compile(r"note\b"), "yellow"),
)
"""The beginnings of lines that have a colour on a terminal."""


class StatusLine:
    """Shows long operations: a status line on a terminal, plain lines elsewhere."""

    def __init__(self, status: "Status | None") -> None:
        self._status = status

    def __call__(self, line: str) -> None:
        """Show what is done now."""
        if self._status is not None:
            from rich.markup import escape

            self._status.update(escape(line))
        # Without make's own lines, which are indented.
        elif not line.startswith("  "):
            try:
                click.echo(line, err=True)
            except OSError:
                # A recording continues if standard error is closed.
                forget(sys.stderr)

    def print(self, lines: Iterable[str]) -> None:
        """Print lines of output; the status line makes room for them."""
        if self._status is not None:
            self._status.stop()
        print_verdicts(lines)
        if self._status is not None:
            self._status.start()


def print_verdicts(lines: Iterable[str]) -> None:
    """Print lines, on a terminal with colours; not with NO_COLOR (no-color.org)."""
    colours = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    for line in lines:
        click.echo(_coloured(line) if colours else line)


def _coloured(line: str) -> str:
    for begin, colour in VERDICTS:
        if found := begin.match(line):
            return click.style(found[0], fg=colour) + line[found.end() :]
    return line


@contextmanager
def progress(live: bool = True) -> Iterator[StatusLine]:
    """Report long operations on standard error.

    ``live`` is False if there is other output meanwhile.
    """
    if not live or not sys.stderr.isatty():
        yield StatusLine(None)
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield StatusLine(status)


def forget(stream: TextIO | None) -> None:
    """Redirect a stream that cannot be written to, for the flush at exit."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
