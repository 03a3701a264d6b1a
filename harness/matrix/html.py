# SPDX-License-Identifier: MIT
"""The report as static pages: the matrix as grids, trends, and a page with the history of each
cell.

They need no server, no network and no script.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from harness.conformance.reports.causes import Cause, causes
from harness.conformance.reports.html import COLOURS as CLAUSE_COLOURS
from harness.conformance.reports.html import page_environment
from harness.conformance.reports.report_file import read_reports
from harness.errors import FormatError
from harness.matrix.compare import Comparison, bundles, groups
from harness.matrix.model import MODES
from harness.matrix.report import NAMED, changes
from harness.matrix.result import CellOutcome, CellVerdict, Result, read_json
from harness.matrix.rundir import attempt_directory
from harness.matrix.runner import LOG
from harness.matrix.trends import Night, nights
from harness.matrix.work import CONFORM
from harness.pages import Write, page_name, pages_directory
from harness.units import escape

ATTEMPTS = 60
"""Maximum number of attempts on the page of a cell, and of nights on the first page."""

LINES = 60
"""Lines of a cell's log on its page."""

WORST = ("fail", "flaky", "error", "pass")
"""States by severity; the worst one is shown for several cells."""

COLOURS = {**CLAUSE_COLOURS, "expected": "flaky", "error": "error"}
"""The class of a verdict; none for other words."""

QUIET = ("pass", "blocked", "not claimed", "not observable")
"""Verdicts that are folded if there are many."""

FEW = 8

FINDINGS = 100
"""Maximum number of findings on the page of a cell."""

MARKS = {"pass": "\N{CHECK MARK}", "fail": "fail", "flaky": "flaky", "error": "?"}


@dataclass(frozen=True, slots=True)
class Square:
    """One cell, or several of one config, mode and work: its state, link and text."""

    state: str
    page: str
    text: str


