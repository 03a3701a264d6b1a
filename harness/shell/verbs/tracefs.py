# SPDX-License-Identifier: MIT
"""The files of tracefs as verbs: without arguments they show the value, otherwise they set it."""

from collections import deque
from itertools import chain

from harness.errors import UsageError
from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verb import FILES, Arguments, Run, read_or_write, verb
from harness.tracefs import CONTROLS, number, shortened

GROUP = FILES


def _run(name: str) -> Run:
    def run(session: Session, arguments: Arguments) -> None:
        read_or_write(session, name, arguments)

    run.__doc__ = CONTROLS[name].help
    return run


for _name, _file in CONTROLS.items():
    verb(
        _file.takes,
        most=_file.most if _file.write else 0,
        completes=_file.completes,
        example=_file.example,
        group=GROUP,
        name=_name,
    )(_run(_name))


@verb("[GLOB]", completes="functions", example="available_filter_functions do_*", group=GROUP)
def available_filter_functions(session: Session, arguments: Arguments) -> None:
    """The traceable functions, by address."""
    if arguments.redirect:
        raise UsageError("available_filter_functions is only read")
    session.print_all(session.live.tracer.functions_of(*arguments.words))


@verb("[DIRECTORY]", completes="tracefs", example="ls events/sched", group=GROUP)
def ls(session: Session, arguments: Arguments) -> None:
    """List the files of this guest's tracefs, or those in a directory of it."""
    if arguments.redirect:
        raise UsageError("ls takes no >")
    session.print_all(session.tracefs.names(shortened("".join(arguments.words))))


@verb("[> | LINES]", most=1, example="trace 20", group=GROUP)
def trace(session: Session, arguments: Arguments) -> None:
    """Show the events so far, or the last LINES; trace > deletes them."""
    if arguments.redirect:
        if arguments.words:
            raise UsageError("trace takes no text; trace > alone clears it")
        session.live.tracer.clear()
        return
    count = natural(arguments.words[0]) if arguments.words else None
    lines = session.trace()
    if count is None:
        session.print_all(lines)
        return
    header: list[str] = []
    last: deque[str] = deque(maxlen=count)
    for line in lines:
        session.interrupt.check()
        (header if line.startswith("#") and not last else last).append(line)
    session.print_all(chain(header, last))


@verb(group=GROUP)
def trace_pipe(session: Session, arguments: Arguments) -> None:
    """Run the guest and print its events; Ctrl-C stops it.

    The guest is stopped during the output, so no event is lost.
    """
    guest = session.live
    pipe = guest.tracer.pipe()
    enough = False

    def drained() -> bool:
        nonlocal enough
        if enough:
            return False
        for event in pipe.events():
            if session.interrupt.pressed:
                enough = True
                return False
            session.show(event)
        return True

    saved, guest.on_drain = guest.on_drain, drained
    try:
        gdb.run(session, until="workload_done")
    finally:
        guest.on_drain = saved
    if not enough and not session.gone:
        guest.settle()
        guest.collector.drain()
        drained()


def natural(word: str) -> int:
    """A non-negative integer; UsageError for anything else."""
    value = number(word)
    if not 0 <= value < 1 << 32:
        raise UsageError(f"{word} is not a possible number here", "Choose 0 or more.")
    return value
