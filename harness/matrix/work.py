# SPDX-License-Identifier: MIT
"""The work of a cell, in its own process and directory."""

import os
import shlex
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

from harness.config import load_port
from harness.conformance.expected import apply_expected, find_expected
from harness.conformance.reports.listing import add_listings
from harness.conformance.reports.report import as_json
from harness.conformance.run import conform
from harness.conformance.verdict import ClauseResult
from harness.errors import GuestError
from harness.files import atomic_file
from harness.guest import Guest, start
from harness.guest.answer import wrong_answer
from harness.guest.start import Started
from harness.image import Image, RunningImage
from harness.kbuild import GuestSpec, build_guest, plan_build
from harness.machine import Machine
from harness.matrix.cells import Cell
from harness.matrix.result import TEXT, CellFindings, CellVerdict, write_findings
from harness.mutation.kill_table import kill_table, table_json
from harness.oracle import Oracle
from harness.record.limit import total_events
from harness.trace import write_trace_dat
from harness.units import escape, one_line

TRACE = "trace.dat"
CONFORM = "conform.json"
GUEST = "guest.txt"
TIMEOUT = 300.0
"""Timeout in seconds of a workload."""

SOAK_SLICE = 0.05
"""Seconds between changes of the tracer."""
SOAK_CHANGES = 60


@dataclass(frozen=True, slots=True)
class Trace:
    """The events of a run, compared with the guest's counters."""

    events: int
    expected: int
    lost: int
    damage: str


def do_cell(cell: Cell, directory: Path) -> bool:
    """Do the work and write the findings to ``directory``; returns whether all verdicts are right.

    Raises:
        GuestError: the guest died or hung.
        UsageError: it does not build.
        HostError: QEMU, gdb, a toolchain or the disk failed.
    """
    findings = WORK[cell.kind](cell, directory)
    write_findings(directory, findings)
    for verdict in findings.verdicts:
        if verdict.verdict == "fail":
            print(f"{verdict.name}: {verdict.message}", flush=True)
    return not any(verdict.verdict == "fail" for verdict in findings.verdicts)


def _workload(cell: Cell, directory: Path) -> CellFindings:
    """Run a workload that checks its results under the tracer.

    The number of instructions repeats exactly; it is omitted if several CPUs are busy.
    """
    spec = cell.spec
    kernel = build_guest(spec, _tell)
    image = RunningImage(kernel.read_bytes(), str(kernel))
    with (
        Oracle(image, directory, counting=True) as oracle,
        _start(
            spec, directory, deterministic=True, plugins=[oracle.argument], tick=0, progress=_tell
        ) as guest,
    ):
        oracle.reset()
        guest.tracer.current = cell.tracer
        guest.run(until="workload_done", timeout=TIMEOUT)
        instructions = oracle.instructions if len(oracle.busy_cpus) == 1 else None
        status = guest.workload_status
        trace = _finish(guest, directory)
        print(guest.console, flush=True)
    return CellFindings((_answer(guest.image, status), *_events(trace)), instructions)


def _soak(cell: Cell, directory: Path) -> CellFindings:
    """Switch the tracer on and off while a workload runs; every event is accounted for."""
    with _start(cell.spec, directory, progress=_tell) as guest:
        changes = 0
        over = False
        while not over and changes < SOAK_CHANGES:
            guest.tracer.current = "nop" if changes % 2 else cell.tracer
            changes += 1
            over = guest.run(until="workload_done", seconds=SOAK_SLICE) == "reached"
        if not over:
            guest.tracer.current = "nop"
            guest.run(until="workload_done", timeout=TIMEOUT)
        status = guest.workload_status
        trace = _finish(guest, directory)
        print(f"{changes} changes of the tracer, {trace.events} events", flush=True)
        print(guest.console, flush=True)
    return CellFindings((_answer(guest.image, status), *_events(trace)))


@contextmanager
def _start(spec: GuestSpec, directory: Path, **started: Unpack[Started]) -> Iterator[Guest]:
    """A guest before its workload; the commands that built and run it are written to a file."""
    with start(spec, **started) as guest:
        assert isinstance(guest.machine, Machine)
        commands = f"{plan_build(spec).command_line}\n{shlex.join(guest.machine.command)}\n"
        (directory / GUEST).write_bytes(os.fsencode(commands))
        yield guest


