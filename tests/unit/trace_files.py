# SPDX-License-Identifier: MIT
"""Whole trace.dat files for tests, with everything in them known."""

import io
from dataclasses import replace

from harness.ring import PageFormat
from harness.trace import TraceDescription, event_formats, write_trace_dat
from ring_encoder import function_pages

FORMATS = [(order, size) for order in ("big", "little") for size in (4, 8)]
FUNCTIONS = ("start", "do_work", "leaf", "caller", "_end")


def text_base(long_size):
    return 0x80100000 if long_size == 4 else 0xFFFFFFFF80100000


def address(name, long_size, offset=4):
    return text_base(long_size) + 0x100 * FUNCTIONS.index(name) + offset


def kallsyms(long_size):
    return "".join(f"{address(name, long_size, 0):x} T {name}\n" for name in FUNCTIONS)


def description(byteorder, long_size, **changes):
    made = TraceDescription(
        PageFormat(byteorder, long_size),
        event_formats(long_size),
        kallsyms(long_size),
        cmdlines={0: "swapper", 1: "workload"},
    )
    return replace(made, **changes)


def calls(long_size, count, *, start=5_000_000_000, step=1000):
    """Function events: the traced functions in turn, all from ``caller``."""
    parent = address("caller", long_size, 0x24)
    return [(start + step * i, address(FUNCTIONS[i % 3], long_size), parent) for i in range(count)]


def trace_file(form, cpus, **changes):
    """A trace.dat; ``cpus`` has the pages of each CPU."""
    stream = io.BytesIO()
    write_trace_dat(stream, description(*form, **changes), [io.BytesIO(p) for p in cpus])
    return stream.getvalue()


def function_trace(form, *counts, **changes):
    """A trace.dat of function events, so many for each CPU."""
    pages = [function_pages(*form, calls(form[1], count)) for count in counts]
    return trace_file(form, pages, **changes)
