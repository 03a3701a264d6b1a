# SPDX-License-Identifier: MIT
"""Memory that a kernel has mapped page by page, found in its own list of areas."""

import pytest

from harness.errors import FormatError, GuestError
from harness.linux.vmalloc import MappedAreas, MappedMemory
from tests.unit.linux_memory import BASE, LinuxMemory, layout

KINDS = [("big", 4), ("little", 8)]
ROOT, AREAS, LISTS, MEM_MAP = BASE + 0x20000, BASE + 0x21000, BASE + 0x22000, BASE + 0x30000
PAGE = 0x1000

NAMES = ("va_start", "va_end", "rb_node", "rb_node.rb_left", "rb_node.rb_right", "vm")
"""The member rb_node has the place of its first pointer."""


class Areas(LinuxMemory):
    """Three areas of so many pages, of which the second one is the root of the tree."""

    def __post_init__(self) -> None:
        super().__post_init__()
        word = self.word
        self.start = 0xC0000000 if word == 4 else 0xC000000000000000
        area = layout("vmap_area", word, *(name for name in NAMES if name != "rb_node"))
        area.places["rb_node"] = area.places["rb_node.rb_left"]  # type: ignore[index]
        self.layouts |= {
            "vmap_area": area,
            "vm_struct": layout("vm_struct", word, "addr", "size", "pages", "nr_pages"),
            "page": layout("page", word, "flags", "mapping", "index", "private"),
        }
        self.store(MEM_MAP, MEM_MAP + 0x100)
        first, root, last = self.area(0, 1, []), self.area(1, 3, [7, 5, 6]), self.area(2, 1, [9])
        self.put("vmap_area", root, **{"rb_node.rb_left": self.node(first)})
        self.put("vmap_area", root, **{"rb_node.rb_right": self.node(last)})
        self.root = root
        self.store(ROOT, self.node(root))

    def node(self, area: int) -> int:
        return area + self.layouts["vmap_area"].places["rb_node"].offset

    def address(self, number: int) -> int:
        return self.start + number * 0x10000

    def area(self, number: int, count: int, pages: list[int]) -> int:
        """An area, with a page behind it that nothing is mapped to; without pages, no memory."""
        at, held = AREAS + 0x100 * number, AREAS + 0x100 * number + 0x80
        start, size = self.address(number), (count + 1) * PAGE
        self.put("vmap_area", at, va_start=start, va_end=start + size, vm=held if pages else 0)
        values = {"addr": start, "size": size, "nr_pages": count, "pages": LISTS + 0x100 * number}
        self.put("vm_struct", held, **values)
        for index, page in enumerate(pages):
            self.store(LISTS + 0x100 * number + self.word * index, self.page_of(page))
        return at

    def page_of(self, number: int) -> int:
        return MEM_MAP + 0x100 + number * self.layouts["page"].size

    def areas(self, **symbols: int) -> MappedAreas:
        kernel = self.kernel()
        kernel.image.symbols.update(symbols or {"vmap_area_root": ROOT, "mem_map": MEM_MAP})
        return MappedAreas(kernel)


@pytest.fixture(params=KINDS, ids=lambda kind: f"{kind[0]}{8 * kind[1]}")
def memory(request: pytest.FixtureRequest) -> Areas:
    return Areas(*request.param)


def test_pages_of_an_area_lie_anywhere(memory: Areas) -> None:
    find, start = memory.areas().find, memory.address(1)
    assert find(start) == MappedMemory(7 * PAGE, PAGE)
    assert find(start + 0x1FF0) == MappedMemory(5 * PAGE + 0xFF0, 0x10)
    assert find(start + 0x2004) == MappedMemory(6 * PAGE + 4, PAGE - 4)
    assert find(memory.address(2)) == MappedMemory(9 * PAGE, PAGE)


def test_what_is_mapped_to_no_page(memory: Areas) -> None:
    find = memory.areas().find
    for address in (
        memory.address(1) + 0x3000,
        memory.address(0),
        memory.address(0) + 0x8000,
        memory.start - 4,
        memory.address(5),
    ):
        assert find(address) is None


def test_several_trees(memory: Areas) -> None:
    memory.layouts["vmap_node"] = layout("vmap_node", memory.word, "pool", "busy.root")
    size, root = 2 * memory.word, memory.word
    nodes, pointer, count = BASE + 0x40000, BASE + 0x41000, BASE + 0x41010
    memory.store(pointer, nodes)
    memory.store(count, 3, 4)
    memory.store(nodes + 2 * size + root, memory.node(memory.root))
    symbols = {"mem_map": MEM_MAP, "vmap_nodes": pointer, "nr_vmap_nodes": count}
    assert memory.areas(**symbols).find(memory.address(1)) == MappedMemory(7 * PAGE, PAGE)
    del symbols["vmap_nodes"]
    only = symbols | {"single": nodes + 2 * size}
    memory.store(count, 1, 4)
    assert memory.areas(**only).find(memory.address(1)) == MappedMemory(7 * PAGE, PAGE)


def test_a_kernel_with_another_kind_of_list(memory: Areas) -> None:
    assert memory.areas(mem_map=MEM_MAP).find(memory.address(1)) is None
    assert memory.areas(vmap_area_root=ROOT).find(memory.address(1)) is None


def test_damage(memory: Areas) -> None:
    find = memory.areas().find
    memory.store(LISTS + 0x100, memory.page_of(7) + 1)
    with pytest.raises(GuestError, match="to no page of its memory"):
        find(memory.address(1))
    held = AREAS + 0x180
    memory.put("vm_struct", held, nr_pages=77)
    with pytest.raises(GuestError, match="77 pages to 16384 bytes"):
        find(memory.address(1))
    # A tree that is a circle ends.
    memory.put("vmap_area", memory.root, **{"rb_node.rb_left": memory.node(memory.root)})
    assert find(memory.address(0)) is None
    memory.put("vmap_area", memory.root, vm=1 << 30)
    with pytest.raises((GuestError, FormatError)):
        find(memory.address(1))
