# SPDX-License-Identifier: MIT
"""Run control: lets a guest run, and reports why it stopped."""

import select
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

from harness.debugger import Debugger, Stop
from harness.errors import DebuggerDied, GdbError, GuestDied, HarnessError, HostError
from harness.guest.cpus import StubCpus
from harness.guest.evidence import FAULT_LINES, describe
from harness.guest.fault import find_fault
from harness.image import Image
from harness.kbuild import GuestSources
from harness.machine import AttachedMachine, Machine

TIMEOUT = 60.0
"""Default timeout of a run in seconds."""

PANIC_OUTPUT = 2.0
"""Timeout in seconds from a death string on the console to the end of ``panic()``."""

DRAIN_EVERY = 0.5
"""Seconds between drains of a running guest, so that little is lost if QEMU is killed."""

DRAIN_ON = 5.0
"""Seconds that a drain may take after the end of a run."""

INTERRUPT = 10.0
"""Timeout in seconds of an interrupt."""

AGAIN = 0.05
"""Seconds until it is sent again: gdb loses an interrupt while it steps over a breakpoint, which it
may do most of the time.
"""

PARTING = 1.0
"""Seconds from QEMU's first closed connection to its exit."""


class OwnBreakpoints(NamedTuple):
    """Functions with the harness's own breakpoints: at the end of a panic, and at a full buffer."""

    panic: str = "panic_stop"
    watermark: str | None = "ring_buffer_watermark"


Drained = Callable[[Callable[[], bool]], bool]
"""Reads full buffers until its argument returns True; returns whether to continue the run."""


class Outcome(StrEnum):
    """Why a run ended."""

    REACHED = "reached"
    ELAPSED = "duration"
    STOPPED = "stopped"
    BREAKPOINT = "breakpoint"
    ENDED = "the workload has returned"


