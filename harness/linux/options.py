# SPDX-License-Identifier: MIT
"""``trace_options`` of a stopped kernel: flags of the trace, and those of each tracer."""

from collections.abc import Iterator

from harness.errors import UsageError
from harness.linux.calls import KernelCalls
from harness.linux.kernel import Kernel

MAX_OPTIONS = 64

PLAIN = frozenset(
    {"stacktrace", "sym-offset", "sym-addr", "userstacktrace", "markers", "context-info"}
)
"""Flags that the kernel only looks at; it does more when others are set."""

OWN = frozenset({"overwrite", "latency-format", "trace_printk"})
"""Options that would break what the harness relies on, or that have no effect on it."""

Place = tuple[int, int, int]
"""The address and the size of a word of flags, and the option's bit."""


class KernelOptions:
    """The options, as the kernel knows them by name."""

    def __init__(self, kernel: Kernel, calls: KernelCalls) -> None:
        self._kernel = kernel
        self._calls = calls

    def read(self) -> dict[str, bool]:
        """The options of the trace and of all tracers, by name, and whether each is set."""
        places = {**self._tracers(), **self._flags()}
        return {name: self._is_set(place) for name, place in places.items()}

    def set(self, name: str, on: bool) -> None:
        """Set an option; UsageError for one that the kernel does not have."""
        flags, tracers = self._flags(), self._tracers()
        if name in OWN:
            raise UsageError(f"the option {name!r} of a Linux guest cannot be set from outside")
        if name in tracers:
            self._put(tracers[name], on)
        elif name not in flags:
            raise UsageError(f"this kernel has no option {name!r}")
        elif self._is_set(flags[name]) == on:
            return
        elif name in PLAIN:
            self._put(flags[name], on)
        else:
            self._calls.set_option(name if on else f"no{name}")

    def _is_set(self, place: Place) -> bool:
        address, size, bit = place
        return bool(self._kernel.number(address, size) & bit)

    def _put(self, place: Place, on: bool) -> None:
        address, size, bit = place
        self._kernel.store(address, self._kernel.number(address, size) & ~bit | bit * on, size)

    def _flags(self) -> dict[str, Place]:
        """Those of the trace: their order is that of their bits."""
        kernel = self._kernel
        place = kernel.layouts["trace_array"].place("trace_flags")
        address = kernel.symbol("global_trace", "TRACING") + place.offset
        table = kernel.symbol("trace_options", "TRACING")
        found: dict[str, Place] = {}
        for index in range(min(MAX_OPTIONS, 8 * place.size)):
            text = kernel.pointer(table + index * kernel.word)
            if not text:
                break
            found[kernel.name(text, 64)] = (address, place.size, 1 << index)
        return found

    def _tracers(self) -> dict[str, Place]:
        found: dict[str, Place] = {}
        kernel = self._kernel
        layout, flags = kernel.layouts["tracer"], kernel.layouts["tracer_flags"]
        for tracer in self._calls.structures():
            address = kernel.pointer(tracer + layout.place("flags").offset)
            if address:
                value = flags.place("val")
                for name, bit in self._named(kernel.pointer(address + flags.place("opts").offset)):
                    found.setdefault(name, (address + value.offset, value.size, bit))
        return found

    def _named(self, address: int) -> Iterator[tuple[str, int]]:
        layout = self._kernel.layouts["tracer_opt"]
        for index in range(MAX_OPTIONS if address else 0):
            view = self._kernel.view("tracer_opt", address + index * layout.size)
            if not view["name"]:
                return
            yield self._kernel.name(view["name"], 64), view["bit"]
