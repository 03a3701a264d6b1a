# SPDX-License-Identifier: MIT
"""Reads trace.dat version 6: ours, and those recorded by trace-cmd on real kernels.

A file is not trusted: anything invalid raises `FormatError`.
"""

import heapq
import re
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from typing import BinaryIO

from harness.errors import FormatError
from harness.ring import PageFormat, add_lost, count_events, page_header, scan_page
from harness.ring.page import MAX_PAGE_SIZE, MIN_PAGE_SIZE
from harness.trace.binary_reader import MAX_NAME, BinaryReader, decode_text, shown
from harness.trace.decode import Decoder, event_decoder, unknown_decoder
from harness.trace.events import TraceEvent
from harness.trace.formats import EventFormat
from harness.trace.symbols import Symbols
from harness.trace.writer import (
    MAGIC,
    OPTION_BUFFER,
    OPTION_CPUSTAT,
    OPTION_DONE,
    OPTION_TRACECLOCK,
    OPTION_UNAME,
    OPTION_VERSION,
    RECORD_DISABLED,
    CpuStatistics,
)
from harness.units import escape

_MAX_CPUS = 4096
_NOT_OURS = "Give it a trace.dat that `harness record` or `trace-cmd record` wrote."
_TICKING_CLOCKS = frozenset({"counter", "uptime", "x86-tsc", "ppc-tb"})

_TRACERS = {
    "function": "function",
    "funcgraph_entry": "function_graph",
    "fgraph_retaddr_entry": "function_graph",
    "funcgraph_exit": "function_graph",
}

_CLOCK = re.compile(r"\[([\w-]{1,32})\]")
_STATISTIC = re.compile(r"^([a-z ]{1,32}): (\d{1,19})$", re.MULTILINE)
_PAGE_FIELD = re.compile(
    r"^[ \t]*field:[^;\n]{0,64}?(\w{1,32});[ \t]*offset:(\d{1,7});[ \t]*size:(\d{1,7});",
    re.MULTILINE,
)


