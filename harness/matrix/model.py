# SPDX-License-Identifier: MIT
"""The keys of the file that declares a matrix.

A field's description is shown in errors after "allowed:".  docs/matrix.rst describes each key.
"""

import os
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from harness.config.loading import read_toml, validated
from harness.config.models import COMPILERS, FLAG, CompilerName, Model
from harness.config.names import is_path, user_path
from harness.errors import UsageError
from harness.isa import Property

DEFAULT = Path(__file__).with_name("matrix.toml")

Mode = Literal["static", "dynamic", "graph"]
MODES: tuple[Mode, ...] = get_args(Mode)
Kind = Literal["workload", "soak", "conform", "mutants"]

NAME = r"^[A-Za-z0-9][A-Za-z0-9_.]*$"
"""Names of axis values; in a cell's name they are joined by dashes and slashes."""

PART = r"[A-Za-z0-9][A-Za-z0-9._+-]{0,199}"
"""A part of a cell's name, or the name of a run or an attempt; usable as a file name."""

LONGEST_NAME = 200
"""Maximum length of a cell's name, which is also a file name."""


def _flag(text: str) -> str:
    if not FLAG.fullmatch(text):
        raise ValueError("compiler flags that begin with a dash, one a string, without blanks")
    return text


Name = Annotated[str, StringConstraints(pattern=NAME, max_length=60)]
Glob = Annotated[str, StringConstraints(pattern=r"^[^\s/\x00-\x1f]+$", max_length=200)]
FilePath = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=4096)]
Flag = Annotated[str, AfterValidator(_flag)]
Reason = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]{10,}$", max_length=400)]


class Compiler(Model):
    """A compiler of the matrix."""

    program: CompilerName = Field(description=COMPILERS)


class Work(Model):
    """The work of a cell."""

    kind: Kind = Field(description='"workload", "soak", "conform" or "mutants"')
    workload: str = Field(default="", description="the name of a workload, or a C file")
    mutants: tuple[str, ...] = Field(default=("all",), description="ids of mutants, or globs")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if (self.kind in ("workload", "soak")) != bool(self.workload):
            raise ValueError("workload with the kinds workload and soak, and with no other")
        return self


def _globs(of: str) -> Any:
    return Field(default=("*",), min_length=1, description=f"globs of {of}")


class Rule(Model):
    """Excludes or includes cells that match all of its globs."""

    config: tuple[Glob, ...] = _globs("configs")
    mode: tuple[Glob, ...] = _globs("modes")
    compiler: tuple[Glob, ...] = _globs("compilers")
    optimise: tuple[Glob, ...] = _globs("optimisations")
    frame: tuple[Glob, ...] = _globs("frames")
    work: tuple[Glob, ...] = _globs("work")
    form: tuple[Glob, ...] = _globs("forms of call sites")
    cpus: tuple[Glob, ...] = _globs('numbers of CPUs, such as ["1"]')
    property: tuple[Property, ...] = Field(
        default=(), description=f"of these: {', '.join(Property)}"
    )
    reason: Reason = Field(description="one line of text that says why")


class Limits(Model):
    """The default limits of a cell."""

    time: float = Field(default=600.0, gt=0, le=86400, description="seconds, up to 86400")
    memory: int = Field(default=2048, ge=64, le=1 << 20, description="MiB, from 64")


class MatrixFile(Model):
    """The keys of the file."""

    configs: tuple[FilePath, ...] = Field(
        default=("*",),
        min_length=1,
        description='globs of machine configs, or paths of some, such as ["mips*", "./board.toml"]',
    )
    port: FilePath | None = Field(default=None, description="the path of a port's directory")
    qemu: FilePath | None = Field(
        default=None, description="the path of a directory with programs of QEMU"
    )
    modes: tuple[Mode, ...] = Field(
        default=MODES, min_length=1, description='"static", "dynamic", "graph"'
    )
    compiler: dict[Name, Compiler] = Field(min_length=1, description="tables [compiler.NAME]")
    optimise: dict[Name, tuple[Flag, ...]] = Field(
        min_length=1, description='a table of lists of flags, such as O2 = ["-O2"]'
    )
    frame: dict[Name, tuple[Flag, ...]] = Field(
        min_length=1, description="a table of lists of flags"
    )
    work: dict[Name, Work] = Field(min_length=1, description="tables [work.NAME]")
    limits: Limits = Field(default=Limits(), description="a table [limits]")
    exclude: tuple[Rule, ...] = Field(default=(), description="tables [[exclude]]")
    include: tuple[Rule, ...] = Field(default=(), description="tables [[include]]")


def load_matrix(file: Path = DEFAULT) -> MatrixFile:
    """Read and check the declaration; UsageError names a wrong key."""
    found = validated(MatrixFile, read_toml(file), file, "docs/matrix.rst describes every key.")
    for kind, rules in (("exclude", found.exclude), ("include", found.include)):
        for number, rule in enumerate(rules, 1):
            if rule.model_fields_set == {"reason"}:
                raise UsageError(
                    f"{file}: [[{kind}]] number {number} names no axis, so it matches every cell",
                    "Add one, such as config, mode, compiler, form or work.",
                )

    def meant(path: str) -> str:
        # Relative to the declaration.
        return os.path.realpath(file.parent / user_path(path))

    works = {
        name: work.model_copy(update={"workload": meant(work.workload)})
        for name, work in found.work.items()
        if "/" in work.workload or work.workload.endswith(".c")
    }
    configs = [meant(one) if is_path(one) else one for one in found.configs]
    return found.model_copy(
        update={
            "configs": tuple(configs),
            "port": meant(found.port) if found.port else None,
            "qemu": meant(found.qemu) if found.qemu else None,
            "work": {**found.work, **works},
        }
    )
