# SPDX-License-Identifier: MIT
"""The result of a cell, and its file, which is written atomically."""

import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)

from harness.errors import FormatError
from harness.files import atomic_file
from harness.matrix.model import LONGEST_NAME, PART
from harness.units import KIB, MIB, escape

FORMAT = 1
"""Version of result.json; incremented if a key is removed or changes its meaning."""

RESULT = "result.json"
FINDINGS = "findings.json"
LIMIT = 64 * MIB
"""Maximum size of a file of results."""

TEXT = 400
"""Maximum length of a message."""

LONGEST = 16 * KIB
"""Maximum length of any text."""

YEAR_10000 = 253402300800
"""In seconds since 1970; Python's calendar ends there."""


def shown(text: str) -> str:
    """Printable text of limited length; idempotent."""
    return escape(escape(text, TEXT), TEXT)


def _shown(value: object) -> object:
    return shown(value) if isinstance(value, str) else value


def _storable(value: object) -> object:
    """JSON allows lone surrogates, which files and databases do not."""
    if not isinstance(value, str):
        return value
    return value[:LONGEST].encode("utf-8", "backslashreplace").decode()[:LONGEST]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("it is not one line of text")
    return text


def _distinct(verdicts: "tuple[CellVerdict, ...]") -> "tuple[CellVerdict, ...]":
    if len({one.name for one in verdicts}) != len(verdicts):
        raise ValueError("two of them have one name")
    return verdicts


Name = Annotated[str, StringConstraints(pattern=f"^{PART}$")]
CellName = Annotated[
    str, StringConstraints(pattern=f"^{PART}(/{PART}){{3}}$", max_length=LONGEST_NAME)
]
Revision = Annotated[
    str, StringConstraints(min_length=1, max_length=200), AfterValidator(_printable)
]
Text = Annotated[str, BeforeValidator(_storable)]
Word = Annotated[str, BeforeValidator(_shown), StringConstraints(min_length=1)]
Seconds = Annotated[float, Field(strict=True, ge=0, lt=YEAR_10000)]
Count = Annotated[int, Field(strict=True, ge=0, lt=1 << 63)]


class CellOutcome(StrEnum):
    """How a cell ended.  ``error`` is the host's; all others are about the thing tested."""

    PASS = "pass"
    FAIL = "fail"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    CRASH = "crash"
    ERROR = "error"

    @property
    def verdict(self) -> str:
        """``pass``, ``fail`` or ``error``."""
        return str(self) if self in (CellOutcome.PASS, CellOutcome.ERROR) else "fail"


CLOSED = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class CellVerdict:
    """One verdict of a cell: ``pass``, ``fail``, or why neither.

    ``expected`` is a known failure of the port.  ``failures`` has all failures of a clause but the
    expected ones; the message is the first of them.
    """

    __pydantic_config__ = CLOSED

    name: Word
    verdict: Word
    message: Text = ""
    failures: Annotated[tuple[Text, ...], Field(max_length=100_000)] = ()


Verdicts = Annotated[tuple[CellVerdict, ...], Field(max_length=100_000), AfterValidator(_distinct)]


@dataclass(frozen=True, slots=True)
class CellFindings:
    """A cell's own findings; ``instructions`` of the guest, if they repeat exactly."""

    __pydantic_config__ = CLOSED

    verdicts: Verdicts = ()
    instructions: Count | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """One attempt at a cell.  ``id`` is unique in all runs; ``started`` is in seconds since 1970.

    ``peak`` is the highest memory use in bytes of all its processes.
    """

    __pydantic_config__ = CLOSED

    id: Name
    cell: CellName
    run: Name
    revision: Revision
    outcome: CellOutcome
    message: Text
    started: Seconds
    seconds: Seconds
    peak: Count
    command: Text
    versions: Annotated[Mapping[Word, Text], Field(max_length=100)] = field(default_factory=dict)
    verdicts: Verdicts = ()
    instructions: Count | None = None


_Kind = TypeVar("_Kind")
_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def checked(kind: type[_Kind], data: object, where: str) -> _Kind:
    """Untrusted data, from a file or a table, as one of the types here.

    Used for all input of merge, report and history: names are no paths, numbers fit into a
    database, texts have a maximum length.  All fields of ``kind`` must be there, and no others.

    Raises:
        FormatError: it is invalid; ``where`` begins the message, as ``x is no y``.
    """
    if not isinstance(data, dict):
        raise FormatError(where)
    for one in fields(kind):  # type: ignore[arg-type]
        if one.name not in data:
            raise FormatError(f"{where}: it has no {one.name}")
    try:
        adapter = _ADAPTERS.get(kind) or _ADAPTERS.setdefault(kind, TypeAdapter(kind))
        value: _Kind = adapter.validate_python(data)
    except ValidationError as error:
        raise FormatError(f"{where}: {_complaint(error)}") from error
    return value


def _complaint(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False)[0]
    key = escape(".".join(str(part) for part in first["loc"]), 80)
    value = first["input"]
    if isinstance(value, str | int | float | None):
        return f"{key} cannot be {escape(repr(value), 80)}"
    return f"{key}: {first['msg'].removeprefix('Value error, ')}"


def write_json(path: Path, data: object) -> None:
    """Write a JSON file atomically; HostError if the disk is full."""
    with atomic_file(path) as stream:
        stream.write(json.dumps(data, indent=2).encode() + b"\n")


def read_json(path: Path) -> Any:
    """Read a JSON file; FormatError if it is invalid."""
    try:
        # Without O_NONBLOCK the open of a FIFO would wait for a writer for ever.
        with os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise FormatError(f"{path} is not a regular file")
            content = stream.read(LIMIT + 1)
        if len(content) > LIMIT:
            raise FormatError(f"{path} is longer than {LIMIT} bytes")
        return json.loads(content)
    except OSError as error:
        raise FormatError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} is not JSON: {escape(str(error), 200)}") from error


def read_checked(path: Path, kind: type[_Kind], what: str) -> _Kind:
    """A file with its version in ``format``, as ``kind``; FormatError for anything else."""
    data = read_json(path)
    if isinstance(data, dict) and data.pop("format", None) != FORMAT:
        raise FormatError(
            f"{path} was written by another version of the harness", "Read it with that one."
        )
    return checked(kind, data, f"{path} is no {what}")


def write_result(directory: Path, result: Result) -> None:
    """Write the result of a finished attempt."""
    write_json(directory / RESULT, {"format": FORMAT, **asdict(result)})


def read_result(directory: Path) -> Result:
    """Read a result; FormatError for anything else."""
    return read_checked(directory / RESULT, Result, "result of a cell")


def write_findings(directory: Path, findings: CellFindings) -> None:
    """Write a cell's findings, for the process that started it."""
    write_json(directory / FINDINGS, asdict(findings))


def read_findings(directory: Path) -> CellFindings:
    """Read a cell's findings; empty if it died.  FormatError for anything else."""
    path = directory / FINDINGS
    if not path.exists():
        return CellFindings()
    found = checked(CellFindings, read_json(path), f"{path} is no file of findings")
    verdicts = tuple(
        replace(one, message=shown(one.message), failures=tuple(map(shown, one.failures)))
        for one in found.verdicts
    )
    return replace(found, verdicts=verdicts)


def all_verdicts(result: Result) -> Iterator[CellVerdict]:
    """The cell's outcome with an empty name, and its own verdicts."""
    yield CellVerdict("", result.outcome.verdict, result.message)
    yield from result.verdicts
