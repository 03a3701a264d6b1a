# SPDX-License-Identifier: MIT
"""A trace as one self-contained page: timeline, flame graph, functions, losses, search.

The page needs no server and no network.  Its script is its own: the Content-Security-Policy names
its hash, so that nothing else in the page can run.
"""

import base64
import hashlib
import json
import sys
import zlib
from array import array
from collections.abc import Iterator

from markupsafe import Markup

from harness.pages import environment
from harness.report.columns import TraceColumns
from harness.ring import LOST_UNKNOWN
from harness.trace import TraceDatReader, trace_statistics
from harness.trace.filter import Predicate
from harness.trace.statistics import Statistics

FUNCTIONS = 500
"""Functions in the table; all of them are in the timeline."""

SCRIPTS = ("data.js", "view.js", "timeline.js", "flame.js", "search.js", "page.js")
"""The parts of the script, in order."""


def report_html(reader: TraceDatReader, *, keep: Predicate | None = None) -> Iterator[str]:
    """The page in pieces; ``keep`` chooses the events."""
    sums = trace_statistics(reader, keep=keep)
    columns = TraceColumns(reader.cpu_count)
    columns.add(reader.events(), keep)
    packed, described = _pack(columns)
    templates = environment("harness.report")
    script = "".join(templates.get_template(name).render() for name in SCRIPTS)
    yield from templates.get_template("trace.html").generate(
        title=f"{sums.tracer}: {sums.events} events",
        machine=reader.machine,
        clock=reader.clock,
        tiles=_tiles(sums, reader.clock_in_nanoseconds),
        lost=LOST_UNKNOWN,
        sums=sums,
        functions=sums.hottest(FUNCTIONS),
        hidden=max(0, len(sums.functions) - FUNCTIONS),
        left_out=columns.left_out,
        unit="ns" if reader.clock_in_nanoseconds else "ticks",
        # It contains nothing that can end its element.
        described=Markup(json.dumps(described).replace("<", "\\u003c")),
        packed=Markup(packed),
        script=Markup(script),
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _pack(trace: TraceColumns) -> tuple[str, dict[str, object]]:
    """All columns as base64 of a zlib stream, and their descriptions.

    Numbers are little-endian.  A column is described by its type and length; its bytes follow those
    of the column before, each at a multiple of 8.
    """
    parts: list[bytes] = []

    def column(numbers: "array[float] | array[int]") -> list[object]:
        if sys.byteorder == "big":
            numbers = numbers[:]
            numbers.byteswap()
        data = numbers.tobytes()
        parts.append(data + bytes(-len(data) % 8))
        return [numbers.typecode, len(numbers)]

    described: dict[str, object] = {
        "first": str(trace.first),
        "last": trace.last,
        "threads": [
            {
                "name": thread.name,
                "calls": {
                    "start": column(_differences(thread.calls.start)),
                    "length": column(thread.calls.length),
                    "depth": column(thread.calls.depth),
                    "name": column(thread.calls.name),
                    "number": column(thread.calls.number),
                },
                "marks": {
                    "start": column(_differences(thread.marks.start)),
                    "name": column(thread.marks.name),
                    "text": column(thread.marks.text),
                    "number": column(thread.marks.number),
                },
            }
            for thread in trace.threads
        ],
        "cpus": [
            {
                "since": column(_differences(cpu.since)),
                "until": column(_differences(cpu.until)),
                "thread": column(cpu.thread),
                "lostAt": column(_differences(cpu.lost_at)),
                "lost": column(cpu.lost),
            }
            for cpu in trace.cpus
        ],
        "names": trace.names.list(),
    }
    return base64.b64encode(zlib.compress(b"".join(parts))).decode(), described


def _differences(times: "array[float]") -> "array[float]":
    """Each number less the one before: these compress well."""
    return array("d", (b - a for a, b in zip(array("d", [0.0]) + times, times, strict=False)))


def _tiles(sums: Statistics, nanoseconds: bool) -> list[tuple[str, str, str]]:
    """The numbers at the top of the page: colour, number, name."""
    lost = [cpu.lost for cpu in sums.cpus.values()]
    count = "unknown" if LOST_UNKNOWN in lost else f"{sum(lost):,}"
    span = f"{sums.span / 1e9:.6f} s" if nanoseconds else f"{sums.span:,}"
    return [
        ("none", f"{sums.events:,}", "events"),
        ("none", span, "from the first to the last" if nanoseconds else "ticks"),
        ("none", f"{len(sums.functions):,}", "functions"),
        ("none", f"{len(sums.tasks):,}", "threads"),
        ("none", f"{len(sums.cpus):,}", "CPUs"),
        ("pass" if count == "0" else "fail", count, "events lost"),
    ]
