# SPDX-License-Identifier: MIT
"""Lines for the host's shell, as gdb has them: ``!ls``, ``shell make``."""

import os
import re
import subprocess
from contextlib import suppress

from harness.errors import HarnessError, UsageError
from harness.shell.session import Session

_LINE = re.compile(r"(?:!|(?:shell|make)(?=\s|$))")


def command_of(line: str) -> str | None:
    """The command of a line for the host's shell, empty for a shell itself; None for others."""
    begin = _LINE.match(line)
    if begin is None:
        return None
    return line if begin[0] == "make" else line[begin.end() :].strip()


def run_command(session: Session, command: str) -> None:
    """Run a command with the terminal, in gdb's working directory.

    Its exit status is in gdb's ``$_shell_exitcode``, as with gdb's own command.
    """
    directory = None
    debugger = session.guest.debugger
    if not session.gone:
        with suppress(HarnessError):
            directory = debugger.session.directory
    shell = os.environ.get("SHELL") or "/bin/sh"
    arguments = [shell, "-c", command] if command else [shell]
    stdin = None if session.interactive else subprocess.DEVNULL
    try:
        status = subprocess.run(arguments, cwd=directory, stdin=stdin, check=False).returncode
    except OSError as error:
        raise UsageError(f"{shell} cannot be run: {error.strerror}") from error
    # Ctrl-C was for the command.
    _ = session.interrupt.pressed
    if not session.gone:
        debugger.cli(f"set $_shell_exitcode = {max(status, -1)}")
