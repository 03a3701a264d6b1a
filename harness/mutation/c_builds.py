# SPDX-License-Identifier: MIT
"""The builds of a port that a fault in C changes; in others the object code is the same."""

from collections.abc import Iterator, Sequence

from harness.conformance.combinations import combinations
from harness.conformance.registry import DYNAMIC, STATIC, STATIC_STOP
from harness.conformance.variants import variant_of
from harness.kbuild import GuestSpec, plan_build
from harness.mutation.c_operators import CFault, c_faults

COMBINATIONS = "combinations"
"""In place of a build: only one with some of the features is changed."""


def port_faults(spec: GuestSpec) -> Iterator[CFault]:
    """Every fault in the C files and the headers of a guest's port."""
    for path in sorted(spec.port.directory.glob("*.[ch]")):
        yield from c_faults(path.name, path.read_text(encoding="utf-8"))


def first_builds(spec: GuestSpec, faults: Sequence[CFault]) -> Iterator[tuple[CFault, str]]:
    """Each fault with the first build that it changes; with "" if it changes none.

    Of faults with the same object code only the first one is used.
    """
    left = list(faults)
    for name, built in _builds(spec):
        if not left:
            break
        edits = [{fault.file: fault.text} for fault in left]
        original, *compiled = plan_build(built).compile_port([{}, *edits])
        same: list[CFault] = []
        seen: list[tuple[str, dict[str, str]]] = []
        for fault, texts in zip(left, compiled, strict=True):
            if texts and texts.items() <= original.items():
                same.append(fault)
            elif not texts or (fault.file, texts) not in seen:
                seen.append((fault.file, texts))
                yield fault, name
        left = same
    yield from ((fault, "") for fault in left)


def _builds(spec: GuestSpec) -> Iterator[tuple[str, GuestSpec]]:
    """The builds that compile the port's files with different macros."""
    for variant in (DYNAMIC, STATIC, STATIC_STOP):
        built = variant_of(spec, variant)
        if built is not None:
            yield variant, built
    for _variant, combined in combinations(spec):
        yield COMBINATIONS, combined
