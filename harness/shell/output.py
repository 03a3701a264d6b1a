# SPDX-License-Identifier: MIT
"""Where the output of a line goes besides the terminal: the host's shell, or a pager."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import click

from harness.shell.session import Closed, Session

PAGERS = ("less", "more")

LESS = "RX"
"""Options of less: colours, and the output stays on the screen."""


LOOK = 0.05
"""Seconds between looks at what else there is to do while a command ends."""


class _Command:
    """A command of the host's shell that reads lines."""

    def __init__(self, session: Session, command: str) -> None:
        self._session = session
        environment = {"LESS": LESS, **os.environ}
        self._process = subprocess.Popen(
            command, shell=True, stdin=subprocess.PIPE, text=True, env=environment
        )

    def put(self, line: str) -> None:
        """A line more; after the command's end it is dropped."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            self._session.closed = True

    def end(self) -> None:
        """Wait for its end."""
        assert self._process.stdin is not None
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        while True:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(LOOK)
                return
            # It may read the mounted tracefs.
            self._session.mount.serve()


def split_bar(line: str) -> tuple[str, str]:
    """The parts of a line before and behind its first ``|`` that is not quoted."""
    quote = ""
    for index, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "|":
            return line[:index].strip(), line[index + 1 :].strip()
    return line, ""


@contextmanager
def piped(session: Session, command: str) -> Iterator[None]:
    """Give the output of the block to a command of the host's shell."""
    sys.stdout.flush()
    reader = _Command(session, command)
    with _output_to(session, reader.put):
        try:
            yield
        finally:
            reader.end()


@contextmanager
def paged(session: Session) -> Iterator[None]:
    """On a terminal, show output that is longer than the screen in a pager."""
    pager = os.environ.get("PAGER") or next(filter(shutil.which, PAGERS), "")
    if not session.interactive or not sys.stdout.isatty() or not pager:
        yield
        return
    room = shutil.get_terminal_size().lines - 2
    held: list[str] = []
    reader: _Command | None = None

    def put(line: str) -> None:
        nonlocal reader
        if reader is None:
            held.append(line)
            if len(held) <= room:
                return
            reader = _Command(session, pager)
            for one in held:
                reader.put(one)
        else:
            reader.put(line)

    with _output_to(session, put):
        try:
            yield
        finally:
            if reader is not None:
                reader.end()
            else:
                for line in held:
                    click.echo(line)


@contextmanager
def _output_to(session: Session, put: Callable[[str], None]) -> Iterator[None]:
    saved, session.output = session.output, put
    try:
        yield
    except Closed:
        pass
    finally:
        session.output, session.closed = saved, False
