# SPDX-License-Identifier: MIT
"""Lines for gdb, passed on unchanged; if the guest runs, its stop is waited for."""

import math
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager

from harness.debugger import Stop
from harness.errors import DebuggerDied, GdbError, GuestDied, UsageError
from harness.guest import Outcome
from harness.shell.session import Session

LOOK = 0.5
"""Seconds between checks of a running guest."""

STOPPING = 10.0
"""Timeout in seconds of an interrupt."""

CONTINUE = ("c", "continue", "fg")

# Commands that need several lines.
_BLOCKS = ("commands", "define", "document", "while", "if")
_FULL_SCREEN = ("tui", "layout", "refresh", "focus", "winheight", "winwidth")
_SHORTEST = 3
"""Letters of an abbreviated command."""
_INTERPRETERS = ("python", "py", "guile", "gu", "compile", "expression", "python-interactive", "pi")

_INTERRUPTED = re.compile(r"(?:Thread .*|Program) received signal SIGINT, Interrupt\.")
_REACHED = re.compile(r"(?:Thread .* hit )?(?:Temporary b|B)reakpoint (\d+), ")
_SWITCHED = re.compile(r"\[Switching to Thread .*\]")
_FRAME = re.compile(r"(?:0x[0-9a-f]+ in )?\S+ \(.*\)")

_SOURCE = re.compile(r"\d+\t")


def pass_through(session: Session, line: str) -> None:
    """Run ``line`` in gdb and print its output; if the guest runs, print where it stops.

    Ctrl-C ends the command, or stops the guest.
    """
    guest, debugger = session.live, session.live.debugger
    words = line.split()
    if not words:
        raise UsageError("which line is for gdb?", "Example: gdb help record")
    if words[0] in CONTINUE and len(words) == 1:
        run(session)
        return
    if words[0] in _BLOCKS or (words[0] in _INTERPRETERS and len(words) == 1):
        raise UsageError(
            f"{words[0]} takes more than a line, which this prompt cannot give to gdb",
            "Put it into a file and use gdb's source command.",
        )
    if len(words[0]) >= _SHORTEST and any(one.startswith(words[0]) for one in _FULL_SCREEN):
        raise UsageError(
            f"gdb has no terminal of its own here, which {words[0]} needs",
            "See: list, disasm, where, info registers",
        )
    session.choose_thread()
    over = bool(session.ended)
    output = _Output(session)
    with output.listening():
        try:
            debugger.command_line.stream(line, session.interrupt.fileno())
        except GdbError as error:
            if not session.interrupt.pressed:
                raise session.refused(error) from error
            session.say("(interrupted)", "yellow")
            return
        if debugger.running:
            _wait(session, over)
            return
    if not debugger.connected:
        session.left(f"gdb has left it ({words[0]})")
    elif guest.control.keep_breakpoints():
        session.say(f"(the breakpoints at {', '.join(guest.control.own_functions)} stay)")
    session.remember_thread()


def run(session: Session, until: str | int | None = None, seconds: float | None = None) -> str:
    """Run the guest until it stops; returns the reason, an `Outcome` or ``died``.

    UsageError if the workload has returned.
    """
    guest = session.live
    session.need_workload()
    # Stops at the harness's own breakpoints are not shown.
    mine = set(guest.debugger.breakpoints.addresses()) - guest.control.own_breakpoints
    output = _Output(session, mine)
    try:
        with session.running(), output.listening():
            outcome = _run(session, until, seconds)
    except GuestDied as error:
        session.died(error)
        return "died"
    _ = session.interrupt.pressed
    stop = guest.debugger.stop
    if stop is None or stop.breakpoint not in mine:
        session.print_all(guest.debugger.cli("frame").strip("\n").split("\n"))
    show_next(session)
    _say_if_over(session)
    return str(outcome)


def _run(session: Session, until: str | int | None, seconds: float | None) -> Outcome:
    """As `Guest.run`; programs that use the mounted tracefs stop the guest for a moment."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        left = None if end is None else max(0.0, end - time.monotonic())
        with session.mount.wake() as wake:
            outcome = session.live.run(until, seconds=left, timeout=math.inf, wake=wake)
        if outcome is not Outcome.STOPPED or session.interrupt.waiting:
            return outcome
        if not session.mount.serve():
            return outcome


def _say_if_over(session: Session) -> None:
    if ended := session.ended:
        session.say(ended, "yellow")


def show_next(session: Session) -> None:
    """Print the next instruction, as gdb's ``x/i $pc``."""
    for line in session.guest.debugger.cli("x/i $pc").strip("\n").split("\n"):
        session.print(line)


class _Output:
    """gdb's output, line by line; suppressed after Ctrl-C.

    With ``mine``, the harness runs the guest: stops at other breakpoints, and interrupts by the
    harness, are not shown.
    """

    def __init__(self, session: Session, mine: set[int] | None = None) -> None:
        self._session = session
        self._mine = mine
        self._rest = ""
        self._interrupted = False
        self._shown = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Print gdb's output during the block."""
        debugger = self._session.guest.debugger
        debugger.command_line.listener = self._hear
        try:
            yield
        finally:
            debugger.command_line.listener = None
            if self._rest:
                self._hear("\n")

    def _hear(self, text: str) -> None:
        *lines, self._rest = (self._rest + text.replace("\r\n", "\n")).split("\n")
        for line in lines:
            ours = self._mine is not None and self._is_ours(line)
            if not ours and not self._session.interrupt.waiting:
                self._session.show_line(line)

    def _is_ours(self, line: str) -> bool:
        interrupted, self._interrupted = self._interrupted, False
        shown, self._shown = self._shown, False
        if _INTERRUPTED.fullmatch(line):
            self._interrupted = True
            return True
        if not line or _SWITCHED.fullmatch(line) or (shown and _SOURCE.match(line)):
            return True
        reached = _REACHED.match(line)
        ours = reached is not None and int(reached[1]) not in (self._mine or ())
        self._shown = ours or (interrupted and _FRAME.match(line) is not None)
        return self._shown


def _wait(session: Session, over: bool) -> None:
    """Wait until a command such as ``finish`` or ``next`` has finished.

    The guest is stopped if it runs on although its workload returned before.
    """
    guest, debugger = session.guest, session.guest.debugger
    interrupt, console = session.interrupt.fileno(), guest.machine.console
    with session.running():
        while True:
            also = [interrupt, guest.machine.process_fd, console.fileno()]
            stop = debugger.wait_stop(LOOK, also=[fd for fd in also if fd >= 0])
            console.drain()
            if stop is None and (over or session.interrupt.pressed):
                debugger.session.press_ctrl_c()
                stop = debugger.wait_stop(STOPPING)
            if stop is not None:
                break
            if not guest.machine.alive:
                raise guest.control.cause(DebuggerDied("QEMU ended while the guest ran"))
    _after(session, stop)


def _after(session: Session, stop: Stop) -> None:
    guest = session.guest
    try:
        guest.control.check_panic(stop)
    except GuestDied as error:
        session.died(error)
        return
    if stop.breakpoint is not None and stop.breakpoint == guest.control.watermark:
        guest.drain()
        session.say("(the ring buffer was full and has been read; give the command again)")
    show_next(session)
    _say_if_over(session)
