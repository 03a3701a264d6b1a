# SPDX-License-Identifier: MIT
"""The builds of a port that are judged, also with changed files."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from harness.config import MachineConfig, Port
from harness.conformance.registry import (
    DYNAMIC,
    MODULES,
    STATIC,
    STATIC_MODULES,
    STATIC_STOP,
)
from harness.conformance.under_test.build_guest import Variant
from harness.errors import HarnessError, UsageError
from harness.files import ScratchDirectory
from harness.isa import Form
from harness.kbuild import (
    MUTANTS,
    OF_DYNAMIC,
    GuestSpec,
    build_guest,
    find_modules,
    plan_build,
)

WORKLOAD = "returns"

LOADED = ("callbacks", "numbers")
"""The modules of the variants that have modules."""

WITH_MODULES = (MODULES, STATIC_MODULES)

Edits = Mapping[str, str]
"""New contents of a port's files, by their paths in the port."""


def suite_spec(
    config: str | MachineConfig, port: str | Port | None = None, cflags: Sequence[str] = ()
) -> GuestSpec:
    """The guest that the suite builds around a port, from which all variants are made."""
    return GuestSpec.of(config, WORKLOAD, port=port, cflags=cflags)


def features_of(config: MachineConfig, port: Port, variant: str) -> tuple[str, ...] | None:
    """The features of a port in a variant; None if it cannot be built so."""
    features = [feature for feature in port.features if feature != "FUNCTION_TRACE_MCOUNT_TEST"]
    if variant in (DYNAMIC, MODULES):
        return tuple(features) if "DYNAMIC_FTRACE" in features else None
    if config.build.form is Form.PATCHABLE_ENTRY or "FUNCTION_TRACER" not in features:
        return None
    if port.kernel.DYNAMIC_FTRACE:
        return None
    features = [one for one in features if one != "DYNAMIC_FTRACE" and one not in OF_DYNAMIC]
    if variant in (STATIC, STATIC_MODULES):
        return tuple(features)
    assert variant == STATIC_STOP
    if "FUNCTION_TRACE_MCOUNT_TEST" not in port.features:
        return None
    return (*features, "FUNCTION_TRACE_MCOUNT_TEST")


def variant_of(spec: GuestSpec, variant: str) -> GuestSpec | None:
    """The guest of one variant; None if its port cannot be built so."""
    features = features_of(spec.config, spec.port, variant)
    if features is None:
        return None
    modules = find_modules(LOADED) if variant in WITH_MODULES else ()
    return replace(spec, features=features, modules=modules)


def build_variant(spec: GuestSpec, name: str, edits: Edits | None = None) -> Variant:
    """Build the guest of `variant_of`, with some files of its port changed.

    Raises:
        UsageError: it does not build, or not with the features that the port claims.
    """
    if not edits:
        return Variant(name, spec, build_guest(spec))
    with _edited(spec, edits) as changed:
        return Variant(name, spec, plan_build(changed, MUTANTS).run())


@contextmanager
def _edited(spec: GuestSpec, edits: Edits) -> Iterator[GuestSpec]:
    """The guest with a copy of its port in which some files are replaced.

    The copy is removed at the end of the block; errors name the port's own files.
    """
    with ScratchDirectory() as directory:
        own, copy = spec.port.directory, directory.path / "port"
        shutil.copytree(own, copy)
        for name, text in edits.items():
            (copy / name).write_text(text, encoding="utf-8")
        try:
            yield replace(spec, port=spec.port.model_copy(update={"directory": copy}))
        except HarnessError as error:
            error.message = error.message.replace(str(copy), str(own))
            raise


def check_claims(port: Port) -> None:
    """UsageError for a port that claims nothing that can be judged."""
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
