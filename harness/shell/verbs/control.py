# SPDX-License-Identifier: MIT
"""Verbs of the session: run control, console, snapshots, modules, help."""

from harness.conformance import load_catalogue
from harness.errors import NotBegun, UsageError
from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verb import VERBS, Arguments, verb
from harness.shell.verbs.tracefs import natural
from harness.tracefs import number

GROUP = "session"
LONGEST_NAME = 100
"""Maximum length of a snapshot's name; QEMU truncates longer ones."""


@verb("[FUNCTION | ADDRESS]", most=1, completes="functions", example="run leaf", group=GROUP)
def run(session: Session, arguments: Arguments) -> None:
    """Run the guest to a function, or to the end of the workload; Ctrl-C stops it.

    Breakpoints stop it too.  To continue to the next breakpoint: c, as in gdb.
    """
    place = arguments.words[0] if arguments.words else "workload_done"
    image = session.live.image
    until: str | int = place
    if place[:1].isdigit():
        until = number(place) & image.isa.mask
        if image.function_at(until) is None:
            raise UsageError(
                f"no function of the guest lies at {until:#x}",
                f"To stop there all the same: b *{until:#x}, then c.",
            )
    gdb.run(session, until)


@verb(group=GROUP)
def where(session: Session, arguments: Arguments) -> None:
    """The state of the session, and of each CPU: registers, backtrace, code, console."""
    session.say(session.state)
    session.print_all(session.live.describe().split("\n"))


@verb("[LINES]", example="console 40", group=GROUP)
def console(session: Session, arguments: Arguments) -> None:
    """The last lines of the guest's console."""
    lines = natural(arguments.words[0]) if arguments.words else 20
    read = session.guest.machine.console
    read.drain()
    session.print_all(read.tail(lines).split("\n"))


@verb("[CONFIG]", completes="configs", example="reboot mips64el-malta", group=GROUP)
def reboot(session: Session, arguments: Arguments) -> None:
    """Boot the guest again, up to its workload; events and patches are lost.

    With a config: the same workload on that machine.
    """
    session.restart(*arguments.words)
    session.say(session.state)


@verb("[NAME]", example="snapshot before", group=GROUP)
def snapshot(session: Session, arguments: Arguments) -> None:
    """Save the guest's state, with tracer and events; without a name, list the snapshots."""
    if not arguments.words:
        session.print_all(session.snapshots)
        return
    (name,) = arguments.words
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError("invalid name of a snapshot", f"{LONGEST_NAME} characters at most.")
    session.live.snapshot(name)
    if name not in session.snapshots:
        session.snapshots.append(name)


@verb("NAME", completes="snapshots", example="restore before", group=GROUP)
def restore(session: Session, arguments: Arguments) -> None:
    """Return to a snapshot; breakpoints stay as they are."""
    if not arguments.words:
        raise UsageError("which snapshot?", "See: snapshot")
    session.restore(arguments.words[0])
    session.say(session.state)


@verb(group=GROUP)
def threads(session: Session, arguments: Arguments) -> None:
    """The guest's threads: process id, name, CPU, and where those that do not run continue."""
    image = session.live.image
    found = session.live.threads()
    if not found:
        raise NotBegun(
            "the guest has no threads yet", "Let it run first, as with tbreak workload and c."
        )
    for thread in found:
        place = thread.interrupted_pc or thread.saved_pc
        where = image.symbolize(place) if place else ""
        session.print(f"{thread.pid:>6}  {thread.comm:16}  CPU {thread.cpu}  {where}".rstrip())


@verb("MODULE", completes="files", example="insmod callbacks", group=GROUP)
def insmod(session: Session, arguments: Arguments) -> None:
    """Load a module with its call sites: a name, a C file, or NAME.ko."""
    if not arguments.words:
        raise UsageError("which module?", "Example: insmod callbacks")
    session.live.load_module(arguments.words[0])


@verb("MODULE", completes="modules", example="rmmod callbacks", group=GROUP)
def rmmod(session: Session, arguments: Arguments) -> None:
    """Unload a module and remove its functions from filters."""
    if not arguments.words:
        raise UsageError("which module?", "See: lsmod")
    session.live.unload_module(arguments.words[0])


@verb(group=GROUP)
def lsmod(session: Session, arguments: Arguments) -> None:
    """The loaded modules, and the address of their text."""
    for module in session.live.modules.loaded:
        session.print(f"{module.name}  {module.image.text.start:#x}")


@verb("CLAUSE...", most=1 << 16, completes="clauses", example="conform C9a", group=GROUP)
def conform(session: Session, arguments: Arguments) -> None:
    """Check clauses of the specification for this port and config, in separate guests."""
    if session.judge is None or session.guest.spec is None:
        raise UsageError("the port of an attached guest is not known", "Use: harness conform")
    if not arguments.words:
        raise UsageError("which clauses?", "Example: conform C9a. See: harness list clauses")
    known = {name for clause in load_catalogue().clause for name in (clause.id, clause.stem)}
    for word in arguments.words:
        if word not in known:
            raise UsageError(f"there is no clause {word!r}", "See: harness list clauses")
    with session.interrupt.raised():
        session.judge(session.guest.spec, arguments.words, session.show_verdict)


@verb("[COMMAND]", most=1, completes="verbs", example="help set_ftrace_filter", group=GROUP)
def help_(session: Session, arguments: Arguments) -> None:
    """List the verbs; with a command, show its help."""
    if arguments.words:
        name = arguments.words[0]
        if name in VERBS:
            session.print_all(VERBS[name].help.split("\n"))
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
    session.print("  gdb LINE passes a line that is also a verb's.  quit ends the session.")


@verb("LINE", most=1 << 16, example="gdb help record", group=GROUP, name="gdb")
def gdb_(session: Session, arguments: Arguments) -> None:
    """Pass a line to gdb, even if it begins with a verb."""
    raise UsageError("which line is for gdb?", "Example: gdb help record")
