# SPDX-License-Identifier: MIT
"""A live guest: its machine, debugger, tracer and modules."""

import difflib
import time
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import DeadlineMissed, GdbError, HostError, UsageError
from harness.guest.calls import Calls
from harness.guest.control import TIMEOUT, Outcome, OwnBreakpoints, RunControl
from harness.guest.cpus import StubCpus
from harness.guest.injection import inject
from harness.guest.marker import TraceMarker
from harness.guest.modules import Module, Modules
from harness.guest.snapshots import GuestSnapshots
from harness.guest.tracing import Tracing
from harness.image import GuestThread, RunningImage, ThreadArray
from harness.kbuild import GuestSources, GuestSpec
from harness.machine import AttachedMachine, Machine
from harness.readout import Collector, EventBuffer, Lane, MonitorLane, StubLane
from harness.tracer import PortCalls, Tracer, settle

MOMENT = 0.001
"""Seconds of a brief run."""

DONE = "workload_done"
"""The function that the guest calls when the workload has returned."""

HANDLER = "handle_irq"
"""The guest's interrupt handler, called after the interrupted address is saved."""

RUN_ON = 5.0
"""Timeout in seconds for a thread to leave a call site."""


class Guest:
    """One guest, stopped unless a method of this class is running.

    ``spec`` is None for a guest that was not built by the harness.  ``sources`` is the text of its
    sources.
    """

    own_breakpoints = OwnBreakpoints()

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
        self._caller = Calls(image, debugger)
        self.cpus = StubCpus(debugger, image, self.threads, self._run_on)
        self.sources = GuestSources(spec, image.name)
        debugger.symbols.find_sources(self.sources.paths)
        if image.isa.abi.gdb_script:
            debugger.symbols.extend(image.isa.abi.gdb_script)
        for setting in image.isa.abi.gdb_settings:
            debugger.cli(f"set {setting}")
        self.control = RunControl(
            image, machine, debugger, self.cpus, self.own_breakpoints, self.sources
        )
        self.control.last_events = self._last_events
        self.on_drain: Callable[[], bool] = lambda: True
        """Called after each drain of full buffers; False ends the run."""
        self._tracing = Tracing(self._make_collector, self._make_tracer)
        self.modules = Modules(
            spec, image, debugger, self.cpus, self._tracing, self.call, self.sources
        )
        self._snapshots = GuestSnapshots(
            self.config, machine, debugger, image, self.control, self._tracing, self.modules
        )

    def __repr__(self) -> str:
        workload = "" if self.spec is None else f", workload {self.spec.workload.stem}"
        return f"<Guest {self.name}{workload}>"

    @property
    def config(self) -> MachineConfig | None:
        """The machine config, None if the guest was not started by the harness."""
        return None if self.spec is None else self.spec.config

    @property
    def name(self) -> str:
        """The config's name, or the image's."""
        return Path(self.image.name).name if self.config is None else self.config.name

    @property
    def collector(self) -> EventBuffer:
        """The reader of the ring buffer; `GuestError` before the guest has set it up."""
        return self._tracing.collector

    @property
    def tracer(self) -> Tracer:
        """Tracers, filters and events, once the guest has set up ftrace."""
        return self._tracing.tracer

    @cached_property
    def bulk(self) -> Lane:
        """The fastest way to read much of the memory; that of the ring buffer."""
        stub = StubLane(self.debugger)
        if isinstance(self.machine, Machine) and self.lane != "stub":
            return MonitorLane(self.machine, stub, self._linear_address)
        return stub

    def _linear_address(self, address: int) -> int | None:
        """The physical address of a kernel address; None for any other."""
        return self.image.isa.cpu.linear_address(address)

    def _make_collector(self) -> EventBuffer:
        return Collector(
            self.bulk,
            self.image.address_of("ring_buffer"),
            self.image.byteorder,
            self.machine.directory,
            self.image.memory,
        )

    def _make_tracer(self, collector: EventBuffer) -> Tracer:
        return Tracer(self.image, self.debugger, self.cpus, collector)

    @cached_property
    def port(self) -> PortCalls:
        """The port's own patching functions, called in the guest."""
        return PortCalls(self.image, self._caller)

    @property
    def console(self) -> str:
        """The last lines of the guest's output, escaped."""
        self.machine.console.drain()
        return self.machine.console.tail()

    @property
    def workload_status(self) -> int:
        """The return value of ``workload()``."""
        raw = self.debugger.read_memory(self.image.symbols["workload_status"], 4)
        return int.from_bytes(raw, self.image.byteorder, signed=True)

    @property
    def workload_over(self) -> bool:
        """Whether the workload has returned: its thread is in ``workload_done()``, or has ended."""
        array, place = self._thread_array, self.image.symbols.get(DONE)
        if array is None or place is None:
            return False
        done = self.image.function_at(place)
        if any(self.image.function_at(pc) == done for pc in self.cpus.program_counters().values()):
            return True
        # The boot thread becomes the workload's, and has the first entry.
        return array.has_ended(self.debugger.read_memory(array.address, array.layout.size))

    def address_of(self, symbol: str) -> int:
        """The address of a symbol; `UsageError` with similar names if there is none."""
        try:
            return self.image.symbols[symbol]
        except KeyError:
            near = difflib.get_close_matches(symbol, self.image.symbols, n=3)
            advice = f"Did you mean {', '.join(near)}?" if near else ""
            raise UsageError(f"the guest has no symbol {symbol!r}", advice) from None

    def call(self, function: str, *arguments: int) -> int:
        """Call a function of the stopped guest; returns its ``int``.

        The function may be traced.  Events that do not fit into a full ring buffer are lost.  A CPU
        in a delay slot, or in a block of conditional instructions, executes that first.

        Raises:
            GuestDied: the guest panicked in it.
            GdbError: it reached a breakpoint, where the guest stays.
        """
        self.control.leave_delay_slot()
        self.control.leave_block()
        self._tracing.drain()
        watermark = self.control.watermark
        # A full buffer cannot be drained during a call.
        self.debugger.command(f"-break-disable {watermark}")
        try:
            return self._caller.call(self.address_of(function), *arguments)
        except GdbError:
            if self.image.symbols["panic_stop"] in self.cpus.program_counters().values():
                raise self.control.died(f"the guest panicked in {function}()") from None
            raise
        finally:
            self.debugger.command(f"-break-enable {watermark}")

    def load_module(self, module: str | Path | Module) -> Module:
        """Load a module into the stopped guest: a name in ``guests/modules/``, a C file or an ELF
        file.

        Its functions are traced like the kernel's, by filters set from then on, or if there are
        none.  Errors are those of `Modules.load`.
        """
        return self.modules.load(module)

    def unload_module(self, name: str) -> None:
        """Unload a module with its records, symbols, breakpoints and filter entries.

        Errors are those of `Modules.unload`.
        """
        self.modules.unload(name)

    def describe(self) -> str:
        """Registers, backtrace and disassembly of each CPU, and the tail of the console."""
        return self.control.describe()

    def threads(self) -> list[GuestThread]:
        """The guest's threads by index; none until the guest has set them up."""
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
        again: bool = False,
    ) -> Outcome:
        """Run the guest until it reaches a function or address, and drain full buffers.

        Args:
            until: function names or addresses; None to run until the time is over.
            seconds: stop after this time, whether ``until`` is reached or not.
            timeout: the timeout if ``seconds`` is not given.
            wake: a file descriptor; the guest is stopped as soon as it is readable.
            again: keep the breakpoints, for a next run to the same places.

        Raises:
            GuestDied: the guest panicked.
            DeadlineMissed: ``timeout`` passed; the guest is stopped.
            HostError: QEMU or gdb died.
        """
        limit = timeout if seconds is None else seconds
        self._watch()
        outcome = self.control.run(
            self.stop_addresses(until),
            time.monotonic() + limit,
            wake,
            self._drained,
            again=again,
        )
        if outcome is Outcome.ELAPSED and seconds is None:
            places = (until,) if until is None or isinstance(until, str | int) else until
            names = " or ".join(str(place) for place in places)
            raise DeadlineMissed(
                f"the guest did not reach {names} within {timeout:g} s",
                "It hangs, or needs more time: see its state below, or raise the timeout.",
                self.describe(),
            )
        return outcome

    def stop_addresses(self, until: str | int | Sequence[str | int] | None) -> list[int]:
        """The addresses of functions or addresses; `UsageError` if there is no such function."""
        named = () if until is None else (until,) if isinstance(until, str | int) else until
        return [place if isinstance(place, int) else self.address_of(place) for place in named]

    def _watch(self) -> None:
        """Called before the guest continues; a full buffer stops it."""

    def _drained(self, give_up: Callable[[], bool]) -> bool:
        """Read full buffers; returns whether to continue the run."""
        self.drain(give_up)
        return self.on_drain()

    def drain(self, give_up: Callable[[], bool] = lambda: False) -> None:
        """Read the new events of every buffer, if tracing is in use, and free full buffers.

        ``give_up`` is that of `EventBuffer.drain`.
        """
        self._tracing.drain(self.control.full_cpus, give_up)
        self._watch()

    def inject_interrupt(self, cpu: int = 0, *, nmi: bool = False) -> None:
        """Make the injected interrupt pending on a CPU, which takes it at its next instruction.

        If interrupts are masked, it is taken when they are enabled.  The guest counts it in
        ``injected_interrupts``.  With ``nmi`` it is an NMI, if the machine supports that.
        `UsageError` if the machine has no way to do it.
        """
        if self.config is None:
            raise UsageError(
                "interrupts cannot be injected into an attached guest",
                "Boot the guest from a machine config.",
            )
        inject(self.config, self.debugger, cpu, nmi=nmi)

    @property
    def _reachable(self) -> bool:
        # Without a connection gdb reads the image instead of the guest's memory.
        return self.machine.alive and self.debugger.connected

    def _last_events(self) -> list[str]:
        return self._tracing.last_lines(self._reachable)

    def save_trace(self, file: Path, *, settled: bool = True) -> bool:
        """Write all events so far to a trace.dat; False, and no file, if nothing was traced.

        Without ``settled`` it also serves for a guest that is dead or hangs in its ring buffer:
        events that cannot be read any more are missing.

        Raises:
            UsageError: the file cannot be created.
            HostError: QEMU or gdb has ended.
        """
        if settled and self._tracing.in_use:
            if not self._reachable:
                raise HostError("QEMU or gdb has ended", "", self.machine.exit_report())
            self.settle()
            self.collector.drain()
        return self._tracing.save(file, ask=settled, drain=not settled and self._reachable)

    def settle(self) -> None:
        """Step each CPU until its current event is complete, so that counters and pages agree."""
        try:
            settle(self.collector, self.cpus)
        except DeadlineMissed as error:
            raise DeadlineMissed(error.message, error.advice, self.describe()) from error

    def write_marker(self, text: str) -> None:
        """``trace_marker``: write a print event with this text, in the thread of the stopped CPU.

        Errors are those of `TraceMarker.write`.
        """
        # Settling may have stepped another CPU last, which is then the stopped one.
        with self.debugger.preserved_selection():
            self.settle()
            self.drain()
            self._marker.write(text)

    @cached_property
    def _marker(self) -> TraceMarker:
        def run(places: list[str]) -> None:
            self.run(places, seconds=RUN_ON)

        return TraceMarker(self.image, self.debugger, self.cpus, self._caller, run)

    def _run_on(self, address: int | None) -> None:
        """Run to an address; without one, to the handler of a pending interrupt or for a moment.

        On a busy host that moment may be the whole workload.
        """
        if address is not None:
            self.run(address, timeout=RUN_ON)
        else:
            self.run(self.image.symbols.get(HANDLER), seconds=MOMENT)

    def snapshot(self, name: str) -> None:
        """Save the stopped guest with tracer, events and modules; takes some 20 ms.

        A CPU in a delay slot executes that first: QEMU does not save that its branch is taken.
        `UsageError` on a machine whose state QEMU cannot restore.
        """
        self._snapshots.take(name)

    def restore(self, name: str) -> None:
        """Return to a snapshot; takes some 10 ms.

        Breakpoints are not restored.  `UsageError` if there is no snapshot of that name.
        """
        if self.debugger.running:
            self.control.interrupt()
        self._snapshots.restore(name)
