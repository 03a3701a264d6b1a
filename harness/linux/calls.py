# SPDX-License-Identifier: MIT
"""The kernel's own functions, called through the debugger while a process runs in the kernel.

What allocates memory or waits can only be done so: the graph tracer, and events.
"""

from collections.abc import Callable, Collection

from harness.errors import GuestError, UsageError
from harness.linux.formats import LinuxEvent
from harness.linux.kernel import Kernel

MAX_TRACERS = 64

MAX_FILTER = 1000
"""Functions of a filter, which are set one after the other."""

Call = Callable[..., int]
"""Calls a function of the kernel by its name, with arguments; returns its ``int``."""


class KernelCalls:
    """Calls in process context; ``prepare`` takes the kernel there, GuestError if it cannot."""

    def __init__(self, kernel: Kernel, call: Call, prepare: Callable[[], None]) -> None:
        self._kernel = kernel
        self._call = call
        self._prepare = prepare

    def tracers(self) -> dict[str, int]:
        """The kernel's tracers: the address of the name of each, by name."""
        kernel = self._kernel
        if not kernel.has("trace_types") or not kernel.has("tracing_set_tracer"):
            return {}
        layout = kernel.layouts["tracer"]
        found: dict[str, int] = {}
        at = kernel.pointer(kernel.image.symbols["trace_types"])
        while at and len(found) < MAX_TRACERS:
            pointer = kernel.pointer(at + layout.place("name").offset)
            found[kernel.name(pointer, 64)] = pointer
            at = kernel.pointer(at + layout.place("next").offset)
        return found

    def set_tracer(self, name: str) -> None:
        """``current_tracer``."""
        self._prepare()
        trace = self._kernel.symbol("global_trace", "TRACING")
        self._checked(f"the tracer {name}", "tracing_set_tracer", trace, self.tracers()[name])

    def set_filter(self, addresses: Collection[int] | None) -> None:
        """``set_ftrace_filter``: the call sites of these functions; None for all."""
        ops = self._kernel.symbol("global_ops", "FUNCTION_TRACER")
        if addresses is not None and len(addresses) > MAX_FILTER:
            raise UsageError(
                f"{len(addresses)} functions are too many for a filter of the kernel itself",
                f"Choose at most {MAX_FILTER}, or none to trace all.",
            )
        self._prepare()
        if not addresses:
            self._checked("an empty filter", "ftrace_set_filter", ops, 0, 0, 1)
        for number, address in enumerate(addresses or ()):
            what = f"the call site at {address:#x}"
            self._checked(what, "ftrace_set_filter_ip", ops, address, 0, int(number == 0))

    def set_event(self, event: LinuxEvent, on: bool) -> None:
        """``set_event`` of one event, by the kernel's own copies of its names."""
        self._prepare()
        names = event.system_address, event.name_address
        self._checked(f"{event.system}:{event.name}", "trace_set_clr_event", *names, int(on))

    def _checked(self, what: str, function: str, *arguments: int) -> None:
        if not self._kernel.has(function):
            raise UsageError(f"{self._kernel.image.name} has no function {function}")
        result = self._call(function, *arguments)
        if result < 0:
            raise GuestError(f"the kernel refuses {what}: {function}() returned {result}")
