# SPDX-License-Identifier: MIT
"""A session whose lines come from a file."""

from collections.abc import Iterable

from harness.errors import HarnessError
from harness.shell.line import Quit, execute
from harness.shell.session import Session


def run_script(session: Session, lines: Iterable[str], name: str) -> None:
    """Do every line; the first error ends it, and its message says which line that was."""
    for number, line in enumerate(lines, 1):
        try:
            execute(session, line)
        except Quit:
            return
        except HarnessError as error:
            error.message = f"{name}:{number}: {error.message}"
            raise
