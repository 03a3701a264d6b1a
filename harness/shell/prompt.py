# SPDX-License-Identifier: MIT
"""The prompt on a terminal, with history and completion."""

import asyncio

from prompt_toolkit import PromptSession
from prompt_toolkit.history import FileHistory, History, InMemoryHistory

from harness.config.resources import state_directory
from harness.errors import HarnessError, HostError
from harness.shell.complete import LineCompleter
from harness.shell.line import Quit, execute
from harness.shell.session import Session

WELCOME = "A verb of tracefs, a line for gdb, or help.  Ctrl-C stops what runs; Ctrl-D leaves."


def run_prompt(session: Session) -> None:
    """Execute lines until the user quits; an error is printed and the session continues."""
    prompt: PromptSession[str] = PromptSession(
        history=_history(),
        completer=LineCompleter(session),
        complete_while_typing=False,
        bottom_toolbar=lambda: session.state,
        enable_history_search=True,
    )
    session.interactive = True
    session.say(session.state)
    session.say(WELCOME)
    last = ""
    while True:
        try:
            line = prompt.prompt(f"{session.guest.name}> ", pre_run=lambda: _serve(session))
        except KeyboardInterrupt:
            continue
        except EOFError:
            return
        # As in gdb an empty line repeats some commands.
        line = line if line.strip() else last
        last = line if line.split()[:1] and line.split()[0] in _REPEATED else ""
        try:
            execute(session, line)
        except Quit:
            return
        except HarnessError as error:
            session.complain(error)


_REPEATED = {"s", "si", "stepi", "n", "ni", "nexti", "step", "next", "c", "continue", "u", "until"}


def _serve(session: Session) -> None:
    """Answer programs that use the mounted tracefs while the user types."""
    mounted = session.mount.mounted
    if mounted is None:
        return
    loop = asyncio.get_running_loop()

    def ring() -> None:
        session.mount.serve()
        if session.mount.mounted is not mounted:
            loop.remove_reader(number)

    number = mounted.fileno()
    loop.add_reader(number, ring)


def _history() -> History:
    """Lines of earlier sessions; only in memory if the file is not writable."""
    try:
        file = state_directory() / "history"
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with file.open("ab"):
            pass
    except (OSError, HostError):
        return InMemoryHistory()
    return FileHistory(str(file))
