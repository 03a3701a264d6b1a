# SPDX-License-Identifier: MIT
"""The guests' C library, compiled for the host once in a session."""

import shutil
import subprocess
from pathlib import Path

import pytest

from support.guest_libc import COMPILER, DRIVER, GUESTS, Guest


@pytest.fixture(scope="session")
def library_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every symbol of guests/lib gets the prefix ``guest_``, so that it can live beside the host's
    C library in one process. Undefined behaviour traps, and is then a crash of the test run.
    """
    directory = tmp_path_factory.mktemp("libc")

    def run(*command: object) -> None:
        subprocess.run([str(part) for part in command], check=True, cwd=directory)

    assert COMPILER is not None
    # -O3: where gcc looks hardest for loops that it could replace by a call to memcpy.
    flags = ["-O3", "-g", "-fPIC", "-Wall", "-Wextra", "-Werror"]
    run(
        *(COMPILER, "-std=gnu11", "-c", *flags, "-ffreestanding", "-fno-stack-protector"),
        *("-fno-strict-aliasing", "-Wno-unused-parameter"),
        *("-fsanitize=undefined", "-fsanitize-undefined-trap-on-error"),
        *("-I", GUESTS / "lib/include", "-I", GUESTS / "kernel/include"),
        *sorted((GUESTS / "lib").glob("*.c")),
    )
    run("ld", "-r", "-o", "all.o", *sorted(path.name for path in directory.glob("*.o")))
    run("objcopy", "--prefix-symbols=guest_", "all.o")
    (directory / "driver.c").write_text(DRIVER)
    run(COMPILER, *flags, "-shared", "-Wl,-z,defs", "-o", "libguest.so", "driver.c", "all.o")
    return directory / "libguest.so"


@pytest.fixture(scope="session")
def guest(library_path: Path) -> Guest:
    return Guest(library_path)


@pytest.fixture
def fresh(library_path: Path, tmp_path: Path) -> Guest:
    """A library with a heap of its own, which a test may ruin."""
    return Guest(Path(shutil.copy(library_path, tmp_path)))
