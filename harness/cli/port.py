# SPDX-License-Identifier: MIT
"""harness port"""

import shlex
from pathlib import Path

import click

from harness.config.names import as_path, user_path


@click.group()
def port() -> None:
    """Make port directories, which the other commands take with --port."""


@port.command("import")
@click.argument("tree", type=click.Path(path_type=Path))
@click.option("--arch", required=True, metavar="ARCH", help="mips or arm64.")
@click.option(
    "-o",
    "--output",
    "directory",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path),
    help="The directory to make.",
)
def import_(tree: Path, arch: str, directory: Path) -> None:
    """Make a port directory of the files of a Linux tree.

    Its port.toml lists what the tree's Kconfig selects, and what such a kernel rules out, each with
    the line of the tree where it was read.
    """
    from harness.kbuild.linux_port import import_port

    linux = import_port(user_path(tree), arch, user_path(directory))
    click.echo(f"{directory}: the files of Linux {linux.version}, {arch}")
    click.echo(f"Judge it: harness conform --port {shlex.quote(as_path(directory))}")
