# SPDX-License-Identifier: MIT
"""Lines for gdb: handed on as they are, and when they let the guest run, its stop waited for."""

from typing import TYPE_CHECKING

from harness.debugger import Stop
from harness.errors import DebuggerDied, GuestDied, UsageError

if TYPE_CHECKING:
    from harness.shell.session import Session

LOOK = 0.5
"""Seconds between two looks at a guest that runs for gdb."""

ANSWER = 60.0
"""Seconds that gdb may take for a command that does not run the guest."""

STOPPING = 10.0
"""Seconds that QEMU may take to stop the guest."""

CONTINUE = ("c", "continue", "fg")

# What wants more lines than one, or the terminal.
_BLOCKS = ("commands", "define", "document", "while", "if", "tui", "layout", "refresh", "focus")
_INTERPRETERS = ("python", "py", "guile", "gu", "compile", "expression", "python-interactive", "pi")


def pass_through(session: "Session", line: str) -> None:
    """Have gdb do ``line``; print what it says, and where the guest stops if it ran."""
    guest = session.live
    words = line.split()
    if words[0] in CONTINUE and len(words) == 1:
        run(session)
        return
    if words[0] in _BLOCKS or (words[0] in _INTERPRETERS and len(words) == 1):
        raise UsageError(
            f"{words[0]} takes more than a line, which this prompt cannot give to gdb",
            "Put it into a file and use gdb's source command.",
        )
    debugger = guest.debugger
    before = debugger.generation
    said = debugger.cli(line, deadline=ANSWER)
    for text in said.rstrip("\n").split("\n") if said else []:
        session.print(text)
    if debugger.running:
        _wait(session)
    elif debugger.connected and debugger.generation != before and guest.keep_breakpoints():
        session.say("(the breakpoints at ring_buffer_watermark and panic_stop stay)")


def run(session: "Session", until: str | int | None = None, seconds: float | None = None) -> str:
    """Let the guest run until something stops it; says what, in the words of the outcome."""
    guest = session.live
    session.running()
    try:
        outcome = guest.run(
            until, seconds=seconds, timeout=float("inf"), wake=session.interrupt.fileno()
        )
    except GuestDied as error:
        session.died(error)
        return "died"
    _ = session.interrupt.pressed
    show_stop(session)
    return str(outcome)


def show_stop(session: "Session") -> None:
    """Where the guest is stopped: the frame and the next instruction, as gdb shows them."""
    debugger = session.guest.debugger
    # What gdb has told by itself when the guest stopped is in front of the next answer.
    told = debugger.cli("echo").strip()
    for text in (told or debugger.cli("frame"), debugger.cli("x/i $pc")):
        for line in text.strip("\n").split("\n"):
            session.print(line)


def _wait(session: "Session") -> None:
    """Until a command such as ``finish`` or ``next`` is over."""
    guest, debugger = session.guest, session.guest.debugger
    session.running()
    interrupt, console = session.interrupt.fileno(), guest.machine.console
    while True:
        also = [interrupt, guest.machine.process_fd, console.fileno()]
        stop = debugger.wait_stop(LOOK, also=[fd for fd in also if fd >= 0])
        console.drain()
        if stop is None and session.interrupt.pressed:
            debugger.interrupt()
            stop = debugger.wait_stop(STOPPING)
        if stop is not None:
            break
        if not guest.machine.alive:
            raise guest.cause(DebuggerDied("QEMU ended while the guest ran"))
    _after(session, stop)


def _after(session: "Session", stop: Stop) -> None:
    guest = session.guest
    try:
        guest.check_panic(stop)
    except GuestDied as error:
        session.died(error)
        return
    if guest.is_own_stop(stop):
        guest.drain()
        session.say("(the ring buffer was full and has been read; give the command again)")
    show_stop(session)
