# SPDX-License-Identifier: MIT
"""docs/adding-an-architecture.rst names all that an architecture provides."""

import re
from pathlib import Path

import pytest

from harness.isa import Abi, AsmSyntax, Cpu, Isa, architectures
from harness.isa.linux import Linux
from harness.isa.sites import Sites

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs/adding-an-architecture.rst").read_text()
KERNEL = REPOSITORY / "guests/kernel"
NAMED = set(re.findall(r"[\w.]+", TEXT))


def without_default(kind):
    """Members of an interface that each architecture has to define."""
    found = set(getattr(kind, "__abstractmethods__", ()))
    for base in kind.__mro__:
        names = vars(base).get("__annotations__", {})
        found |= {name for name in names if not hasattr(kind, name)}
    return found


@pytest.mark.parametrize("kind", [Isa, Sites, Abi, AsmSyntax, Cpu])
def test_members_of_interfaces(kind):
    missing = without_default(kind) - NAMED
    assert without_default(kind)
    assert not missing


def test_real_kernels_are_optional():
    assert not without_default(Linux)


def test_headers_and_functions_of_guests():
    sources = [*KERNEL.rglob("*.[chS]"), *(REPOSITORY / "guests/lib").rglob("*.[ch]")]
    included = {
        name
        for source in sources
        for name in re.findall(r"#include <asm/([\w.]+)>", source.read_text())
    }
    # The port's own.
    assert included - {"ftrace.h"} <= NAMED
    functions = re.findall(
        r"^[a-z][\w *]*?\b(arch_\w+|__switch_to)\(",
        (KERNEL / "include/linux/arch.h").read_text(),
        re.M,
    )
    assert len(functions) > 10
    assert set(functions) <= NAMED


def test_macros_of_linker_scripts():
    macros = re.findall(
        r"#define (KERNEL_\w+|MODULE_SECTIONS)",
        "".join(
            (KERNEL / f"include/linux/{name}.lds.h").read_text() for name in ("vmlinux", "module")
        ),
    )
    used = {
        name
        for architecture in architectures()
        for name in re.findall(
            r"^\s*(KERNEL_\w+|MODULE_SECTIONS)\b",
            "".join(
                path.read_text()
                for path in (REPOSITORY / "guests/arch" / architecture).glob("*.lds.S")
            ),
            re.M,
        )
    }
    assert used
    assert used <= set(macros)
    assert used <= NAMED
