# SPDX-License-Identifier: MIT
"""GuestSpec: what is built and booted."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.config import MachineConfig, Port, load_config, load_port
from harness.config.models import FLAG
from harness.errors import UsageError
from harness.kbuild.sources import find_modules, find_workload
from harness.units import escape

# Features of the older specification, which contradict their replacements.
OLDER = frozenset({"FUNCTION_TRACE_MCOUNT_TEST", "FTRACE_NMI_ENTER"})

# How a port with DYNAMIC_FTRACE does it, which is no choice.
OF_DYNAMIC = frozenset(
    {
        "DYNAMIC_FTRACE_WITH_ARGS",
        "DYNAMIC_FTRACE_WITH_REGS",
        "DYNAMIC_FTRACE_WITH_CALL_OPS",
        "DYNAMIC_FTRACE_WITH_DIRECT_CALLS",
        "FUNCTION_GRAPH_FREGS",
    }
)


@dataclass(frozen=True, slots=True)
class GuestSpec:
    """A guest to build and boot; all names are resolved and all files are read.

    `of` makes one from names and paths, ``dataclasses.replace`` a variant of it.
    """

    config: MachineConfig
    """With the chosen compiler."""
    port: Port
    workload: Path
    """A C file, absolute."""
    modules: tuple[Path, ...]
    """C files, absolute, which are built with the guest in this order, and built ELF files."""
    features: tuple[str, ...]
    """The features of the port that are built in, in Kconfig's words and the port's order."""
    cflags: tuple[str, ...]
    """Compiler flags after those of the config."""

    @classmethod
    def of(
        cls,
        config: str | Path | MachineConfig,
        workload: str | Path = "calls",
        *,
        port: str | Path | Port | None = None,
        modules: Sequence[str | Path] = (),
        features: Sequence[str] | None = None,
        cflags: Sequence[str] = (),
        compiler: str | None = None,
    ) -> "GuestSpec":
        """Make a spec; UsageError for a bad config, workload, port, module or flag.

        Args:
            config: the name of a machine config, a path to one, or one already loaded.
            workload: a name in ``guests/workloads/``, or a C file.
            port: a name in ``guests/ports/``, a directory, or one already loaded; by default the
                config's.
            modules: names in ``guests/modules/``, C files, or ELF files (``.ko``) that were built
                for the same guest.  The place of a C file in memory depends on its place here.
            features: those of the port to build in, with those that say how it has DYNAMIC_FTRACE;
                by default all except those of the older specification.
            cflags: relative paths in flags are relative to the guests' sources, where make runs.
            compiler: ``gcc``, ``clang``, or a version such as ``gcc-13``; by default the config's.
        """
        if not isinstance(config, MachineConfig):
            config = load_config(config)
        if compiler is not None:
            build = config.build.model_copy(update={"compiler": compiler})
            config = config.model_copy(update={"build": build})
        source = find_workload(workload)
        module_files = find_modules(modules)
        if not isinstance(port, Port):
            port = load_port(config.port if port is None else port)
        _check_fits(port, config)
        for flag in cflags:
            if not FLAG.fullmatch(flag):
                raise UsageError(
                    f"{escape(repr(flag), 200)} is not a compiler flag that a guest can be built "
                    "with.",
                    "Flags begin with a dash and have no blanks or quotes; "
                    "give each one separately.",
                )
        chosen = default_features(port) if features is None else _checked(port, features)
        return cls(config, port, source, module_files, chosen, tuple(cflags))

    @property
    def compiler(self) -> str:
        """``gcc``, ``clang``, or one with its version."""
        return self.config.build.compiler

    @property
    def module_sources(self) -> tuple[Path, ...]:
        """The modules that are built with the guest."""
        return tuple(path for path in self.modules if path.suffix == ".c")

    @property
    def effective_config(self) -> MachineConfig:
        """The config with all flags, for clauses about flags."""
        build = self.config.build
        build = build.model_copy(update={"cflags": (*build.cflags, *self.cflags)})
        return self.config.model_copy(update={"build": build})


def default_features(port: Port) -> tuple[str, ...]:
    """The features of a port that are built in by default."""
    return tuple(feature for feature in port.features if feature not in OLDER)


def _checked(port: Port, features: Sequence[str]) -> tuple[str, ...]:
    missing = [feature for feature in features if feature not in port.features]
    if missing:
        raise UsageError(
            f"The port {port.name} does not have {escape(', '.join(missing), 200)}.",
            f"It has: {', '.join(port.features)}.",
        )
    chosen = {*features, *(OF_DYNAMIC if "DYNAMIC_FTRACE" in features else ())}
    return tuple(feature for feature in port.features if feature in chosen)


def _check_fits(port: Port, config: MachineConfig) -> None:
    if port.architecture != config.architecture:
        raise UsageError(
            f"The port {port.name} is for {port.architecture}, and the config {config.name} "
            f"is for {config.architecture}.",
            "Choose a config and a port of one architecture.",
        )
    if config.build.form not in port.forms:
        raise UsageError(
            f"The port {port.name} has no stub for the form {config.build.form}, "
            f"which the config {config.name} asks for.",
            f"The port has: {', '.join(port.forms)}.",
        )
