# SPDX-License-Identifier: MIT
"""Guests around one port after another, where only what has changed is compiled.

``$XDG_CACHE_HOME/ftrace-harness/conformance/<key>-<n>/`` holds a copy of the port (``port``) and
make's output (``out``).  The key stands for config, features, workload and toolchain.  Everything
may be deleted when nothing runs.
"""

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.build import Build, MakeResult, plan_build, run_make, toolchain_identity
from harness.build.places import Places
from harness.config import MachineConfig, Port
from harness.conformance.bench import Variant
from harness.conformance.checks.registry import (
    DYNAMIC,
    MODULES,
    STATIC,
    STATIC_MODULES,
    STATIC_STOP,
)
from harness.errors import HarnessError, HostError, UsageError
from harness.isa import Form
from harness.units import escape

WORKLOAD = "returns"

LOADED = ("callbacks", "numbers")
"""The modules of the variants that have some."""

WITH_MODULES = (MODULES, STATIC_MODULES)

PLACES = Places("conformance", 600)
"""Some 3 MB each: thirteen configs, five variants, and more than one at a time."""

DEADLINE = 120.0
"""Seconds that a build may take."""

Edits = Mapping[str, str]
"""New contents of a port's files, by their paths in the port."""


def features_of(config: MachineConfig, port: Port, variant: str) -> tuple[str, ...] | None:
    """What a port is built with in a variant; None where it cannot be built so."""
    features = [feature for feature in port.features if feature != "FUNCTION_TRACE_MCOUNT_TEST"]
    if variant in (DYNAMIC, MODULES):
        return tuple(features) if "DYNAMIC_FTRACE" in features else None
    if config.build.form is Form.PATCHABLE_ENTRY or "FUNCTION_TRACER" not in features:
        return None
    features.remove("DYNAMIC_FTRACE") if "DYNAMIC_FTRACE" in features else None
    if variant in (STATIC, STATIC_MODULES):
        return tuple(features)
    assert variant == STATIC_STOP
    if "FUNCTION_TRACE_MCOUNT_TEST" not in port.features:
        return None
    return (*features, "FUNCTION_TRACE_MCOUNT_TEST")


def build_variant(
    config: MachineConfig,
    port: Port,
    variant: str,
    features: Sequence[str],
    edits: Edits | None = None,
    cflags: Sequence[str] = (),
) -> "BuiltVariant":
    """Build a port, with some of its files changed; the directory is kept until it is closed.

    ``cflags`` come behind the config's.

    Raises:
        UsageError: it does not build, or not with what it claims.
    """
    return BuiltVariant(config, port, variant, features, edits or {}, cflags)


class BuiltVariant:
    """A built guest in a directory of the workshop, which nobody else uses meanwhile."""

    def __init__(
        self,
        config: MachineConfig,
        port: Port,
        variant: str,
        features: Sequence[str],
        edits: Edits,
        cflags: Sequence[str] = (),
    ) -> None:
        plan = _plan(config, port, variant, features, cflags)
        key = _key(config, plan.command)
        self.lock, directory = PLACES.claim(key)
        try:
            _copy_port(port, directory / "port", edits)
            result = _make(plan.command, directory, self.lock)
            kernel = directory / "out" / "vmlinux"
            if result.status != 0 or not kernel.is_file():
                raise _failure(plan, port, directory, result)
        except BaseException:
            self.close()
            raise
        self.variant = Variant(variant, tuple(features), kernel)

    def close(self) -> None:
        """Let others have the directory."""
        os.close(self.lock)

    def __enter__(self) -> Variant:
        return self.variant

    def __exit__(self, *details: object) -> None:
        self.close()


def preprocessed(
    config: MachineConfig, port: Port, variant: str, features: Sequence[str]
) -> dict[str, str]:
    """The port's assembly files as the preprocessor leaves them, by their paths in the port."""
    plan = _plan(config, port, variant, features)
    built = BuiltVariant(config, port, variant, features, {})
    with built as built_:
        directory = built_.kernel.parents[1]
        pattern = "**/*.S" if variant in WITH_MODULES else "*.S"
        targets = {
            path.relative_to(port.directory).as_posix(): directory
            / "out/port"
            / path.relative_to(port.directory).with_suffix(".s")
            for path in sorted(port.directory.glob(pattern))
        }
        for target in targets.values():
            target.parent.mkdir(parents=True, exist_ok=True)
        result = _make([*plan.command, *map(str, targets.values())], directory, built.lock)
        if result.status != 0:
            raise plan.failure(result)
        return {name: target.read_text() for name, target in targets.items()}


