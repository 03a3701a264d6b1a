# SPDX-License-Identifier: MIT
"""The order in which a port is written, and the dependencies of clauses, from ``steps.toml``.

Clauses depend on others: the registers of a stub cannot be observed in a guest that does not boot,
or at a call site that cannot be switched on.
"""

import tomllib
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from harness.config.models import Model
from harness.conformance.catalogue import Line

STEPS_FILE = Path(__file__).with_name("steps.toml")

DYNAMIC_BUILDS = ("dynamic", "modules")
"""The builds in which text is patched."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]*$")]


class Step(Model):
    """A part of a port that is written in one go.  steps.toml describes the fields."""

    name: Name
    title: Line
    clauses: tuple[str, ...] = Field(min_length=1)
    needs: tuple[Name, ...] = ()
    dynamic: tuple[Name, ...] = ()
    checks: tuple[str, ...] = ()
    builds: tuple[str, ...] = ()
    guest: bool = True
    optional: bool = False


class Steps(Model):
    """All steps in their order."""

    step: tuple[Step, ...]

    @model_validator(mode="after")
    def _is_an_order(self) -> Self:
        names = [step.name for step in self.step]
        lists = {kind: self._all(f"{kind}s") for kind in ("clause", "check", "build")}
        for kind, every in {"step": names, **lists}.items():
            for one in every:
                if every.count(one) > 1:
                    raise ValueError(f"the {kind} {one} stands twice")
        for need in (*self._all("needs"), *self._all("dynamic")):
            if need not in names:
                raise ValueError(f"there is no step {need}")
        for dynamic in (False, True):
            graph = {step.name: needs_of(step, dynamic) for step in self.step}
            try:
                TopologicalSorter(graph).prepare()
            except CycleError as error:
                raise ValueError(f"steps need one another: {', '.join(error.args[1])}") from error
        for at, step in enumerate(self.step):
            for need in step.needs:
                if need not in names[:at]:
                    raise ValueError(f"{step.name} comes before {need}, which it needs")
        return self

    def __getitem__(self, name: str) -> Step:
        for step in self.step:
            if step.name == name:
                return step
        raise KeyError(name)

    def of_clause(self, clause: str) -> Step:
        """The step that a clause belongs to."""
        return next(step for step in self.step if clause in step.clauses)

    def of_check(self, check: str) -> Step | None:
        """The step that a check needs, if that is not a step of its clauses."""
        return next((step for step in self.step if check in step.checks), None)

    def of_build(self, build: str) -> Step:
        """The step from which on a build of a port is judged."""
        return next(step for step in self.step if build in step.builds)

    def under(self, clause: str, build: str) -> tuple[Step, ...]:
        """The steps that a clause depends on when a build is judged, in their order.

        Its own step is not included.
        """
        own, first = self.of_clause(clause), self.of_build(build)
        found: set[str] = set()
        waiting = {own.name, first.name} if own.guest else {own.name}
        while waiting:
            name = waiting.pop()
            found.add(name)
            waiting |= needs_of(self[name], build in DYNAMIC_BUILDS) - found
        return tuple(step for step in self.step if step.name in found - {own.name})

    def _all(self, field: str) -> list[str]:
        return [one for step in self.step for one in getattr(step, field)]


def needs_of(step: Step, dynamic: bool) -> set[str]:
    """The steps that a step needs directly, in builds with DYNAMIC_FTRACE or in others."""
    return {*step.needs, *(step.dynamic if dynamic else ())}


@cache
def load_steps() -> Steps:
    """The steps that come with the harness."""
    return Steps.model_validate(tomllib.loads(STEPS_FILE.read_text(encoding="utf-8")))
