# SPDX-License-Identifier: MIT
"""The guest's ring buffer writer as a model in Python, in a memory that a lane can read."""

import struct

BASE = 0x80200000
PAGES = BASE + 0x10000
PAGE_SIZE = 4096
MAX_PAGES = 8
DATA = 12
PAYLOAD = struct.Struct(">HBBi2I")


class RingModel:
    """One CPU's buffer, 32 bits, big endian; every write is one ``function`` event of 20 bytes."""

    def __init__(self, nr_pages=4, overwrite=False):
        self.memory = bytearray(0x10000 + MAX_PAGES * PAGE_SIZE)
        self.watermark = lambda: None
        self.time = 0
        self.fields = {
            "magic": 0x46545242,
            "version": 3,
            "header_size": 48,
            "cpu_size": 128,
            "nr_cpus": 1,
            "long_size": 4,
            "page_size": PAGE_SIZE,
            "flags": int(overwrite),
        }
        self.memory[:48] = struct.pack(">8IQII", *self.fields.values(), 10**9, 0, 0)
        cpu = struct.pack(">QQ7IHHQQ", PAGES, BASE + 0x8000, MAX_PAGES, nr_pages, *[0] * 8, PAGES)
        self.memory[48 : 48 + len(cpu)] = cpu

    def read(self, address, size):
        assert address >= BASE
        assert address + size <= BASE + len(self.memory)
        return bytes(self.memory[address - BASE : address - BASE + size])

    def write(self, address, data):
        self.memory[address - BASE : address - BASE + len(data)] = data

    def get(self, name):
        return struct.unpack_from(">I", self.memory, self._at(name))[0]

    def set(self, name, value):
        struct.pack_into(">I", self.memory, self._at(name), value & 0xFFFFFFFF)

    def event(self, ip):
        """What the guest does for one traced call; False when the event is refused."""
        self.time += 7
        size = 4 + PAYLOAD.size
        if self._commit() + size > PAGE_SIZE - DATA and not self._next_page():
            return False
        commit, page = self._commit(), self._page()
        delta = self.time - self.last if commit else 0
        if not commit:
            struct.pack_into(">Q", self.memory, page, self.time)
        self.last = self.time
        where = page + DATA + commit
        struct.pack_into(">I", self.memory, where, (PAYLOAD.size // 4) << 27 | delta)
        PAYLOAD.pack_into(self.memory, where + 4, 1, 0, 0, 1, ip, ip + 8)
        struct.pack_into(">I", self.memory, page + 8, commit + size)
        self.set("entries", self.get("entries") + 1)
        return True

    def _at(self, name):
        names = ("max_pages", "nr_pages", "head", "tail", "entries", "overrun", "dropped")
        return 28 if name == "flags" else 48 + 16 + 4 * names.index(name)

    def _page(self):
        return PAGES - BASE + self.get("tail") % self.get("nr_pages") * PAGE_SIZE

    def _commit(self):
        return struct.unpack_from(">I", self.memory, self._page() + 8)[0]

    def _full(self):
        return (self.get("tail") - self.get("head") + 1) & 0xFFFFFFFF == self.get("nr_pages")

    def _first_entry(self, sequence):
        return 0x8000 + 4 * (sequence % self.get("nr_pages"))

    def _next_page(self):
        if self._full() and self.get("flags") & 1:
            head = self.get("head")
            begin, end = (
                struct.unpack_from(">I", self.memory, self._first_entry(sequence))[0]
                for sequence in (head, head + 1)
            )
            self.set("overrun", self.get("overrun") + end - begin)
            self.set("head", head + 1)
        elif self._full():
            self.watermark()
            if self._full():
                self.set("dropped", self.get("dropped") + 1)
                return False
        tail = self.get("tail") + 1
        self.set("tail", tail)
        struct.pack_into(">I", self.memory, self._first_entry(tail), self.get("entries"))
        struct.pack_into(">I", self.memory, self._page() + 8, 0)
        return True
