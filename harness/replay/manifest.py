# SPDX-License-Identifier: MIT
"""The files of a replay, in a directory beside the trace.dat: ``TRACE.replay``.

``inputs`` is QEMU's log, ``vmlinux`` the guest's image, ``module-*.ko`` its modules,
``manifest.json`` the rest.
"""

import hashlib
import shutil
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.config import MachineConfig
from harness.debugger.writes import MemoryWrite, RegisterWrite
from harness.errors import UsageError
from harness.files import atomic_file, locked
from harness.units import MIB, escape

MANIFEST, INPUTS, IMAGE = "manifest.json", "inputs", "vmlinux"
LIMIT = 256 * MIB
"""Maximum size of a manifest in bytes."""

ADVICE = "Record it with: harness record --replayable"
Hexadecimal = Field(pattern="^([0-9a-f]{2})+$")

_Bits = Annotated[int, Field(ge=-(1 << 63), lt=1 << 64)]
_WORD = r"0x[0-9a-f]{1,16}"
_WORDS = rf"\{{\(long\){_WORD}(, \(long\){_WORD}){{0,7}}\}}"
_Constant = Annotated[str, Field(pattern=rf"^({_WORD}|[0-9]{{1,9}}\.5|{_WORDS})$")]


class LoggedWrite(BaseModel):
    """A write of the debugger, after ``icount`` instructions."""

    model_config = ConfigDict(extra="forbid", strict=True)
    icount: int = Field(ge=0)
    address: int = Field(ge=0, lt=1 << 64)
    data: str = Hexadecimal
    physical: bool = False

    @property
    def write(self) -> MemoryWrite:
        """The data."""
        return MemoryWrite(self.address, bytes.fromhex(self.data), self.physical)


_PART = r"^[A-Za-z][A-Za-z0-9_]{0,31}(\.[a-z][a-z0-9_]{0,15}){0,2}(\[[0-9]\])?$"
"""A register of gdb's, or a part of one: ``v2.d.u[1]``, ``xmm0.v2_int64``."""


class LoggedRegister(BaseModel):
    """A register that the debugger set, after ``icount`` instructions."""

    model_config = ConfigDict(extra="forbid", strict=True)
    icount: int = Field(ge=0)
    name: str = Field(pattern=_PART)
    value: _Bits | _Constant

    @property
    def write(self) -> RegisterWrite:
        """What was set."""
        return RegisterWrite(self.name, self.value)


class Manifest(BaseModel):
    """A recorded run.

    ``end`` is the number of instructions when the recording ended, ``trace`` the SHA-256 of the
    trace.dat, empty if there is none.  Writes are in their order.  ``modules`` is the number of
    modules, whose files are `module_file`.
    """

    model_config = ConfigDict(extra="forbid")
    version: Literal[1] = 1
    qemu: str
    machine: MachineConfig
    build_id: str = Hexadecimal
    trace: str = Field(pattern="^([0-9a-f]{64})?$")
    end: int = Field(ge=0)
    writes: list[LoggedWrite | LoggedRegister]
    modules: int = Field(default=0, ge=0, le=1000)


def replay_directory(trace: Path) -> Path:
    """The directory with the replay of a trace."""
    return trace.with_name(f"{trace.name}.replay")


def module_file(directory: Path, number: int) -> Path:
    """A module that was loaded at the end, by number from 0."""
    return directory / f"module-{number}.ko"


def move_recording(old: Path, new: Path) -> None:
    """Move what belongs to a trace, with the trace if there is one, in place of an earlier one."""
    with locked(new.parent):
        new.unlink(missing_ok=True)
        shutil.rmtree(replay_directory(new), ignore_errors=True)
        replay_directory(old).rename(replay_directory(new))
        if old.exists():
            old.rename(new)


def digest(trace: Path) -> str:
    """The SHA-256 of a file in hexadecimal; UsageError if it cannot be read."""
    try:
        with trace.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise UsageError(f"{trace} cannot be read: {error.strerror}") from error


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest of a directory, with which the directory is complete."""
    with atomic_file(directory / MANIFEST) as stream:
        stream.write(manifest.model_dump_json(indent=1).encode())


def read_manifest(trace: Path) -> Manifest:
    """The manifest of a trace.

    Raises:
        UsageError: the trace cannot be replayed: it has none, or one of another trace.
    """
    directory = replay_directory(trace)
    found = digest(trace) if trace.exists() or not directory.exists() else ""
    file = directory / MANIFEST
    try:
        with file.open("rb") as stream:
            text = stream.read(LIMIT)
    except OSError as error:
        raise UsageError(
            f"{trace} cannot be replayed: {file} cannot be read: {error.strerror}", ADVICE
        ) from error
    try:
        manifest = Manifest.model_validate_json(text)
    except ValidationError as error:
        first: Any = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise UsageError(
            f"{file} is damaged: {escape(place, 200)}: {escape(first['msg'], 200)}", ADVICE
        ) from error
    if manifest.trace != found:
        raise UsageError(
            f"{trace} is not the trace that was recorded with {file.parent}",
            "A replay belongs to the whole trace.dat of its recording.",
        )
    return manifest
