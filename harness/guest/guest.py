# SPDX-License-Identifier: MIT
"""A live guest: run control over its machine, its debugger and its console together."""

import difflib
import select
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from harness.config import MachineConfig
from harness.debugger import Debugger, Stop
from harness.errors import (
    DeadlineMissed,
    DebuggerDied,
    GdbError,
    GuestDied,
    HarnessError,
    HostError,
    UsageError,
)
from harness.guest.cpus import StubCpus
from harness.guest.evidence import describe
from harness.image import Image
from harness.machine import Machine
from harness.readout import Collector, MonitorLane, SpoolState, StubLane
from harness.tracer import PortCalls, Tracer, TracerState

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
        self.cpus = StubCpus(debugger)
        self.on_drain: Callable[[], bool] = lambda: True
        """Called after each drain of full buffers; False ends the run."""
        self._kept: dict[str, _Kept] = {}
        self._restored_at = -1
        self._break_at("ring_buffer_watermark")
        self._panic = self._break_at("panic_stop")

    @cached_property
    def collector(self) -> Collector:
        """Reads the ring buffer; `GuestError` before the guest has set it up."""
        stub = StubLane(self.debugger)
        return Collector(
            stub if self.lane == "stub" else MonitorLane(self.machine, stub),
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
        return describe(self.debugger, self.image, self.machine.console)

    def run(
        self,
        until: str | int | Sequence[str | int] | None = "workload_done",
        *,
        seconds: float | None = None,
        timeout: float = TIMEOUT,
        wake: int | None = None,
    ) -> Outcome:
        """Let the guest run until it reaches a function or address, and drain full buffers.

        Args:
            until: a function's name or an address, or several; None for no such end.
            seconds: come back after so long, whether ``until`` is reached or not.
            timeout: the deadline where ``seconds`` is not given.
            wake: a file descriptor; the guest is stopped as soon as it is readable.

        Raises:
            GuestDied: the guest panicked.
            DeadlineMissed: ``timeout`` passed; the guest is stopped.
            HostError: QEMU or gdb died.
        """
        places = () if until is None else (until,) if isinstance(until, str | int) else until
        numbers = [self._break_at(place) for place in places]
        deadline = time.monotonic() + (timeout if seconds is None else seconds)
        try:
            return self._run(numbers, deadline, wake)
        except (DebuggerDied, GdbError) as error:
            raise self.cause(error) from error
        except _Elapsed:
            if seconds is not None:
                return Outcome.ELAPSED
            raise DeadlineMissed(
                f"the guest did not reach {_names(places)} within {timeout:g} s",
                "It hangs, or needs longer: see where it is below, or raise the timeout.",
                self.describe(),
            ) from None
        finally:
            for number in numbers:
                with suppress(HarnessError):
                    self.debugger.delete_breakpoint(number)

    def cause(self, error: HarnessError) -> HarnessError:
        """What is behind an error of the debugger: the end of QEMU, or the error itself."""
        if isinstance(error, DebuggerDied | GdbError) and self.machine.ended(patience=PARTING):
            return self._machine_ended()
        return error

    def settle(self) -> None:
        """Finish the event that a CPU is writing, so that counters and pages agree."""
        for _ in range(SETTLE_STEPS):
            if not self.collector.writing():
                return
            self.debugger.step_instruction()
        raise DeadlineMissed(
            f"an event is still being written after {SETTLE_STEPS} instructions",
            "The guest's ring buffer is damaged, or the guest hangs inside it.",
            self.describe(),
        )

    def snapshot(self, name: str) -> None:
        """Keep the stopped guest as it is, with tracer and events, to come back to; some 20 ms."""
        self.machine.snapshots.save(name)
        self._kept[name] = _Kept(
            self.tracer.state if "tracer" in vars(self) else None,
            self.collector.state() if "collector" in vars(self) else None,
        )

    def restore(self, name: str) -> None:
        """Make the guest what it was at a snapshot, wherever it is now; some 10 ms.

        Breakpoints are those of now.  `UsageError` when there is no snapshot of that name.
        """
        if self.debugger.running:
            self._interrupt()
        if self._restored_at == self.debugger.resumptions:
            # QEMU's flash memory does work of a load when the machine runs next, and QEMU 7.2 dies
            # of a second load before that.  What is executed here is undone at once.
            self.debugger.step_instruction()
        self.machine.snapshots.load(name)
        self._restored_at = self.debugger.resumptions
        self.debugger.moved()
        kept = self._kept[name]
        if kept.spools is not None:
            self.collector.restore(kept.spools)
        elif "collector" in vars(self):
            # The guest may not even have set up its ring buffer by then.
            self.collector.close()
            del self.collector
            vars(self).pop("tracer", None)
        if kept.tracer is not None or "tracer" in vars(self):
            self.tracer.state = kept.tracer or TracerState()

    def _break_at(self, place: str | int) -> int:
        """By address: gdb would move a breakpoint on a name behind the prologue."""
        address = place if isinstance(place, int) else self.address_of(place)
        return self.debugger.insert_breakpoint(address)

    def _run(self, numbers: Sequence[int], deadline: float, wake: int | None) -> Outcome:
        while True:
            self.debugger.resume()
            stop = self._wait(deadline, wake)
            if stop is not None and stop.breakpoint == self._panic:
                raise self._died("the guest panicked")
            if stop is not None and stop.breakpoint in numbers:
                return Outcome.REACHED
            if wake is not None and _readable(wake):
                return Outcome.STOPPED
            if time.monotonic() >= deadline:
                raise _Elapsed
            # Nobody has asked for events before the collector was.
            if "collector" in vars(self):
                self.collector.drain(full=self._full_cpus())
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


@dataclass(frozen=True, slots=True)
class _Kept:
    """What goes with a snapshot outside the machine; None where nobody had asked for it yet."""

    tracer: TracerState | None
    spools: list[SpoolState] | None


class _Elapsed(Exception):
    """The deadline of a run passed and the guest has been stopped."""


def _names(places: Sequence[str | int]) -> str:
    return " or ".join(str(place) for place in places)


def _readable(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], 0)[0])
