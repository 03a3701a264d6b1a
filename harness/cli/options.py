# SPDX-License-Identifier: MIT
"""Options and output that several commands share."""

import json
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any, TextIO

import click

if TYPE_CHECKING:
    from harness.kbuild import GuestSpec


def _split_flags(
    context: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> tuple[str, ...]:
    flags: list[str] = []
    for text in texts:
        try:
            flags += shlex.split(text)
        except ValueError as error:
            raise click.BadParameter(f"{text!r}: {error}.") from error
    return tuple(flags)


def _split_words(
    context: click.Context, parameter: click.Parameter, texts: Sequence[str]
) -> tuple[str, ...] | None:
    """The words of lists with commas; None where there is no list."""
    return tuple(word for text in texts for word in text.split(",") if word) if texts else None


config_option = click.option(
    "-c", "--config", required=True, metavar="CONFIG", help="A machine config: a name or a file."
)
workload_option = click.option(
    "--workload",
    default="calls",
    show_default=True,
    metavar="NAME|FILE.c",
    help="What the guest runs: a workload of the harness, or a C file of yours.",
)
port_option = click.option(
    "--port", metavar="DIR", help="The port under test; the config's reference port otherwise."
)
cflags_option = click.option(
    "--cflags",
    multiple=True,
    callback=_split_flags,
    metavar="FLAGS",
    help="More compiler flags for the guest; paths in them must be absolute.  Repeat it for more.",
)
features_option = click.option(
    "--features",
    multiple=True,
    callback=_split_words,
    metavar="WORDS",
    help="What of the port is built in, in Kconfig's words with commas; all that it has otherwise."
    "  Repeat it for more.",
)
module_option = click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="NAME|FILE.c",
    help="A module of the guest: one of the harness, or a C file of yours.  Repeat it for more.",
)


@dataclass(frozen=True)
class GuestOptions:
    """The options that say which guest is meant, as they were given."""

    workload: str = "calls"
    port: str | None = None
    cflags: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    modules: tuple[str, ...] = ()

    def spec(self, config: str) -> "GuestSpec":
        """The guest for a machine config, which is a name or a path."""
        from harness.kbuild import GuestSpec

        return GuestSpec.of(
            config,
            self.workload,
            port=self.port,
            cflags=self.cflags,
            features=self.features,
            modules=self.modules,
        )


def guest_options(
    *options: Callable[[Callable[..., None]], Callable[..., None]],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options, or all, and in their place an argument ``guest``."""

    def with_options(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def with_guest(**values: Any) -> None:
            given = {
                one.name: values.pop(one.name) for one in fields(GuestOptions) if one.name in values
            }
            command(guest=GuestOptions(**given), **values)

        for option in reversed(options or ALL_OF_GUEST):
            with_guest = option(with_guest)
        return with_guest

    return with_options


ALL_OF_GUEST = (workload_option, port_option, cflags_option, features_option, module_option)

tick_option = click.option(
    "--tick",
    type=click.IntRange(0, 100_000),
    metavar="HZ",
    help="Timer interrupts a second on each CPU; by default only while threads wait for a CPU.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def finite(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """A callback: neither ``inf`` nor ``nan``, which every comparison lets through."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.")
    return value


@contextmanager
def progress(live: bool = True) -> Iterator[Callable[[str], None]]:
    """Say what takes long, on stderr: a live line on a terminal, plain lines elsewhere.

    ``live`` is False where other things are printed meanwhile, through which the line would go.
    """
    if not live or not sys.stderr.isatty():
        yield _tell
        return
    from rich.console import Console
    from rich.markup import escape as escape_markup

    with Console(stderr=True).status("starting") as status:
        yield lambda line: status.update(escape_markup(line))


def _tell(line: str) -> None:
    # make's own lines, which are indented, would drown the others.
    if not line.startswith("  "):
        try:
            click.echo(line, err=True)
        except OSError:
            # Nobody has to listen: a recording goes on when its standard error is gone.
            forget(sys.stderr)


def forget(stream: TextIO | None) -> None:
    """Let the flush at the end of Python succeed on a stream that cannot be written to."""
    if stream is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], as_json: bool) -> None:
    """Rows under a header, aligned; as JSON a list of objects with the header's names as keys."""
    if as_json:
        click.echo(json.dumps([dict(zip(header, row, strict=True)) for row in rows], indent=2))
        return
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())
