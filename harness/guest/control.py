# SPDX-License-Identifier: MIT
"""Run control: a guest that runs, and why it stopped."""

import select
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum

from harness.debugger import Debugger, Stop
from harness.errors import DebuggerDied, GdbError, GuestDied, HarnessError, HostError
from harness.guest.cpus import StubCpus
from harness.guest.evidence import describe
from harness.image import Image
from harness.machine import AttachedMachine, Machine

TIMEOUT = 60.0
"""Seconds that a guest may run without reaching what is waited for."""

DYING = 2.0
"""Seconds from a death string on the console to the end of ``panic()``."""

DRAIN_EVERY = 0.5
"""Seconds between two drains of a running guest, so that a killed QEMU takes little with it."""

DRAIN_ON = 5.0
"""Seconds that a drain may go on when the time of the run is over."""

INTERRUPT = 10.0
"""Seconds that QEMU may take to stop the guest."""

PARTING = 1.0
"""Seconds from the end of QEMU's first connection to the end of QEMU."""

WATERMARK, PANIC = OWN_BREAKPOINTS = ("ring_buffer_watermark", "panic_stop")

Drained = Callable[[Callable[[], bool]], bool]
"""Reads full buffers, until its argument says to give up; whether the run goes on."""


class Outcome(StrEnum):
    """Why a run ended."""

    REACHED = "reached"
    ELAPSED = "duration"
    STOPPED = "stopped"
    BREAKPOINT = "breakpoint"


class RunControl:
    """Lets one guest run and stops it, by gdb's breakpoints and by the clock."""

    def __init__(
        self,
        image: Image,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        cpus: StubCpus,
    ) -> None:
        self._image = image
        self._machine = machine
        self._debugger = debugger
        self._cpus = cpus
        self._own: dict[str, int] = {}
        self.keep_breakpoints()

    def run(
        self, addresses: Sequence[int], deadline: float, wake: int | None, drained: Drained
    ) -> Outcome:
        """Let the guest run to one of the addresses or until a moment of `time.monotonic`.

        ``wake`` is a descriptor that ends the run when it is readable.  ``drained`` is called
        every `DRAIN_EVERY` seconds, and where the guest has a full buffer.

        Raises:
            GuestDied: the guest panicked.
            HostError: QEMU or gdb died.
        """
        # By address: gdb would move a breakpoint on a name behind the prologue.
        numbers = [self._debugger.breakpoints.insert(address) for address in addresses]
        try:
            return self._run(numbers, deadline, wake, drained)
        except (DebuggerDied, GdbError) as error:
            raise self.cause(error) from error
        finally:
            for number in numbers:
                with suppress(HarnessError):
                    self._debugger.breakpoints.delete(number)

    def interrupt(self) -> Stop:
        """Stop the guest where it is; HostError when QEMU does not."""
        self._debugger.interrupt()
        stop = self._debugger.wait_stop(INTERRUPT)
        if stop is None:
            raise HostError("QEMU did not stop the guest when it was asked to")
        self._machine.console.drain()
        return stop

    def keep_breakpoints(self) -> bool:
        """Set the breakpoints that the guest itself is stopped by, where somebody removed them.

        Returns whether any had to be set.
        """
        numbers = self._debugger.breakpoints.enabled()
        missing = [place for place in OWN_BREAKPOINTS if self._own.get(place) not in numbers]
        for place in missing:
            self._own[place] = self._debugger.breakpoints.insert(self._image.address_of(place))
        return bool(missing)

    @property
    def own_breakpoints(self) -> set[int]:
        """gdb's numbers of the breakpoints that the harness keeps in every guest."""
        return set(self._own.values())

    @property
    def watermark(self) -> int:
        """gdb's number of the breakpoint where the guest has a full buffer."""
        return self._own[WATERMARK]

    def is_own_stop(self, stop: Stop) -> bool:
        """Whether the guest stopped for the harness and not for a breakpoint of the user's."""
        return stop.breakpoint in self.own_breakpoints

    def full_cpus(self) -> set[int]:
        """The CPUs that wait for their buffers to be read."""
        watermark = self._image.symbols[WATERMARK]
        return {cpu for cpu, pc in self._cpus.program_counters().items() if pc == watermark}

    def describe(self) -> str:
        """Where each CPU is (registers, backtrace, disassembly) and the tail of the console."""
        return describe(self._debugger, self._image, self._machine.console, self._cpus)

    def died(self, what: str) -> GuestDied:
        """The error for a guest that is dead, with where it stands."""
        return GuestDied(what, "See the dump on its console below.", self.describe())

    def check_panic(self, stop: Stop) -> None:
        """GuestDied if the guest stopped at the end of a panic."""
        if stop.breakpoint == self._own[PANIC]:
            raise self.died("the guest panicked")

    def cause(self, error: HarnessError) -> HarnessError:
        """What is behind an error of the debugger: the end of QEMU, or the error itself."""
        if isinstance(error, DebuggerDied | GdbError) and self._machine.ended(patience=PARTING):
            return self._machine_ended()
        return error

    def _run(
        self, numbers: Sequence[int], deadline: float, wake: int | None, drained: Drained
    ) -> Outcome:
        late = deadline + DRAIN_ON
        while True:
            self._debugger.resume()
            stop = self._wait(deadline, wake)
            if stop is not None:
                self.check_panic(stop)
                if stop.breakpoint in numbers:
                    return Outcome.REACHED
                if not self.is_own_stop(stop):
                    return Outcome.BREAKPOINT
            if wake is not None and _readable(wake):
                return Outcome.STOPPED
            # Before the deadline is looked at: the guest goes on from a watermark that it has been
            # stopped at.
            goes_on = drained(
                lambda: time.monotonic() >= late or (wake is not None and _readable(wake))
            )
            if time.monotonic() >= deadline:
                return Outcome.ELAPSED
            if not goes_on:
                return Outcome.STOPPED

    def _wait(self, deadline: float, wake: int | None) -> Stop | None:
        """The next stop of the guest's own, or None: stopped because it is time to look."""
        console = self._machine.console
        watched = [self._machine.process_fd, *([] if wake is None else [wake])]
        limit = min(deadline, time.monotonic() + DRAIN_EVERY)
        dying = False
        while True:
            also = watched if console.hung_up else [console.fileno(), *watched]
            stop = self._debugger.wait_stop(max(0.0, limit - time.monotonic()), also=also)
            console.drain()
            if stop is not None:
                return stop
            if not self._machine.alive:
                raise self._machine_ended()
            if console.died and not dying:
                dying, limit = True, time.monotonic() + DYING
            if time.monotonic() >= limit or (wake is not None and _readable(wake)):
                stop = self.interrupt()
                if dying:
                    raise self.died(f"the guest printed {console.died!r} and went no further")
                # The guest may have reached a breakpoint in that very moment, or stand in front of
                # one that gdb would step over when it goes on.
                number = stop.breakpoint or self._breakpoint_at(stop.address)
                return None if number is None else replace(stop, breakpoint=number)

    def _breakpoint_at(self, address: int) -> int | None:
        by_address = {place: one for one, place in self._debugger.breakpoints.addresses().items()}
        return by_address.get(address & self._image.isa.mask)

    def _machine_ended(self) -> HostError:
        return HostError("QEMU ended while the guest ran", "", self._machine.exit_report())


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
