# SPDX-License-Identifier: MIT
"""Expands the declaration to cells with names, and excluded ones with reasons."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from fnmatch import fnmatchcase
from itertools import chain, product, starmap
from pathlib import Path
from typing import Any, NamedTuple

from harness.config import MachineConfig, Port, list_configs, load_config, load_port
from harness.config.names import is_path
from harness.conformance.registry import DYNAMIC, STATIC
from harness.conformance.variants import WORKLOAD, features_of
from harness.errors import UsageError
from harness.kbuild import GuestSpec
from harness.kbuild.sources import find_workload
from harness.matrix.model import LONGEST_NAME, MatrixFile, Rule, Work
from harness.units import escape

TRACERS = {"static": "function", "dynamic": "function", "graph": "function_graph"}


class AxisValues(NamedTuple):
    """A value of each axis, in the order of the axes."""

    mode: str
    compiler: str
    optimise: str
    frame: str
    work: str

    def name(self, config: str) -> str:
        """For example ``mips-malta/graph/gcc-O2-auto/sort``."""
        return f"{config}/{self.mode}/{self.compiler}-{self.optimise}-{self.frame}/{self.work}"


@dataclass(frozen=True, slots=True, order=True)
class Cell:
    """One cell of the matrix: everything that determines its work.

    ``config_file`` is the config's file, empty for one of the harness's own; ``port`` is a name or
    a directory.  ``features`` are the port's features that are built in, ``cflags`` are added to
    the config's flags, ``program`` is gcc, clang or a version of one, ``qemu`` is the directory of
    QEMU's programs, empty for ``PATH``, ``subject`` is the workload, or the mutants with commas.
    """

    config: str
    config_file: str
    mode: str
    compiler: str
    program: str
    qemu: str
    optimise: str
    frame: str
    work: str
    kind: str
    subject: str
    architecture: str
    port: str
    features: tuple[str, ...]
    cflags: tuple[str, ...]

    @property
    def name(self) -> str:
        """See `AxisValues.name`."""
        square = AxisValues(self.mode, self.compiler, self.optimise, self.frame, self.work)
        return square.name(self.config)

    @property
    def machine(self) -> MachineConfig:
        """The config with the port under test and the cell's compiler and QEMU."""
        config = load_config(self.config_file or self.config)
        build = config.build.model_copy(update={"compiler": self.program})
        qemu = config.qemu
        if self.qemu:
            binary = str(Path(self.qemu, Path(qemu.binary).name))
            qemu = qemu.model_copy(update={"binary": binary})
        return config.model_copy(update={"port": self.port, "build": build, "qemu": qemu})

    @property
    def spec(self) -> GuestSpec:
        """The cell's guest; for the suite, the one that all variants are made from."""
        workload = self.subject if self.kind in ("workload", "soak") else WORKLOAD
        return GuestSpec.of(self.machine, workload, features=self.features, cflags=self.cflags)

    @property
    def tracer(self) -> str:
        """The workload's tracer."""
        return TRACERS[self.mode]

    def as_json(self) -> dict[str, Any]:
        """For ``harness matrix list --json`` and for a run's directory."""
        return {"name": self.name, **asdict(self)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> "Cell":
        """The inverse; UsageError for anything else."""
        try:
            values: dict[str, Any] = {field.name: data[field.name] for field in fields(cls)}
            lists = {name: tuple(values.pop(name)) for name in ("features", "cflags")}
            if not all(isinstance(text, str) for text in chain(values.values(), *lists.values())):
                raise TypeError
            return cls(**values | lists)
        except (KeyError, TypeError) as error:
            raise UsageError("this does not describe a cell of a matrix") from error


@dataclass(frozen=True, slots=True)
class Excluded:
    """A square that is not run; ``rule`` counts the file's [[exclude]], from 1, 0 is the port."""

    name: str
    reason: str
    rule: int


@dataclass(frozen=True, slots=True)
class Expansion:
    """The whole matrix, in the order of the file's axes."""

    cells: tuple[Cell, ...]
    excluded: tuple[Excluded, ...]


def expand(matrix: MatrixFile, file: Path | str = "the matrix") -> Expansion:
    """All squares, sorted into those that run and those that do not.

    Raises:
        UsageError: a glob or a rule matches nothing, or there is no such workload.
    """
    for what in matrix.work.values():
        if what.workload:
            find_workload(what.workload)
    chosen: list[Cell] = []
    out: list[Excluded] = []
    used: set[tuple[str, int]] = set()
    axes: dict[str, Iterable[str]] = {
        "mode": matrix.modes,
        "compiler": matrix.compiler,
        "optimise": matrix.optimise,
        "frame": matrix.frame,
        "work": matrix.work,
    }
    for config, config_file in _configs(matrix, file):
        port = load_port(config.port)
        exclude = _by_value(_about(matrix.exclude, config), axes)
        include = _by_value(_about(matrix.include, config), axes)
        features_of_mode: dict[str, tuple[str, ...] | None] = {
            mode: _features(config, port, mode) for mode in matrix.modes
        }
        for square in starmap(AxisValues, product(*axes.values())):
            rule = _first(exclude, square)
            included = _first(include, square) if rule else 0
            used |= {("exclude", rule), ("include", included)}
            name, work = square.name(config.name), matrix.work[square.work]
            features = features_of_mode[square.mode]
            if not port.fits(config):
                reason = f"the port {port.name} is not for this config"
                out.append(Excluded(name, reason, 0))
            elif features is None:
                reason = f"the port {port.name} cannot be built for {square.mode} on this config"
                out.append(Excluded(name, reason, 0))
            elif rule and not included:
                out.append(Excluded(name, matrix.exclude[rule - 1].reason, rule))
            elif work.kind == "mutants" and "/" in config.port:
                reason = "mutants exist for the harness's own ports only"
                out.append(Excluded(name, reason, 0))
            else:
                cell = Cell(
                    config=config.name,
                    config_file=config_file,
                    program=matrix.compiler[square.compiler].program,
                    qemu=matrix.qemu or "",
                    kind=work.kind,
                    subject=_subject(work),
                    architecture=config.architecture,
                    port=config.port,
                    features=features,
                    cflags=(*matrix.optimise[square.optimise], *matrix.frame[square.frame]),
                    **square._asdict(),
                )
                chosen.append(cell)
    for kind, rules in (("exclude", matrix.exclude), ("include", matrix.include)):
        for number in range(1, len(rules) + 1):
            if (kind, number) not in used:
                raise UsageError(
                    f"{file}: [[{kind}]] number {number} has no effect on any cell",
                    f"Correct its globs, or remove it: {rules[number - 1].reason}",
                )
    for cell in chosen:
        if len(cell.name) > LONGEST_NAME:
            raise UsageError(
                f"{file}: the name {cell.name} has more than {LONGEST_NAME} characters",
                "It is used as a file name: give its config or its axes shorter names.",
            )
    if not chosen:
        raise UsageError(f"{file}: there is no cell: {out[0].reason if out else 'all is empty'}")
    return Expansion(tuple(chosen), tuple(out))


def _configs(matrix: MatrixFile, file: Path | str) -> list[tuple[MachineConfig, str]]:
    """The configs with the file of each, empty for one of the harness's own."""
    globs = [one for one in matrix.configs if not is_path(one)]
    files = [one for one in matrix.configs if is_path(one)]
    names = list_configs()
    for glob in globs:
        if not any(fnmatchcase(name, glob) for name in names):
            raise UsageError(
                f"{file}: configs: no machine config is called {glob!r}",
                "See: harness list configs",
            )
    wanted = [n for n in names if any(fnmatchcase(n, glob) for glob in globs)]
    found = [(load_config(name), "") for name in wanted]
    found += [(load_config(path), path) for path in files]
    twice = [name for name, n in Counter(config.name for config, _ in found).items() if n > 1]
    if twice:
        raise UsageError(
            f"{file}: configs: more than one is called {twice[0]}",
            "It is part of the names of cells: rename a file, or choose one of them.",
        )
    if matrix.port is None:
        return found
    return [(one.model_copy(update={"port": matrix.port}), path) for one, path in found]


def _features(config: MachineConfig, port: Port, mode: str) -> tuple[str, ...] | None:
    features = features_of(config, port, STATIC if mode == "static" else DYNAMIC)
    if features is None or (mode == "graph" and "FUNCTION_GRAPH_TRACER" not in features):
        return None
    return features


def _subject(work: Work) -> str:
    return work.workload or (",".join(work.mutants) if work.kind == "mutants" else "")


def _about(rules: Sequence[Rule], config: MachineConfig) -> list[tuple[int, Rule]]:
    """The rules that can match cells of a config, with their numbers, from 1."""
    properties = config.properties
    values = {"config": config.name, "form": config.build.form, "cpus": str(config.qemu.smp)}
    return [
        (number, rule)
        for number, rule in enumerate(rules, 1)
        if properties.issuperset(rule.property) and _matches(rule, values)
    ]


def _by_value(
    rules: Sequence[tuple[int, Rule]], axes: Mapping[str, Iterable[str]]
) -> list[dict[str, frozenset[int]]]:
    """For each axis, by its values, the numbers of the rules whose globs match the value.

    Rules are compared once with each value, and not with each of a hundred thousand cells.
    """
    return [
        {
            value: frozenset(number for number, rule in rules if _matches(rule, {axis: value}))
            for value in values
        }
        for axis, values in axes.items()
    ]


def _first(numbers: Sequence[Mapping[str, frozenset[int]]], square: AxisValues) -> int:
    """The number of the first rule that matches a square; 0 if there is none."""
    matching = [of_axis[value] for of_axis, value in zip(numbers, square, strict=True)]
    return min(frozenset.intersection(*matching), default=0)


def _matches(rule: Rule, values: Mapping[str, str]) -> bool:
    return all(
        any(fnmatchcase(value, glob) for glob in getattr(rule, axis))
        for axis, value in values.items()
    )


def pick(cells: Iterable[Cell], globs: Sequence[str]) -> list[Cell]:
    """The cells whose names match a glob, all without one; ``*`` also stands for slashes.

    Raises:
        UsageError: a glob matches nothing.
    """
    every = list(cells)
    for glob in globs:
        if not any(fnmatchcase(cell.name, glob) for cell in every):
            raise UsageError(
                f"no cell of the matrix is called {escape(glob, 200)!r}",
                "See: harness matrix list. A * stands for slashes too: 'mips*/sort'.",
            )
    return [c for c in every if not globs or any(fnmatchcase(c.name, glob) for glob in globs)]


def shard(cells: Sequence[Cell], index: int, count: int) -> list[Cell]:
    """Part ``index``, from 1, of ``count`` parts of nearly equal size.

    Each cell is in exactly one part, independently of the given order.  Each kind of work is
    distributed separately, so that the long ones are spread evenly.
    """
    if not 1 <= index <= count:
        raise UsageError(f"there is no part {index} of {count}", "Write I/N with 1 <= I <= N.")
    ordered = sorted(cells, key=lambda cell: (COST[cell.kind], cell.name))
    return [cell for at, cell in enumerate(ordered) if at % count == index - 1]


COST = {"mutants": 0, "conform": 1, "soak": 2, "workload": 3}
"""The kinds of work by duration; the longest run first."""
