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
    help="The TOML file that declares the matrix; the harness's own otherwise.",
)
own_port_option = click.option(
    "--port",
    type=directory_path,
    metavar="DIR",
    help="The port under test, on all configs that it is for; the declaration says otherwise.",
)
qemu_option = click.option(
    "--qemu",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="The directory with QEMU's programs; those in PATH otherwise.",
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
    help="The SQLite file with what all runs found; one in the XDG state directory otherwise,"
    " which each port has for itself.",
)
globs_argument = click.argument("globs", nargs=-1, metavar="[CELL-GLOB...]")


def declaration_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options that say which cells there are; the command gets `Declared` for them."""

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
