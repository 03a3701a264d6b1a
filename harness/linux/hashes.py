# SPDX-License-Identifier: MIT
"""The kernel's lists of functions: ``struct ftrace_hash``, with the call sites of each.

What the function tracer's list does not have, the kernel holds for switched off.  So a list of ours
is put in place of the kernel's own while our tracer is on.
"""

from collections.abc import Collection

from harness.errors import GuestError
from harness.linux.calls import KernelCalls
from harness.linux.kernel import Kernel

MAX_ENTRIES = 1 << 20
MAX_BITS = 20

OPTION = "DYNAMIC_FTRACE"


def read_hash(kernel: Kernel, address: int) -> frozenset[int]:
    """The call sites in a ``struct ftrace_hash``; GuestError if it is damaged."""
    if not address:
        return frozenset()
    view = kernel.view("ftrace_hash", address)
    bits, buckets, count = view["size_bits"], view["buckets"], view["count"]
    if not count or not buckets:
        return frozenset()
    if bits > MAX_BITS or count > MAX_ENTRIES:
        raise GuestError(f"the kernel has a list of {count} functions; its memory is damaged")
    word, order = kernel.word, kernel.image.byteorder
    heads = kernel.memory.dump_memory(buckets, word << bits)
    entry = kernel.layouts["ftrace_func_entry"]
    found = set()
    left = count
    for at in range(0, len(heads), word):
        one = int.from_bytes(heads[at : at + word], order)
        while one and left:
            found.add(kernel.pointer(one + entry.place("ip").offset))
            one, left = kernel.pointer(one + entry.place("hlist.next").offset), left - 1
    return frozenset(found)


class FunctionFilter:
    """The filter of the kernel's function and graph tracers, ``global_ops``."""

    def __init__(self, kernel: Kernel, calls: KernelCalls) -> None:
        self._kernel = kernel
        self._calls = calls
        self._own: tuple[int, int] | None = None

    def put(self, chosen: Collection[int] | None, hidden: Collection[int] = ()) -> None:
        """Replace the kernel's own lists while its tracers are off.

        ``chosen`` are call sites to trace, None for all, ``hidden`` those that are not traced.
        """
        lists = self._make(chosen), self._make(hidden or None)
        self._own = self._own or self._lists
        self._lists = lists

    @property
    def is_put(self) -> bool:
        """Whether the kernel has lists of ours."""
        return self._own is not None

    def restore(self) -> None:
        """Give the kernel its own lists again."""
        if self._own is not None:
            self._lists, self._own = self._own, None

    @property
    def chosen(self) -> frozenset[int]:
        """The call sites that the kernel traces; empty for all."""
        return read_hash(self._kernel, self._lists[0])

    @property
    def hidden(self) -> frozenset[int]:
        """The call sites that the kernel does not trace."""
        return read_hash(self._kernel, self._lists[1])

    def _make(self, addresses: Collection[int] | None) -> int:
        if addresses is None:
            return self._kernel.symbol("empty_hash", OPTION)
        return self._calls.make_hash(addresses)

    @property
    def _lists(self) -> tuple[int, int]:
        return self._kernel.pointer(self._places[0]), self._kernel.pointer(self._places[1])

    @_lists.setter
    def _lists(self, lists: tuple[int, int]) -> None:
        for place, value in zip(self._places, lists, strict=True):
            self._kernel.store(place, value)

    @property
    def _places(self) -> tuple[int, int]:
        kernel = self._kernel
        ops = kernel.symbol("global_ops", OPTION)
        held = kernel.pointer(ops + kernel.layouts["ftrace_ops"].place("func_hash").offset)
        layout = kernel.layouts["ftrace_ops_hash"]
        if not held:
            raise GuestError("the kernel has not set up its function tracer yet")
        first, second = layout.place("filter_hash"), layout.place("notrace_hash")
        return held + first.offset, held + second.offset
