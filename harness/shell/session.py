# SPDX-License-Identifier: MIT
"""One session with one guest: what it is, what it shows, and what is left when the guest ends."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial

import click

from harness.errors import DebuggerDied, GuestDied, HarnessError, HostError, UsageError
from harness.guest import Guest
from harness.kbuild import GuestSpec
from harness.shell.interrupt import Interrupt, Interrupted
from harness.trace import TraceDatReader, TraceEvent
from harness.trace.events import lost_line
from harness.units import escape

WIDEST = 1 << 20
"""Characters of one line that are shown."""


Start = Callable[[], AbstractContextManager[Guest]]
"""Makes a guest, and again another one like it."""

Judge = Callable[[GuestSpec, Sequence[str], Callable[[str], None]], None]
"""Judges clauses of a guest's port, and gives the lines of the report."""


REMAINS = (
    "trace, report, stat, record -o FILE and console still show what was read before; "
    "reboot starts another guest."
)


class Session:
    """A guest, stopped between two lines; the last report of its end, when it has ended."""

    def __init__(
        self,
        start: Start,
        *,
        restart: Callable[[str], AbstractContextManager[Guest]] | None = None,
        judge: Judge | None = None,
        colour: bool | None = None,
    ) -> None:
        """``start`` makes the guest, ``restart`` one of another config, by its name."""
        self.judge = judge
        self._start = start
        self._restart = restart
        self._stack = ExitStack()
        self._colour = colour
        self.snapshots: list[str] = []
        self.interactive = False
        """Whether somebody sits at a terminal."""
        self.interrupt = Interrupt()
        self.gone: str = ""
        """Why the guest cannot be asked any more; empty while it can."""
        self._chosen: tuple[int, int | None] = (-1, None)
        self._status = False
        self.guest = self._stack.enter_context(start())

    def close(self) -> None:
        """End the guest."""
        self._stack.close()
        self.interrupt.close()

    def restart(self, config: str | None = None) -> None:
        """End the guest and start another one like it, or one of another config.

        A config that cannot be started leaves the guest as it is.
        """
        start = self._start if config is None else self._start_of(config)
        stack = ExitStack()
        guest = stack.enter_context(start())
        self._stack.close()
        self._start, self._stack, self.guest = start, stack, guest
        self.gone, self._chosen = "", (-1, None)
        self.snapshots.clear()

    def _start_of(self, config: str) -> Start:
        if self._restart is None:
            raise UsageError(
                "who started this guest chose its config",
                "Use: harness shell -c CONFIG",
            )
        return partial(self._restart, config)

    @contextmanager
    def command(self) -> Iterator[None]:
        """Around what a line does: Ctrl-C ends it, and if the guest has ended the error says so."""
        with self.interrupt.armed():
            try:
                self._notice()
                yield
            except Interrupted:
                self.say("(interrupted)", "yellow")
            except (DebuggerDied, HostError) as error:
                raise self._lost(error) from error

    def _notice(self) -> None:
        """HostError, once, when QEMU or gdb has ended since the last line."""
        if self.gone:
            return
        if not self.guest.machine.alive:
            raise HostError("QEMU has ended", "", self.guest.machine.exit_report())
        self.guest.debugger.session.pump(0)

    def _lost(self, error: HarnessError) -> HarnessError:
        """An error of the host, with what is left if it took the guest away."""
        debugger = self.guest.debugger
        cause = self.guest.control.cause(error)
        if debugger.connected and self.guest.machine.alive and not isinstance(error, DebuggerDied):
            return error
        if not self.gone:
            self.gone = cause.message
            cause.advice = f"{cause.advice} {REMAINS}".strip()
        return cause

    def left(self, why: str) -> None:
        """The guest cannot be asked any more, because the user wanted it so."""
        self.gone = why
        self.say(REMAINS, "yellow")

    # For the verbs

    @property
    def live(self) -> Guest:
        """The guest; UsageError when it is gone."""
        if self.gone:
            raise UsageError(
                f"the guest cannot be asked any more: {self.gone}",
                REMAINS,
            )
        return self.guest

    def choose_thread(self) -> None:
        """Have gdb look at the thread that the user chose, whatever a verb looked at since."""
        debugger = self.guest.debugger
        resumptions, thread = self._chosen
        if thread is not None and resumptions == debugger.resumptions:
            debugger.select_thread(thread)

    def remember_thread(self) -> None:
        """A line of gdb's may have chosen another thread."""
        debugger = self.guest.debugger
        self._chosen = debugger.resumptions, debugger.command_line.selected_thread()

    @contextmanager
    def recorded(self) -> Iterator[TraceDatReader]:
        """All events so far; those read before its end when the guest is gone."""
        if not self.gone:
            self.guest.settle()
        with self.guest.tracer.reader(drain=not self.gone) as reader:
            yield reader

    def trace(self) -> Iterator[str]:
        """The lines of the file ``trace``."""
        if not self.gone:
            self.guest.settle()
        return self.guest.tracer.trace(drain=not self.gone)

    def print(self, text: str = "") -> None:
        """A line of an answer."""
        self.interrupt.check()
        self.show_line(text)

    def show_line(self, text: str) -> None:
        """A line that Ctrl-C does not come in front of, for it is gdb's or the guest's."""
        self._clear_status()
        click.echo(escape(text, WIDEST))

    def show(self, event: TraceEvent) -> None:
        """An event, and what was lost in front of it."""
        self._clear_status()
        if event.lost:
            click.echo(lost_line(event.cpu, event.lost))
        click.echo(str(event))

    def print_all(self, lines: Iterable[str]) -> None:
        """Lines of an answer; Ctrl-C ends them."""
        for line in lines:
            self.print(line)

    def say(self, text: str, colour: str = "cyan") -> None:
        """A remark of the session's own."""
        self._clear_status()
        click.secho(escape(text, WIDEST), fg=colour, color=self._colour)

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the block lets the guest run: who sits at a terminal sees that, and the counts."""
        guest = self.guest
        saved = guest.on_drain

        def drained() -> bool:
            goes_on = saved()
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
        """An error, with what to do about it and what was seen."""
        first, *rest = escape(str(error), WIDEST).split("\n")
        click.secho(first, fg="red", err=True, color=self._colour)
        for line in rest:
            click.echo(line, err=True)

    def died(self, error: GuestDied) -> None:
        """The guest is dead but there: it can still be looked at."""
        self.complain(error)
        self.say("The guest is stopped where it died; it can still be looked at.", "yellow")

    @property
    def state(self) -> str:
        """One line: stopped where, on which CPU, which tracer, how many events and losses."""
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
            parts[0] += f", gdb looks at CPU {chosen - 1}"
        try:
            cpus = guest.collector.header().cpus
            events = sum(cpu.entries for cpu in cpus)
            lost = sum(cpu.overrun + cpu.dropped for cpu in cpus)
            on = "" if guest.tracer.on else " (tracing_on 0)"
            parts += [f"tracer {guest.tracer.current}{on}", f"{events} events, {lost} lost"]
        except HarnessError:
            parts.append("ftrace not set up yet")
        return " | ".join(parts)
