# SPDX-License-Identifier: MIT
"""A live Linux kernel, traced from outside."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cached_property

from harness.debugger import Debugger
from harness.errors import GuestError, HarnessError, UsageError
from harness.guest.control import PANIC_OUTPUT, OwnBreakpoints
from harness.guest.guest import DONE, Guest
from harness.guest.linux_calls import ENDS, FROM_USER, SWITCHED, GuestCaller, GuestMeans
from harness.guest.linux_memory import PagedMemory
from harness.guest.modules import Module
from harness.image import GuestThread
from harness.linux import Kernel, Layouts, LinuxImage
from harness.linux.calls import KernelCalls
from harness.linux.vmalloc import MappedAreas
from harness.machine import AttachedMachine, Machine
from harness.patcher import Text
from harness.readout import EventBuffer, LinuxCollector, MonitorLane
from harness.readout.lanes import BULK
from harness.tracer import LinuxTracer, Tracer

FULL, PANIC = "rb_move_tail", "panic"
"""Called for each new sub-buffer, and where a panic begins."""

RESETS = ("ring_buffer_reset", "ring_buffer_reset_cpu", "ring_buffer_reset_online_cpus")
"""Called with recording disabled when the kernel is about to empty its buffer."""

LAST_WORD = "console_flush_on_panic"
"""Called when a panic has printed everything."""

PAGE = 4096
"""Bytes of memory that are mapped together, at least."""

HANDING_OVER = 1.0
"""Seconds in which a process enters a system call."""

CALLING = 120.0
"""Timeout in seconds of a call: it may change all call sites, and allocate for all tasks."""


class LinuxGuest(Guest):
    """A Linux kernel, stopped unless a method of this class is running."""

    own_breakpoints = OwnBreakpoints(PANIC, None)

    def __init__(
        self,
        name: str,
        image: LinuxImage,
        layouts: Layouts,
        machine: Machine | AttachedMachine,
        debugger: Debugger,
        lane: str = "auto",
    ) -> None:
        self._name = name
        self._memory = PagedMemory(debugger, lambda: self.bulk)
        self.kernel = Kernel(image, layouts, self._memory)
        self._memory.find = MappedAreas(self.kernel).find
        self._linear: Callable[[int], int | None] | None = None
        super().__init__(None, image, machine, debugger, lane)
        self.control.on_panic = self._let_it_print
        debugger.memory.linear = self._linear_address
        # What is read are lists, which lie densely in slabs and sections.
        debugger.memory.read_blocks_of(PAGE)
        debugger.memory.neighbourhood = self._neighbourhood

    @property
    def name(self) -> str:
        """The config's name, or the image's."""
        return self._name

    @property
    def ends(self) -> list[str]:
        """The functions in which this kernel ends on request."""
        return [name for name in ENDS if name in self.image.symbols]

    def stop_addresses(self, until: str | int | Sequence[str | int] | None) -> list[int]:
        """As of `Guest`; ``workload_done`` is the end of the kernel."""
        return super().stop_addresses(self.ends if until == DONE else until)

    def threads(self) -> list[GuestThread]:
        """None: a kernel's tasks are not those of a guest of the harness."""
        return []

    @property
    def workload_over(self) -> bool:
        """Always False: a kernel that has ended on request does not run."""
        return False

    @property
    def workload_status(self) -> int:
        """Always 0: a kernel that ends on request has no status."""
        return 0

    def call(self, function: str, *arguments: int) -> int:
        """Call a function of the stopped kernel, which must be in process context."""
        return self.call_kernel(function, *arguments)

    def call_kernel(self, function: str, *arguments: int, returns: str = "int") -> int:
        """As `call`, for a function that returns a number of another type."""
        self.control.leave_delay_slot()
        self.control.leave_block()
        self._tracing.drain()
        for place in self._watched:
            self.control.unwatch(place)
        try:
            result = self.debugger.call(
                self.address_of(function), *arguments, deadline=CALLING, returns=returns
            )
        except HarnessError as error:
            with suppress(HarnessError):
                self._watch()
            raise self.control.cause(error) from error
        self._watch()
        return result

    def load_module(self, module: object) -> Module:
        """Not from outside: UsageError."""
        raise UsageError(
            "modules of a Linux guest are loaded by the guest", "Their functions are traced then."
        )

    def hand_over(self) -> None:
        """Before the harness goes: what the kernel must know of a tracer that stays on."""
        tracer = self._tracing.tracer if self._tracing.in_use else None
        if isinstance(tracer, LinuxTracer) and not tracer.tell_kernel():
            # One in which no process runs switches no tracers.
            with suppress(GuestError):
                self._reach([name for name in FROM_USER if self.kernel.has(name)], HANDING_OVER)
                tracer.tell_kernel()

    @property
    def _watched(self) -> list[str]:
        """Where the kernel is stopped by the harness itself."""
        return [one for one in (FULL, SWITCHED, *RESETS) if one in self.image.symbols]

    def _watch(self) -> None:
        """Stop the kernel before it loses an unread sub-buffer, and before it switches tracers.

        Its own records of call sites know nothing of a tracer that was switched by memory writes.
        """
        in_use = self._tracing.in_use
        buffer = self._tracing.collector if in_use else None
        full = isinstance(buffer, LinuxCollector) and buffer.may_lose_nothing
        tracer = self._tracing.tracer if in_use else None
        ours = isinstance(tracer, LinuxTracer) and tracer.by_memory
        for place in self._watched:
            wanted = full if place == FULL else ours if place == SWITCHED else in_use
            if not wanted:
                self.control.unwatch(place)
            elif place == FULL and isinstance(buffer, LinuxCollector):
                self.control.watch(place, buffer.room)
            elif not self.control.watches(place):
                self.control.watch(place, 0)

    def _drained(self, give_up: Callable[[], bool]) -> bool:
        goes_on = super()._drained(give_up)
        at = self.debugger.stop.address if self.debugger.stop else None
        place = next((one for one in self._watched if self.image.symbols[one] == at), None)
        if place in RESETS and isinstance(self.collector, LinuxCollector):
            self.collector.expect_reset()
        elif place == SWITCHED and isinstance(self.tracer, LinuxTracer):
            self.tracer.give_way()
            self._watch()
        return goes_on

    def _make_collector(self) -> EventBuffer:
        return LinuxCollector(self.kernel, self.bulk, self.machine.directory, self._calls.resize)

    def _make_tracer(self, collector: EventBuffer) -> Tracer:
        return LinuxTracer(self.kernel, self._text, self.cpus, collector, self._calls)

    @property
    def _text(self) -> Text:
        return self._memory

    @cached_property
    def _calls(self) -> KernelCalls:
        means = GuestMeans(lambda: self.collector, self.call_kernel, self._reach, self.describe)
        return KernelCalls(self.kernel, GuestCaller(self.kernel, self.debugger, means))

    def _reach(self, places: list[str], seconds: float) -> None:
        super().run(places, seconds=seconds)

    def _linear_address(self, address: int) -> int | None:
        """As of `Guest`."""
        if self._linear is None:
            self._linear = self._find_linear()
        return self._linear(address & self.image.isa.mask)

    def _neighbourhood(self, address: int) -> tuple[int, bytes] | None:
        """So much that the monitor is faster; None where the kernel's memory is not linear."""
        if self._linear is None or not isinstance(self.bulk, MonitorLane):
            return None
        start = address & -BULK
        first, last = self._linear_address(start), self._linear_address(start + BULK - 1)
        if first is None or last != first + BULK - 1:
            return None
        return start, self.bulk.read(start, BULK)

    def _find_linear(self) -> Callable[[int], int | None]:
        def word(address: int, physical: int) -> int:
            # What is read here may itself be out of reach.
            self._linear = lambda wanted: wanted - address + physical
            return self.kernel.pointer(address)

        find = self.image.isa.linux.linear
        try:
            return find(self.debugger.read_register, self.image.symbols, word)
        finally:
            self._linear = None

    def _let_it_print(self) -> None:
        """At the beginning of a panic: read what the buffer holds, then let it print its message.

        ftrace_dump_on_oops empties the buffer meanwhile.
        """
        with suppress(GuestError):
            self._tracing.drain()
        if LAST_WORD not in self.image.symbols:
            return
        with suppress(HarnessError):
            number = self.debugger.breakpoints.insert(self.address_of(LAST_WORD))
            self.debugger.resume()
            if self.debugger.wait_stop(PANIC_OUTPUT) is None:
                self.control.interrupt()
            self.debugger.breakpoints.delete(number)
        self.machine.console.drain()
