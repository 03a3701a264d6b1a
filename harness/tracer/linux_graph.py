# SPDX-License-Identifier: MIT
"""The controls of a Linux kernel's function_graph, in its own variables."""

from collections.abc import Sequence

from harness.errors import UsageError
from harness.linux import Kernel
from harness.linux.calls import KernelCalls
from harness.linux.hashes import read_hash

LISTS = {"functions": "ftrace_graph_hash", "notrace_functions": "ftrace_graph_notrace_hash"}
COUNTS = {"nr_functions": "functions", "nr_notrace": "notrace_functions"}
NUMBERS = {"max_depth": ("fgraph_max_depth", 4), "tracing_thresh": ("tracing_thresh", 0)}
"""The variable of each number, and its size in bytes; 0 for that of a pointer."""

OPTION = "FUNCTION_GRAPH_TRACER"

ROOM = 1 << 16


class LinuxGraphMemory:
    """As `GraphMemory`: lists are ``struct ftrace_hash``, made by the kernel itself."""

    def __init__(self, kernel: Kernel, calls: KernelCalls) -> None:
        self._kernel = kernel
        self._calls = calls
        if LISTS["functions"] not in kernel.image.symbols:
            raise UsageError(
                f"{kernel.image.name} has no function_graph tracer",
                "Build it with CONFIG_FUNCTION_GRAPH_TRACER.",
            )

    def read(self, name: str) -> int:
        """A number, or the length of a list."""
        if name in COUNTS:
            return len(self._held(COUNTS[name]))
        variable, size = NUMBERS[name]
        return self._kernel.number(self._kernel.symbol(variable, OPTION), size or self._kernel.word)

    def numbers(self, name: str, count: int) -> list[int]:
        """The addresses of a list, in order."""
        return sorted(self._held(name))[:count]

    def room(self, name: str) -> int:
        """The length of the longest list."""
        return ROOM

    def write(self, **changes: int | Sequence[int]) -> None:
        """Set numbers and lists; the length of a list is in the list."""
        kernel = self._kernel
        for name, value in changes.items():
            if isinstance(value, int):
                if name not in COUNTS:
                    variable, size = NUMBERS[name]
                    kernel.store(kernel.symbol(variable, OPTION), value, size)
                continue
            empty = kernel.symbol("empty_hash", OPTION)
            made = self._calls.make_hash(value) if value else empty
            kernel.store(kernel.symbol(LISTS[name], OPTION), made)

    def _held(self, name: str) -> frozenset[int]:
        return read_hash(
            self._kernel, self._kernel.pointer(self._kernel.symbol(LISTS[name], OPTION))
        )
