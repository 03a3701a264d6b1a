# SPDX-License-Identifier: MIT
"""The memory of a made-up Linux kernel: structures at addresses, for tests without QEMU."""

import struct
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from harness.errors import GdbError
from harness.linux import Kernel, Layouts
from harness.linux.layouts import Layout, LayoutPlace
from harness.ring import PageFormat

BASE = 0x80010000
GLOBAL_TRACE, BUFFER, BUFFERS = BASE, BASE + 0x100, BASE + 0x200
PER_CPU, PAGES, DATA = BASE + 0x400, BASE + 0x1000, BASE + 0x10000
NR_CPU_IDS = BASE + 0x800
PAGE = 4096


def layout(name: str, word: int, *members: str, sizes: dict[str, int] | None = None) -> Layout:
    """Members one behind the other, each of a word unless it has another size."""
    places, at = {}, 0
    for member in members:
        size = (sizes or {}).get(member, word)
        places[member] = LayoutPlace(at, size, False)
        at += max(size, word)
    return Layout(name, at, places, "vmlinux")


@dataclass
class LinuxMemory:
    """A kernel with one CPU and a ring of ``nr_pages`` sub-buffers and the reader's."""

    byteorder: str = "big"
    word: int = 4
    nr_pages: int = 4
    cells: dict[int, int] = field(default_factory=dict)
    reads: int = 0

    def __post_init__(self) -> None:
        word = self.word
        names = (
            *("cpu", "record_disabled", "nr_pages", "pages", "reader_page"),
            *("commit_page", "tail_page"),
            *("entries", "overrun", "dropped_events", "committing", "read", "pages_read"),
        )
        self.layouts = {
            one.name: one
            for one in (
                layout("trace_array", word, "array_buffer.buffer"),
                layout("trace_buffer", word, "flags", "record_disabled", "buffers"),
                layout("ring_buffer_per_cpu", word, *names),
                layout("buffer_page", word, "list.next", "write", "read", "page"),
            )
        }
        places = {"time_stamp": LayoutPlace(0, 8, False), "commit": LayoutPlace(8, word, False)}
        places["data"] = LayoutPlace(8 + word, 0, False)
        self.layouts["buffer_data_page"] = Layout("buffer_data_page", 8 + word, places, "vmlinux")
        self.form = PageFormat(self.byteorder, word)  # type: ignore[arg-type]
        self.put("trace_array", GLOBAL_TRACE, **{"array_buffer.buffer": BUFFER})
        self.put("trace_buffer", BUFFER, flags=1, buffers=BUFFERS)
        self.store(BUFFERS, PER_CPU)
        self.store(NR_CPU_IDS, 1, 4)
        # Sub-buffer 0 is the reader's; the others are a ring.
        for number in range(self.nr_pages + 1):
            following = number % self.nr_pages + 1 if number else 1
            self.put("buffer_page", self.page(number), page=self.data(number))
            self.put("buffer_page", self.page(number), **{"list.next": self.page(following)})
        self.put("ring_buffer_per_cpu", PER_CPU, nr_pages=self.nr_pages, pages=self.page(1))
        self.cpu(reader_page=self.page(0), commit_page=self.page(0))
        self.head(1)

    def page(self, number: int) -> int:
        return PAGES + 0x40 * number

    def data(self, number: int) -> int:
        return DATA + PAGE * number

    def cpu(self, **values: int) -> None:
        """Set members; nothing is being written behind the commit page unless said so."""
        if "commit_page" in values:
            values.setdefault("tail_page", values["commit_page"])
        self.put("ring_buffer_per_cpu", PER_CPU, **values)

    def head(self, number: int) -> None:
        """Flag the link to a sub-buffer of the ring."""
        for one in range(1, self.nr_pages + 1):
            following = one % self.nr_pages + 1
            link = self.page(following) | (following == number)
            self.put("buffer_page", self.page(one), **{"list.next": link})

    def fill(self, number: int, stamp: int, events: int) -> None:
        """Events of 4 bytes, one nanosecond apart, with their number as payload."""
        order = self.form.order
        data = b""
        for event in range(events):
            head = 1 << 27 | 1 if self.byteorder == "big" else 1 << 5 | 1
            data += struct.pack(f"{order}II", head, stamp + event)
        page = self.form.header.pack(stamp, len(data)) + data
        for at, byte in enumerate(page.ljust(PAGE, b"\0")):
            self.cells[self.data(number) + at] = byte

    def put(self, structure: str, address: int, **values: int) -> None:
        for path, value in values.items():
            place = self.layouts[structure].places[path]
            self.store(address + place.offset, value, place.size)

    def store(self, address: int, value: int, size: int = 0) -> None:
        data = value.to_bytes(size or self.word, self.byteorder)  # type: ignore[arg-type]
        self.write_memory(address, data)

    def read_memory(self, address: int, size: int) -> bytes:
        self.reads += 1
        if not BASE <= address <= BASE + (1 << 20):
            raise GdbError(f"cannot read {address:#x}")
        return bytes(self.cells.get(address + at, 0) for at in range(size))

    dump_memory = read_memory

    def write_memory(self, address: int, data: bytes) -> None:
        self.cells |= {address + at: byte for at, byte in enumerate(data)}

    restore_memory = write_memory

    name = "memory"
    read, write = read_memory, write_memory

    def kernel(self) -> Kernel:
        isa = SimpleNamespace(
            word_size=self.word,
            mask=(1 << 8 * self.word) - 1,
            linux=SimpleNamespace(page_object="page"),
        )
        image: Any = SimpleNamespace(
            isa=isa,
            byteorder=self.byteorder,
            name="vmlinux",
            symbols={"global_trace": GLOBAL_TRACE, "nr_cpu_ids": NR_CPU_IDS},
            size_of=lambda name: PAGE,
        )
        return Kernel(image, Layouts(self.layouts, "vmlinux", {}), self)