@dataclass(frozen=True, slots=True)
class Grid:
    """Squares by config, mode and column."""

    columns: list[str] = field(default_factory=list)
    configs: dict[str, dict[str, dict[str, Square]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """The tail of an attempt's log, and its files with links."""

    lines: tuple[str, ...]
    files: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A line in a chart of size 100 x 100; ``last`` is its end point."""

    points: str
    last: tuple[float, float]
    least: float
    most: float


def write_pages(
    directory: Path,
    found: Comparison,
    now: Sequence[Result],
    past: Sequence[Result],
    run: Path | None = None,
) -> None:
    """Write ``index.html`` and ``cells/``; ``past`` are all attempts, whatever their revision.

    ``run`` is the directory of a run whose artefacts the pages show and link to.

    Raises:
        UsageError: the directory cannot be used.
        HostError: the disk is full.
    """
    with pages_directory(directory) as write:
        _write_pages(write, directory, found, now, past, run)


def _write_pages(
    write: Write,
    directory: Path,
    found: Comparison,
    now: Sequence[Result],
    past: Sequence[Result],
    run: Path | None,
) -> None:
    environment = page_environment("harness.matrix")
    environment.filters |= {"number": _number, "revision": _revision}
    by_cell = {
        cell: list(attempts)
        for cell, attempts in groupby(
            sorted(past, key=lambda one: (one.cell, one.started, one.id)), lambda one: one.cell
        )
    }
    pages = {cell: f"cells/{quote(page_name(cell))}" for cell in by_cell}
    states = _states(now)
    past_nights = nights(past)[-ATTEMPTS:]
    write(
        "index.html",
        environment.get_template("index.html").render(
            found=found,
            tiles=_tiles(found),
            changes=[
                (title, len(every), bundles(groups(every))) for title, every in changes(found)
            ],
            named=NAMED,
            numbers=(("Slower", found.slower), ("Faster", found.faster)),
            lists=(("Not run", found.missing), ("New", found.new)),
            pages=pages,
            overview=_overview(states, pages),
            grids=_grids(states, pages),
            nights=past_nights,
            bars=_bars(past_nights),
            line=_line([night.instructions for night in past_nights]),
        ),
    )
    template = environment.get_template("cell.html")
    for cell, attempts in by_cell.items():
        counted = [one.instructions for one in attempts if one.instructions is not None]
        text = template.render(
            cell=cell,
            last=attempts[-1],
            attempts=attempts[: -ATTEMPTS - 1 : -1],
            line=_line(counted[-ATTEMPTS:]),
            evidence=_evidence(directory / "cells", run, attempts) if run else None,
            found=_findings(run, attempts) if run else [],
            verdicts=verdict_lists(attempts[-1].verdicts),
            colours=COLOURS,
        )
        write(f"cells/{page_name(cell)}", text)


def _tiles(found: Comparison) -> Sequence[tuple[str, str, str]]:
    """The numbers at the top of the page: state, number, name."""
    counts = (
        ("fail", len(found.broke), "broke"),
        ("fail", len(found.slower), "slower"),
        ("flaky", len(found.flaky), "flaky"),
        ("flaky", len(found.failing), "failing as before"),
        ("error", len(found.unjudged), "not judged"),
        ("error", len(found.missing), "not run"),
        ("pass", len(found.mended), "mended"),
        ("pass", len(found.faster), "faster"),
    )
    passed = "pass" if found.passed == found.cells else "none"
    return (
        (passed, f"{found.passed} / {found.cells}", "cells passed"),
        *((state if number else "none", str(number), name) for state, number, name in counts),
    )


def verdict_lists(
    verdicts: Sequence[CellVerdict],
) -> tuple[list[CellVerdict], dict[str, list[CellVerdict]]]:
    """The verdicts to be shown, and the others by their words; of few verdicts all are shown."""
    if len(verdicts) <= FEW:
        return list(verdicts), {}
    told = [one for one in verdicts if one.verdict not in QUIET]
    others = {word: [one for one in verdicts if one.verdict == word] for word in QUIET}
    return told, {word: found for word, found in others.items() if found}


def _states(now: Sequence[Result]) -> dict[str, str]:
    """The state of each cell, by config and mode; flaky if it passed and failed."""
    seen: dict[str, set[str]] = {}
    for result in sorted(now, key=lambda one: _place(one.cell)):
        seen.setdefault(result.cell, set()).add(result.outcome.verdict)
    judged = {
        cell: verdicts - {str(CellOutcome.ERROR)} or verdicts for cell, verdicts in seen.items()
    }
    return {c: "flaky" if len(verdicts) > 1 else min(verdicts) for c, verdicts in judged.items()}


def _place(cell: str) -> tuple[str, int, str]:
    config, mode, *_ = _axes(cell)
    return config, [*MODES, mode].index(mode), cell


def _overview(states: Mapping[str, str], pages: Mapping[str, str]) -> Grid:
    """The whole matrix with a column for each work; squares of several cells link to their grid."""
    several: dict[tuple[str, str, str], list[str]] = {}
    for cell in states:
        config, mode, _, work = _axes(cell)
        several.setdefault((config, mode, work), []).append(cell)
    grid = Grid()
    for (config, mode, work), cells in several.items():
        if work not in grid.columns:
            grid.columns.append(work)
        seen = [states[cell] for cell in cells]
        state = next(worst for worst in WORST if worst in seen)
        passed = seen.count("pass")
        one = len(cells) == 1
        # If all passed, only their number.
        text = str(passed) if state == "pass" else f"{passed}/{len(cells)}"
        page = pages[cells[0]] if one else f"#{_anchor(work)}"
        square = Square(state, page, MARKS[state] if one else text)
        grid.configs.setdefault(config, {}).setdefault(mode, {})[work] = square
    grid.columns.sort()
    return grid


def _grids(states: Mapping[str, str], pages: Mapping[str, str]) -> dict[str, tuple[str, Grid]]:
    """A grid, and its anchor, for each work with several sets of flags."""
    grids: dict[str, Grid] = {}
    for cell, state in states.items():
        config, mode, flags, work = _axes(cell)
        grid = grids.setdefault(work, Grid())
        if flags not in grid.columns:
            grid.columns.append(flags)
        square = Square(state, pages[cell], MARKS[state])
        grid.configs.setdefault(config, {}).setdefault(mode, {})[flags] = square
    for grid in grids.values():
        grid.columns.sort()
    return {
        work: (_anchor(work), grid) for work, grid in sorted(grids.items()) if len(grid.columns) > 1
    }


def _axes(cell: str) -> tuple[str, str, str, str]:
    """Config, mode, flags and work of a cell; other names have fewer parts."""
    parts = cell.split("/")
    parts += [""] * (4 - len(parts))
    return parts[0], parts[1], "/".join(parts[2:-1]), parts[-1]


def _anchor(work: str) -> str:
    return f"work-{quote(work, safe='', errors='replace')}"


def _line(numbers: Sequence[float]) -> Line | None:
    """A line through the numbers with a margin; None for a single number."""
    if len(numbers) < 2:
        return None
    least, most = min(numbers), max(numbers)
    span = most - least or 1
    step = 100 / (len(numbers) - 1)
    points = [(at * step, 90 - 80 * (one - least) / span) for at, one in enumerate(numbers)]
    return Line(" ".join(f"{x:.2f},{y:.2f}" for x, y in points), points[-1], least, most)


def _bars(past: Sequence[Night]) -> list[tuple[float, float, float, float, Night]]:
    """A bar for each night with the number of cells that did not pass: left, width, top, height."""
    most = max((night.cells - night.passed for night in past), default=0) or 1
    step = 100 / max(len(past), 1)
    bars = []
    for at, night in enumerate(past):
        height = 90 * (night.cells - night.passed) / most
        bars.append((at * step + step * 0.1, step * 0.8, 100 - height, height, night))
    return bars


def _findings(run: Path, attempts: Sequence[Result]) -> list[Cause]:
    """The causes that the newest attempt in the directory found; none if it judged no port."""
    where = _newest(run, attempts, CONFORM)
    if where is None:
        return []
    try:
        return causes((None, one) for one in read_reports(read_json(where / CONFORM)))[:FINDINGS]
    except FormatError:
        return []


def _newest(run: Path, attempts: Sequence[Result], name: str) -> Path | None:
    """The directory of a cell's newest attempt, if it has a file of that name."""
    # A history has many attempts, and a run few cells.
    if not attempts or not attempt_directory(run, attempts[0].cell, "").is_dir():
        return None
    for one in reversed(attempts):
        where = attempt_directory(run, one.cell, one.id)
        if _is_own(where / LOG, run):
            return where if _is_own(where / name, run) else None
    return None


def _evidence(pages: Path, run: Path, attempts: Sequence[Result]) -> Evidence | None:
    """Of the newest attempt in the directory."""
    where = _newest(run, attempts, LOG)
    if where is None:
        return None
    with (where / LOG).open("rb") as stream:
        stream.seek(max(0, where.joinpath(LOG).stat().st_size - LINES * 200))
        text = stream.read().decode(errors="replace")
    files = sorted(path for path in where.iterdir() if _is_own(path, run))
    link = {path.name: quote(os.fsencode(os.path.relpath(path, pages))) for path in files}
    lines = tuple(escape(line, 400) for line in text.splitlines()[-LINES:])
    return Evidence(lines, tuple(link.items()))


def _is_own(path: Path, run: Path) -> bool:
    """Whether it is a file in the run's directory, and no link to another one."""
    return path.is_file() and path.resolve().is_relative_to(run.resolve())


def _number(number: int) -> Markup:
    """With narrow spaces between thousands, which are not for escaping."""
    return Markup(f"{number:,}".replace(",", "\N{NARROW NO-BREAK SPACE}"))


def _revision(text: str) -> str:
    """The beginning of a revision, with a mark for uncommitted changes."""
    head, plus, _ = text.partition("+")
    return head[:12] + plus
