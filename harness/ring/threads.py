# SPDX-License-Identifier: MIT
"""The table of threads that a guest exports at the symbol ``thread_table``, and its threads.

The guest is a stranger: nothing here is believed before it was checked against a bound.  The layout
is that of ``struct thread_table`` in guests/kernel/include/linux/sched.h.
"""

import struct
from dataclasses import dataclass
from typing import Any

from harness.errors import FormatError
from harness.units import ByteOrder, one_line

THREAD_TABLE_MAGIC = 0x54485244
VERSION = 1

TABLE_SIZE = 80
"""Bytes of the table itself."""

FREE = 0x1000
"""``state`` of an entry that is no thread."""

_TABLE = "18IQ"
_MAX_THREADS = 65536
_MAX_ENTRY = 65536
_MAX_COMM = 64
_ADVICE = "The guest was built for another version of the harness, or its memory is damaged."

_OFFSETS = (
    "comm",
    "pid",
    "cpu",
    "flags",
    "state",
    "curr_ret_stack",
    "ret_stack",
    "interrupted_pc",
    "saved_pc",
    "saved_sp",
    "ftrace_ignore",
)
_SIGNED = ("pid", "cpu", "curr_ret_stack")
_LONGS = ("ret_stack", "interrupted_pc", "saved_pc", "saved_sp")


@dataclass(frozen=True, slots=True)
class GuestThread:
    """One thread; the fields bear the guest's names.

    ``slot`` is its place in the table and ``address`` that of its structure.  ``comm`` is escaped.
    ``interrupted_pc`` is where an interrupt has hit it that is not over yet, else 0; ``saved_pc``
    and ``saved_sp`` are where it goes on if it does not run.  ``ftrace_ignore`` says that its
    functions are not traced.
    """

    slot: int
    address: int
    pid: int
    comm: str
    cpu: int
    state: int
    flags: int
    curr_ret_stack: int
    ret_stack: int
    interrupted_pc: int
    saved_pc: int
    saved_sp: int
    ftrace_ignore: int

    def __str__(self) -> str:
        return f"{self.comm}-{self.pid}"


@dataclass(frozen=True)
class ThreadTable:
    """How to read the threads: their number, their size in bytes, and the offsets of the fields."""

    byteorder: ByteOrder
    nr_threads: int
    entry_size: int
    long_size: int
    ret_stack_size: int
    comm_size: int
    offsets: dict[str, int]

    @classmethod
    def parse(
        cls, data: bytes, byteorder: ByteOrder, room: int = _MAX_THREADS * _MAX_ENTRY
    ) -> "ThreadTable":
        """Decode `TABLE_SIZE` bytes, read at the symbol ``thread_table``; FormatError if wrong.

        ``room`` is how many bytes there are for the entries.
        """
        if len(data) < TABLE_SIZE:
            raise FormatError(f"a table of threads has {TABLE_SIZE} bytes, not {len(data)}")
        fields = struct.unpack_from((">" if byteorder == "big" else "<") + _TABLE, data)
        magic, version, nr_threads, entry_size, long_size, ret_stack_size, comm_size = fields[:7]
        if magic != THREAD_TABLE_MAGIC:
            raise FormatError(
                f"the table of threads begins with {magic:#010x}, not {THREAD_TABLE_MAGIC:#010x}",
                "Either the guest has not started yet, or this is not a guest of the harness.",
            )
        if version != VERSION:
            raise FormatError(
                f"the table of threads has version {version}; this harness reads {VERSION}",
                "Build the guest again with this harness.",
            )
        offsets = dict(zip(_OFFSETS, fields[7:18], strict=True))
        good = (
            1 <= nr_threads <= _MAX_THREADS
            and long_size in (4, 8)
            and 1 <= comm_size <= _MAX_COMM
            and 1 <= entry_size <= _MAX_ENTRY
            and all(
                offset + _size(name, long_size, comm_size) <= entry_size
                for name, offset in offsets.items()
            )
        )
        if not good:
            raise FormatError("the table of threads has numbers that cannot be right", _ADVICE)
        if nr_threads * entry_size > room:
            raise FormatError(
                f"the table of threads has {nr_threads} entries of {entry_size} bytes, "
                f"and there are {room} bytes for them",
                _ADVICE,
            )
        return cls(byteorder, nr_threads, entry_size, long_size, ret_stack_size, comm_size, offsets)

    @property
    def size(self) -> int:
        """Bytes of all entries."""
        return self.nr_threads * self.entry_size

    def threads(self, entries: bytes, address: int) -> list[GuestThread]:
        """The threads out of `size` bytes, read at ``address``: the symbol ``threads``."""
        found = []
        for slot in range(min(self.nr_threads, len(entries) // self.entry_size)):
            start = slot * self.entry_size
            fields = self._fields(entries[start : start + self.entry_size])
            if fields["state"] != FREE:
                found.append(GuestThread(slot=slot, address=address + start, **fields))
        return found

    def names(self, entries: bytes) -> dict[int, str]:
        """The name of each process id, also of threads that have ended and left a free entry."""
        found = {}
        for start in range(0, min(self.size, len(entries)), self.entry_size):
            fields = self._fields(entries[start : start + self.entry_size])
            if fields["pid"] > 0 and fields["comm"]:
                found[fields["pid"]] = fields["comm"]
        return found

    def _fields(self, entry: bytes) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for name, offset in self.offsets.items():
            raw = entry[offset : offset + _size(name, self.long_size, self.comm_size)]
            if name == "comm":
                fields[name] = one_line(raw.partition(b"\0")[0].decode("latin-1"))
            else:
                fields[name] = int.from_bytes(raw, self.byteorder, signed=name in _SIGNED)
        return fields


def _size(name: str, long_size: int, comm_size: int) -> int:
    return comm_size if name == "comm" else long_size if name in _LONGS else 4
