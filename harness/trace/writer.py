# SPDX-License-Identifier: MIT
"""Writes trace.dat version 6: the guest's own pages behind a header (docs/trace-dat.rst)."""

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

from harness.ring import PageFormat
from harness.trace.formats import EventFormat, Field
from harness.units import align_up, escape

MAGIC = b"\x17\x08\x44tracing"
VERSION = b"6\0"

OPTION_DONE = 0
OPTION_CPUSTAT = 2
OPTION_BUFFER = 3
OPTION_TRACECLOCK = 4
OPTION_UNAME = 5
OPTION_CPUCOUNT = 8
OPTION_VERSION = 9

# Readers mmap() the pages, so they must be aligned to the reading host's pages.
_HOST_PAGE = 4096
_COMM_LIMIT = 64
_CLOCKS = ("local", "global", "counter", "uptime", "perf", "mono", "mono_raw", "boot")

HEADER_EVENT = """\
# compressed entry header
\ttype_len    :    5 bits
\ttime_delta  :   27 bits
\tarray       :   32 bits

\tpadding     : type == 29
\ttime_extend : type == 30
\ttime_stamp : type == 31
\tdata max type_len  == 28
"""
"""The layout of an event's header, the same for every guest (docs/ring-buffer.rst)."""

RECORD_DISABLED = "record disabled"
"""A line of CPUSTAT that only the harness writes."""


@dataclass(frozen=True, slots=True)
class CpuStatistics:
    """The counters of one CPU.

    Events were read (and are in the file), overwritten before that (``overrun``), refused because
    the buffer was full (``dropped``), or still in the buffer at the end (``left``).  ``disabled``:
    the buffer was found disabled; then events are not counted.
    """

    read: int
    overrun: int = 0
    dropped: int = 0
    left: int = 0
    disabled: bool = False


@dataclass(frozen=True)
class TraceDescription:
    """The contents of a trace.dat besides its pages.

    ``kallsyms`` is text in the format of /proc/kallsyms with a terminator as its last symbol.
    ``printk_formats`` is text in the format of the file of that name, of a kernel with formats.
    ``cmdlines`` has task names by process id.  ``clock`` is the kernel's name of the trace clock.
    ``machine`` is like the output of ``uname``.  ``statistics`` has one entry for each CPU.
    """

    page_format: PageFormat
    events: Sequence[EventFormat]
    kallsyms: str = ""
    cmdlines: Mapping[int, str] = field(default_factory=dict)
    clock: str = "local"
    machine: str = ""
    version: str = ""
    statistics: Sequence[CpuStatistics] = ()
    printk_formats: str = ""


def write_trace_dat(
    stream: BinaryIO, description: TraceDescription, pages: Sequence[BinaryIO]
) -> None:
    """Write a whole trace.dat to the seekable ``stream``, at position 0.

    ``pages`` has a seekable stream of ring buffer pages for each CPU, in order; they are copied
    piece by piece.  An incomplete last page, which a full disk can leave, is left out.
    """
    page_size = description.page_format.page_size
    alignment = align_up(page_size, _HOST_PAGE)
    sizes = [spool.seek(0, 2) // page_size * page_size for spool in pages]

    head = _metadata(description, len(pages))
    position = align_up(len(head) + 16 * len(pages), alignment)
    offsets = []
    for size in sizes:
        offsets.append(position)
        position = align_up(position + size, alignment)

    order = description.page_format.order
    stream.write(head)
    for offset, size in zip(offsets, sizes, strict=True):
        stream.write(struct.pack(f"{order}QQ", offset, size))
    for spool, offset, size in zip(pages, offsets, sizes, strict=True):
        stream.write(bytes(offset - stream.tell()))
        spool.seek(0)
        _copy(spool, stream, size)


def _metadata(description: TraceDescription, cpus: int) -> bytes:
    """The file up to and including the marker of the page table."""
    form = description.page_format
    order = form.order

    def u32(value: int) -> bytes:
        return struct.pack(f"{order}I", value)

    def long_block(text: str) -> bytes:
        data = text.encode("utf-8", "backslashreplace")
        return struct.pack(f"{order}Q", len(data)) + data

    def short_block(text: str) -> bytes:
        data = text.encode("utf-8", "backslashreplace")
        return u32(len(data)) + data

    systems: dict[str, list[EventFormat]] = {}
    for event in description.events:
        systems.setdefault(event.system, []).append(event)
    ftrace = systems.pop("ftrace", [])

    parts = [
        MAGIC + VERSION,
        bytes([form.byteorder == "big", form.long_size]),
        u32(form.page_size),
        b"header_page\0" + long_block(header_page_text(form)),
        b"header_event\0" + long_block(HEADER_EVENT),
        u32(len(ftrace)),
        *(long_block(event.text) for event in ftrace),
        u32(len(systems)),
    ]
    for system, events in systems.items():
        parts += [system.encode() + b"\0", u32(len(events))]
        parts += [long_block(event.text) for event in events]
    parts += [
        short_block(description.kallsyms),
        short_block(description.printk_formats),
        long_block(_cmdlines_text(description.cmdlines)),
        u32(cpus),
        b"options  \0",
    ]
    for number, data in _options(description, cpus, u32(cpus)):
        parts += [struct.pack(f"{order}HI", number, len(data)), data]
    parts += [struct.pack(f"{order}H", OPTION_DONE), b"flyrecord\0"]
    return b"".join(parts)


def header_page_text(form: PageFormat) -> str:
    """The kernel's description of a page's header."""
    long_size = form.long_size
    return "".join(
        entry.line + "\n"
        for entry in (
            Field(" u64 timestamp", 0, 8, False),
            Field(" local_t commit", 8, long_size, True),
            Field(" int overwrite", 8, 1, True),
            Field(" char data", form.data_offset, form.capacity, True),
        )
    )


def _options(description: TraceDescription, cpus: int, cpu_count: bytes) -> list[tuple[int, bytes]]:
    clocks = dict.fromkeys((*_CLOCKS, description.clock))
    clock_text = " ".join(f"[{name}]" if name == description.clock else name for name in clocks)
    options = [(OPTION_CPUCOUNT, cpu_count), (OPTION_TRACECLOCK, f"{clock_text}\n\0".encode())]
    if description.machine:
        options.append((OPTION_UNAME, description.machine.encode() + b"\0"))
    if description.version:
        options.append((OPTION_VERSION, description.version.encode() + b"\0"))
    for cpu, counted in enumerate(description.statistics[:cpus]):
        text = (
            f"CPU: {cpu}\nentries: {counted.left}\noverrun: {counted.overrun}\n"
            f"dropped events: {counted.dropped}\nread events: {counted.read}\n"
        )
        if counted.disabled:
            text += f"{RECORD_DISABLED}: 1\n"
        options.append((OPTION_CPUSTAT, text.encode()))
    return options


def _cmdlines_text(cmdlines: Mapping[int, str]) -> str:
    return "".join(
        f"{pid} {' '.join(escape(comm, _COMM_LIMIT).split())}\n"
        for pid, comm in sorted(cmdlines.items())
    )


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    """Copy ``size`` bytes, without an incomplete page behind them."""
    while size:
        chunk = source.read(min(size, 1 << 20))
        if not chunk:
            raise OSError("a stream of ring buffer pages was truncated during the copy")
        target.write(chunk)
        size -= len(chunk)
