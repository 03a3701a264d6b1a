# SPDX-License-Identifier: MIT
"""Runs cells in parallel, independently of each other."""

import os
import select
import shlex
import sys
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.errors import FormatError, HarnessError, HostError
from harness.matrix.cells import COST, Cell
from harness.matrix.child import CellLimits, CellProcess
from harness.matrix.result import (
    TEXT,
    CellFindings,
    CellOutcome,
    Result,
    read_findings,
    write_json,
    write_result,
)
from harness.matrix.rundir import Run, attempt_directory, new_id
from harness.units import MIB, escape

LOOK_EVERY = 0.5
"""Seconds between checks of the limits."""

CELL = "cell.json"
LOG = "log.txt"
TAIL = 4096

Command = Callable[[Path, Path], Sequence[str]]
"""The command line for a cell's description and directory."""


def cell_command(file: Path, directory: Path) -> Sequence[str]:
    """The command line of a cell."""
    return [sys.executable, "-P", "-m", "harness.matrix", str(file), str(directory)]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run: ``result`` of a finished cell, or None for a started one."""

    cell: Cell
    result: Result | None
    running: tuple[str, ...]
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The parameters of a run.

    ``repeat`` returns the command that repeats a cell.
    """

    directory: Path
    run: Run
    jobs: int
    limits: CellLimits
    versions: Callable[[Cell], Mapping[str, str]] = lambda cell: {}
    repeat: Callable[[Cell], str] = lambda cell: f"harness matrix cell {shlex.quote(cell.name)}"
    command: Command = cell_command
    tell: Callable[[Progress], None] = lambda progress: None


@dataclass(frozen=True, slots=True)
class _Running:
    cell: Cell
    attempt: str
    directory: Path
    child: CellProcess
    started: float


def run_cells(cells: Sequence[Cell], plan: Plan) -> list[Result]:
    """Run cells, ``plan.jobs`` in parallel, long ones first; write each result.

    If this call is aborted, running cells are killed and have no result.

    Raises:
        HostError: a result cannot be written, or no process can be started.
    """
    waiting = deque(sorted(cells, key=lambda cell: COST[cell.kind]))
    running: dict[int, _Running] = {}
    results: list[Result] = []

    def tell(cell: Cell, result: Result | None) -> None:
        names = tuple(one.cell.name for one in running.values())
        plan.tell(Progress(cell, result, names, len(results), len(cells)))

    try:
        while waiting or running:
            while waiting and len(running) < plan.jobs:
                one = _start(waiting.popleft(), plan)
                running[one.child.process_fd] = one
                tell(one.cell, None)
            for descriptor, over in _wait(running):
                one = running[descriptor]
                result = _end(one, over, plan)
                del running[descriptor]
                write_result(one.directory, result)
                results.append(result)
                tell(one.cell, result)
    finally:
        for one in running.values():
            one.child.close()
    return results


def _start(cell: Cell, plan: Plan) -> _Running:
    attempt = new_id()
    directory = attempt_directory(plan.directory.resolve(), cell.name, attempt)
    try:
        directory.mkdir(parents=True)
        # A path may be no valid text.
        (directory / "command.txt").write_bytes(os.fsencode(f"{plan.repeat(cell)}\n"))
    except OSError as error:
        raise HostError(
            f"{directory} cannot be written: {error.strerror}", "Make room and run it again."
        ) from error
    write_json(directory / CELL, cell.as_json())
    command = plan.command(directory / CELL, directory)
    child = CellProcess(command, directory / LOG, plan.limits)
    return _Running(cell, attempt, directory, child, time.time())


def _wait(running: Mapping[int, _Running]) -> list[tuple[int, str]]:
    """The finished cells, with the limit that each has exceeded, if any."""
    poll = select.poll()
    for descriptor in running:
        poll.register(descriptor, select.POLLIN)
    ended = {descriptor for descriptor, _ in poll.poll(LOOK_EVERY * 1000)}
    over = [(descriptor, "") for descriptor in ended]
    for descriptor in running.keys() - ended:
        limit = running[descriptor].child.look()
        if limit:
            over.append((descriptor, limit))
    return over


def _end(one: _Running, limit: str, plan: Plan) -> Result:
    seconds = one.child.seconds
    one.child.close()
    outcome, message, findings = _judge(one, limit)
    try:
        versions = plan.versions(one.cell)
    except HarnessError as error:
        versions = {"unknown": escape(error.message, TEXT)}
    return Result(
        id=one.attempt,
        cell=one.cell.name,
        run=plan.run.id,
        revision=plan.run.revision,
        outcome=outcome,
        message=message,
        started=round(one.started, 3),
        seconds=round(seconds, 3),
        peak=one.child.peak,
        command=plan.repeat(one.cell),
        versions=versions,
        verdicts=findings.verdicts,
        instructions=findings.instructions if outcome is CellOutcome.PASS else None,
    )


def _judge(one: _Running, limit: str) -> tuple[CellOutcome, str, CellFindings]:
    try:
        findings = read_findings(one.directory)
    except FormatError as error:
        return CellOutcome.CRASH, error.message, CellFindings()
    wrong = [verdict for verdict in findings.verdicts if verdict.verdict in ("fail", "error")]
    first = ", ".join(f"{verdict.name}: {verdict.message}" for verdict in wrong[:3])[:TEXT]
    if limit == "timeout":
        return CellOutcome.TIMEOUT, f"not over after {one.child.limits.time:g} s", findings
    if limit == "memory":
        text = f"used more than {one.child.limits.memory // MIB} MiB"
        return CellOutcome.MEMORY, text, findings
    status = one.child.status
    if status == 0 and not wrong:
        return CellOutcome.PASS, "", findings
    if status == HostError.exit_status:
        return CellOutcome.ERROR, first or _tail(one.directory), findings
    if status == 1 and wrong:
        return CellOutcome.FAIL, first, findings
    how = f"killed by signal {-status}" if status is not None and status < 0 else f"exit {status}"
    return CellOutcome.CRASH, f"{how}: {_tail(one.directory)}"[:TEXT], findings


def _tail(directory: Path) -> str:
    """The last line of a cell's log."""
    with (directory / LOG).open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - TAIL))
        lines = stream.read(TAIL).decode(errors="replace").strip().splitlines()
    return escape(lines[-1], TEXT) if lines else "it printed nothing"
