# SPDX-License-Identifier: MIT
"""A live guest: run control over its machine, its debugger and its console together."""

import difflib
import select
import time
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from functools import cached_property

from harness.config import MachineConfig
from harness.debugger import Debugger, Stop
from harness.errors import (
    DeadlineMissed,
    DebuggerDied,
    FormatError,
    GdbError,
    GuestDied,
    GuestError,
    HarnessError,
    HostError,
    UsageError,
)
from harness.guest.cpus import StubCpus
from harness.guest.evidence import describe
from harness.guest.injection import inject
from harness.image import Image
from harness.machine import Machine
from harness.readout import Collector, MonitorLane, StubLane
from harness.ring import TABLE_SIZE, GuestThread, ThreadTable
from harness.tracer import PortCalls, Tracer

TIMEOUT = 60.0
"""Seconds that a guest may run without reaching what is waited for."""

DYING = 2.0
"""Seconds from a death string on the console to the end of ``panic()``."""

DRAIN_EVERY = 0.5
"""Seconds between two drains of a running guest, so that a killed QEMU takes little with it."""

INTERRUPT = 10.0
"""Seconds that QEMU may take to stop the guest."""

PARTING = 1.0
"""Seconds from the end of QEMU's first connection to the end of QEMU."""

MOMENT = 0.001
"""Seconds that the guest runs where it only has to get on."""

RUN_ON = 5.0
"""Seconds that a thread may take to leave a place where it must not be."""

SETTLE_STEPS = 1000
"""More instructions than one event takes from its reserve to its commit."""


class Outcome(StrEnum):
    """Why ``run`` came back."""

    REACHED = "reached"
    ELAPSED = "duration"
    STOPPED = "stopped"


