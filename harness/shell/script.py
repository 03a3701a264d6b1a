# SPDX-License-Identifier: MIT
"""A session with lines from a file."""

from collections.abc import Iterable

from harness.errors import HarnessError
from harness.shell.line import Quit, execute
from harness.shell.session import Session


def run_script(session: Session, lines: Iterable[str], name: str) -> None:
    """Execute all lines; the first error ends the script, with the line's number in its message."""
    for number, line in enumerate(lines, 1):
        try:
            execute(session, line)
        except Quit:
            return
        except HarnessError as error:
            error.message = f"{name}:{number}: {error.message}"
            raise
