# SPDX-License-Identifier: MIT
"""harness port"""

import shlex
from pathlib import Path

import click

from harness.cli.options import config_option
from harness.config.names import as_path, user_path


@click.group()
def port() -> None:
    """Make port directories, which the other commands take with --port."""


@port.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@config_option
def new(directory: Path, config: str) -> None:
    """Write a port that builds and does nothing, with what is asked of each of its functions.

    It claims no more than a function tracer; docs/porting.rst goes on from there.
    """
    from harness.config import load_config
    from harness.conformance.skeleton import write_port

    place = user_path(directory)
    for file in write_port(place, load_config(config)):
        click.echo(place / file)
    options = shlex.join(["-c", config, "--port", as_path(directory)])
    click.echo(f"\nharness conform {options} --next")


@port.command("import")
@click.argument("tree", type=click.Path(path_type=Path))
@click.option("--arch", required=True, metavar="ARCH", help="Its name in Linux, such as mips.")
@click.option(
    "--form",
    type=click.Choice(["mcount", "patchable-entry"]),
    help="The form of call sites; the first of these that the tree has by default.",
)
@click.option(
    "-o",
    "--output",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The directory to make.",
)
def import_(tree: Path, arch: str, form: str | None, directory: Path) -> None:
    """Make a port directory of the files of a Linux tree.

    Its port.toml lists what the tree's Kconfig selects, and what such a kernel rules out, each with
    the line of the tree where it was read.
    """
    from harness.isa import Form
    from harness.kbuild.linux_port import import_port, missing_files

    chosen = Form(form) if form else None
    linux = import_port(user_path(tree), arch, user_path(directory), chosen)
    click.echo(f"{directory}: the files of Linux {linux.version}, {arch}")
    if missing := missing_files(linux):
        click.echo(
            f"harness: this is only a part of a tree: it lacks {', '.join(missing)}. What a kernel "
            "rules out is derived from them too, so the port is judged too strictly. Give the "
            "whole tree.",
            err=True,
        )
    click.echo(f"Judge it: harness conform --port {shlex.quote(as_path(directory))}")
