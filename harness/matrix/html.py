# SPDX-License-Identifier: MIT
"""The report as static pages: the matrix as grids, and a page for each cell with its past.

They need no server, no network and no script.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined

from harness.errors import UsageError
from harness.files import whole_file
from harness.matrix.compare import Comparison
from harness.matrix.report import changes, summary
from harness.matrix.result import Outcome, Result

ATTEMPTS = 60
"""Attempts that the page of a cell shows, the newest."""


@dataclass(frozen=True, slots=True)
class Square:
    """One cell in a grid."""

    state: str
    page: str


@dataclass(frozen=True, slots=True)
class Grid:
    """All cells of one kind of work: a row for each config and mode, a column for the flags."""

    columns: list[str] = field(default_factory=list)
    rows: dict[str, dict[str, Square]] = field(default_factory=dict)


def write_pages(
    directory: Path, found: Comparison, now: Sequence[Result], past: Sequence[Result]
) -> None:
    """Write ``index.html`` and ``cells/``; ``past`` are all attempts, whatever their revision.

    Raises:
        UsageError: the directory cannot be used.
        HostError: the disk is full.
    """
    try:
        (directory / "cells").mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{directory} cannot be made: {error.strerror}") from error
    environment = Environment(
        loader=PackageLoader("harness.matrix"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["moment"] = _moment
    by_cell = {
        cell: list(attempts)
        for cell, attempts in groupby(
            sorted(past, key=lambda one: (one.cell, one.started, one.id)), lambda one: one.cell
        )
    }
    pages = {cell: f"cells/{quote(_page(cell))}" for cell in by_cell}
    _write(
        directory / "index.html",
        environment.get_template("index.html").render(
            found=found,
            summary=summary(found),
            changes=changes(found),
            numbers=(("Slower", found.slower), ("Faster", found.faster)),
            lists=(("Not run", found.missing), ("New", found.new)),
            pages=pages,
            grids=_grids(now, pages),
        ),
    )
    template = environment.get_template("cell.html")
    for cell, attempts in by_cell.items():
        counted = [one.instructions for one in attempts if one.instructions is not None]
        text = template.render(
            cell=cell,
            last=attempts[-1],
            attempts=attempts[: -ATTEMPTS - 1 : -1],
            points=_points(counted),
            least=min(counted, default=0),
            most=max(counted, default=0),
        )
        _write(directory / "cells" / _page(cell), text)


def _grids(now: Sequence[Result], pages: Mapping[str, str]) -> dict[str, Grid]:
    grids: dict[str, Grid] = {}
    states: dict[str, set[str]] = {}
    for result in now:
        states.setdefault(result.cell, set()).add(result.outcome.verdict)
    for cell, seen in states.items():
        row, flags, work = _axes(cell)
        grid = grids.setdefault(work, Grid())
        if flags not in grid.columns:
            grid.columns.append(flags)
        judged = seen - {str(Outcome.ERROR)} or seen
        state = "flaky" if len(judged) > 1 else min(judged)
        grid.rows.setdefault(row, {})[flags] = Square(state, pages[cell])
    for grid in grids.values():
        grid.columns.sort()
    return dict(sorted(grids.items()))


def _axes(cell: str) -> tuple[str, str, str]:
    """Row, column and grid of a cell.  A name in the history may be any text."""
    parts = cell.split("/")
    return "/".join(parts[:2]), "/".join(parts[2:-1]), parts[-1]


def _page(cell: str) -> str:
    """A file's name for a cell; nothing in it leaves the directory."""
    return f"{quote(cell, safe='').replace('%2F', '~').replace('%', '_')}.html"


def _points(numbers: Sequence[int]) -> str:
    """A line through the numbers, 100 wide and high, with room above and below; empty for one."""
    if len(numbers) < 2:
        return ""
    least, span = min(numbers), max(numbers) - min(numbers) or 1
    step = 100 / (len(numbers) - 1)
    return " ".join(
        f"{at * step:.2f},{90 - 80 * (number - least) / span:.2f}"
        for at, number in enumerate(numbers)
    )


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))


def _write(path: Path, text: str) -> None:
    with whole_file(path) as stream:
        stream.write(text.encode("utf-8", "replace"))