def _finish(guest: Guest, directory: Path) -> Trace:
    guest.tracer.current = "nop"
    guest.settle()
    guest.collector.drain()
    spools = [spool.stream for spool in guest.collector.spools]
    events, damage = total_events(spools, guest.collector.format)
    with atomic_file(directory / TRACE) as stream:
        write_trace_dat(stream, guest.tracer.description(), spools)
    counts = guest.collector.counts
    return Trace(events, counts.entries - counts.overrun, counts.lost, str(damage or ""))


def _answer(image: Image, status: int) -> CellVerdict:
    if status == 0:
        return CellVerdict("answer", "pass")
    return CellVerdict("answer", "fail", f"{wrong_answer(image, status)} under the tracer")


def _events(trace: Trace) -> Sequence[CellVerdict]:
    wrong = ""
    if trace.damage:
        wrong = f"the ring buffer is damaged: {escape(trace.damage, TEXT)}"
    elif trace.events != trace.expected:
        wrong = f"the guest counted {trace.expected} events, its pages hold {trace.events}"
    elif trace.lost:
        wrong = f"{trace.lost} events were lost"
    elif not trace.events:
        wrong = "the tracer recorded nothing"
    return (CellVerdict("events", "fail" if wrong else "pass", wrong or f"{trace.events} events"),)


def check_expected(cells: Iterable[Cell]) -> None:
    """UsageError where the known failures of a port to be judged cannot be read."""
    for port in {cell.port for cell in cells if cell.kind == "conform"}:
        find_expected(load_port(port))


def _conform(cell: Cell, directory: Path) -> CellFindings:
    """Check the config's port for every clause."""
    spec = cell.spec
    expected = find_expected(spec.port)
    reports = list(conform([spec], (), _tell))
    if expected is not None:
        for report in reports:
            apply_expected(report, expected)
            for line in report.fails_no_more:
                _tell(f"fails no more: {line}")
    for report in reports:
        add_listings(report.findings, spec)
    (directory / CONFORM).write_text(as_json(reports, ["harness", "conform"]), encoding="utf-8")
    return CellFindings(
        tuple(clause_verdict(result) for report in reports for result in report.results)
    )


def clause_verdict(result: ClauseResult) -> CellVerdict:
    """A clause as a verdict of its cell, with the failures that are not expected."""
    if not result.failures:
        return CellVerdict(result.clause, str(result.verdict), escape(result.reason, TEXT))
    if result.expected:
        return CellVerdict(result.clause, "expected", escape(result.failures[0].expected, TEXT))
    others = [failure for failure in result.failures if not failure.expected]
    said = (f"{one.check} ({one.variant}): {one.message}" for one in others)
    return CellVerdict(
        result.clause,
        "advised" if result.advised else str(result.verdict),
        escape(others[0].message, TEXT),
        tuple(dict.fromkeys(one_line(text, TEXT) for text in said)),
    )


def _mutants(cell: Cell, directory: Path) -> CellFindings:
    """Check mutants, all of which must be killed."""
    outcomes = kill_table([cell.spec], cell.subject.split(","), _tell)
    (directory / "mutants.json").write_text(table_json(outcomes), encoding="utf-8")
    named: dict[str, CellVerdict] = {}
    for one in outcomes:
        if not one.built and one.right:
            continue
        seen = f"{one.clause} {one.message}" if one.killed else one.equivalent or "survives"
        # Generated mutants may share a name; wrong ones must not be hidden.
        if one.name not in named or not one.right:
            verdict = "pass" if one.right else "fail"
            named[one.name] = CellVerdict(one.name, verdict, escape(seen, TEXT))
    if not named:
        raise GuestError("no mutant could be checked")
    return CellFindings(tuple(named.values()))


def _tell(line: str) -> None:
    print(line, flush=True)


WORK = {"workload": _workload, "soak": _soak, "conform": _conform, "mutants": _mutants}
