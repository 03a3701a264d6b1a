# SPDX-License-Identifier: MIT
"""The ring buffer header, exported by the guest as ``ring_buffer`` (docs/ring-buffer.rst).

The guest is not trusted: every value is checked against a limit.
"""

import struct
from dataclasses import dataclass

from harness.errors import FormatError
from harness.ring.page import PageFormat
from harness.units import ByteOrder

MAGIC = 0x46545242
VERSION = 3
OVERWRITE = 1

FIXED_SIZE = 48
"""Bytes of the header to read first; they contain its whole length."""

_FIXED = "8IQII"
_CPU = "QQ7IHHQQ"
_CPU_SIZE = struct.calcsize("<" + _CPU)
_SEQUENCE_MASK = 0xFFFFFFFF

_MAX_CPUS = 256
_MAX_STRUCTURE = 4096
_MAX_PAGES = 1 << 20
_ADVICE = "The guest was built for another version of the harness, or its memory is damaged."

_FIXED_FIELDS = (
    *("magic", "version", "header_size", "cpu_size", "nr_cpus", "long_size", "page_size"),
    *("flags", "clock_hz", "record_disabled"),
)
_CPU_FIELDS = (
    *("pages", "first_entry", "max_pages", "nr_pages", "head", "tail"),
    *("entries", "overrun", "dropped", "writing", "record_disabled", "last_stamp", "tail_page"),
)
_OFFSETS = {"flags": 28, "clock_hz": 32, "record_disabled": 40}
_CPU_OFFSETS = {name: 8 * i for i, name in enumerate(_CPU_FIELDS[:2])} | {
    name: 16 + 4 * i for i, name in enumerate(_CPU_FIELDS[2:10])
}
# The two flags are half a word each.
_CPU_OFFSETS |= {"record_disabled": 46, "last_stamp": 48, "tail_page": 56}


@dataclass(frozen=True)
class RingCpu:
    """The header's part for one CPU, with the guest's names.

    ``offset`` is where this part begins, in bytes from the symbol ``ring_buffer``.  ``pages``,
    ``first_entry`` and ``tail_page`` are guest addresses.  ``head`` and ``tail`` are page sequence
    numbers of 32 bits, which wrap; a page is at index sequence modulo ``nr_pages``.
    """

    index: int
    offset: int
    page_size: int
    pages: int
    first_entry: int
    max_pages: int
    nr_pages: int
    head: int
    tail: int
    entries: int
    overrun: int
    dropped: int
    writing: int
    record_disabled: int
    last_stamp: int
    tail_page: int

    @property
    def unread_pages(self) -> list[int]:
        """Sequence numbers of the pages from head to tail; the last is being written.

        Empty if all has been consumed, which a reader marks by head = tail + 1.
        """
        count = (self.tail - self.head + 1) & _SEQUENCE_MASK
        return [(self.head + i) & _SEQUENCE_MASK for i in range(count)]

    @property
    def complete_pages(self) -> list[int]:
        """As `unread_pages`, without the page being written."""
        return self.unread_pages[:-1]

    def page_address(self, sequence: int) -> int:
        """The guest address of a page."""
        return self.pages + sequence % self.nr_pages * self.page_size

    def first_entry_address(self, sequence: int) -> int:
        """The guest address of the u32 with the value of ``entries`` at the page's first event."""
        return self.first_entry + 4 * (sequence % self.nr_pages)

    def field_offset(self, name: str) -> int:
        """The offset of a field in bytes from the symbol ``ring_buffer``."""
        return self.offset + _CPU_OFFSETS[name]


