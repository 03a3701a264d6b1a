# SPDX-License-Identifier: MIT
"""The directory of a run, used by one run at a time.

``run.json`` has the revision; ``lock`` is held by the run; each attempt at a cell has
``cells/<cell>/<id>/``, and is finished when its ``result.json`` exists.
"""

import os
import shutil
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.errors import FormatError, HostError, UsageError
from harness.files import busy, hold
from harness.matrix.cells import Cell
from harness.matrix.result import (
    CLOSED,
    FORMAT,
    RESULT,
    CellOutcome,
    Name,
    Result,
    Revision,
    Seconds,
    checked,
    read_checked,
    read_result,
    write_json,
)

RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Run:
    """One run; ``started`` is in seconds since 1970."""

    __pydantic_config__ = CLOSED

    id: Name
    revision: Revision
    started: Seconds


def new_id() -> str:
    """A unique name for a run or attempt, which begins with the time."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.urandom(6).hex()}"


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Lock the directory for this run; UsageError if another run uses it."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = hold(directory / "lock", busy)
    except BlockingIOError:
        raise UsageError(
            f"another run uses {directory}", "Wait for its end, or choose another with -o."
        ) from None
    except OSError as error:
        raise UsageError(
            f"{directory} cannot be used for a run: {error.strerror}", "Choose another with -o."
        ) from error
    try:
        yield
    finally:
        os.close(lock)


def open_run(directory: Path, revision: str) -> Run:
    """The run that the directory holds, or a new one.

    Raises:
        UsageError: it holds a run of another revision.
    """
    run = read_run(directory)
    if run is None:
        if any(directory.glob("cells/*")):
            raise UsageError(f"{directory} has cells but no {RUN}", "Choose another with -o.")
        new = {"id": new_id(), "revision": revision, "started": time.time()}
        run = checked(Run, new, "no run can have this name")
        write_json(directory / RUN, {"format": FORMAT, **asdict(run)})
    _same_revision(directory, run, revision)
    return run


def _same_revision(directory: Path, run: Run, revision: str) -> None:
    if run.revision != revision:
        raise UsageError(
            f"{directory} holds a run of revision {run.revision}, and this is {revision}",
            "Results of two revisions do not go together: choose another directory with -o.",
        )


def read_run(directory: Path) -> Run | None:
    """The run in a directory, if any; FormatError if it is damaged."""
    if not (directory / RUN).exists():
        return None
    return read_checked(directory / RUN, Run, "description of a run")


def attempt_directory(directory: Path, cell: str, attempt: str) -> Path:
    """The directory of an attempt at a cell."""
    return directory / "cells" / cell / attempt


def results(directory: Path) -> dict[str, list[Result]]:
    """All finished attempts by cell, oldest first.

    Raises:
        FormatError: a result is damaged, or in the directory of another attempt.
    """
    found: dict[str, list[Result]] = {}
    for path in sorted((directory / "cells").glob(f"*/*/*/*/*/{RESULT}")):
        # A leading dot marks an incomplete copy.
        if path.parent.name.startswith("."):
            continue
        one = read_result(path.parent)
        if path.parent != attempt_directory(directory, one.cell, one.id):
            raise FormatError(f"{path} is the result of another cell or attempt")
        found.setdefault(one.cell, []).append(one)
    for attempts in found.values():
        attempts.sort(key=lambda result: (result.started, result.id))
    return found


def unfinished(cells: Sequence[Cell], done: dict[str, list[Result]]) -> list[Cell]:
    """The cells that have not been run yet, except for errors of the host."""
    return [
        cell
        for cell in cells
        if not any(one.outcome is not CellOutcome.ERROR for one in done.get(cell.name, ()))
    ]


def failed(cells: Sequence[Cell], done: dict[str, list[Result]]) -> list[Cell]:
    """The cells whose last attempt did not pass."""
    return [
        cell
        for cell in cells
        if cell.name in done and done[cell.name][-1].outcome is not CellOutcome.PASS
    ]


def merge(sources: Sequence[Path], target: Path) -> list[Result]:
    """Merge the attempts of several directories of one revision into one; returns all of them.

    They become attempts of one run: that of ``target``, or of the oldest source.

    Duplicates are merged.  Each attempt is copied atomically, so an interrupted merge can be
    repeated.

    Raises:
        UsageError: a directory has no run, one of another revision, or invalid results; nothing is
            written.
        HostError: the disk is full.
    """
    runs = []
    for source in sources:
        run = read_run(source)
        if run is None:
            raise UsageError(f"{source} holds no run", "Give directories of harness matrix run -o.")
        runs.append(run)
    # Read everything first: a directory may be damaged.
    found = [results(source) for source in sources]
    first = min(runs, key=lambda run: (run.started, run.id))
    for source, run in zip(sources, runs, strict=True):
        _same_revision(source, run, first.revision)
    with claimed(target):
        results(target)
        if read_run(target) is None:
            write_json(target / RUN, {"format": FORMAT, **asdict(first)})
        run = open_run(target, first.revision)
        try:
            for source, cells in zip(sources, found, strict=True):
                for cell, attempts in cells.items():
                    for result in attempts:
                        _copy(source, target, cell, result.id)
        except (OSError, shutil.Error) as error:
            raise HostError(f"{target} cannot be written: {error}", "Make room.") from error
        whole = [one for attempts in results(target).values() for one in attempts]
        return [replace(one, run=run.id) for one in whole]


def _copy(source: Path, target: Path, cell: str, attempt: str) -> None:
    goal = attempt_directory(target, cell, attempt)
    if (goal / RESULT).exists():
        return
    part = goal.with_name(f".{attempt}.part")
    for old in (part, goal):
        if old.exists():
            shutil.rmtree(old)
    part.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(
        attempt_directory(source, cell, attempt), part, symlinks=True, ignore=_no_content
    )
    part.rename(goal)


def _no_content(directory: str, names: list[str]) -> list[str]:
    """FIFOs, sockets and devices are not copied."""

    def is_copied(mode: int) -> bool:
        return stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode)

    return [name for name in names if not is_copied(Path(directory, name).lstat().st_mode)]
