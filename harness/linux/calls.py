# SPDX-License-Identifier: MIT
"""The kernel's own functions, called through the debugger while a process runs in the kernel.

What allocates memory or waits can only be done so: the graph tracer, events, lists of functions and
of processes, the size of the buffer.
"""

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

from harness.errors import GuestError, UsageError
from harness.linux.formats import LinuxEvent
from harness.linux.kernel import Kernel

MAX_TRACERS = 64

PORTION = 256
"""Call sites that are handed over with one call; they lie on the stack."""

MAX_ERRNO = 4095

ALL_CPUS = -1
"""RING_BUFFER_ALL_CPUS."""


class KernelCaller(Protocol):
    """Calls functions of the stopped kernel."""

    @property
    def ready(self) -> bool:
        """Whether the kernel can be called where it stands."""

    def prepare(self) -> None:
        """Take the kernel to where it can be called; GuestError if that does not succeed."""

    @property
    def task(self) -> int:
        """The address of the task of the stopped CPU."""

    @property
    def cpu(self) -> int:
        """The number of the stopped CPU."""

    def call(self, function: str, *arguments: int, returns: str = "int") -> int:
        """Call a function by its name; returns its ``int``, or a number of another type."""

    def room(self, size: int) -> AbstractContextManager[int]:
        """The address of ``size`` bytes on the stack, which stay until the end of the block."""


class KernelCalls:
    """Calls in process context."""

    def __init__(self, kernel: Kernel, caller: KernelCaller) -> None:
        self._kernel = kernel
        self._caller = caller

    @property
    def ready(self) -> bool:
        """Whether the kernel can be called where it stands."""
        return self._caller.ready

    def prepare(self) -> None:
        """Take the kernel to where it can be called; GuestError if that does not succeed."""
        self._caller.prepare()

    @property
    def current_pid(self) -> int:
        """The number of the process on the stopped CPU."""
        return self._kernel.view("task_struct", self._caller.task)["pid"]

    def cpu_offsets(self) -> list[tuple[int, bool]]:
        """For each CPU what its own variables are moved by, and whether it is the stopped one."""
        kernel = self._kernel
        if not kernel.has("__per_cpu_offset"):
            return [(0, True)]
        table = kernel.image.symbols["__per_cpu_offset"]
        return [
            (kernel.pointer(table + kernel.word * cpu), cpu == self._caller.cpu)
            for cpu in range(kernel.cpu_count)
        ]

    def tracers(self) -> dict[str, int]:
        """The kernel's tracers: the address of the name of each, by name."""
        kernel = self._kernel
        if not kernel.has("tracing_set_tracer"):
            return {}
        place = kernel.layouts["tracer"].place("name")
        names = [kernel.pointer(at + place.offset) for at in self.structures()]
        return {kernel.name(address, 64): address for address in names}

    def structures(self) -> list[int]:
        """The kernel's tracers: the address of the ``struct tracer`` of each."""
        kernel = self._kernel
        if not kernel.has("trace_types"):
            return []
        place = kernel.layouts["tracer"].place("next")
        found: list[int] = []
        at = kernel.pointer(kernel.image.symbols["trace_types"])
        while at and len(found) < MAX_TRACERS:
            found.append(at)
            at = kernel.pointer(at + place.offset)
        return found

    def set_tracer(self, name: str) -> None:
        """``current_tracer``."""
        self._caller.prepare()
        self.checked(f"the tracer {name}", "tracing_set_tracer", self._trace, self.tracers()[name])

    def set_event(self, event: LinuxEvent, on: bool) -> None:
        """``set_event`` of one event, by the kernel's own copies of its names."""
        self._caller.prepare()
        names = event.system_address, event.name_address
        self.checked(f"{event.system}:{event.name}", "trace_set_clr_event", *names, int(on))

    def set_option(self, word: str) -> None:
        """``trace_options``: one word, with ``no`` in front to disable it."""
        self._caller.prepare()
        with self._text(word) as address:
            self.checked(f"the option {word}", "trace_set_options", self._trace, address)

    def resize(self, size: int) -> None:
        """``buffer_size_kb``, in bytes for each CPU."""
        self._caller.prepare()
        what = f"a buffer of {size} bytes"
        self.checked(what, "tracing_resize_ring_buffer", self._trace, size, ALL_CPUS)

    def record_names(self, on: bool) -> bool:
        """Let the kernel save the names of tasks as it switches to them; returns whether it does.

        It counts its users, so each start has its stop.
        """
        function = "tracing_start_cmdline_record" if on else "tracing_stop_cmdline_record"
        if not self._kernel.has(function):
            return False
        self._caller.call(function)
        return on

    def make_hash(self, addresses: Collection[int]) -> int:
        """A ``struct ftrace_hash`` of these call sites, of which there is at least one.

        It is the filter of an ``ftrace_ops`` that nothing uses, and is never freed.
        """
        self._caller.prepare()
        kernel, word = self._kernel, self._kernel.word
        ops = kernel.layouts["ftrace_ops"]
        ordered = sorted(addresses)
        start = -(-ops.size // 16) * 16
        with self._caller.room(start + word * PORTION) as address:
            kernel.memory.restore_memory(address, bytes(start))
            for first in range(0, len(ordered), PORTION):
                self._add(address, address + start, ordered[first : first + PORTION])
            place = ops.place("func_hash")
            held = kernel.pointer(address + place.offset)
            filter_hash = kernel.layouts["ftrace_ops_hash"].place("filter_hash")
            return kernel.pointer(held + filter_hash.offset)

    def _add(self, ops: int, array: int, addresses: Sequence[int]) -> None:
        """Add to the filter of an ``ftrace_ops``; ``array`` is the room for the addresses."""
        kernel, word = self._kernel, self._kernel.word
        if not kernel.has("ftrace_set_filter_ips"):
            for one in addresses:
                self.checked(f"the call site {one:#x}", "ftrace_set_filter_ip", ops, one, 0, 0)
            return
        order = kernel.image.byteorder
        data = b"".join(one.to_bytes(word, order) for one in addresses)
        kernel.memory.restore_memory(array, data)
        what = f"a filter with the call site {addresses[0]:#x}"
        self.checked(what, "ftrace_set_filter_ips", ops, array, len(addresses), 0, 0)

    def call(self, function: str, *arguments: int, returns: str = "int") -> int:
        """Call a function in process context; UsageError if the kernel has none of that name."""
        if not self._kernel.has(function):
            raise UsageError(f"{self._kernel.image.name} has no function {function}")
        return self._caller.call(function, *arguments, returns=returns)

    def pointer(self, what: str, function: str, *arguments: int) -> int:
        """Call a function that allocates something; GuestError if it returns no address."""
        found = self.call(function, *arguments, returns="unsigned long")
        if not found or found > self._kernel.image.isa.mask - MAX_ERRNO:
            raise GuestError(f"the kernel has no memory for {what}: {function}() failed")
        return found

    def checked(self, what: str, function: str, *arguments: int) -> int:
        """Call a function that returns a negative number if it refuses; GuestError then."""
        result = self.call(function, *arguments)
        if result < 0:
            raise GuestError(f"the kernel refuses {what}: {function}() returned {result}")
        return result

    @contextmanager
    def _text(self, text: str) -> Iterator[int]:
        data = text.encode() + b"\0"
        with self._caller.room(len(data)) as address:
            self._kernel.memory.restore_memory(address, data)
            yield address

    @property
    def _trace(self) -> int:
        return self._kernel.symbol("global_trace", "TRACING")
