# SPDX-License-Identifier: MIT
"""What became of a cell, and the file that says so: whole, or not there."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from harness.errors import FormatError
from harness.files import whole_file
from harness.units import MIB, escape

FORMAT = 1
"""Version of result.json; it changes when a key changes its meaning or goes."""

RESULT = "result.json"
FINDINGS = "findings.json"
LIMIT = 64 * MIB
"""Bytes beyond which a file of results is not one."""

TEXT = 400
"""Characters of a message that are kept."""


class Outcome(StrEnum):
    """How a cell ended.  Only ``error`` says nothing about the thing tested: the host failed."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    ERROR = "error"

    @property
    def verdict(self) -> str:
        """``pass``, ``fail`` or ``error``."""
        return str(self) if self in (Outcome.PASS, Outcome.ERROR) else "fail"


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer to one question that a cell asks: ``pass``, ``fail``, or why neither."""

    name: str
    verdict: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """What a cell found out itself; ``instructions`` of the guest, where they repeat exactly."""

    verdicts: tuple[Verdict, ...] = ()
    instructions: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One attempt at a cell.  ``id`` is its own in all runs; ``started`` is in seconds since 1970.

    ``peak`` is the most memory, in bytes, that its processes were seen to use together.
    """

    id: str
    cell: str
    run: str
    revision: str
    outcome: Outcome
    message: str
    started: float
    seconds: float
    peak: int
    command: str
    versions: Mapping[str, str] = field(default_factory=dict)
    verdicts: tuple[Verdict, ...] = ()
    instructions: int | None = None


def write_json(path: Path, data: object) -> None:
    """Write a JSON file that is whole or not there; HostError when the disk is full."""
    with whole_file(path) as stream:
        stream.write(json.dumps(data, indent=2).encode() + b"\n")


def read_json(path: Path) -> Any:
    """Read one back; FormatError when it is not JSON."""
    try:
        with path.open("rb") as stream:
            content = stream.read(LIMIT + 1)
        if len(content) > LIMIT:
            raise FormatError(f"{path} is longer than {LIMIT} bytes")
        return json.loads(content)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not JSON: {escape(str(error), 200)}") from error


def write_result(directory: Path, result: Result) -> None:
    """Say that this attempt is over."""
    write_json(directory / RESULT, {"format": FORMAT, **asdict(result)})


def read_result(directory: Path) -> Result:
    """The inverse; FormatError for anything else."""
    path = directory / RESULT
    data = read_json(path)
    try:
        if data.pop("format") != FORMAT:
            raise FormatError(
                f"{path} was written by another version of the harness", "Read it with that one."
            )
        result = Result(**data)
        if not all(isinstance(text, str) for text in (result.id, result.cell, result.revision)):
            raise TypeError
        return replace(
            result, outcome=Outcome(result.outcome), verdicts=_verdicts(data["verdicts"])
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{path} is no result of a cell") from error


def write_findings(directory: Path, findings: Findings) -> None:
    """What a cell leaves for the process that has started it."""
    write_json(directory / FINDINGS, asdict(findings))


def read_findings(directory: Path) -> Findings:
    """What it left; FormatError for anything else.  A cell that died left nothing."""
    path = directory / FINDINGS
    if not path.exists():
        return Findings()
    data = read_json(path)
    try:
        number = data["instructions"]
        if number is not None and (not isinstance(number, int) or not 0 <= number < 1 << 63):
            raise TypeError
        return Findings(_verdicts(data["verdicts"]), number)
    except (KeyError, TypeError) as error:
        raise FormatError(f"{path} is no file of findings") from error


def _verdicts(data: object) -> tuple[Verdict, ...]:
    if not isinstance(data, list):
        raise TypeError
    found = tuple(_verdict(**one) for one in data)
    if len({one.name for one in found}) != len(found):
        raise TypeError("two verdicts of one name")
    return found


def _verdict(name: object, verdict: object, message: object = "") -> Verdict:
    """Whatever wrote the file: its texts are bounded, and fit to print and to keep."""
    if not (isinstance(name, str) and isinstance(verdict, str) and isinstance(message, str)):
        raise TypeError
    return Verdict(escape(name, TEXT), escape(verdict, TEXT), escape(message, TEXT))


def all_verdicts(result: Result) -> Iterator[Verdict]:
    """The cell's own, and, with an empty name, how it ended."""
    yield Verdict("", result.outcome.verdict, result.message)
    yield from result.verdicts
