# SPDX-License-Identifier: MIT
"""Runs a program once to check that it works."""

import os
import shutil
from collections.abc import Callable, Container, Sequence

from harness.doctor.result import Diagnosis
from harness.process import NotRun, TimedOut, run
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
    note: Callable[[str], str] = lambda output: "",
) -> Diagnosis:
    """Run ``command`` with ``given`` on its standard input; its status must be in ``statuses``.

    The detail is the first line of its output, or why it does not run.  ``package`` is reported
    only for a missing program.  ``note`` makes the check's note from the output.
    """
    program = command[0]
    if shutil.which(program) is None:
        return Diagnosis(name, False, f"{program} is not installed", package)
    try:
        result = run(
            command, DEADLINE, given=given.encode(), environment={**os.environ, "LC_ALL": "C"}
        )
    except TimedOut:
        return Diagnosis(name, False, f"{program} did not end within {DEADLINE:.0f} seconds")
    except NotRun as error:
        return Diagnosis(name, False, f"{program} cannot be run: {error}")
    if result.returncode not in statuses:
        reason = _first_line(result.stderr) or _first_line(result.stdout) or "it says nothing"
        return Diagnosis(name, False, f"{program} ended with status {result.returncode}: {reason}")
    said = note(result.stdout.decode(errors="replace"))
    return Diagnosis(name, True, _first_line(result.stdout), package, said)


def _first_line(output: bytes) -> str:
    text = output.decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip()]
    return escape(lines[0].strip(), _DETAIL_LIMIT) if lines else ""
