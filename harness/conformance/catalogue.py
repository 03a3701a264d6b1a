# SPDX-License-Identifier: MIT
"""The clauses of the specification, from ``clauses.toml``.

The specification is ftrace-design.rst and the commit message that brought dynamic ftrace to MIPS.
An id is the stem of a subject (``C9``: patching of call sites) and a letter for one requirement.
"""

import tomllib
from collections.abc import Collection, Sequence
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, Self, get_args

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from harness.config import MachineConfig
from harness.config.models import Architecture, ConfigForm, Feature, Model
from harness.isa import Form, Property

CLAUSES_FILE = Path(__file__).with_name("clauses.toml")

Line = Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=100)]
Text = Annotated[
    str,
    BeforeValidator(lambda text: " ".join(str(text).split())),
    StringConstraints(min_length=1),
]


class BuildKind(StrEnum):
    """The build of a port that a check needs; ``any`` if all builds are equal in it."""

    STATIC = "static"
    DYNAMIC = "dynamic"
    ANY = "any"


class Judge(StrEnum):
    """How a clause is observed from outside."""

    REGISTERS = "registers"
    STACK = "stack"
    SITES = "sites"
    TEXT = "text"
    DECODE = "decode"
    ORACLE = "oracle"
    ORDER = "order"
    INTERRUPTS = "interrupts"
    MAINTENANCE = "maintenance"
    BREAKPOINT = "breakpoint"
    BUILDS = "builds"


class Document(Model):
    """A part of the specification, and its sections with requirements for a port."""

    key: str
    title: Line
    sections: tuple[Line, ...] = Field(min_length=1)


class Clause(Model):
    """One requirement.  docs/clauses.rst describes the fields."""

    id: Annotated[str, StringConstraints(pattern=r"^[CM][1-9][0-9]?[a-z]$")]
    title: Line
    source: str
    section: str
    features: tuple[Feature, ...] = Field(min_length=1)
    either: tuple[Feature, ...] = ()
    without: tuple[Feature, ...] = ()
    builds: tuple[BuildKind, ...] = (BuildKind.STATIC, BuildKind.DYNAMIC)
    forms: tuple[Form, ...] = tuple(Form)
    architectures: tuple[Architecture, ...] = ()
    cflags: tuple[str, ...] = ()
    properties: tuple[Property, ...] = ()
    advised: bool = False
    requires: Text
    judges: tuple[Judge, ...] = ()
    observed: Text | None = None
    not_observable: dict[Literal["*"] | Property, Text] = Field(default={})

    @model_validator(mode="after")
    def _can_be_judged(self) -> Self:
        if not (self.judges and self.observed) and "*" not in self.not_observable:
            raise ValueError(f"{self.id} says neither how it is observed nor why it cannot be")
        if bool(self.judges) != bool(self.observed):
            raise ValueError(f"{self.id}: judges and observed go together")
        return self

    @property
    def stem(self) -> str:
        """The subject of the clause: ``C9`` of ``C9a``."""
        return self.id[:-1]

    def why_not_claimed(self, features: Collection[str]) -> str:
        """Why it asks nothing of a port with these features; empty if it does."""
        missing = [feature for feature in self.features if feature not in features]
        if missing:
            return f"the port has no {missing[0]}"
        if self.either and not set(self.either) & set(features):
            return f"the port has neither {' nor '.join(self.either)}"
        instead = [feature for feature in self.without if feature in features]
        return f"the port has {instead[0]} instead" if instead else ""

    def applies_to(self, config: MachineConfig) -> bool:
        """Whether the clause can pass or fail on this machine config.

        A form of modules restricts nothing: the guest of any config may load modules.
        """
        return (
            (not self.architectures or config.architecture in self.architectures)
            and (config.build.form in self.forms or not any(map(is_of_guests, self.forms)))
            and (not self.cflags or matches_any(config.build.cflags, self.cflags))
            and config.properties.issuperset(self.properties)
        )

    def why_not_observable(self, config: MachineConfig) -> str:
        """Why the clause cannot be observed on this config; empty if it can."""
        for where, reason in self.not_observable.items():
            if where == "*" or where in config.properties:
                return reason
        return ""


class Catalogue(Model):
    """All documents and clauses, in the order of the file."""

    document: tuple[Document, ...]
    clause: tuple[Clause, ...]

    @model_validator(mode="after")
    def _names_agree(self) -> Self:
        ids = [clause.id for clause in self.clause]
        for id_ in ids:
            if ids.count(id_) > 1:
                raise ValueError(f"{id_} stands twice")
        places = {(part.key, section) for part in self.document for section in part.sections}
        for clause in self.clause:
            if (clause.source, clause.section) not in places:
                raise ValueError(f"{clause.id}: no section {clause.section!r} in {clause.source}")
        return self

    def __getitem__(self, id_: str) -> Clause:
        for clause in self.clause:
            if clause.id == id_:
                return clause
        raise KeyError(id_)


def order_of(name: str) -> tuple[int, str]:
    """A key that sorts clauses in the order of the catalogue, other names after them."""
    places = _places()
    return places.get(name, len(places)), name


def is_of_guests(form: Form) -> bool:
    """Whether the kernel can have call sites of this form, and not only modules."""
    return form in get_args(ConfigForm)


def matches_any(words: Sequence[str], patterns: Sequence[str]) -> bool:
    """Whether one of the words matches one of the globs."""
    return any(fnmatchcase(word, pattern) for word in words for pattern in patterns)


@cache
def load_catalogue() -> Catalogue:
    """The clauses that come with the harness."""
    return Catalogue.model_validate(tomllib.loads(CLAUSES_FILE.read_text(encoding="utf-8")))


@cache
def _places() -> dict[str, int]:
    return {clause.id: at for at, clause in enumerate(load_catalogue().clause)}
