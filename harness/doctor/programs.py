# SPDX-License-Identifier: MIT
"""Run a program once, to see whether it can do what the harness will ask of it."""

import os
import shutil
import subprocess
from collections.abc import Container, Sequence

from harness.doctor.result import Check
from harness.units import escape

DEADLINE = 30.0  # seconds

_DETAIL_LIMIT = 200  # characters


def check_program(
    name: str,
    command: Sequence[str],
    package: str,
    *,
    given: str = "",
    statuses: Container[int] = (0,),
) -> Check:
    """Run ``command`` with ``given`` on its standard input; it must end with one of ``statuses``.

    The detail is the first line that it prints, or why it does not run.  Only a program that is
    missing is mended by its package; one that refuses its arguments is not.
    """
    program = command[0]
    if shutil.which(program) is None:
        return Check(name, False, f"{program} is not installed", package)
    try:
        result = subprocess.run(
            command,
            input=given,
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "LC_ALL": "C"},
            timeout=DEADLINE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Check(name, False, f"{program} did not end within {DEADLINE:.0f} seconds")
    except OSError as error:
        return Check(name, False, f"{program} cannot be run: {error.strerror}")
    if result.returncode not in statuses:
        reason = _first_line(result.stderr) or _first_line(result.stdout) or "it says nothing"
        return Check(name, False, f"{program} ended with status {result.returncode}: {reason}")
    return Check(name, True, _first_line(result.stdout), package)


def _first_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return escape(lines[0].strip(), _DETAIL_LIMIT) if lines else ""
