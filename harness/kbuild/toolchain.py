# SPDX-License-Identifier: MIT
"""The toolchain of a build: its presence and its versions."""

import os
from functools import cache
from pathlib import Path

from harness.config import MachineConfig
from harness.errors import HostError
from harness.process import NotRun, find_program, run
from harness.units import escape

ANSWER_DEADLINE = 30.0  # seconds for a tool to print its version


def toolchain_identity(config: MachineConfig) -> list[str]:
    """The versions of compiler, assembler and linker; HostError if one is missing."""
    build = config.build
    return tools_identity(
        build.cross_compile, build.tools_package, build.compiler_program, build.compiler_package
    )


def tools_identity(prefix: str, package: str, compiler: str, compiler_package: str) -> list[str]:
    """The same for a prefix of as and ld, and a compiler; packages are named in errors."""
    find_program("make", "make")
    wanted = [
        (compiler, compiler_package, "-v"),
        (f"{prefix}as", package, "--version"),
        (f"{prefix}ld", package, "--version"),
    ]
    answers = []
    for program, its_package, argument in wanted:
        file = Path(find_program(program, its_package)).stat()
        answers.append(_answer(program, argument, (file.st_dev, file.st_ino, file.st_mtime_ns)))
    return answers


@cache
def _answer(program: str, argument: str, file: tuple[int, int, int]) -> str:
    """What a program prints; ``file`` is its device, inode and time of change."""
    try:
        result = run(
            [program, argument], ANSWER_DEADLINE, environment={**os.environ, "LC_ALL": "C"}
        )
    except NotRun as error:
        raise HostError(f"{program} {argument} cannot be run: {error}.", _REINSTALL) from error
    text = (result.stdout + result.stderr).decode(errors="replace")
    if result.returncode != 0:
        raise HostError(
            f"{program} {argument} ended with status {result.returncode}: "
            f"{escape(text.strip()[-300:])}",
            _REINSTALL,
        )
    return text


_REINSTALL = "Install the toolchain again; harness doctor names its package."
