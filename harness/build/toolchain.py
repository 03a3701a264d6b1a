# SPDX-License-Identifier: MIT
"""The tools that a build needs: there, able to run, and known by their versions."""

import os
import subprocess

from harness.config import MachineConfig
from harness.errors import HostError
from harness.process import find_program
from harness.units import escape

ANSWER_DEADLINE = 30.0  # seconds for a tool to say its version


def toolchain_identity(config: MachineConfig) -> list[str]:
    """What compiler, assembler and linker say of themselves; HostError when one is missing."""
    prefix = config.build.cross_compile
    package = config.build.package
    find_program("make", "make")
    answers = []
    if config.build.compiler == "clang":
        find_program("clang", "clang")
        answers.append(_answer("clang", "--version"))
    for program, argument in (("gcc", "-v"), ("as", "--version"), ("ld", "--version")):
        find_program(prefix + program, package)
        answers.append(_answer(prefix + program, argument))
    return answers


def _answer(program: str, argument: str) -> str:
    try:
        result = subprocess.run(
            [program, argument],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            timeout=ANSWER_DEADLINE,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise HostError(f"{program} {argument} cannot be run: {error}.", _REINSTALL) from error
    if result.returncode != 0:
        last = escape(result.stdout.strip()[-300:])
        raise HostError(
            f"{program} {argument} ended with status {result.returncode}: {last}", _REINSTALL
        )
    return result.stdout


_REINSTALL = "Install the toolchain again; harness doctor names its package."
