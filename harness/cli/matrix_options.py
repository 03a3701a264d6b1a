# SPDX-License-Identifier: MIT
"""Options that several commands of harness matrix share."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

import click

file_path = click.Path(dir_okay=False, path_type=Path)
directory_path = click.Path(file_okay=False, path_type=Path)

matrix_option = click.option(
    "--matrix",
    "file",
    type=file_path,
    metavar="FILE",
    help="The TOML file that declares the matrix; default: the harness's own.",
)
own_port_option = click.option(
    "--port",
    type=directory_path,
    metavar="DIR",
    help="The port under test, on all suitable configs; default: the declaration's.",
)
qemu_option = click.option(
    "--qemu",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The directory with QEMU's programs; default: PATH.",
)
compiler_option = click.option(
    "--compiler",
    "compilers",
    multiple=True,
    metavar="PROGRAM",
    help="A version in place of the matrix's gcc or clang, such as gcc-13 or clang-19.",
)
history_option = click.option(
    "--history",
    type=file_path,
    metavar="FILE",
    help="The SQLite file with all results; default: one per port in the XDG state directory.",
)
globs_argument = click.argument("globs", nargs=-1, metavar="[CELL-GLOB...]")


def declaration_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that determine the cells; the command gets `Declared` in their place."""

    @wraps(command)
    def with_declared(
        *,
        file: Path | None,
        port: Path | None,
        qemu: Path | None,
        compilers: tuple[str, ...],
        **others: object,
    ) -> None:
        from harness.matrix.declared import Declared

        command(declared=Declared(file, port, qemu, compilers), **others)

    for option in (compiler_option, qemu_option, own_port_option, matrix_option):
        with_declared = option(with_declared)
    return with_declared
