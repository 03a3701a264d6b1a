# SPDX-License-Identifier: MIT
"""The controls of function_graph; of a guest of the harness in ``struct ftrace_graph_control``.

The guest reads them at each traced call: two limits, and two lists of function addresses.
The guest must be stopped.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from harness.errors import UsageError
from harness.image import Image
from harness.isa import CallSite
from harness.patcher import Text
from harness.tracer.attributes import KnownAttributes
from harness.tracer.control_block import ControlBlock

_NO_DEPTH = (1 << 31) - 1
"""No effective limit, but disables the guest's fast path."""

_FUNCTIONS = ("functions", "nr_functions")
_NOTRACE = ("notrace_functions", "nr_notrace")
_Names = tuple[str, str]
"""The members with a list and with its length."""


class GraphMemory(Protocol):
    """Where a guest keeps its limits and its lists; the members are those of `ControlBlock`."""

    def read(self, name: str) -> int: ...
    def numbers(self, name: str, count: int) -> list[int]: ...
    def room(self, name: str) -> int: ...
    def write(self, **changes: int | Sequence[int]) -> None: ...


def graph_memory(image: Image, memory: Text) -> GraphMemory:
    """The ``struct ftrace_graph_control`` of a guest; UsageError if it has none."""
    if "ftrace_graph_control" not in image.symbols:
        raise UsageError(
            "this guest has no function_graph tracer",
            "Build it with a port that has FUNCTION_GRAPH_TRACER.",
        )
    return ControlBlock(image, memory, "ftrace_graph_control")


class GraphControl(KnownAttributes):
    """set_graph_function, set_graph_notrace, max_graph_depth and tracing_thresh of one guest."""

    def __init__(
        self, image: Image, memory: GraphMemory, sites_of: Callable[..., list[CallSite]]
    ) -> None:
        self._image = image
        self._sites_of = sites_of
        self._thorough = False
        self._control = memory

    @property
    def max_graph_depth(self) -> int:
        """Maximum depth of traced calls; 0 for no limit."""
        depth = self._control.read("max_depth")
        return 0 if depth == _NO_DEPTH else depth

    @max_graph_depth.setter
    def max_graph_depth(self, depth: int) -> None:
        if not 0 <= depth < _NO_DEPTH:
            raise UsageError(f"a depth of {depth} is not possible", "Choose 0 (no limit) or more.")
        self._control.write(max_depth=depth or _NO_DEPTH * self._thorough)

    @property
    def thorough(self) -> bool:
        """Whether the guest checks for hidden functions and interrupts at each call."""
        return self._thorough

    @thorough.setter
    def thorough(self, thorough: bool) -> None:
        depth = self.max_graph_depth
        self._thorough = thorough
        self.max_graph_depth = depth

    @property
    def tracing_thresh(self) -> int:
        """Record only exits of calls that took this long, in microseconds; 0 for all."""
        return self._control.read("tracing_thresh") // 1000

    @tracing_thresh.setter
    def tracing_thresh(self, microseconds: int) -> None:
        if not 0 <= microseconds < 1 << 53:
            raise UsageError(f"a threshold of {microseconds} us is not possible")
        self._control.write(tracing_thresh=microseconds * 1000)

    @property
    def graph_functions(self) -> list[str]:
        """The functions of ``set_graph_function``, by address; empty for all."""
        return self._names(_FUNCTIONS)

    @property
    def graph_notrace(self) -> list[str]:
        """The functions of ``set_graph_notrace``, by address."""
        return self._names(_NOTRACE)

    def set_graph_function(self, *globs: str, append: bool = False) -> None:
        """Trace only these functions and their callees; without globs, all.

        ``!GLOB`` removes functions from the list.
        """
        self._set_list(_FUNCTIONS, globs, append)

    def set_graph_notrace(self, *globs: str, append: bool = False) -> None:
        """Do not trace these functions and their callees; without globs, trace all."""
        self._set_list(_NOTRACE, globs, append)

    def forget(self, text: range) -> None:
        """Remove an unloaded module's functions from both lists.

        They are replaced by 0, so that a list that was set stays set.
        """
        for names in (_FUNCTIONS, _NOTRACE):
            held = self._addresses(names)
            remaining = sorted(0 if address in text else address for address in held)
            if remaining != held:
                self._control.write(**{names[0]: remaining})

    def _set_list(self, names: _Names, globs: tuple[str, ...], append: bool) -> None:
        array, count = names
        chosen = set(self._addresses(names)) if append else set()
        for glob in globs:
            sites = {site.ip for site in self._sites_of(glob.removeprefix("!"))}
            chosen = chosen - sites if glob.startswith("!") else chosen | sites
        room = self._control.room(array)
        if len(chosen) > room:
            raise UsageError(
                f"{len(chosen)} functions match; the guest has room for {room}",
                "Choose a narrower glob.",
            )
        self._control.write(**{array: sorted(chosen)})
        self._control.write(**{count: len(chosen)})

    def _names(self, names: _Names) -> list[str]:
        addresses = [address for address in self._addresses(names) if address]
        return [self._image.symbolize(address).partition("+")[0] for address in addresses]

    def _addresses(self, names: _Names) -> list[int]:
        """The addresses in a list, with 0 for functions of unloaded modules."""
        array, count = names
        return self._control.numbers(array, self._control.read(count))
