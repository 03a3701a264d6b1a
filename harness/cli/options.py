# SPDX-License-Identifier: MIT
"""Options and output shared by several commands."""

import json
import math
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.config.project import Key
    from harness.guest import Startable
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
    """The words of comma-separated lists; None without a list."""
    return tuple(word for text in texts for word in text.split(",") if word) if texts else None


def _or_projects(
    key: "Key", context: click.Context, parameter: click.Parameter, given: str | None
) -> str | None:
    """The default of a project's file, which is read only where nothing else is given."""
    from harness.config.project import project_default

    return project_default(key) if given is None else given


def _config(context: click.Context, parameter: click.Parameter, given: str | None) -> str:
    found = _or_projects("config", context, parameter, given)
    if found is None:
        raise click.MissingParameter(ctx=context, param=parameter)
    return found


_CONFIG_HELP = (
    "A machine config: a name or a file; default: HARNESS_CONFIG, or the project's harness.toml."
)


def optional_config_option(instead: str) -> Callable[[Any], Any]:
    """As `config_option`; empty if the eager option ``instead`` is given."""

    def config(context: click.Context, parameter: click.Parameter, given: str | None) -> str:
        if context.params.get(instead) is not None:
            return ""
        return _config(context, parameter, given)

    return click.option(
        "-c",
        "--config",
        envvar="HARNESS_CONFIG",
        callback=config,
        metavar="CONFIG",
        help=_CONFIG_HELP,
    )


config_option = optional_config_option("")
workload_option = click.option(
    "--workload",
    default="calls",
    show_default=True,
    metavar="NAME|FILE.c",
    help="What the guest runs: a workload of the harness, or a C file.",
)
port_option = click.option(
    "--port",
    envvar="HARNESS_PORT",
    callback=partial(_or_projects, "port"),
    metavar="DIR",
    help="The port under test; default: HARNESS_PORT, the project's harness.toml, or the config's "
    "reference port.",
)
cflags_option = click.option(
    "--cflags",
    multiple=True,
    callback=_split_flags,
    metavar="FLAGS",
    help="Additional compiler flags, with absolute paths.  Repeatable.",
)
features_option = click.option(
    "--features",
    multiple=True,
    callback=_split_words,
    metavar="WORDS",
    help="Kconfig names of the port's features to build in, with commas; default: all.",
)
module_option = click.option(
    "--module",
    "modules",
    multiple=True,
    metavar="NAME|FILE.c",
    help="A module of the guest: one of the harness, or a C file.  Repeatable.",
)


@dataclass(frozen=True)
class GuestOptions:
    """The options that describe the guest."""

    workload: str = "calls"
    port: str | None = None
    cflags: tuple[str, ...] = ()
    features: tuple[str, ...] | None = None
    modules: tuple[str, ...] = ()

    def startable(self, config: str) -> "Startable":
        """The guest for a machine config, given by name or path, or the Linux kernel of one."""
        from harness.config import LinuxConfig, load_any_config
        from harness.errors import UsageError

        loaded = load_any_config(config)
        if not isinstance(loaded, LinuxConfig):
            return self.spec(config)
        if self != GuestOptions():
            raise UsageError(
                f"{config} is a Linux kernel, which has no workload, port or modules to build",
                "Leave out --workload, --port, --cflags, --features and --module.",
            )
        return loaded

    def spec(self, config: str) -> "GuestSpec":
        """The guest for a machine config, given by name or path."""
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
    """Give a command these options, by default all, as one argument ``guest``."""

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
    """A callback that refuses ``inf`` and ``nan``, which pass every comparison."""
    if value is not None and not math.isfinite(value):
        raise click.BadParameter(f"{value} is not a finite number.")
    return value


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], as_json: bool) -> None:
    """Rows under a header, aligned; as JSON a list of objects with the header as keys."""
    if as_json:
        click.echo(json.dumps([dict(zip(header, row, strict=True)) for row in rows], indent=2))
        return
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo(line.rstrip())
