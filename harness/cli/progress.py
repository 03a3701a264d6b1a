# SPDX-License-Identifier: MIT
"""Progress on standard error, and output meanwhile."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

import click

if TYPE_CHECKING:
    from rich.status import Status


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
        for line in lines:
            click.echo(line)
        if self._status is not None:
            self._status.start()


def in_colours() -> bool:
    """Whether output has colours: on a terminal, but not with NO_COLOR (no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR")


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
