# SPDX-License-Identifier: MIT
"""A live guest: its machine, its debugger, its tracer and its modules together."""

import difflib
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import (
    DeadlineMissed,
    GdbError,
    UsageError,
)
from harness.guest.control import TIMEOUT, Outcome, RunControl
from harness.guest.cpus import StubCpus
from harness.guest.injection import inject
from harness.guest.modules import Module, Modules
from harness.guest.snapshots import GuestSnapshots
from harness.guest.tracing import Tracing
from harness.image import GuestThread, RunningImage, ThreadArray
from harness.kbuild import GuestSpec
from harness.machine import AttachedMachine, Machine
from harness.readout import Collector, Lane, MonitorLane, StubLane
from harness.tracer import PortCalls, Tracer

MOMENT = 0.001
"""Seconds that the guest runs where it only has to get on."""

HANDLER = "handle_irq"
"""The guest's function that every interrupt comes to once its place is noted down."""

RUN_ON = 5.0
"""Seconds that a thread may take to leave a place where it must not be."""

SETTLE_STEPS = 1000
"""More instructions than one event takes from its reserve to its commit."""

SETTLING = 5.0
"""Seconds that they may take: many times what they do."""


class Guest:
    """One guest, stopped whenever no method of this class is running.

    ``spec`` is None for a guest that somebody else has started.
    """

    def __init__(
        self,
        spec: GuestSpec | None,
        image: RunningImage,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        lane: str = "auto",
    ) -> None:
        self.spec = spec
        self.image = image
        self.machine = machine
        self.debugger = debugger
        self.lane = lane
        self.cpus = StubCpus(debugger, image, self.threads, self._run_on)
        self.control = RunControl(image, machine, debugger, self.cpus)
        self.on_drain: Callable[[], bool] = lambda: True
        """Called after each drain of full buffers; False ends the run."""
        self._tracing = Tracing(self._make_collector, self._make_tracer)
        self.modules = Modules(spec, image, debugger, self.cpus, self._tracing, self.call)
        self._snapshots = GuestSnapshots(
            self.config, machine, debugger, self._tracing, self.modules
        )

    @property
    def config(self) -> MachineConfig | None:
        """The machine config, if the harness has started the guest."""
        return None if self.spec is None else self.spec.config

    @property
    def name(self) -> str:
        """The config's name; without one the image's."""
        return Path(self.image.name).name if self.config is None else self.config.name

    @property
    def collector(self) -> Collector:
        """Reads the ring buffer; `GuestError` before the guest has set it up."""
        return self._tracing.collector

    @property
    def tracer(self) -> Tracer:
        """Tracers, filters and events; from the moment on that the guest has set up ftrace."""
        return self._tracing.tracer

    def _make_collector(self) -> Collector:
        stub = StubLane(self.debugger)
        lane: Lane = stub
        if isinstance(self.machine, Machine) and self.lane != "stub":
            lane = MonitorLane(self.machine, stub, self.image.isa.machine.linear_address)
        return Collector(
            lane,
            self.image.address_of("ring_buffer"),
            self.image.byteorder,
            self.machine.directory,
            self.image.memory,
        )

    def _make_tracer(self, collector: Collector) -> Tracer:
        return Tracer(self.image, self.debugger, self.cpus, collector)

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

    def call(self, function: str, *arguments: int) -> int:
        """Have the stopped guest call one of its functions; gives the ``int`` that it returns.

        It may be traced like any other.  What does not fit into a full ring buffer is lost.  A CPU
        that stands in a delay slot, where it has begun to go elsewhere, executes that first.

        Raises:
            GuestDied: the guest panicked in it.
            GdbError: it came to a breakpoint; the guest stands there.
        """
        self._leave_delay_slot()
        self._tracing.drain()
        watermark = self.control.watermark
        # Who stops there is to drain the buffer, which nobody can in the middle of a call.
        self.debugger.command(f"-break-disable {watermark}")
        try:
            return self.debugger.call(self.address_of(function), *arguments)
        except GdbError:
            if self.image.symbols["panic_stop"] in self.cpus.program_counters().values():
                raise self.control.died(f"the guest panicked in {function}()") from None
            raise
        finally:
            self.debugger.command(f"-break-enable {watermark}")

    def _leave_delay_slot(self) -> None:
        """QEMU keeps the jump that the CPU has begun, and no debugger can see or put it off."""
        isa, size = self.image.isa, self.image.isa.machine.delay_slot
        if not size:
            return
        pc = self.debugger.read_register(isa.abi.pc_register)
        with suppress(GdbError):
            before = self.debugger.read_memory((pc - size) & isa.mask, size)
            if isa.machine.has_delay_slot(before):
                self.debugger.step_instruction()

    def load_module(self, module: str | Path | Module) -> Module:
        """Load a module into the stopped guest: a name in ``guests/modules/``, a C or an ELF file.

        Its functions are traced like the kernel's, by filters that are set from then on or when
        there is none.  Errors are those of `Modules.load`.
        """
        return self.modules.load(module)

    def unload_module(self, name: str) -> None:
        """Unload a module; its records, symbols and breakpoints go with it, and its places in
        filters.  Errors are those of `Modules.unload`.
        """
        self.modules.unload(name)

    def describe(self) -> str:
        """Where each CPU is (registers, backtrace, disassembly) and the tail of the console."""
        return self.control.describe()

    def threads(self) -> list[GuestThread]:
        """The guest's threads, by their place in its array; none until the guest has set it up."""
        array = self._thread_array
        return array.threads(self.debugger.read_memory(array.address, array.size)) if array else []

    @cached_property
    def _thread_array(self) -> ThreadArray | None:
        return ThreadArray(self.image) if "threads" in self.image.symbols else None

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
        limit = timeout if seconds is None else seconds
        outcome = self.control.run(
            [place if isinstance(place, int) else self.address_of(place) for place in places],
            time.monotonic() + limit,
            wake,
            self._drained,
        )
        if outcome is Outcome.ELAPSED and seconds is None:
            names = " or ".join(str(place) for place in places)
            raise DeadlineMissed(
                f"the guest did not reach {names} within {timeout:g} s",
                "It hangs, or needs longer: see where it is below, or raise the timeout.",
                self.describe(),
            )
        return outcome

    def _drained(self, give_up: Callable[[], bool]) -> bool:
        """Read full buffers; whether the run goes on."""
        self.drain(give_up)
        return self.on_drain()

    def drain(self, give_up: Callable[[], bool] = lambda: False) -> None:
        """Read what is new in every buffer, if anybody has asked for events; full ones are free.

        ``give_up`` is that of `Collector.drain`.
        """
        self._tracing.drain(self.control.full_cpus, give_up)

    def inject_interrupt(self, cpu: int = 0, *, nmi: bool = False) -> None:
        """Raise the injected interrupt on a CPU, which takes it where it stands when it runs on.

        If the CPU has interrupts masked there, it takes it where it opens them.  The guest counts
        in ``injected_interrupts``.  With ``nmi`` it is one that is never masked, where the machine
        has such.  `UsageError` when the machine has no way to do it.
        """
        if self.config is None:
            raise UsageError(
                "who starts a machine says how it is interrupted, and this one was attached to",
                "Boot the guest from a machine config.",
            )
        inject(self.config, self.debugger, cpu, nmi=nmi)

    def settle(self) -> None:
        """Finish the event that each CPU is writing, so that counters and pages agree."""
        end = time.monotonic() + SETTLING
        for _ in range(SETTLE_STEPS):
            writing = self.collector.writing()
            if not writing:
                return
            if time.monotonic() > end:
                break
            for cpu in writing:
                self.cpus.step(cpu)
        raise DeadlineMissed(
            f"an event is still being written after {SETTLE_STEPS} instructions or {SETTLING:g} s",
            "The guest's ring buffer is damaged, or the guest hangs inside it.",
            self.describe(),
        )

    def _run_on(self, address: int | None) -> None:
        """Until a CPU reaches an address; without one, until it handles an interrupt that it has
        begun to take, or for a moment, which may be the whole workload where the host is busy.
        """
        if address is not None:
            self.run(address, timeout=RUN_ON)
        else:
            self.run(self.image.symbols.get(HANDLER), seconds=MOMENT)

    def snapshot(self, name: str) -> None:
        """Keep the stopped guest as it is, with tracer, events and modules; some 20 ms.

        `UsageError` on a machine that QEMU cannot bring back to where it was.
        """
        self._snapshots.take(name)

    def restore(self, name: str) -> None:
        """Make the guest what it was at a snapshot, wherever it is now; some 10 ms.

        Breakpoints are those of now.  `UsageError` when there is no snapshot of that name.
        """
        if self.debugger.running:
            self.control.interrupt()
        self._snapshots.restore(name)
