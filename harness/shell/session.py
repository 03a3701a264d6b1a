# SPDX-License-Identifier: MIT
"""A session with one guest: its state, its output, and what remains when the guest ends."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial

import click

from harness.errors import DebuggerDied, GdbError, GuestDied, HarnessError, HostError, UsageError
from harness.files import trace_file
from harness.guest import DONE, Guest
from harness.kbuild import GuestSpec
from harness.replay import ReplayedGuest
from harness.shell.interrupt import Interrupt, Interrupted
from harness.shell.mounted import SessionMount
from harness.trace import TraceDatReader, TraceEvent
from harness.trace.events import lost_line
from harness.tracefs import Tracefs
from harness.units import escape

WIDEST = 1 << 20
"""Maximum number of characters of a line."""


Start = Callable[[], AbstractContextManager[Guest]]
"""Starts a guest; may be called again."""

Judge = Callable[[GuestSpec, Sequence[str], Callable[[str], None]], None]
"""Checks clauses of a guest's port, and calls its last argument with the lines of the report."""


REMAINS = (
    "trace, report, stat, record -o FILE and console still show what was read before; "
    "reboot starts another guest."
)


class Closed(Exception):
    """The reader of a command's output has closed it."""


class Session:
    """A session with a guest, which is stopped between lines, or has ended."""

    def __init__(
        self,
        start: Start,
        *,
        restart: Callable[[str], AbstractContextManager[Guest]] | None = None,
        judge: Judge | None = None,
        colour: bool | None = None,
    ) -> None:
        """``start`` starts the guest, ``restart`` one of another config, by its name."""
        self.judge = judge
        self._start = start
        self._restart = restart
        self._stack = ExitStack()
        self._colour = colour
        self.snapshots: list[str] = []
        self.interactive = False
        """Whether there is a terminal."""
        self.interrupt = Interrupt()
        self.gone: str = ""
        """Why the guest is gone; empty if it is not."""
        self._chosen: tuple[int, int | None] = (-1, None)
        self._status = False
        self._tracefs: Tracefs | None = None
        self.output: Callable[[str], None] = click.echo
        """Takes each line of output; not the session's remarks."""
        self.closed = False
        """Whether the reader of the output has closed it."""
        self.mount = SessionMount(lambda: self.tracefs, lambda: bool(self.gone), self.interrupt)
        self.guest = self._stack.enter_context(start())
        self._begin()

    def close(self) -> None:
        """End the guest."""
        self.mount.end()
        self._stack.close()
        self.interrupt.close()

    def restart(self, config: str | None = None) -> None:
        """End the guest and start another one of the same config, or of another.

        If that fails, the current guest stays.
        """
        start = self._start if config is None else self._start_of(config)
        stack = ExitStack()
        guest = stack.enter_context(start())
        self.mount.end()
        self._stack.close()
        self._start, self._stack, self.guest = start, stack, guest
        self.gone, self._chosen = "", (-1, None)
        self.snapshots.clear()
        self._begin()

    def _begin(self) -> None:
        self._over = False
        if DONE in self.guest.image.symbols:
            self.guest.control.stop_at_end(DONE)

    def _start_of(self, config: str) -> Start:
        if self._restart is None:
            raise UsageError(
                "the config of this guest cannot be changed", "Use: harness shell -c CONFIG"
            )
        return partial(self._restart, config)

    @contextmanager
    def command(self) -> Iterator[None]:
        """Around each line: Ctrl-C ends it, and the end of the guest is reported."""
        with self.interrupt.armed():
            try:
                self._notice()
                if isinstance(self.guest, ReplayedGuest) and not self.gone:
                    self.guest.replay.arm()
                yield
                self._arrived()
                self.mount.feed()
            except Interrupted:
                self.say("(interrupted)", "yellow")
            except (DebuggerDied, HostError) as error:
                raise self._lost(error) from error

    def _arrived(self) -> None:
        """Report a stop at a write of the recording's debugger, after the write was repeated."""
        guest = self.guest
        if not isinstance(guest, ReplayedGuest) or self.gone or guest.debugger.stop is None:
            return
        if guest.replay.ran and guest.replay.arrived():
            self.say("(the debugger wrote to the guest here; give the command again)")

    def _notice(self) -> None:
        """HostError if QEMU or gdb has ended since the last line."""
        if self.gone:
            return
        if not self.guest.machine.alive:
            raise HostError("QEMU has ended", "", self.guest.machine.exit_report())
        self.guest.debugger.session.pump(0)

    def _lost(self, error: HarnessError) -> HarnessError:
        """A host's error, with advice if the guest is gone."""
        debugger = self.guest.debugger
        cause = self.guest.control.cause(error)
        if debugger.connected and self.guest.machine.alive and not isinstance(error, DebuggerDied):
            return error
        if not self.gone:
            self.gone = cause.message
            cause.advice = f"{cause.advice} {REMAINS}".strip()
        return cause

    def refused(self, error: GdbError) -> HarnessError:
        """The error for a user's line that gdb does not take, unless the guest is gone."""
        cause = self._lost(error)
        return UsageError(error.message) if cause is error else cause

    def left(self, why: str) -> None:
        """The user has ended the connection to the guest."""
        self.gone = why
        self.say(REMAINS, "yellow")

    # For the verbs

    @property
    def live(self) -> Guest:
        """The guest; UsageError when it is gone."""
        if self.gone:
            raise UsageError(f"the guest is gone: {self.gone}", REMAINS)
        return self.guest

    @property
    def ended(self) -> str:
        """That the workload has returned, in words; empty if it has not."""
        # Remembered: the guest itself does not know between workload_done() and thread_exit().
        self._over = self._over or self.guest.workload_over
        return f"the workload has returned {self.guest.workload_status}" if self._over else ""

    def restore(self, name: str) -> None:
        """Return to a snapshot."""
        self.live.restore(name)
        self._over = False

    def went(self) -> None:
        """The guest of a replay is elsewhere."""
        self._over = False

    def need_workload(self) -> None:
        """UsageError if the workload has returned: nothing happens any more."""
        if ended := self.ended:
            raise UsageError(f"{ended}: reboot, or restore a snapshot")

    @property
    def tracefs(self) -> Tracefs:
        """The files of the guest; UsageError when it is gone."""
        if self._tracefs is None or self._tracefs.guest is not self.live:
            self._tracefs = Tracefs(self.live)
        return self._tracefs

    def choose_thread(self) -> None:
        """Select the user's thread in gdb."""
        debugger = self.guest.debugger
        resumptions, thread = self._chosen
        if thread is not None and resumptions == debugger.resumptions:
            debugger.select_thread(thread)

    def remember_thread(self) -> None:
        """Remember the thread that gdb has selected."""
        debugger = self.guest.debugger
        self._chosen = debugger.resumptions, debugger.command_line.selected_thread()

    @contextmanager
    def recorded(self) -> Iterator[TraceDatReader]:
        """All events so far; if the guest is gone, those read before; of a replay, its file."""
        if isinstance(self.guest, ReplayedGuest):
            with trace_file(self.guest.trace) as reader:
                yield reader
            return
        if not self.gone:
            self.guest.settle()
        with self.guest.tracer.reader(drain=not self.gone) as reader:
            yield reader

    def trace(self) -> Iterator[str]:
        """The lines of the ``trace`` file."""
        if isinstance(self.guest, ReplayedGuest):
            raise UsageError("the events of a replay are in its file", "Use: report")
        if not self.gone:
            self.guest.settle()
        return self.guest.tracer.trace(drain=not self.gone)

    def print(self, text: str = "") -> None:
        """Print a line of output; Ctrl-C ends it."""
        self.interrupt.check()
        if self.closed:
            raise Closed
        self.show_line(text)

    def show_line(self, text: str) -> None:
        """Print a line of gdb's or the guest's, without a check for Ctrl-C."""
        self._clear_status()
        self.output(escape(text, WIDEST))

    def show_verdict(self, text: str) -> None:
        """Print a line of a summary of verdicts, on a terminal with its colour."""
        from harness.conformance.reports.colours import coloured

        if self.output is not click.echo or os.environ.get("NO_COLOR"):
            self.show_line(text)
            return
        self._clear_status()
        click.echo(coloured(escape(text, WIDEST)), color=self._colour)

    def show(self, event: TraceEvent) -> None:
        """Print an event, with the number of lost events before it."""
        self._clear_status()
        if event.lost:
            self.output(lost_line(event.cpu, event.lost))
        self.output(str(event))

    def print_all(self, lines: Iterable[str]) -> None:
        """Print lines of output; Ctrl-C ends it."""
        for line in lines:
            self.print(line)

    def say(self, text: str, colour: str = "cyan") -> None:
        """Print a remark of the session."""
        self._clear_status()
        click.secho(escape(text, WIDEST), fg=colour, color=self._colour)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Show the status line on a terminal while the guest runs."""
        guest = self.guest
        saved = guest.on_drain

        def drained() -> bool:
            goes_on = saved()
            self.mount.drained()
            self._show_status()
            return goes_on

        guest.on_drain = drained
        self._show_status()
        try:
            yield
        finally:
            guest.on_drain = saved
            self._clear_status()

    def _show_status(self) -> None:
        if not self.interactive:
            return
        guest = self.guest
        text = f"{guest.name}: running"
        with suppress(HarnessError):
            counts = guest.collector.counts
            text += f", tracer {guest.tracer.current}, {counts.entries} events, {counts.lost} lost"
        click.secho(f"\r\x1b[K{text}; Ctrl-C stops it", nl=False, fg="cyan", color=self._colour)
        self._status = True

    def _clear_status(self) -> None:
        if self._status:
            click.echo("\r\x1b[K", nl=False)
            self._status = False

    def complain(self, error: HarnessError) -> None:
        """Print an error with its advice and evidence."""
        first, *rest = escape(str(error), WIDEST).split("\n")
        click.secho(first, fg="red", err=True, color=self._colour)
        for line in rest:
            click.echo(line, err=True)

    def died(self, error: GuestDied) -> None:
        """Report a panic; the guest is stopped and can be inspected."""
        self.complain(error)
        self.say("The guest is stopped in panic() and can be inspected.", "yellow")

    @property
    def state(self) -> str:
        """The status: where the guest is stopped, on which CPU, the tracer, numbers of events."""
        guest = self.guest
        if self.gone:
            return f"{guest.name}: gone | {self.gone}"
        stop = guest.debugger.stop
        if not guest.machine.alive:
            return f"{guest.name}: gone | QEMU has ended"
        if stop is None:
            return f"{guest.name}: gone | the stub has closed the connection"
        place = guest.image.symbolize(stop.address)
        parts = [f"{guest.name}: stopped at {place}, CPU {stop.thread - 1}"]
        resumptions, chosen = self._chosen
        if chosen not in (None, stop.thread) and resumptions == guest.debugger.resumptions:
            parts[0] += f", CPU {chosen - 1} is selected in gdb"
        try:
            if ended := self.ended:
                parts.append(ended)
            if isinstance(guest, ReplayedGuest):
                parts.append(f"replay: @{guest.replay.icount} of {guest.replay.end}")
                if count := len(guest.events.all):
                    parts.append(f"event {guest.events.next} of {count} is next")
                return " | ".join(parts)
            events, lost = guest.collector.totals()
            on = "" if guest.tracer.on else " (tracing_on 0)"
            parts += [f"tracer {guest.tracer.current}{on}", f"{events} events, {lost} lost"]
        except HarnessError:
            parts.append("ftrace not set up yet")
        return " | ".join(parts)
