# SPDX-License-Identifier: MIT
"""Verbs of the session itself: run control, the console, help."""

from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.shell import gdb
from harness.shell.verb import VERBS, Arguments, verb

if TYPE_CHECKING:
    from harness.shell.session import Session

GROUP = "session"


@verb("[FUNCTION | ADDRESS]", most=1, completes="functions", example="run leaf", group=GROUP)
def run(session: "Session", arguments: Arguments) -> None:
    """Let the guest run to a function, or to the end of the workload; Ctrl-C stops it.

    Breakpoints stop it too.  To run with nothing in the way but those: c, as in gdb.
    """
    place = arguments.words[0] if arguments.words else "workload_done"
    until: str | int = place
    if place[0].isdigit():
        try:
            until = int(place, 0)
        except ValueError:
            raise UsageError(f"{place!r} is neither a function nor an address") from None
    gdb.run(session, until)


@verb(group=GROUP)
def where(session: "Session", arguments: Arguments) -> None:
    """The state of the session, and where each CPU is: registers, backtrace, code, console."""
    session.say(session.state)
    for line in session.live.describe().split("\n"):
        session.print(line)


@verb("[LINES]", example="console 40", group=GROUP)
def console(session: "Session", arguments: Arguments) -> None:
    """The last lines that the guest printed."""
    lines = 20
    if arguments.words:
        if not arguments.words[0].isdecimal():
            raise UsageError(f"{arguments.words[0]!r} is not a number of lines")
        lines = int(arguments.words[0])
    read = session.guest.machine.console
    read.drain()
    for line in read.tail(lines).split("\n"):
        session.print(line)


@verb(group=GROUP)
def reboot(session: "Session", arguments: Arguments) -> None:
    """Start the guest afresh, stopped in front of its workload; events and patches are gone."""
    session.restart()
    session.say(session.state)


@verb("[NAME]", example="snapshot before", group=GROUP)
def snapshot(session: "Session", arguments: Arguments) -> None:
    """Keep the guest as it is now, with tracer and events; alone: the names of what is kept."""
    if not arguments.words:
        for name in session.snapshots:
            session.print(name)
        return
    (name,) = arguments.words
    session.live.snapshot(name)
    if name not in session.snapshots:
        session.snapshots.append(name)


@verb("NAME", completes="snapshots", example="restore before", group=GROUP)
def restore(session: "Session", arguments: Arguments) -> None:
    """Go back to a snapshot; breakpoints stay as they are."""
    if not arguments.words:
        raise UsageError("which snapshot?", "See: snapshot")
    session.live.restore(arguments.words[0])
    session.say(session.state)


@verb(group=GROUP)
def threads(session: "Session", arguments: Arguments) -> None:
    """The guest's threads: number, name, CPU, and where those that do not run go on."""
    image = session.live.image
    for thread in session.live.threads():
        place = thread.interrupted_pc or thread.saved_pc
        where = image.symbolize(place) if place else ""
        session.print(f"{thread.pid:>6}  {thread.comm:16}  CPU {thread.cpu}  {where}".rstrip())


@verb("CLAUSE...", most=1 << 16, completes="clauses", example="conform C9a", group=GROUP)
def conform(session: "Session", arguments: Arguments) -> None:
    """Judge clauses of the specification on this port and config, in guests of their own."""
    if session.judge is None:
        raise UsageError("a guest that was attached to names no port", "Use: harness conform")
    if not arguments.words:
        raise UsageError("which clauses?", "Example: conform C9a. See: harness list clauses")
    session.judge(arguments.words, session.print)


@verb("[COMMAND]", most=1, completes="verbs", example="help set_ftrace_filter", group=GROUP)
def help_(session: "Session", arguments: Arguments) -> None:
    """What there is; with a command, all about it."""
    if arguments.words:
        name = arguments.words[0]
        if name in VERBS:
            for line in VERBS[name].help.split("\n"):
                session.print(line)
            return
        gdb.pass_through(session, f"help {name}")
        return
    groups: dict[str, list[str]] = {}
    for one in VERBS.values():
        groups.setdefault(one.group, []).append(one.name)
    for group, names in groups.items():
        session.say(f"{group}:")
        width = max(map(len, names)) + 2
        for name in sorted(names):
            session.print(f"  {name:{width}}{VERBS[name].summary}")
    session.say("gdb:")
    session.print("  Every other line is gdb's: bt, x/8i $pc, b leaf, c, si, finish, info threads.")
    session.print("  gdb LINE hands over a line that a verb would take.  quit leaves.")


@verb("LINE", most=1 << 16, example="gdb help record", group=GROUP, name="gdb")
def gdb_(session: "Session", arguments: Arguments) -> None:
    """Hand a line to gdb, even if it begins with a verb."""
    raise UsageError("which line is for gdb?", "Example: gdb help record")
