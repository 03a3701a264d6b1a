# SPDX-License-Identifier: MIT
"""A ring buffer for each CPU: several of them full at once, and nothing lost."""

from pathlib import Path

import pytest

from harness.config import list_configs, load_config
from harness.units import KIB

WORKLOAD = str(Path(__file__).with_name("workloads") / "busy.c")
CALLS, THREADS = 20000, 4


def pytest_generate_tests(metafunc):
    if "config" in metafunc.fixturenames:
        several = [name for name in list_configs() if load_config(name).qemu.smp > 1]
        metafunc.parametrize("config", several)


pytestmark = pytest.mark.guest(workload=WORKLOAD)


def test_nothing_is_lost_while_all_cpus_fill_small_buffers(config, guest):
    guest.collector.configure(8 * KIB)
    guest.tracer.set_filter("busy_leaf")
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    events = list(guest.tracer.events())
    counts = guest.collector.counts
    assert (len(events), counts.entries, counts.lost) == (CALLS * THREADS, CALLS * THREADS, 0)
    for pid in {event.pid for event in events}:
        assert sum(event.pid == pid for event in events) == CALLS
    assert len({event.cpu for event in events}) > 1


def test_overwritten_events_are_counted_on_every_cpu(config, guest):
    guest.collector.configure(8 * KIB, overwrite=True)
    guest.tracer.set_filter("busy_leaf")
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    events = list(guest.tracer.events())
    counts = guest.collector.counts
    assert counts.entries == CALLS * THREADS
    assert len(events) + counts.overrun == counts.entries
    assert sum(event.lost for event in events) == counts.overrun
