# SPDX-License-Identifier: MIT
"""An architecture lives in its own places: nothing else knows it by name."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.isa import architectures, linux_files_of
from tests.support.configs import EXAMPLES

REPOSITORY = Path(__file__).parents[2]
OWN = str(Path(__file__).relative_to(REPOSITORY))
CODE = ("harness", "guests", "tools", "Makefile", "tox.ini")

PLACES = ("harness/isa/{}/", "guests/arch/{}/", "guests/ports/", "guests/linux/")
"""And ``qemu-configs``, of which each file is for one.  Documents have lists of them."""

SPELLINGS = {
    # To arm is a verb.
    "arm": re.compile(r"\bArm\b|[\"'/.]arm[\"'/]|\barm-(linux|none|virt)\b"),
    "riscv64": re.compile(r"risc-?v", re.IGNORECASE),
    # x86-tsc is a clock of the kernel's.
    "x86_64": re.compile(r"x86[-_]?64|\bx86\b(?!-tsc)", re.IGNORECASE),
}
"""Of architectures that have several names, or names that have other meanings too."""

RELATED = {"arm": ("aarch64",)}
"""Of the same maker, whose name documents have in their titles."""

NAMED = {
    "aarch64": {
        # Examples of command lines and configs.
        *("harness/cli/linux.py", "Makefile", "tox.ini"),
        # Comments: why something is as it is.
        *("harness/conformance/clauses.toml", "harness/debugger/debugger.py"),
        "guests/kernel/trace/unwind_rows.c",
        # A limit of QEMU; fixes of its port undone.
        *("tools/documents/support_page.py", "tools/undone_fixes.toml"),
    },
    "mips": {
        # Examples of command lines and configs.
        *("Makefile", "tox.ini", "guests/Makefile", "guests/README.rst", "harness/__init__.py"),
        *(f"harness/cli/{name}.py" for name in ("build", "linux", "matrix", "mount", "port")),
        *(f"harness/cli/{name}.py" for name in ("record", "run", "shell", "top")),
        *("harness/config/project.py", "harness/conformance/expected.py"),
        *("harness/matrix/cells.py", "harness/matrix/model.py", "harness/pytest_plugin.py"),
        *("harness/shell/verbs/control.py", "tools/kills.py", "tools/mutants_in_full.py"),
        # Comments: why something is as it is.
        *("guests/kernel/include/linux/syscalls.h", "guests/lib/libgcc.c", "harness/isa/code.py"),
        *("harness/conformance/under_test/registers.py", "harness/debugger/debugger.py"),
        *("harness/debugger/symbols.py", "harness/image/compile_units.py", "harness/image/elf.py"),
        *("harness/image/recordmcount/__init__.py", "harness/machine/command.py"),
        "harness/oracle/control.h",
        # The commit that the clauses M1 to M5 come from, and the words of a port that it changed.
        *("harness/conformance/catalogue.py", "harness/conformance/clauses.toml"),
        *("harness/conformance/kernel_words.py", "harness/config/models.py"),
        # Compilers' flags by globs of configs; fixes of its port undone.
        *("harness/matrix/matrix.toml", "tools/undone_fixes.toml"),
    },
    # The title of a document on a device; what clang leaves out there.
    "arm": {"guests/drivers/gic.c", "harness/matrix/matrix.toml"},
    # What clang leaves out there.
    "riscv64": {"harness/matrix/matrix.toml"},
}
"""The exceptions: files outside of its places that name an architecture, today."""


def files(*roots: str) -> Iterator[str]:
    """Paths of source files, relative to the repository; data in a wheel is not ours to judge."""
    for root in (REPOSITORY / root for root in roots):
        for path in (path for path in [root, *root.rglob("*")] if path.is_file()):
            name = str(path.relative_to(REPOSITORY))
            if "__pycache__" not in name and not name.startswith("harness/data/"):
                yield name


def names(architecture: str) -> re.Pattern[str]:
    """Its name without the number of bits, and the one that it has in Linux."""
    if architecture in SPELLINGS:
        return SPELLINGS[architecture]
    linux = linux_files_of(architecture)
    words = [architecture.rstrip("0123456789"), *([linux.directory] if linux else [])]
    return re.compile("|".join(words), re.IGNORECASE)


def naming(architecture: str, *roots: str) -> set[str]:
    """Files below these, in their names or their text."""
    word = names(architecture)
    return {
        name
        for name in files(*roots)
        if name != OWN
        and (word.search(name) or word.search((REPOSITORY / name).read_text(errors="replace")))
    }


@pytest.mark.parametrize("architecture", architectures())
def test_code_names_no_architecture(architecture: str) -> None:
    its = (architecture, *RELATED.get(architecture, ()))
    own = tuple(place.format(name) for place in PLACES for name in its)
    found = {name for name in naming(architecture, *CODE) if not name.startswith(own)}
    assert found == NAMED.get(architecture, set())


@pytest.mark.parametrize("architecture", sorted(set(architectures()) - EXAMPLES))
def test_tests_of_an_architecture_have_its_name(architecture: str) -> None:
    """Of the examples any test may name the configs."""
    its = (architecture, *RELATED.get(architecture, ()))
    found = naming(architecture, "tests")
    assert {name for name in found if not any(one in Path(name).name for one in its)} == set()
