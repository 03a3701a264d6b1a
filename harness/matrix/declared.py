# SPDX-License-Identifier: MIT
"""The matrix that a command line asks for."""

import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from harness.matrix.cells import Cell, Expansion, expand
from harness.matrix.history import default_file
from harness.matrix.model import DEFAULT, MatrixFile, load_matrix


@dataclass(frozen=True)
class Declared:
    """A declaration, the harness's own if None, and a port in place of that which it names."""

    file: Path | None
    port: Path | None

    @cached_property
    def matrix(self) -> MatrixFile:
        """What the file says, and the port."""
        own = {"port": str(self.port.resolve())} if self.port else {}
        return load_matrix(self.file or DEFAULT).model_copy(update=own)

    def expand(self) -> Expansion:
        """All cells, and what is none."""
        return expand(self.matrix, self.file or DEFAULT)

    @property
    def history(self) -> Path:
        """Where what was found is kept unless another file is named."""
        port = self.matrix.port
        return default_file(Path(port) if port else None)

    def repeat(self, cell: Cell) -> str:
        """The command that runs a cell again."""
        command = ["harness", "matrix", "cell"]
        for option, path in (("--matrix", self.file), ("--port", self.port)):
            command += [option, str(path.resolve())] if path else []
        return shlex.join([*command, cell.name])
