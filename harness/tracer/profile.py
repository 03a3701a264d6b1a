# SPDX-License-Identifier: MIT
"""The tables of the function profiler in a stopped guest (linux/function_profile.h).

``trace_stat/functionN`` has the calls of each function on one CPU.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from harness.errors import UsageError
from harness.image import Image
from harness.patcher import Text
from harness.tracer.attributes import KnownAttributes
from harness.tracer.setup import PROFILES, Hooks, Setup, profiler_hooks

_MISSED = "function_profile_missed"


@dataclass(frozen=True, slots=True)
class Profile:
    """The calls of one function on one CPU; times in nanoseconds, of calls that returned there."""

    site: int
    calls: int
    time: int
    time_squared: int

    @property
    def average(self) -> int:
        """Nanoseconds per call."""
        return self.time // self.calls

    @property
    def variance(self) -> int:
        """s^2 of the times, in thousandths of a square microsecond; 0 for a single call.

        The guest's sum of squares has 64 bits: of calls of seconds it overflows, as Linux's.
        """
        below = self.calls * (self.calls - 1) * 1000
        return max(0, self.calls * self.time_squared - self.time**2) // below if below else 0


class FunctionProfiler(KnownAttributes):
    """The profiler of one guest; ``setup`` and ``switch`` are those of its tracer."""

    def __init__(
        self,
        image: Image,
        memory: Text,
        setup: Callable[[], Setup],
        switch: Callable[[Setup], None],
    ) -> None:
        hooks = profiler_hooks(image.symbols)
        if hooks is None:
            raise UsageError("this guest has no function profiler", "Build it with this harness.")
        self._hooks = hooks
        self._image = image
        self._memory = memory
        self._setup = setup
        self._switch = switch
        self._address = image.address_of(PROFILES)
        self._size = image.size_of(PROFILES)
        self._cpus = image.size_of(_MISSED) // 4

    @property
    def enabled(self) -> bool:
        """``function_profile_enabled``: calls of the functions of ``set_ftrace_filter`` count."""
        return self._setup().profile != Hooks()

    @enabled.setter
    def enabled(self, on: bool) -> None:
        if on == self.enabled:
            return
        self._switch(replace(self._setup(), profile=self._hooks if on else Hooks()))
        if on:
            self._memory.restore_memory(self._address, bytes(self._size))
            self._memory.restore_memory(self._image.address_of(_MISSED), bytes(4 * self._cpus))

    @property
    def has_times(self) -> bool:
        """Whether calls have times: the guest has the graph tracer."""
        return bool(self._hooks.graph)

    def profiles(self, cpu: int) -> list[Profile]:
        """``trace_stat/functionN``: the functions called on a CPU, by time or calls."""
        return sorted(self._read(cpu), key=lambda one: (-one.time, -one.calls, one.site))

    def missed(self, cpu: int) -> int:
        """Calls of functions that had no room in the table."""
        data = self._memory.dump_memory(self._image.address_of(_MISSED) + 4 * cpu, 4)
        return int.from_bytes(data, self._image.byteorder)

    def _read(self, cpu: int) -> Iterator[Profile]:
        layout = self._image.structures.struct("function_profile")
        size = self._size // self._cpus
        data = self._memory.dump_memory(self._address + cpu * size, size)
        for at in range(0, len(data), layout.size):
            slot = layout.unpacked(data, at)
            if slot["ip"] and slot["counter"]:
                yield Profile(slot["ip"], slot["counter"], slot["time"], slot["time_squared"])
