# SPDX-License-Identifier: MIT
"""The matrix selected by a command line."""

import os
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.config.models import COMPILER, COMPILERS
from harness.errors import UsageError
from harness.matrix.cells import Cell, Expansion, expand
from harness.matrix.history import default_file
from harness.matrix.model import DEFAULT, Compiler, MatrixFile, load_matrix
from harness.units import escape


@dataclass(frozen=True)
class Declared:
    """A declaration, by default the harness's own, with overrides.

    These are a port, the directory of QEMU's programs, and versions of compilers, such as gcc-13
    for every gcc.
    """

    file: Path | None
    port: Path | None
    qemu: Path | None = None
    compilers: tuple[str, ...] = ()

    @cached_property
    def matrix(self) -> MatrixFile:
        """The declaration with the overrides."""
        matrix = load_matrix(self.file or DEFAULT)
        own: dict[str, object] = {"compiler": self._chosen(matrix)}
        for name, path in (("port", self.port), ("qemu", self.qemu)):
            own |= {name: os.path.realpath(path)} if path else {}
        return matrix.model_copy(update=own)

    def expand(self) -> Expansion:
        """All cells and excluded ones."""
        return expand(self.matrix, self.file or DEFAULT)

    @property
    def history(self) -> Path:
        """The default file of the history."""
        port = self.matrix.port
        return default_file(Path(port) if port else None)

    def repeat(self, cell: Cell) -> str:
        """The command that repeats a cell."""
        command = ["harness", "matrix", "cell"]
        for option, path in (("--matrix", self.file), ("--port", self.port), ("--qemu", self.qemu)):
            command += [option, os.path.realpath(path)] if path else []
        for compiler in self.compilers:
            command += ["--compiler", compiler]
        return shlex.join([*command, cell.name])

    def _chosen(self, matrix: MatrixFile) -> dict[str, Compiler]:
        """The matrix's compilers in the selected versions."""
        found = dict(matrix.compiler)
        for wanted in self.compilers:
            if not re.fullmatch(COMPILER, wanted):
                raise UsageError(
                    f"{escape(repr(wanted), 100)} is no compiler", f"Allowed: {COMPILERS}."
                )
            of_family = [
                name for name, one in found.items() if _family(one.program) == _family(wanted)
            ]
            if not of_family:
                raise UsageError(
                    f"the matrix has no compiler that {escape(wanted, 100)} is a version of",
                    f"Its compilers are: {', '.join(one.program for one in found.values())}.",
                )
            found |= {name: Compiler(program=wanted) for name in of_family}
        return found


def _family(program: str) -> str:
    """For example gcc for gcc-13."""
    return program.partition("-")[0]