def _plan(
    config: MachineConfig,
    port: Port,
    variant: str,
    features: Sequence[str],
    cflags: Sequence[str] = (),
) -> Build:
    modules = LOADED if variant in WITH_MODULES else ()
    return plan_build(config, WORKLOAD, port.directory, cflags, features, modules)


def _key(config: MachineConfig, command: Sequence[str]) -> str:
    told = [word for word in command if not word.startswith(("PORT=", "O=", "-j"))]
    text = json.dumps([config.name, told, list(toolchain_identity(config))])
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _copy_port(port: Port, copy: Path, edits: Edits) -> None:
    """Make the copy what the port is; files that are the same keep their time."""
    wanted = {
        path.relative_to(port.directory).as_posix(): path.read_bytes()
        for path in sorted(port.directory.rglob("*"))
        if path.is_file()
    }
    wanted |= {name: text.encode() for name, text in edits.items()}
    for old in sorted(copy.rglob("*")) if copy.is_dir() else []:
        if old.is_file() and old.relative_to(copy).as_posix() not in wanted:
            old.unlink()
    for name, content in wanted.items():
        file = copy / name
        if not file.is_file() or file.read_bytes() != content:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)


def _make(command: Sequence[str], directory: Path, lock: int) -> MakeResult:
    """Run make, which holds the lock of the directory too."""
    output, begun = directory / "out", directory / "begun"
    if begun.exists():
        # A compiler that was killed may have left half a file, which make takes for a whole one.
        shutil.rmtree(output, ignore_errors=True)
    begun.touch()
    told = [word for word in command if not word.startswith(("PORT=", "O="))]
    told += [f"PORT={directory / 'port'}", f"O={output}"]
    result = run_make(told, _silent, DEADLINE, pass_fds=[lock])
    begun.unlink()
    return result


GIVEN_BY_PORTS = {
    "FUNCTION_TRACER": ("_mcount", "ftrace_stub"),
    "DYNAMIC_FTRACE": (
        *("ftrace_caller", "ftrace_call", "ftrace_make_nop", "ftrace_make_call"),
        "ftrace_update_ftrace_func",
    ),
    "FUNCTION_GRAPH_TRACER": (
        *("ftrace_graph_caller", "ftrace_graph_call", "return_to_handler"),
        *("ftrace_enable_ftrace_graph_caller", "ftrace_disable_ftrace_graph_caller"),
    ),
}
"""What the kernel calls of a port, by the feature that brings it."""

NO_ROOM = "No space left on device"
_UNDEFINED = re.compile(r"undefined reference to `(\w+)'")


def _failure(plan: Build, port: Port, directory: Path, result: MakeResult) -> HarnessError:
    """What to say of a port that does not build: in one sentence, where it is of a known kind."""
    missing = set(_UNDEFINED.findall("\n".join(result.complaints)))
    for feature, functions in GIVEN_BY_PORTS.items():
        lacking = [function for function in functions if function in missing]
        if lacking and feature in port.features:
            return UsageError(
                f"the port {escape(str(port.directory), 500)} claims {feature} and does not define "
                f"{', '.join(lacking)}",
                "Define it, or take the feature out of port.toml.",
            )
    error = plan.failure(result)
    message = error.message.replace(str(directory / "port"), str(port.directory))
    # A port that comes with the harness may have a fault planted in it here.
    kind = HostError if NO_ROOM in message else UsageError
    return kind(message, error.advice)


def _silent(_line: str) -> None:
    pass


def check_claims(port: Port) -> None:
    """UsageError for a port that there is nothing to judge of."""
    if not port.features:
        raise UsageError(
            f"the port {port.name} claims nothing: port.toml lists no features",
            "List what it has in Kconfig's words, such as FUNCTION_TRACER.",
        )
    if "FUNCTION_TRACER" not in port.features:
        raise UsageError(
            f"the port {port.name} does not claim FUNCTION_TRACER, on which all else rests",
            "Add it to features in port.toml.",
        )
