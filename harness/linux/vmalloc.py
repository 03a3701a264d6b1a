# SPDX-License-Identifier: MIT
"""Memory that a kernel has mapped page by page: its modules, and what it got from vmalloc().

A debug stub finds it where the processor walks page tables, and else only what the TLB holds.
The kernel has a tree of the mapped areas, and a list of the pages of each (mm/vmalloc.c).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import GuestError
from harness.linux.kernel import Kernel, View

MAX_DEPTH = 64
"""Levels of the tree, which is balanced."""

MAX_NODES = 1024
"""Trees; since Linux 6.9 there are several."""

PAGE_SIZES = tuple(1 << bits for bits in range(12, 17))

ROOT, NODES, ONE_NODE = "vmap_area_root", "vmap_nodes", "single"
"""The tree, or the trees; a pointer that always has the same address is no variable in the end."""


@dataclass(frozen=True, slots=True)
class MappedMemory:
    """A physical address, and the bytes from there to the end of the page."""

    physical: int
    size: int


class MappedAreas:
    """The areas of one kernel, whose physical memory is all in one array of ``struct page``."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel

    def find(self, address: int) -> MappedMemory | None:
        """Where an address lies in physical memory; None if it is in no area."""
        kernel = self._kernel
        if not kernel.has("mem_map") or "vmap_area" not in kernel.layouts:
            return None
        area = self._area(address & kernel.image.isa.mask)
        if area is None or not area["vm"]:
            return None
        found = kernel.view("vm_struct", area["vm"])
        count = found["nr_pages"]
        page_size = _page_size(found["size"], count)
        index, offset = divmod((address & kernel.image.isa.mask) - found["addr"], page_size)
        if not 0 <= index < count:
            return None
        page = kernel.pointer(found["pages"] + kernel.word * index)
        first = kernel.pointer(kernel.image.symbols["mem_map"])
        number, rest = divmod(page - first, kernel.layouts["page"].size)
        if number < 0 or rest:
            raise GuestError(
                f"the kernel has mapped {address:#x} to no page of its memory",
                "Its list of mapped areas is damaged.",
            )
        return MappedMemory(number * page_size + offset, page_size - offset)

    def _area(self, address: int) -> View | None:
        for root in self._roots():
            at = self._kernel.pointer(root)
            for _ in range(MAX_DEPTH):
                if not at:
                    break
                node = self._kernel.layouts["vmap_area"].place("rb_node").offset
                area = self._kernel.view("vmap_area", at - node)
                if area["va_start"] <= address < area["va_end"]:
                    return area
                smaller = address < area["va_start"]
                at = area["rb_node.rb_left" if smaller else "rb_node.rb_right"]
        return None

    def _roots(self) -> Iterator[int]:
        kernel = self._kernel
        if kernel.has(ROOT):
            yield kernel.image.symbols[ROOT]
        elif "vmap_node" in kernel.layouts and (kernel.has(NODES) or kernel.has(ONE_NODE)):
            symbols = kernel.image.symbols
            first = kernel.pointer(symbols[NODES]) if NODES in symbols else symbols[ONE_NODE]
            count = kernel.number(kernel.symbol("nr_vmap_nodes", "MMU"), 4)
            layout = kernel.layouts["vmap_node"]
            root = layout.place("busy.root").offset
            for index in range(min(count, MAX_NODES)):
                yield first + index * layout.size + root


def _page_size(size: int, count: int) -> int:
    """By the size of an area, which may have a page more that nothing is mapped to."""
    for one in PAGE_SIZES:
        if size in (count * one, (count + 1) * one):
            return one
    raise GuestError(
        f"the kernel has mapped {count} pages to {size} bytes",
        "Its list of mapped areas is damaged.",
    )