class Guest:
    """One guest, stopped whenever no method of this class is running."""

    def __init__(
        self,
        config: MachineConfig,
        image: Image,
        machine: Machine,
        debugger: Debugger,
        lane: str = "auto",
    ) -> None:
        self.config = config
        self.image = image
        self.machine = machine
        self.debugger = debugger
        self.lane = lane
        self.cpus = StubCpus(debugger, image, self.threads, self._run_on)
        self.on_drain: Callable[[], bool] = lambda: True
        """Called after each drain of full buffers; False ends the run."""
        self._break_at("ring_buffer_watermark")
        self._panic = self._break_at("panic_stop")

    @cached_property
    def collector(self) -> Collector:
        """Reads the ring buffer; `GuestError` before the guest has set it up."""
        stub = StubLane(self.debugger)
        return Collector(
            stub
            if self.lane == "stub"
            else MonitorLane(self.machine, stub, self.image.isa.linear_address),
            self.image.address_of("ring_buffer"),
            self.image.byteorder,
            self.machine.directory,
        )

    @cached_property
    def tracer(self) -> Tracer:
        """Tracers, filters and events; from the moment on that the guest has set up ftrace."""
        return Tracer(self.image, self.debugger, self.cpus, self.collector)

    @cached_property
    def port(self) -> PortCalls:
        """The port's own patching functions, called in the guest."""
        return PortCalls(self.image, self.debugger)

    @property
    def console(self) -> str:
        """The last lines that the guest printed, escaped."""
        self.machine.console.drain()
        return self.machine.console.tail()

    @property
    def workload_status(self) -> int:
        """What ``workload()`` returned."""
        raw = self.debugger.read_memory(self.image.symbols["workload_status"], 4)
        return int.from_bytes(raw, self.image.byteorder, signed=True)

    def address_of(self, symbol: str) -> int:
        """The address of a symbol of the guest; `UsageError` with near names if there is none."""
        try:
            return self.image.symbols[symbol]
        except KeyError:
            near = difflib.get_close_matches(symbol, self.image.symbols, n=3)
            advice = f"Did you mean {', '.join(near)}?" if near else ""
            raise UsageError(f"the guest has no symbol {symbol!r}", advice) from None

    def describe(self) -> str:
        """Where each CPU is (registers, backtrace, disassembly) and the tail of the console."""
        return describe(self.debugger, self.image, self.machine.console, self.cpus)

    def threads(self) -> list[GuestThread]:
        """The guest's threads, by their place in its table; none until the guest has set it up.

        Raises:
            GuestError: the table is damaged.
        """
        where = self.image.symbols.get("thread_table")
        if where is None:
            return []
        read = self.debugger.read_memory
        try:
            table = ThreadTable.parse(read(where, TABLE_SIZE), self.image.byteorder)
        except FormatError as error:
            raise GuestError(f"the guest's threads cannot be read: {error.message}") from error
        address = self.image.address_of("threads")
        return table.threads(read(address, table.size), address)

    def run(
        self,
        until: str | int | None = "workload_done",
        *,
        seconds: float | None = None,
        timeout: float = TIMEOUT,
        wake: int | None = None,
    ) -> Outcome:
        """Let the guest run until it reaches a function or address, and drain full buffers.

        Args:
            until: a function's name or an address; None for no such end.
            seconds: come back after so long, whether ``until`` is reached or not.
            timeout: the deadline where ``seconds`` is not given.
            wake: a file descriptor; the guest is stopped as soon as it is readable.

        Raises:
            GuestDied: the guest panicked.
            DeadlineMissed: ``timeout`` passed; the guest is stopped.
            HostError: QEMU or gdb died.
        """
        number = None if until is None else self._break_at(until)
        deadline = time.monotonic() + (timeout if seconds is None else seconds)
        try:
            return self._run(number, deadline, wake)
        except (DebuggerDied, GdbError) as error:
            raise self.cause(error) from error
        except _Elapsed:
            if seconds is not None:
                return Outcome.ELAPSED
            raise DeadlineMissed(
                f"the guest did not reach {until} within {timeout:g} s",
                "It hangs, or needs longer: see where it is below, or raise the timeout.",
                self.describe(),
            ) from None
        finally:
            if number is not None:
                with suppress(HarnessError):
                    self.debugger.delete_breakpoint(number)

    def cause(self, error: HarnessError) -> HarnessError:
        """What is behind an error of the debugger: the end of QEMU, or the error itself."""
        if isinstance(error, DebuggerDied | GdbError) and self.machine.ended(patience=PARTING):
            return self._machine_ended()
        return error

    def inject_interrupt(self, cpu: int = 0, *, nmi: bool = False) -> None:
        """Raise the injected interrupt on a CPU, which takes it where it stands when it runs on.

        If the CPU has interrupts masked there, it takes it where it opens them.  The guest counts
        in ``injected_interrupts``.  With ``nmi`` it is one that is never masked, where the machine
        has such.  `UsageError` when the machine has no way to do it.
        """
        inject(self.config, self.debugger, cpu, nmi=nmi)

    def drain(self) -> None:
        """Read what is new in every buffer, and give full ones back."""
        self.collector.drain(full=self._full_cpus())

    def settle(self) -> None:
        """Finish the event that each CPU is writing, so that counters and pages agree."""
        for _ in range(SETTLE_STEPS):
            writing = self.collector.writing()
            if not writing:
                return
            for cpu in writing:
                self.cpus.step(cpu)
        raise DeadlineMissed(
            f"an event is still being written after {SETTLE_STEPS} instructions",
            "The guest's ring buffer is damaged, or the guest hangs inside it.",
            self.describe(),
        )

    def _run_on(self, address: int | None) -> None:
        """Until a CPU reaches an address, or for a moment."""
        self.run(address, seconds=MOMENT if address is None else None, timeout=RUN_ON)

    def _break_at(self, place: str | int) -> int:
        """By address: gdb would move a breakpoint on a name behind the prologue."""
        address = place if isinstance(place, int) else self.address_of(place)
        return self.debugger.insert_breakpoint(address)

    def _run(self, number: int | None, deadline: float, wake: int | None) -> Outcome:
        while True:
            self.debugger.resume()
            stop = self._wait(deadline, wake)
            if stop is not None and stop.breakpoint == self._panic:
                raise self._died("the guest panicked")
            if stop is not None and number is not None and stop.breakpoint == number:
                return Outcome.REACHED
            if wake is not None and _readable(wake):
                return Outcome.STOPPED
            # Nobody has asked for events before the collector was.  Before the deadline is looked
            # at: the guest goes on from a watermark that it has been stopped at.
            if "collector" in vars(self):
                self.drain()
            if time.monotonic() >= deadline:
                raise _Elapsed
            if not self.on_drain():
                return Outcome.STOPPED

    def _wait(self, deadline: float, wake: int | None) -> Stop | None:
        """The next stop of the guest's own, or None: stopped because it is time to look."""
        console = self.machine.console
        watched = [self.machine.process_fd, *([] if wake is None else [wake])]
        limit = min(deadline, time.monotonic() + DRAIN_EVERY)
        dying = False
        while True:
            also = watched if console.hung_up else [console.fileno(), *watched]
            stop = self.debugger.wait_stop(max(0.0, limit - time.monotonic()), also=also)
            console.drain()
            if stop is not None:
                return stop
            self._check_machine()
            if console.died and not dying:
                dying, limit = True, time.monotonic() + DYING
            if time.monotonic() >= limit or (wake is not None and _readable(wake)):
                stop = self._interrupt()
                if dying:
                    raise self._died(f"the guest printed {console.died!r} and went no further")
                # The guest may have reached a breakpoint of its own in that very moment.
                return stop if stop.breakpoint is not None else None

    def _interrupt(self) -> Stop:
        self.debugger.interrupt()
        stop = self.debugger.wait_stop(INTERRUPT)
        if stop is None:
            raise HostError("QEMU did not stop the guest when it was asked to")
        self.machine.console.drain()
        return stop

    def _check_machine(self) -> None:
        if not self.machine.alive:
            raise self._machine_ended()

    def _machine_ended(self) -> HostError:
        return HostError("QEMU ended while the guest ran", "", self.machine.exit_report())

    def _died(self, what: str) -> GuestDied:
        return GuestDied(what, "See the dump on its console below.", self.describe())

    def _full_cpus(self) -> set[int]:
        watermark = self.image.symbols["ring_buffer_watermark"]
        return {cpu for cpu, pc in self.cpus.program_counters().items() if pc == watermark}


class _Elapsed(Exception):
    """The deadline of a run passed and the guest has been stopped."""


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
