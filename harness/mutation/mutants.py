# SPDX-License-Identifier: MIT
"""Mutants: ports with one planted fault each, from ``guests/ports/<port>/mutants/*.toml``.

A mutant is a few replacements in files of a reference port, and the clauses that it breaks.
Generated mutants (`harness.mutation.operators`) have no files; ``equivalent.toml`` says why some of
them change nothing observable.
"""

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StringConstraints, ValidationError, model_validator

from harness.config import MachineConfig, Port, resources
from harness.config.models import Model
from harness.conformance.catalogue import Line, Text, load_catalogue
from harness.conformance.engine import select
from harness.conformance.registry import VARIANTS
from harness.conformance.variants import Edits
from harness.errors import UsageError
from harness.mutation.assembly import Statement

DIRECTORY = "mutants"
"""Its name in the directory of a port."""

Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][\w.+-]*$", max_length=80)]


class Edit(Model):
    """One replacement in a file of the port, which has ``old`` exactly ``times`` times."""

    file: str
    old: str = Field(min_length=1)
    new: str
    times: int = 1


class Mutant(Model):
    """A fault.  ``bugs`` are similar bugs of real ports; see docs/mutants.rst."""

    id: Id
    about: Line
    clauses: tuple[str, ...] = Field(min_length=1)
    bugs: tuple[str, ...] = ()
    configs: tuple[str, ...] = ("*",)
    variants: tuple[str, ...] = VARIANTS
    edit: tuple[Edit, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _names_clauses(self) -> Self:
        known = {clause.id for clause in load_catalogue().clause}
        if unknown := set(self.clauses) - known:
            raise ValueError(f"{self.id} names no clauses: {', '.join(sorted(unknown))}")
        return self

    def applies_to(self, config: MachineConfig) -> bool:
        """Whether a guest of this config has the fault."""
        return any(fnmatchcase(config.name, glob) for glob in self.configs)

    def edits(self, port: Port) -> Edits:
        """The port's files with the fault; UsageError if the port is not as expected."""
        texts: dict[str, str] = {}
        for edit in self.edit:
            text = texts.get(edit.file)
            if text is None:
                text = (port.directory / edit.file).read_text(encoding="utf-8")
            if text.count(edit.old) != edit.times:
                raise UsageError(
                    f"the mutant {self.id} does not fit {port.directory / edit.file}: "
                    f"{edit.old!r} stands there {text.count(edit.old)} times, not {edit.times}"
                )
            texts[edit.file] = text.replace(edit.old, edit.new)
        return texts


class Equivalent(Model):
    """Why the generated faults that match, by name and statement, are not observable."""

    faults: tuple[str, ...] = Field(min_length=1)
    statement: str = "*"
    configs: tuple[str, ...] = ("*",)
    reason: Text

    def applies_to(self, config: MachineConfig) -> bool:
        """Whether guests of this config have such faults."""
        return any(fnmatchcase(config.name, glob) for glob in self.configs)

    def covers(self, config: MachineConfig, name: str, statement: str) -> bool:
        """Whether this entry is about that fault."""
        return (
            self.applies_to(config)
            and any(fnmatchcase(name, glob) for glob in self.faults)
            and fnmatchcase(statement, self.statement)
        )


class Stub(Model):
    """A part of the assembly: generated faults in it are caught for these clauses.

    ``labels`` and ``statements`` are globs for the last label and for the text of an instruction;
    with ``modules`` only call sites of modules lead there.
    """

    labels: tuple[str, ...] = Field(min_length=1)
    statements: tuple[str, ...] = ("*",)
    clauses: tuple[str, ...] = Field(min_length=1)
    modules: bool = False

    @model_validator(mode="after")
    def _names_clauses(self) -> Self:
        known = {name for clause in load_catalogue().clause for name in (clause.id, clause.stem)}
        if unknown := set(self.clauses) - known:
            raise ValueError(f"{self.labels} name no clauses: {', '.join(sorted(unknown))}")
        return self

    def covers(self, statement: Statement) -> bool:
        """Whether it has this instruction."""
        return any(fnmatchcase(statement.label, glob) for glob in self.labels) and any(
            fnmatchcase(statement.text, glob) for glob in self.statements
        )

    def clauses_on(self, config: MachineConfig) -> tuple[str, ...]:
        """The ids of its clauses that apply to a config."""
        return tuple(clause.id for clause in select(config, self.clauses))


class _File(Model):
    mutant: tuple[Mutant, ...] = ()
    stub: tuple[Stub, ...] = ()
    equivalent: tuple[Equivalent, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """The mutants of one port."""

    mutants: tuple[Mutant, ...]
    stubs: tuple[Stub, ...]
    equivalents: tuple[Equivalent, ...]

    def stub(self, statement: Statement) -> Stub | None:
        """The first entry that covers an instruction."""
        return next((one for one in self.stubs if one.covers(statement)), None)

    def equivalent(self, config: MachineConfig, name: str, statement: str) -> Equivalent | None:
        """The entry for a generated fault that is not observable, if any."""
        records = (one for one in self.equivalents if one.covers(config, name, statement))
        return next(records, None)


@cache
def load(port: str) -> Collection:
    """The mutants of a reference port; UsageError if a file is wrong."""
    mutants: list[Mutant] = []
    stubs: list[Stub] = []
    equivalents: list[Equivalent] = []
    for file in _files(port):
        try:
            content = _File.model_validate(tomllib.loads(file.read_text(encoding="utf-8")))
        except (ValidationError, tomllib.TOMLDecodeError) as error:
            raise UsageError(f"{file} is no file of mutants: {error}") from error
        mutants += content.mutant
        stubs += content.stub
        equivalents += content.equivalent
    ids = [mutant.id for mutant in mutants]
    for id_ in ids:
        if ids.count(id_) > 1:
            raise UsageError(f"there are two mutants {id_} of the port {port}")
    return Collection(tuple(mutants), tuple(stubs), tuple(equivalents))


def _files(port: str) -> Iterator[Path]:
    yield from sorted((resources.guests_directory() / "ports" / port / DIRECTORY).glob("*.toml"))


def matching(names: Sequence[str], name: str) -> bool:
    """Whether a mutant is selected."""
    return any(wanted == "all" or fnmatchcase(name, wanted) for wanted in names)
