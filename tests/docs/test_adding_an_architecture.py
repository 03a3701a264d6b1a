# SPDX-License-Identifier: MIT
"""docs/adding-an-architecture.rst names all that an architecture provides."""

import re
from pathlib import Path

import pytest

from harness.isa import Abi, AsmSyntax, Cpu, Isa, architectures
from harness.isa.code import Code
from harness.isa.linux import Linux
from harness.isa.sites import Sites

REPOSITORY = Path(__file__).parents[2]
TEXT = (REPOSITORY / "docs/adding-an-architecture.rst").read_text()
KERNEL = REPOSITORY / "guests/kernel"
ARCHITECTURES = REPOSITORY / "guests/arch"
NAMED = {
    name for literal in re.findall(r"``(.+?)``", TEXT) for name in re.findall(r"[\w.-]+", literal)
}
"""What the document has as literals: many a name is a word too."""


def without_default(kind):
    """Members of an interface that each architecture has to define."""
    found = set(getattr(kind, "__abstractmethods__", ()))
    for base in kind.__mro__:
        names = vars(base).get("__annotations__", {})
        found |= {name for name in names if not hasattr(kind, name)}
    return found


def below(kind):
    """The subclasses of an interface in all architectures."""
    assert architectures()  # imports them
    for one in kind.__subclasses__():
        yield one
        yield from below(one)


def with_default(kind):
    """Members of an interface that can be set, and those that some architecture redefines."""
    own = {name for name in vars(kind) if not name.startswith("_")}
    redefined = {name for one in below(kind) if one is not Isa for name in vars(one)}
    values = {name for name in vars(kind).get("__annotations__", {}) if hasattr(kind, name)}
    return own & (redefined | values) - without_default(kind)


@pytest.mark.parametrize("kind", [Isa, Code, Sites, Abi, AsmSyntax, Cpu])
def test_members_with_defaults(kind):
    assert with_default(kind)
    assert not with_default(kind) - NAMED


@pytest.mark.parametrize("kind", [Isa, Sites, Abi, AsmSyntax, Cpu])
def test_members_of_interfaces(kind):
    missing = without_default(kind) - NAMED
    assert without_default(kind)
    assert not missing


def test_real_kernels_are_optional():
    assert not without_default(Linux)


def test_headers_and_functions_of_guests():
    sources = [
        source
        for directory in ("kernel", "lib", "drivers")
        for source in (REPOSITORY / "guests" / directory).rglob("*.[chS]")
    ]
    included = {
        name
        for source in sources
        for name in re.findall(r"#include <asm/([\w.]+)>", source.read_text())
    }
    # The port's own, and the generic timer's, which comes with the GIC.
    assert included - {"ftrace.h", "arch_timer.h"} <= NAMED
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
            "".join(path.read_text() for path in (ARCHITECTURES / architecture).glob("*.lds.S")),
            re.M,
        )
    }
    assert used
    assert used <= set(macros)
    assert used <= NAMED


def test_macros_that_linker_scripts_may_define():
    scripts = (KERNEL / "include/linux").glob("*.lds.h")
    optional = {
        name for path in scripts for name in re.findall(r"#ifndef (ARCH_\w+)", path.read_text())
    }
    assert optional
    assert optional <= NAMED


def test_sections_of_the_entry():
    placed = re.findall(
        r"\*\((\.\w+\.text)\)", (KERNEL / "include/linux/vmlinux.lds.h").read_text()
    )
    filled = {
        name
        for source in ARCHITECTURES.rglob("*.[cS]")
        for name in re.findall(r"(?:\.section |__section\(\")(\.\w+\.text)", source.read_text())
    }
    assert filled & set(placed)
    assert filled & set(placed) <= NAMED


def test_variables_of_makefiles():
    neutral = "".join(
        (REPOSITORY / "guests" / name).read_text() for name in ("Makefile", "modules/Makefile")
    )
    read = set(re.findall(r"\$\(([\w-]+)[):]", neutral))
    written = {
        name
        for path in ARCHITECTURES.glob("*/Makefile")
        for name in re.findall(r"^([\w-]+) *[:+?]?=", path.read_text(), re.M)
    }
    assert len(read & written) > 10
    assert read & written <= NAMED
