#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How fast function events are written to a trace.dat and read back, beside `trace-cmd report`.

Usage: python benchmarks/decode.py [EVENTS]         (a million unless told otherwise)

For each byte order and word size the same file goes through our writer and decoder and through
trace-cmd, in one run; each figure is the best of three.  Processor time tells more than the clock
where the machine has other work, which the first line shows.
"""

import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness.ring import PageFormat
from harness.trace import (
    TraceDatReader,
    TraceDescription,
    event_formats,
    report_text,
    write_trace_dat,
)
from harness.units import ByteOrder

FUNCTIONS = 300
BASE = 0x80100000
RUNS = 3


def spool_of_events(form: PageFormat, events: int) -> io.BytesIO:
    """Full pages of function events 100 ns apart, such as a guest of ours writes them."""
    payload = 8 + 2 * form.long_size
    head = 8 if form.long_size == 8 else 4
    size = head + payload
    a_page = form.capacity // size
    spool, written = io.BytesIO(), 0
    while written < events:
        data = bytearray()
        for i in range(min(a_page, events - written)):
            type_len, delta = (payload // 4 if head == 4 else 0), (100 if i else 0)
            big = form.byteorder == "big"
            word = type_len << 27 | delta if big else delta << 5 | type_len
            data += struct.pack(f"{form.order}I", word)
            if head == 8:
                data += struct.pack(f"{form.order}I", payload + 4)
            ip = BASE + 16 * ((written + i) % FUNCTIONS) + 4
            longs = f"{form.order}HBBi2{form.long_code}"
            data += struct.pack(longs, 1, 0, 1, 1, ip, BASE + 16 * (i % 97) + 8)
        page = form.header.pack(1_000_000_000 + 100 * written, len(data)) + data
        spool.write(page.ljust(form.page_size, b"\0"))
        written += a_page
    return spool


def best(action: Callable[[], object]) -> tuple[float, float]:
    """The fastest of some runs: seconds by the clock, and of processor time, children included."""
    times = []
    for _ in range(RUNS):
        start, before = time.perf_counter(), sum(os.times()[:4])
        action()
        times.append((time.perf_counter() - start, sum(os.times()[:4]) - before))
    return min(times)


def measure(
    form: PageFormat, events: int, directory: Path
) -> list[tuple[str, tuple[float, float]]]:
    """(what, (seconds, processor seconds)) for one byte order and word size."""
    spool = spool_of_events(form, events)
    kallsyms = "".join(f"{BASE + 16 * i:x} T function_{i}\n" for i in range(FUNCTIONS + 1))
    description = TraceDescription(
        form, event_formats(form.long_size), kallsyms, {1: "workload"}, machine="benchmark"
    )
    path, text = directory / "trace.dat", directory / "trace.txt"

    def write() -> None:
        with path.open("wb") as stream:
            write_trace_dat(stream, description, [spool])

    def read(use: Callable[[TraceDatReader], object]) -> Callable[[], None]:
        def run() -> None:
            with path.open("rb") as stream:
                use(TraceDatReader(stream))

        return run

    def print_text(reader: TraceDatReader) -> None:
        with text.open("w") as out:
            out.writelines(line + "\n" for line in report_text(reader))

    def trace_cmd() -> None:
        with text.open("w") as out:
            subprocess.run(["trace-cmd", "report", "-O", "parent", path], stdout=out, check=True)

    results = [
        ("write trace.dat", best(write)),
        ("count events", best(read(TraceDatReader.count_events))),
        ("decode to events", best(read(lambda reader: sum(1 for _ in reader.events())))),
        ("report as text", best(read(print_text))),
    ]
    with path.open("rb") as stream:
        assert TraceDatReader(stream).count_events() == events
    if shutil.which("trace-cmd"):
        results.append(("trace-cmd report", best(trace_cmd)))
    return results


def main() -> None:
    """Print the table."""
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    print(f"{events:,} function events; load {os.getloadavg()[0]:.1f} on {os.cpu_count()} CPUs\n")
    print(f"{'format':16}{'what':20}{'seconds':>9}{'of CPU':>8}{'events/s':>13}")
    orders: tuple[ByteOrder, ...] = ("big", "little")
    for byteorder in orders:
        for long_size in (4, 8):
            with tempfile.TemporaryDirectory() as directory:
                form = PageFormat(byteorder, long_size)
                name = f"{byteorder} {8 * long_size}"
                for what, (seconds, busy) in measure(form, events, Path(directory)):
                    rate = events / seconds
                    print(f"{name:16}{what:20}{seconds:9.3f}{busy:8.2f}{rate:13,.0f}")


if __name__ == "__main__":
    main()