class RunControl:
    """Runs one guest and stops it, by breakpoints and timeouts."""

    def __init__(
        self,
        image: Image,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        cpus: StubCpus,
        breakpoints: OwnBreakpoints,
        sources: GuestSources,
    ) -> None:
        self._image = image
        self._machine = machine
        self._debugger = debugger
        self._cpus = cpus
        self._breakpoints = breakpoints
        self._sources = sources
        self._own: dict[str, int] = {}
        self._own_functions = [name for name in breakpoints if name is not None]
        self._end = ""
        self.on_panic: Callable[[], None] = lambda: None
        """Called when a panic was reached, with the guest stopped there."""
        self.last_events: Callable[[], Sequence[str]] = tuple
        """Returns the last lines of the trace, for the report of a panic."""
        self.keep_breakpoints()

    def run(
        self,
        addresses: Sequence[int],
        deadline: float,
        wake: int | None,
        drained: Drained,
        *,
        again: bool = False,
    ) -> Outcome:
        """Run the guest to one of the addresses, or until a time of `time.monotonic`.

        ``wake`` is a descriptor that ends the run when it is readable.  ``drained`` is called every
        `DRAIN_EVERY` seconds, and when the guest has a full buffer.  ``again``: the next run is
        probably to the same addresses, so their breakpoints stay in gdb.

        Raises:
            GuestDied: the guest panicked.
            HostError: QEMU or gdb died.
        """
        # By address: for a name, gdb places the breakpoint after the prologue.
        numbers = self._debugger.breakpoints.until(addresses)
        try:
            return self._run(numbers, addresses, deadline, wake, drained)
        except (DebuggerDied, GdbError) as error:
            raise self.cause(error) from error
        finally:
            if not again:
                self._debugger.breakpoints.drop_until()

    def leave_delay_slot(self) -> None:
        """Execute the delay slot if the stopped CPU is in one.

        QEMU neither shows nor saves whether the branch before it is taken.
        """
        isa, size = self._image.isa, self._image.isa.cpu.delay_slot
        if not size:
            return
        pc = self._debugger.read_register(isa.abi.pc_register)
        with suppress(GdbError):
            before = self._debugger.read_memory((pc - size) & isa.mask, size)
            if isa.cpu.has_delay_slot(before):
                self._debugger.step_instruction()

    def leave_block(self) -> None:
        """Execute the rest of a block of conditional instructions if the stopped CPU is in one.

        The block's conditions would hold for the first instructions of a function that is called.
        """
        isa = self._image.isa
        while isa.cpu.in_block(self._debugger.read_register(isa.abi.status_registers[0])):
            self._debugger.step_instruction()

    def interrupt(self) -> Stop:
        """Stop the guest; HostError if QEMU does not."""
        end = time.monotonic() + INTERRUPT
        stop = None
        while stop is None:
            if time.monotonic() >= end:
                raise HostError(f"QEMU did not stop the guest within {INTERRUPT:g} s")
            self._debugger.interrupt()
            stop = self._debugger.wait_stop(AGAIN)
        self._machine.console.drain()
        return stop

    def keep_breakpoints(self) -> bool:
        """Set the harness's own breakpoints again if a user removed them.

        Returns whether any was missing.
        """
        numbers = self._debugger.breakpoints.enabled()
        missing = [place for place in self._own_functions if self._own.get(place) not in numbers]
        for place in missing:
            self._own[place] = self._debugger.breakpoints.insert(self._image.address_of(place))
        return bool(missing)

    def stop_at_end(self, place: str) -> None:
        """End every run at this function; the outcome is ENDED unless the run is to it."""
        self._end = place
        self._own_functions.append(place)
        self.keep_breakpoints()

    @property
    def own_functions(self) -> list[str]:
        """The functions with the harness's own breakpoints."""
        return list(self._own_functions)

    @property
    def own_breakpoints(self) -> set[int]:
        """gdb's numbers of the harness's own breakpoints."""
        return set(self._own.values())

    @property
    def watermark(self) -> int | None:
        """gdb's number of the breakpoint for full buffers."""
        return self._own.get(self._breakpoints.watermark or "")

    def watch(self, place: str, passes: int) -> None:
        """Stop at a function after ``passes`` calls, by one of the harness's own breakpoints."""
        self.unwatch(place)
        number = self._debugger.breakpoints.insert(self._image.address_of(place))
        self._own[place] = number
        self._debugger.command(f"-break-after {number} {passes}")

    def watches(self, place: str) -> bool:
        """Whether a breakpoint of `watch` at this function is set."""
        return self._own.get(place) in self._debugger.breakpoints.enabled()

    def unwatch(self, place: str) -> None:
        """Undo `watch`."""
        number = self._own.pop(place, None)
        if number is not None:
            with suppress(GdbError):
                self._debugger.breakpoints.delete(number)

    def is_own_stop(self, stop: Stop) -> bool:
        """Whether the guest stopped at one of the harness's own breakpoints."""
        return stop.breakpoint in self.own_breakpoints

    def full_cpus(self) -> set[int]:
        """The CPUs with full buffers."""
        if self._breakpoints.watermark is None:
            return set()
        watermark = self._image.symbols[self._breakpoints.watermark]
        return {cpu for cpu, pc in self._cpus.program_counters().items() if pc == watermark}

    def describe(self) -> str:
        """Registers, backtrace and disassembly of each CPU, and the tail of the console."""
        console = self._machine.console
        return describe(
            self._debugger, self._image, console, self._cpus, self._sources, self.last_events
        )

    def died(self, what: str) -> GuestDied:
        """The error for a dead guest, with its state."""
        self._machine.console.drain()
        headline = ""
        with suppress(HarnessError):
            fault = find_fault(self._debugger, self._image, self._machine.console.tail(FAULT_LINES))
            headline = fault.headline if fault else ""
        return GuestDied(what, "See its state below.", self.describe(), headline)

    def check_panic(self, stop: Stop) -> None:
        """GuestDied if the guest stopped at the end of a panic."""
        if stop.breakpoint == self._own[self._breakpoints.panic]:
            self.on_panic()
            raise self.died("the guest panicked")

    def cause(self, error: HarnessError) -> HarnessError:
        """The cause of a debugger's error: QEMU's exit, or the error itself."""
        if isinstance(error, DebuggerDied | GdbError) and self._machine.ended(timeout=PARTING):
            return self._machine_ended()
        return error

    def _run(
        self,
        numbers: Sequence[int],
        addresses: Sequence[int],
        deadline: float,
        wake: int | None,
        drained: Drained,
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
                # gdb reports only one of two breakpoints at an address.
                if stop.address in addresses:
                    drained(lambda: False)
                    return Outcome.REACHED
                if stop.breakpoint == self._own.get(self._end):
                    drained(lambda: False)
                    return Outcome.ENDED
            if wake is not None and _readable(wake):
                return Outcome.STOPPED
            # Before the deadline is checked: the guest continues from a watermark only after a
            # drain.
            goes_on = drained(
                lambda: time.monotonic() >= late or (wake is not None and _readable(wake))
            )
            if time.monotonic() >= deadline:
                return Outcome.ELAPSED
            if not goes_on:
                return Outcome.STOPPED

    def _wait(self, deadline: float, wake: int | None) -> Stop | None:
        """The guest's next stop, or None if it was interrupted for a drain or a timeout."""
        console = self._machine.console
        watched = [self._machine.process_fd, *([] if wake is None else [wake])]
        limit = min(deadline, time.monotonic() + DRAIN_EVERY)
        panicking = False
        while True:
            also = watched if console.hung_up else [console.fileno(), *watched]
            stop = self._debugger.wait_stop(max(0.0, limit - time.monotonic()), also=also)
            console.drain()
            if stop is not None:
                return stop
            if not self._machine.alive:
                raise self._machine_ended()
            if console.died and not panicking:
                panicking, limit = True, time.monotonic() + PANIC_OUTPUT
            if time.monotonic() >= limit or (wake is not None and _readable(wake)):
                stop = self.interrupt()
                if panicking:
                    raise self.died(f"the guest printed {console.died!r} and did not continue")
                # The guest may have just reached a breakpoint, or be at one that gdb will step
                # over.
                number = stop.breakpoint or self._breakpoint_at(stop.address)
                return None if number is None else replace(stop, breakpoint=number)

    def _breakpoint_at(self, address: int) -> int | None:
        by_address = {place: one for one, place in self._debugger.breakpoints.addresses().items()}
        return by_address.get(address & self._image.isa.mask)

    def _machine_ended(self) -> HostError:
        return HostError("QEMU ended while the guest ran", "", self._machine.exit_report())


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
