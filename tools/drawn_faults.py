# SPDX-License-Identifier: MIT
"""Faults that nobody wrote by hand, drawn at random from a port's source."""

import re
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import cached_property
from pathlib import Path
from random import Random

from harness.config import MachineConfig, Port
from harness.conformance.registry import VARIANTS
from harness.conformance.variants import suite_spec, variant_of
from harness.isa import AsmSyntax
from harness.kbuild import GuestSpec, plan_build
from harness.mutation.assembly import Statement, render, statements
from harness.mutation.c_builds import first_builds, port_faults
from harness.mutation.kill_table import syntax_of
from harness.mutation.mutants import Collection, load
from harness.mutation.operators import faults
from score_of_findings import MACRO, NAMES, Planted

INSTRUCTION = re.compile(r"^\s+[A-Za-z][\w.]*(\s+[^:]*)?$")
"""A line of assembly with one instruction, or with a macro."""


def drawn(config: MachineConfig, port: Port, number: int, seed: int) -> list[Planted]:
    """As many faults, without those that change no build, or are known to be equivalent."""
    collection = load(port.name)
    every = [*_in_assembly(config, port, collection), *_in_c(config, port, collection)]
    found = Random(seed).sample(every, min(number, len(every)))
    names = {one.name for one in found}
    spec = suite_spec(config, port)
    builds = first_builds(spec, [one for one in port_faults(spec) if one.name in names])
    same = {fault.name for fault, build in builds if not build}
    assembly = _Assembly(spec, collection)
    return [
        one
        for one in found
        if one.name not in same and (not one.in_assembly or assembly.shows(one))
    ]


def _in_assembly(config: MachineConfig, port: Port, collection: Collection) -> Iterator[Planted]:
    """A fault in each line of assembly, as it is written."""
    of_macros = [one for one in collection.stubs if not any(":" in name for name in one.labels)]
    every = tuple(clause for one in of_macros for clause in one.clauses_on(config))
    for path in sorted(port.directory.glob("*.S")):
        lines = path.read_text().splitlines(keepends=True)
        label = ""
        for at, line in enumerate(lines):
            if match := NAMES.match(line):
                label = next((name for name in match.groups() if name), label)
            label = "" if MACRO.match(line) else label
            if not INSTRUCTION.match(line):
                continue
            following = lines[at + 1]
            nop = [] if line.split() == ["nop"] else ["\tnop\n"]
            changes = {"drop": [*nop, following], "double": [line, line, following]}
            if INSTRUCTION.match(following) and following != line:
                changes["swap"] = [following, line]
            stub = collection.stub(Statement(line.strip(), label, label)) if label else None
            clauses = stub.clauses_on(config) if stub else every
            for name, new in changes.items():
                text = "".join([*lines[:at], *new, *lines[at + 2 :]])
                yield Planted(f"{path.name}:{at + 1}/{name}", clauses, {path.name: text})


def _in_c(config: MachineConfig, port: Port, collection: Collection) -> Iterator[Planted]:
    """A fault in each place of the C files, if it is not recorded as equivalent."""
    for fault in port_faults(suite_spec(config, port)):
        name = f"{fault.file}:{fault.function}"
        stub = collection.stub(Statement(fault.about, name, name))
        clauses = stub.clauses_on(config) if stub else ()
        if collection.equivalent(config, f"c/{fault.name}", fault.about) is None:
            yield Planted(fault.name, clauses, {fault.file: fault.text})


@dataclass(frozen=True)
class _Assembly:
    """What a port's assembly is in each build."""

    spec: GuestSpec
    collection: Collection

    def shows(self, planted: Planted) -> bool:
        """Whether a fault changes a build in a way of which nothing is known that hides it."""
        return any(
            self._shows(self._originals[variant][file], source)
            for variant, built in self._builds.items()
            for file, source in self._changed(built, planted).items()
        )

    def _shows(self, original: "_Original", source: str) -> bool:
        every = _apart(original.statements, statements(source))
        return any(render(changed) not in original.hidden for changed in every)

    def _changed(self, built: GuestSpec, planted: Planted) -> dict[str, str]:
        """The preprocessed files that are edited."""
        with tempfile.TemporaryDirectory() as directory:
            changed = planted.plant(built.port, Path(directory))
            port = built.port.model_copy(update={"directory": changed})
            every = plan_build(replace(built, port=port)).preprocess()
            return {name: every[name] for name in planted.edits}

    @cached_property
    def _builds(self) -> dict[str, GuestSpec]:
        builds = {variant: variant_of(self.spec, variant) for variant in VARIANTS}
        return {variant: built for variant, built in builds.items() if built is not None}

    @cached_property
    def _originals(self) -> dict[str, dict[str, "_Original"]]:
        """The files of each build, by their names."""
        return {
            variant: {
                name: self._original(variant, built, statements(source))
                for name, source in plan_build(built).preprocess().items()
            }
            for variant, built in self._builds.items()
        }

    def _original(self, variant: str, built: GuestSpec, found: list[Statement]) -> "_Original":
        equivalent, config = self.collection.equivalent, built.effective_config
        hidden = {
            fault.source
            for fault in faults(found, self._syntax)
            if fault.equivalent or equivalent(config, f"{variant}/{fault.name}", fault.about)
        }
        return _Original(found, hidden)

    @cached_property
    def _syntax(self) -> AsmSyntax:
        return syntax_of(self.spec)


@dataclass(frozen=True, slots=True)
class _Original:
    """A file without a fault, and the texts of it in which a fault changes nothing."""

    statements: list[Statement]
    hidden: set[str]


def _apart(
    original: Sequence[Statement], changed: Sequence[Statement]
) -> Iterator[list[Statement]]:
    """The original with each of the changes alone: a macro has one in every place that uses it."""
    matcher = SequenceMatcher(
        None, [one.text for one in original], [one.text for one in changed], autojunk=False
    )
    ends: list[tuple[int, int, int, int]] = []
    for kind, *place in matcher.get_opcodes():
        start, end, new_start, new_end = place
        if kind == "equal":
            continue
        # Of two statements that are exchanged, one is equal.
        if ends and start - ends[-1][1] <= 1:
            start, _, new_start, _ = ends.pop()
        ends.append((start, end, new_start, new_end))
    for start, end, new_start, new_end in ends:
        differ = (*original[start:end], *changed[new_start:new_end])
        if not all(one.is_unwind or one.text == "nop" for one in differ):
            yield [*original[:start], *changed[new_start:new_end], *original[end:]]
