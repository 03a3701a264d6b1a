# SPDX-License-Identifier: MIT
"""Executes a line: a verb, or a line for gdb."""

from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verbs import check, parse


class Quit(Exception):
    """The user quits the session."""


def execute(session: Session, line: str) -> None:
    """Do what a line says.

    Raises:
        HarnessError: it could not be done; the session goes on.
        Quit: the user leaves.
    """
    line = line.strip()
    if not line or line.startswith("#"):
        return
    with session.command():
        if line.startswith("gdb "):
            gdb.pass_through(session, line.removeprefix("gdb ").strip())
            return
        parsed = parse(line)
        if parsed is not None:
            verb, arguments = parsed
            check(verb, arguments)
            verb.run(session, arguments)
        elif line.split()[0] in ("quit", "q", "exit"):
            raise Quit
        else:
            gdb.pass_through(session, line)
