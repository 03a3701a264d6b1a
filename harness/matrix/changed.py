# SPDX-License-Identifier: MIT
"""Which cells are affected by a change of sources; in doubt, all of them."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath

from harness.conformance.variants import WORKLOAD
from harness.kbuild.includes import included
from harness.matrix.cells import Cell

Concerns = Callable[[Cell], bool]


def concerned(
    cells: Iterable[Cell], files: Iterable[str], workloads: Mapping[str, bytes]
) -> list[Cell]:
    """The cells affected by changes of the harness's own files.

    ``files`` are paths relative to the root of the sources, ``workloads`` the sources of all
    workloads by file name, to find includes.
    """
    rules = [_rule(PurePosixPath(file), workloads) for file in files]
    return [cell for cell in cells if any(rule(cell) for rule in rules)]


def concerned_elsewhere(cells: Sequence[Cell], files: Iterable[Path]) -> list[Cell]:
    """The cells affected by changes of files in another tree.

    ``files`` are absolute paths.  A file of a port, a config or a workload affects the cells that
    use it; any other file affects all cells.
    """
    found: set[Cell] = set()
    for file in files:
        found |= {cell for cell in cells if _has_part(file, cell)} or set(cells)
    return [cell for cell in cells if cell in found]


def _has_part(file: Path, cell: Cell) -> bool:
    return file.is_relative_to(cell.port) or str(file) in (cell.config_file, cell.subject)


def _rule(path: PurePosixPath, workloads: Mapping[str, bytes]) -> Concerns:
    """The cells affected by a file."""
    match path.parts:
        case ("guests", "arch", architecture, *_):
            return lambda cell: cell.architecture == architecture
        case ("harness", "isa", architecture, _):
            return lambda cell: cell.architecture == architecture
        case ("guests", "ports", port, "mutants", *_):
            return lambda cell: cell.kind == "mutants" and cell.port == port
        case ("guests", "ports", port, *_):
            return lambda cell: cell.port == port
        case ("guests", "workloads", name):
            names = _includers(name, workloads)
            return lambda cell: _workload(cell) in names
        case ("qemu-configs", name):
            return lambda cell: cell.config == name.removesuffix(".toml")
        case ("harness", "mutation", *_):
            return lambda cell: cell.kind == "mutants"
        case ("harness", "conformance", *_):
            return lambda cell: cell.kind in ("conform", "mutants")
        case ("docs" | "tests" | "benchmarks", *_) | ("README.rst" | "LICENSE" | ".gitignore",):
            return lambda cell: False
        case ("guests", "modules", *_):
            return lambda cell: cell.kind in ("conform", "mutants")
    return lambda cell: True


def _workload(cell: Cell) -> str:
    return f"{cell.subject if cell.kind in ('workload', 'soak') else WORKLOAD}.c"


def _includers(name: str, workloads: Mapping[str, bytes]) -> set[str]:
    """The workloads that include a file, with itself."""
    found = {name}
    grown = True
    while grown:
        more = {
            file
            for file, source in workloads.items()
            if file not in found
            and any(one is None or os.fsdecode(one) in found for one in included(source))
        }
        found |= more
        grown = bool(more)
    return found
