# SPDX-License-Identifier: MIT
"""Executes a line: a verb, or a line for gdb."""

import difflib

from harness.errors import HarnessError
from harness.shell import gdb, host
from harness.shell.output import paged, piped, split_bar
from harness.shell.session import Session
from harness.shell.verb import FILES, VERBS, Arguments, Verb
from harness.shell.verbs import check, parse
from harness.tracefs import KNOWN

LONG = {"console", "disasm", "help", "report", "ring", "sites", "stat", "threads", "where"}
"""Verbs whose output may be longer than the screen; those of tracefs are others."""


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
        command_line = host.command_of(line.removeprefix("gdb ").lstrip())
        if command_line is not None:
            host.run_command(session, command_line)
            return
        if line.startswith("gdb "):
            gdb.pass_through(session, line.removeprefix("gdb ").strip())
            return
        command, shell = split_bar(line)
        parsed = parse(command) if command else None
        if parsed is not None:
            verb, arguments = parsed
            check(verb, arguments)
            if shell:
                with piped(session, shell):
                    verb.run(session, arguments)
            elif _is_long(verb, arguments):
                with paged(session):
                    verb.run(session, arguments)
            else:
                verb.run(session, arguments)
        elif line.split()[0] in ("quit", "q", "exit"):
            raise Quit
        else:
            _pass_through(session, line)


def _is_long(verb: Verb, arguments: Arguments) -> bool:
    """Whether the output may be longer than the screen, and comes at once."""
    if verb.group == FILES:
        return verb.name != "trace_pipe" and not arguments.redirect
    return verb.name in LONG


def _pass_through(session: Session, line: str) -> None:
    """A line for gdb; if gdb does not know the command, similar verbs are named."""
    first = line.split()[0]
    if first in KNOWN:
        session.tracefs.file(first)
    try:
        gdb.pass_through(session, line)
    except HarnessError as error:
        near = difflib.get_close_matches(first, VERBS, n=3, cutoff=0.7)
        if error.message.startswith("Undefined command") and near:
            error.advice = f"Did you mean {', '.join(near)}?"
        raise
