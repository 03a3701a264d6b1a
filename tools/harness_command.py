# SPDX-License-Identifier: MIT
"""Run the harness of this Python as a command, and read its reports."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HARNESS = [sys.executable, "-P", "-c", "from harness.cli import main; main()"]


class HarnessFailed(SystemExit):
    """An exit status other than 0 and 1; ends the tool with a message unless it is caught."""


def harness(*arguments: str | Path, timeout: float | None = None, quiet: bool = False) -> None:
    """Run a command without its output; failed clauses are no error.

    ``quiet``: without its errors and progress too.
    """
    words = [str(argument) for argument in arguments]
    done = subprocess.run(
        [*HARNESS, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL if quiet else None,
        check=False,
        timeout=timeout,
    )
    if done.returncode not in (0, 1):
        raise HarnessFailed(f"harness {' '.join(words)}: exit status {done.returncode}")


def only_report(file: Path) -> dict[str, Any]:
    """The report in a file of ``harness conform --json`` on one config."""
    (report,) = json.loads(file.read_text())["reports"]
    return dict(report)
