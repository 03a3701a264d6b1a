# SPDX-License-Identifier: MIT
"""The directory ``per_cpu``."""

from functools import partial

from harness.guest import Guest
from harness.tracefs.files import Directory, File, Node
from harness.tracefs.streams import EventLines, RawPages
from harness.units import KIB


def cpu_directory() -> Directory:
    """``per_cpu``: a directory ``cpuN`` for each CPU."""
    return Directory(
        lambda guest: {
            f"cpu{cpu}": Directory(partial(_files, cpu))
            for cpu in range(len(guest.collector.spools))
        }
    )


def _files(cpu: int, guest: Guest) -> dict[str, Node]:
    return {
        "buffer_size_kb": File(
            "The size of this CPU's ring buffer.",
            lambda guest: [str(guest.collector.sizes[cpu] // KIB)],
        ),
        "stats": File("The counters of this CPU's ring buffer.", partial(_stats, cpu)),
        "trace": File("The events of this CPU so far.", partial(_trace, cpu)),
        "trace_pipe": File(
            "The events of this CPU, each once, while the guest runs.",
            stream=lambda guest: EventLines(guest.tracer.pipe(), cpu),
        ),
        "trace_pipe_raw": File(
            "The pages of this CPU's ring buffer, as the guest wrote them.",
            stream=lambda guest: RawPages(guest.collector, cpu),
        ),
    }


def _stats(cpu: int, guest: Guest) -> list[str]:
    guest.settle()
    guest.collector.drain()
    counts = guest.collector.spools[cpu].counts
    return [
        f"entries: {counts.entries - counts.overrun}",
        f"overrun: {counts.overrun}",
        f"dropped events: {counts.dropped}",
    ]


def _trace(cpu: int, guest: Guest) -> list[str]:
    guest.settle()
    return list(guest.tracer.trace(cpu=cpu))