class TraceDatReader:
    """One trace.dat in a seekable binary stream, which must stay open while events are read.

    ``page_format`` is that of the traced kernel, ``formats`` has its events by id, ``symbols`` and
    ``cmdlines`` its names (escaped).  ``clock`` is its trace clock; ``machine`` and ``recorder``
    are from the file's options.  ``cpu_count`` is the number of CPUs with pages, ``statistics`` has
    their counters.  ``instances`` are the names of further buffers, whose events are not read.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._file = BinaryReader(stream)
        self.clock = "local"
        self.machine = ""
        self.recorder = ""
        self.instances: list[str] = []
        self.statistics: list[CpuStatistics] = []

        file = self._file
        self._read_initial()
        self.page_format = self._read_page_format()
        self.formats = self._read_formats()
        kallsyms = file.text(file.u32("kallsyms"), "kallsyms")
        formats = file.text(file.u32("printk_formats"), "printk_formats")
        self.symbols = Symbols(kallsyms, formats)
        self.cmdlines = _parse_cmdlines(file.text(file.u64("saved_cmdlines"), "saved_cmdlines"))
        self.cpu_count = file.u32("the number of CPUs")
        if self.cpu_count > _MAX_CPUS:
            raise file.error(f"{self.cpu_count} CPUs are not possible ({_MAX_CPUS} at most)")
        self._read_until_pages()
        self._page_table = [self._read_page_table_entry(cpu) for cpu in range(self.cpu_count)]

    @property
    def clock_in_nanoseconds(self) -> bool:
        """Whether time stamps are in nanoseconds; otherwise in ticks."""
        return self.clock not in _TICKING_CLOCKS

    def pages(self, cpu: int) -> Iterator[bytes]:
        """The ring buffer pages of one CPU, in order."""
        offset, size = self._page_table[cpu]
        page_size = self.page_format.page_size
        for position in range(offset, offset + size, page_size):
            yield self._file.at(position, page_size, f"a page of CPU {cpu}")

    def events(self) -> Iterator[TraceEvent]:
        """All events by time stamp, read page by page on demand."""
        return heapq.merge(
            *(self.cpu_events(cpu) for cpu in range(self.cpu_count)), key=attrgetter("stamp")
        )

    def cpu_events(self, cpu: int) -> Iterator[TraceEvent]:
        """The events of one CPU, in order."""
        form, decoders = self.page_format, self._decoders
        read_number = struct.Struct(f"{form.order}H").unpack_from
        lost = 0
        for index, page in enumerate(self.pages(cpu)):
            with self._place(cpu, index):
                lost = add_lost(lost, page_header(page, form).lost)
                for stamp, offset, size in scan_page(page, form):
                    if size < 2:
                        raise FormatError(f"the event at byte {offset:#x} has no type")
                    (number,) = read_number(page, offset)
                    decode = decoders.get(number)
                    if decode is None:
                        decode = decoders[number] = unknown_decoder(number, self.symbols)
                    yield decode(stamp, cpu, page, offset, size, lost)
                    lost = 0

    def count_events(self) -> int:
        """The number of events in the file."""
        count = 0
        for cpu in range(self.cpu_count):
            for index, page in enumerate(self.pages(cpu)):
                with self._place(cpu, index):
                    count += count_events(page, self.page_format)
        return count

    @cached_property
    def tracer(self) -> str:
        """The tracer that wrote the file, according to its first event; or ``nop``.

        A file of irqsoff has the format of that tracer's last event.
        """
        if any((one.system, one.name) == ("ftrace", "irqsoff") for one in self.formats.values()):
            return "irqsoff"
        form = self.page_format
        tracers = {
            number: _TRACERS[declared.name]
            for number, declared in self.formats.items()
            if declared.name in _TRACERS
        }
        for cpu in range(self.cpu_count):
            for index, page in enumerate(self.pages(cpu)):
                with self._place(cpu, index):
                    for _, offset, _ in scan_page(page, form):
                        number = int.from_bytes(page[offset : offset + 2], form.byteorder)
                        if number in tracers:
                            return tracers[number]
        return "nop"

    @contextmanager
    def _place(self, cpu: int, index: int) -> Iterator[None]:
        """Add the page to errors."""
        try:
            yield
        except FormatError as error:
            where = self._page_table[cpu][0] + index * self.page_format.page_size
            raise self._file.error(f"page {index} of CPU {cpu}: {error.message}", where) from error

    @cached_property
    def _decoders(self) -> dict[int, Decoder]:
        return {
            number: event_decoder(form, self.page_format, self.symbols, self.cmdlines)
            for number, form in self.formats.items()
        }

    def _read_initial(self) -> None:
        file = self._file
        if file.size < len(MAGIC) or file.take(len(MAGIC), "the beginning") != MAGIC:
            raise FormatError("this is not a trace.dat file: it does not begin as one", _NOT_OURS)
        version = file.name("version")
        if version == "7":
            raise FormatError(
                "this trace.dat has version 7, which the harness does not read yet",
                "Convert it: trace-cmd convert --file-version 6 -i FILE -o NEWFILE",
            )
        if version != "6":
            raise FormatError(f"this trace.dat has version {version!r}, not 6", _NOT_OURS)
        byteorder, long_size = file.take(2, "byte order and word size")
        if byteorder > 1 or long_size not in (4, 8):
            raise file.error(f"byte order {byteorder} and word size {long_size} are not possible")
        file.byteorder = "big" if byteorder else "little"
        # Word size and page size are those of the recording program; header_page has the kernel's.
        file.u32("page size")

    def _read_page_format(self) -> PageFormat:
        file = self._file
        file.expect(b"header_page\0")
        text = file.text(file.u64("header_page"), "header_page")
        fields = {m[1]: (int(m[2]), int(m[3])) for m in _PAGE_FIELD.finditer(text)}
        _, long_size = fields.get("commit", (0, 0))
        offset, size = fields.get("data", (0, 0))
        usual = {"timestamp": (0, 8), "commit": (8, long_size), "data": (8 + long_size, size)}
        if long_size not in (4, 8) or any(fields.get(name) != at for name, at in usual.items()):
            raise file.error("header_page does not describe a ring buffer page that can be read")
        page_size = offset + size
        if not MIN_PAGE_SIZE <= page_size <= MAX_PAGE_SIZE or page_size % 8:
            raise file.error(f"ring buffer pages of {page_size} bytes are not possible")
        file.expect(b"header_event\0")
        file.take(file.u64("header_event"), "header_event")
        return PageFormat(file.byteorder, long_size, page_size)

    def _read_formats(self) -> dict[int, EventFormat]:
        file = self._file
        formats: dict[int, EventFormat] = {}

        def read(system: str) -> None:
            for _ in range(file.u32(f"the number of formats in {system}")):
                text = file.text(file.u64("a format"), f"a format in {system}")
                form = EventFormat.parse(text, system)
                formats[form.id] = form

        read("ftrace")
        for _ in range(file.u32("the number of event systems")):
            read(file.name("name of an event system"))
        return formats

    def _read_until_pages(self) -> None:
        file = self._file
        announced = file.take(10, "what follows the number of CPUs")
        if announced == b"options  \0":
            while (option := file.u16("an option")) != OPTION_DONE:
                self._read_option(option, file.take(file.u32("an option"), f"option {option}"))
            announced = file.take(10, "what follows the options")
        if announced == b"latency  \0":
            raise FormatError(
                "this trace.dat holds the text of a latency tracer and no events",
                "Print it with trace-cmd report.",
            )
        if announced != b"flyrecord\0":
            raise file.error(f"'flyrecord' was expected, found {shown(announced)}")

    def _read_option(self, option: int, data: bytes) -> None:
        if option == OPTION_BUFFER:
            # The name comes behind the offset of the buffer's own page table.
            self.instances.append(escape(decode_text(data[8:]), MAX_NAME))
            return
        text = escape(decode_text(data)).strip()
        if option == OPTION_TRACECLOCK:
            clock = _CLOCK.search(text)
            self.clock = clock[1] if clock else self.clock
        elif option == OPTION_UNAME:
            self.machine = text
        elif option == OPTION_VERSION:
            self.recorder = text
        elif option == OPTION_CPUSTAT and len(self.statistics) < _MAX_CPUS:
            counted = {name: int(number) for name, number in _STATISTIC.findall(text)}
            self.statistics.append(
                CpuStatistics(
                    read=counted.get("read events", 0),
                    overrun=counted.get("overrun", 0),
                    dropped=counted.get("dropped events", 0),
                    left=counted.get("entries", 0),
                    disabled=bool(counted.get(RECORD_DISABLED, 0)),
                )
            )

    def _read_page_table_entry(self, cpu: int) -> tuple[int, int]:
        file = self._file
        offset, size = file.u64("the page table"), file.u64("the page table")
        if offset + size > file.size:
            raise file.error(
                f"the pages of CPU {cpu} reach to byte {offset + size}, "
                f"but the file ends at byte {file.size}"
            )
        if size % self.page_format.page_size:
            raise file.error(
                f"CPU {cpu} has {size} bytes of pages, "
                f"not a multiple of the page size {self.page_format.page_size}"
            )
        return offset, size


def _parse_cmdlines(text: str) -> dict[int, str]:
    """Lines ``pid name``; invalid lines and the idle task are skipped."""
    cmdlines = {}
    for line in text.splitlines():
        pid, _, comm = line.strip().partition(" ")
        if pid.isascii() and pid.isdigit() and len(pid) < 11 and comm and int(pid):
            cmdlines[int(pid)] = escape(comm.strip(), 64).replace("\t", " ")
    return cmdlines
