# SPDX-License-Identifier: MIT
"""The stack tracer of a stopped guest (guests/kernel/include/linux/stack_tracer.h)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from harness.errors import GuestError, UsageError
from harness.image import Image, RunningImage
from harness.patcher import Text
from harness.tracer.attributes import KnownAttributes
from harness.tracer.control_block import ControlBlock
from harness.tracer.module_filter import change, title
from harness.tracer.setup import Setup

STACK_TRACER = "stack_trace_control"


@dataclass(frozen=True, slots=True)
class StackEntry:
    """An active function: where it continues, and its stack pointer's distance from the end."""

    address: int
    depth: int


class StackTable:
    """The guest's ``struct stack_trace_control``."""

    def __init__(self, image: Image, memory: Text) -> None:
        self._control = ControlBlock(image, memory, STACK_TRACER)
        self._mask = image.isa.mask

    @property
    def enabled(self) -> bool:
        """Whether the guest compares stacks at the entry of traced functions."""
        return bool(self._control.read("enabled"))

    @property
    def functions(self) -> list[int]:
        """The call sites of ``stack_trace_filter``; empty for all."""
        return self._control.numbers("functions", self._control.read("nr_functions"))

    def write(self, enabled: bool, functions: Iterable[int]) -> None:
        """Switch it, with the call sites of a filter; none of them for all."""
        chosen = sorted(functions)
        room = self._control.room("functions")
        if len(chosen) > room:
            raise UsageError(
                f"{len(chosen)} functions match; the guest has room for {room}",
                "Choose a narrower glob.",
            )
        self._control.write(functions=chosen, nr_functions=len(chosen), enabled=int(enabled))

    @property
    def max_size(self) -> int:
        """``stack_max_size``: bytes of the deepest stack."""
        return self._control.read("max_size")

    @max_size.setter
    def max_size(self, size: int) -> None:
        if not 0 <= size < 1 << 31:
            raise UsageError(f"a stack of {size} bytes is not possible")
        self._control.write(max_size=size)

    @property
    def trace(self) -> list[StackEntry]:
        """The functions active at the deepest stack, innermost first.

        GuestError if the guest's table is invalid.
        """
        half, every = self._control.read("newest"), self._control.room("entries")
        counts = self._control.numbers("nr_entries", 2)
        if half > 1 or counts[half] > every // 2:
            raise GuestError("the stack tracer's table in the guest is damaged")
        entries = self._control.structures("entries", every)
        chosen = entries[half * every // 2 :][: counts[half]]
        return [StackEntry(one["address"], one["depth"]) for one in chosen]


class StackTracer(KnownAttributes):
    """The stack tracer of one guest; ``setup`` and ``switch`` are those of its tracer."""

    def __init__(
        self,
        image: RunningImage,
        table: StackTable,
        setup: Callable[[], Setup],
        switch: Callable[[Setup], None],
    ) -> None:
        self._image = image
        self._table = table
        self._setup = setup
        self._switch = switch

    @property
    def enabled(self) -> bool:
        """``kernel.stack_tracer_enabled``, a sysctl of Linux."""
        return self._setup().stack_tracer

    @enabled.setter
    def enabled(self, on: bool) -> None:
        self._switch(replace(self._setup(), stack_tracer=on))

    @property
    def max_size(self) -> int:
        """``stack_max_size``: bytes of the deepest stack so far."""
        return self._table.max_size

    @max_size.setter
    def max_size(self, size: int) -> None:
        self._table.max_size = size

    @property
    def trace(self) -> list[StackEntry]:
        """``stack_trace``: the functions active at the deepest stack, innermost first."""
        return self._table.trace

    @property
    def filter_functions(self) -> list[str] | None:
        """The functions of ``stack_trace_filter``, by address; None without a filter."""
        chosen = self._setup().stack_chosen
        if chosen is None:
            return None
        return [title(self._image, one) for one in sorted(chosen, key=lambda one: one.address)]

    def set_filter(self, *globs: str, append: bool = False) -> None:
        """``stack_trace_filter``: look at the entries of matching functions; without globs, all.

        ``!GLOB`` removes functions, the last one the filter.
        """
        setup = self._setup()
        before = setup.stack_chosen if append and setup.stack_chosen else frozenset()
        chosen = change(self._image, before, globs) or None
        self._switch(replace(setup, stack_chosen=chosen))