@dataclass(frozen=True)
class RingHeader:
    """The whole header, checked, with the guest's names."""

    page_format: PageFormat
    flags: int
    clock_hz: int
    record_disabled: int
    cpus: tuple[RingCpu, ...]

    @classmethod
    def parse(cls, data: bytes, byteorder: ByteOrder) -> "RingHeader":
        """Decode at least `header_length` bytes, read from the symbol ``ring_buffer``."""
        fixed = _fixed_fields(data, byteorder)
        length = header_length(data, byteorder)
        if len(data) < length:
            raise FormatError(
                f"the ring buffer header is {length} bytes long, but only {len(data)} were read"
            )
        form = PageFormat(byteorder, fixed["long_size"], fixed["page_size"])
        cpus = tuple(
            _parse_cpu(data, index, fixed["header_size"] + index * fixed["cpu_size"], form)
            for index in range(fixed["nr_cpus"])
        )
        return cls(form, fixed["flags"], fixed["clock_hz"], fixed["record_disabled"], cpus)

    @property
    def overwrite(self) -> bool:
        """Whether a full buffer overwrites its oldest page; otherwise new events are dropped."""
        return bool(self.flags & OVERWRITE)

    def check_within(self, memory: range) -> None:
        """FormatError if a CPU's pages lie outside of ``memory``, or more are unread than fit.

        Other addresses cannot be read: there may be devices or nothing.
        """
        size = self.page_format.page_size
        for cpu in self.cpus:
            for what, start, length in (
                ("pages", cpu.pages, cpu.max_pages * size),
                ("first_entry", cpu.first_entry, cpu.max_pages * 4),
            ):
                if not memory.start <= start <= start + length <= memory.stop:
                    raise FormatError(
                        f"the ring buffer header has cpu[{cpu.index}].{what} {start:#x} to "
                        f"{start + length:#x}; the guest has only {memory.start:#x} to "
                        f"{memory.stop:#x}",
                        _ADVICE,
                    )
        unread = sum((cpu.tail - cpu.head + 1) & _SEQUENCE_MASK for cpu in self.cpus) * size
        held = memory.stop - memory.start
        if unread > held:
            raise FormatError(
                f"the ring buffer header tells of {unread} bytes of unread pages in {held} bytes "
                "of memory",
                _ADVICE,
            )

    @staticmethod
    def field_offset(name: str) -> int:
        """The offset of ``flags``, ``clock_hz`` or ``record_disabled`` from the symbol."""
        return _OFFSETS[name]


def header_length(data: bytes, byteorder: ByteOrder) -> int:
    """The length of the whole header in bytes, from its first `FIXED_SIZE` bytes."""
    fixed = _fixed_fields(data, byteorder)
    return fixed["header_size"] + fixed["nr_cpus"] * fixed["cpu_size"]


def _fixed_fields(data: bytes, byteorder: ByteOrder) -> dict[str, int]:
    if len(data) < FIXED_SIZE:
        raise FormatError(
            f"a ring buffer header has at least {FIXED_SIZE} bytes, but only {len(data)} were read"
        )
    order = ">" if byteorder == "big" else "<"
    fixed = dict(zip(_FIXED_FIELDS, struct.unpack_from(order + _FIXED, data), strict=False))
    if fixed["magic"] != MAGIC:
        raise FormatError(
            f"the ring buffer header begins with {fixed['magic']:#010x} instead of {MAGIC:#010x}",
            "Either the guest has not started yet, or this is not a guest of the harness.",
        )
    if fixed["version"] != VERSION:
        raise FormatError(
            f"the ring buffer header has version {fixed['version']}; "
            f"this harness reads version {VERSION}",
            "Build the guest again with this harness.",
        )
    size = fixed["page_size"]
    _check("header_size", fixed["header_size"], FIXED_SIZE, _MAX_STRUCTURE, 8)
    _check("cpu_size", fixed["cpu_size"], _CPU_SIZE, _MAX_STRUCTURE, 8)
    _check("nr_cpus", fixed["nr_cpus"], 1, _MAX_CPUS)
    _check("long_size", fixed["long_size"], 4, 8, 4)
    _check("page_size", size, 4096, 65536)
    if size & (size - 1):
        raise FormatError(
            f"the ring buffer header has page_size {size}, not a power of two", _ADVICE
        )
    _check("clock_hz", fixed["clock_hz"], 1, 1 << 40)
    return fixed


def _parse_cpu(data: bytes, index: int, offset: int, form: PageFormat) -> RingCpu:
    values = struct.unpack_from(form.order + _CPU, data, offset)
    cpu = RingCpu(index, offset, form.page_size, *values)
    where = f"cpu[{index}]."
    _check(where + "max_pages", cpu.max_pages, 2, _MAX_PAGES)
    _check(where + "nr_pages", cpu.nr_pages, 2, cpu.max_pages)
    limit = 1 << (8 * form.long_size)
    _check(where + "pages", cpu.pages, 1, limit - cpu.max_pages * form.page_size, form.long_size)
    _check(where + "first_entry", cpu.first_entry, 1, limit - 4 * cpu.max_pages, 4)
    unread = (cpu.tail - cpu.head + 1) & _SEQUENCE_MASK
    if unread > cpu.nr_pages:
        raise FormatError(
            f"the ring buffer header has {where}head {cpu.head} and tail {cpu.tail}: "
            f"{unread} unread pages in a buffer of {cpu.nr_pages}",
            _ADVICE,
        )
    return cpu


def _check(name: str, value: int, low: int, high: int, multiple: int = 1) -> None:
    if not low <= value <= high or value % multiple:
        whole = f", a multiple of {multiple}" if multiple > 1 else ""
        raise FormatError(
            f"the ring buffer header has {name} {value:#x}; "
            f"it must be {low:#x} to {high:#x}{whole}",
            _ADVICE,
        )
