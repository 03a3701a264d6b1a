# SPDX-License-Identifier: MIT
"""The directory of a run, which one run at a time may use.

``run.json`` says which revision was run; ``lock`` is held by the run; each attempt at a cell has
``cells/<cell>/<id>/``, which is over when its ``result.json`` is there.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.errors import FormatError, HostError, UsageError
from harness.matrix.cells import Cell
from harness.matrix.result import RESULT, Outcome, Result, read_json, read_result, write_json

FORMAT = 1
RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Run:
    """Which run this is; ``started`` is in seconds since 1970."""

    id: str
    revision: str
    started: float


def new_id() -> str:
    """A name that no other run or attempt has, and that begins with the time."""
    return f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}-{os.urandom(6).hex()}"


@contextmanager
def claimed(directory: Path) -> Iterator[None]:
    """Be the only run in the directory; UsageError when another one is there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UsageError(
            f"{directory} cannot be used for a run: {error.strerror}", "Choose another with -o."
        ) from error
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(
                f"another run uses {directory}", "Wait for its end, or choose another with -o."
            ) from None
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
        run = Run(new_id(), revision, time.time())
        write_json(directory / RUN, {"format": FORMAT, **asdict(run)})
    if run.revision != revision:
        raise UsageError(
            f"{directory} holds a run of revision {run.revision}, and this is {revision}",
            "Results of two revisions do not go together: choose another directory with -o.",
        )
    return run


def read_run(directory: Path) -> Run | None:
    """The run that a directory holds, if any; FormatError when that cannot be told."""
    if not (directory / RUN).exists():
        return None
    data = read_json(directory / RUN)
    try:
        if data.pop("format") != FORMAT:
            raise FormatError(f"{directory / RUN} was written by another version of the harness")
        return Run(str(data["id"]), str(data["revision"]), float(data["started"]))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{directory / RUN} does not describe a run") from error


def attempt_directory(directory: Path, cell: str, attempt: str) -> Path:
    """Where an attempt at a cell keeps everything."""
    return directory / "cells" / cell / attempt


def results(directory: Path) -> dict[str, list[Result]]:
    """All attempts that are over, by cell, oldest first.

    Raises:
        FormatError: a result is damaged, which a full disk does not do.
    """
    found: dict[str, list[Result]] = {}
    for path in sorted((directory / "cells").glob(f"*/*/*/*/*/{RESULT}")):
        found.setdefault(path.parents[1].relative_to(directory / "cells").as_posix(), []).append(
            read_result(path.parent)
        )
    for cell, attempts in found.items():
        if any(result.cell != cell for result in attempts):
            raise FormatError(f"{directory}: a result of another cell lies at {cell}")
        attempts.sort(key=lambda result: (result.started, result.id))
    return found


def unfinished(cells: Sequence[Cell], done: dict[str, list[Result]]) -> list[Cell]:
    """The cells that have to be run yet.  What the host failed at has not been run."""
    return [
        cell
        for cell in cells
        if not any(one.outcome is not Outcome.ERROR for one in done.get(cell.name, ()))
    ]


def failed(cells: Sequence[Cell], done: dict[str, list[Result]]) -> list[Cell]:
    """The cells whose last attempt did not pass."""
    return [
        cell
        for cell in cells
        if cell.name in done and done[cell.name][-1].outcome is not Outcome.PASS
    ]


def merge(sources: Sequence[Path], target: Path) -> list[Result]:
    """Put the attempts of several directories, of one revision, into one; gives all there are.

    They count as attempts of one run: that of ``target``, or of the oldest source.

    An attempt that is in several of them, or there already, is there once.  It appears whole or
    not at all, so an interrupted merge can be repeated.

    Raises:
        UsageError: a directory holds no run, or one of another revision.
        HostError: the disk is full.
    """
    runs = []
    for source in sources:
        run = read_run(source)
        if run is None:
            raise UsageError(f"{source} holds no run", "Give directories of harness matrix run -o.")
        runs.append(run)
    with claimed(target):
        first = min(runs, key=lambda run: (run.started, run.id))
        if read_run(target) is None:
            write_json(target / RUN, {"format": FORMAT, **asdict(first)})
        for run in runs:
            open_run(target, run.revision)
        try:
            for source in sources:
                for cell, attempts in results(source).items():
                    for result in attempts:
                        _copy(source, target, cell, result.id)
        except (OSError, shutil.Error) as error:
            raise HostError(f"{target} cannot be written: {error}", "Make room.") from error
        run = open_run(target, first.revision)
        found = [one for attempts in results(target).values() for one in attempts]
        return [replace(one, run=run.id) for one in found]


def _copy(source: Path, target: Path, cell: str, attempt: str) -> None:
    goal = attempt_directory(target, cell, attempt)
    if (goal / RESULT).exists():
        return
    part = goal.with_name(f".{attempt}.part")
    for old in (part, goal):
        if old.exists():
            shutil.rmtree(old)
    part.parent.mkdir(parents=True, exist_ok=True)
    shutil.copytree(attempt_directory(source, cell, attempt), part, symlinks=True)
    part.rename(goal)
