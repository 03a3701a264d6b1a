# SPDX-License-Identifier: MIT
"""harness linux"""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from harness.cli.progress import progress
from harness.config.names import as_path, user_path

if TYPE_CHECKING:
    from harness.kernels.catalogue import LinuxKernel
    from harness.kernels.files import KernelFiles


class _Kernel(click.ParamType[str]):
    """The name of a kernel that has a table, ``build`` or ``debian``."""

    name = "kernel"

    def __init__(self, table: str) -> None:
        self.table = table

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        from harness.kernels.catalogue import list_kernels

        names = list_kernels(self.table)
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


output_option = click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The machine config to write; a name that ends in .toml.",
)


@click.group()
def linux() -> None:
    """Get Linux kernels to trace; each ends in a machine config for -c."""


@linux.command()
@click.argument("name", metavar="CONFIG", type=_Kernel("build"))
@click.option(
    "--source",
    metavar="TREE",
    type=click.Path(path_type=Path),
    help="A source tree of Linux, without files of a build; default: Debian's linux-source.",
)
@output_option
def build(name: str, source: Path | None, output: Path | None) -> None:
    """Build a small Linux kernel with ftrace and DWARF, or find it in the cache.

    CONFIG is linux-arm64, linux-mips-malta or linux-mips64el-malta.  The machine config is
    CONFIG.toml in this directory by default.
    """
    from harness.kernels.build import build_kernel
    from harness.kernels.catalogue import load_kernel
    from harness.kernels.files import check_writable
    from harness.kernels.source import find_source

    kernel = load_kernel(name, "build")
    path = user_path(output or f"{name}.toml")
    check_writable(path)
    with progress() as tell:
        found = find_source(None if source is None else user_path(source), tell)
        files = build_kernel(name, kernel, found, tell)
    _finish(path, kernel, files, found.origin)


@linux.command()
@click.argument("name", metavar="CONFIG", type=_Kernel("debian"))
@output_option
def fetch(name: str, output: Path | None) -> None:
    """Download Debian's own kernel with its DWARF (some 800 MB), or find it in the cache.

    CONFIG is linux-arm64, linux-mips64el-malta or linux-mipsel-malta.  The machine config is
    CONFIG-debian.toml in this directory by default.  Nothing is installed.
    """
    from harness.kernels.catalogue import load_kernel
    from harness.kernels.debian import fetch_kernel
    from harness.kernels.files import check_writable

    kernel = load_kernel(name, "debian")
    path = user_path(output or f"{name}-debian.toml")
    check_writable(path)
    with progress() as tell:
        files, origin = fetch_kernel(kernel, tell)
    _finish(path, kernel, files, origin)


def _finish(path: Path, kernel: "LinuxKernel", files: "KernelFiles", origin: str) -> None:
    from harness.kernels.files import write_config

    write_config(path, kernel, files, origin)
    for file in dict.fromkeys((files.vmlinux, files.image, files.initrd)):
        click.echo(file)
    click.echo(f"{path}: {kernel.description}, {origin}")
    click.echo(f"Trace it: harness record -c {shlex.quote(as_path(path))} -p function")
