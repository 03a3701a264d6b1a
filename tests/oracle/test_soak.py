# SPDX-License-Identifier: MIT
"""Threads on every CPU, preempted by ticks, for many instructions, with every event accounted for.

The workload counts its own calls.  In the end these must be the events read and those that the
buffers' counters report as lost, for a buffer that is drained whenever it is full and for one that
overwrites its oldest events.  ``--soak 20e9`` sets the number of instructions.
"""

import pytest

from harness.record.limit import total_events
from harness.units import KIB
from tests.support.configs import others

SLICE = 5.0
"""Seconds between two looks at the number of instructions."""

TICK = 1000
BUFFER = 64 * KIB


def pytest_generate_tests(metafunc):
    metafunc.parametrize(
        "config", ["aarch64-virt-smp", "mips-malta-smp", "mips64-malta", *others()]
    )


@pytest.mark.parametrize("overwrite", [False, True], ids=["drained", "overwritten"])
def test_every_event_is_read_or_reported_lost(watch, request, config, overwrite):
    wanted = int(float(request.config.getoption("--soak")))
    with watch("soak", counting=True, tick=TICK) as watched:
        guest, image = watched.guest, watched.guest.image
        guest.collector.configure(BUFFER, overwrite)
        guest.tracer.set_filter("soak_*")
        guest.tracer.current = "function"
        while watched.oracle.instructions < wanted:
            seconds = min(SLICE, max(0.05, wanted / 1e9))
            guest.run(until="workload_done", seconds=seconds)
        one = (1).to_bytes(4, image.byteorder)
        guest.debugger.write_memory(guest.address_of("finish"), one)
        guest.run(until="workload_done", timeout=600)
        assert guest.workload_status == 0
        guest.settle()
        guest.collector.drain()
        collector = guest.collector
        events, damage = total_events([s.stream for s in collector.spools], collector.format)
        counts = collector.counts
        print(f"{watched.oracle.instructions} instructions, {calls(guest)} calls, {counts}")
        assert not damage
        assert events == counts.entries - counts.overrun
        assert events + counts.lost == calls(guest)
        assert (counts.overrun > 0) == overwrite
        assert counts.dropped == 0


def calls(guest):
    """The workload's own count of traced calls."""
    word, order = guest.image.isa.word_size, guest.image.byteorder
    size = 2 * guest.config.qemu.smp * word
    raw = guest.debugger.read_memory(guest.address_of("soak_calls"), size)
    return sum(int.from_bytes(raw[i : i + word], order) for i in range(0, size, word))
