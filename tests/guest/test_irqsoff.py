# SPDX-License-Identifier: MIT
"""The irqsoff tracer: the longest section without interrupts, and what ran in it."""

from pathlib import Path

import pytest

WORKLOAD = str(Path(__file__).with_name("workloads") / "irqsoff.c")

pytestmark = pytest.mark.guest(workload=WORKLOAD, deterministic=True)


def test_the_longest_section_is_kept(config, guest):
    guest.tracer.current = "irqsoff"
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    events = list(guest.tracer.events())
    latency = events[-1]
    assert latency.name == "irqsoff"
    assert (latency.started_at, latency.ended_at) == ("long_section", "long_section")
    assert guest.tracer.tracing_max_latency == (latency.latency + 500) // 1000
    assert latency.latency >= 100_000_000
    calls = [(event.function, event.parent) for event in events if event.name == "function"]
    assert calls == [
        ("long_section", "workload"),
        *[("inside", "long_section")] * 3,
        ("long_section", "workload"),
    ]
    assert all(event.flags & 1 for event in events)


def test_the_trace_is_that_of_a_latency_tracer(config, guest):
    guest.tracer.current = "irqsoff"
    guest.run(until="workload_done")
    lines = list(guest.tracer.trace())
    assert lines[0] == "# tracer: irqsoff"
    assert "#  => started at: long_section" in lines
    assert "#  => ended at:   long_section" in lines
    first = next(line for line in lines if line.endswith(": long_section <-workload"))
    assert first.startswith("workload-1         0d....    0us")


def test_a_shorter_section_is_not_kept(config, guest):
    guest.tracer.current = "irqsoff"
    guest.tracer.tracing_max_latency = 3_600_000_000
    guest.run(until="workload_done")
    assert list(guest.tracer.events()) == []
    assert guest.tracer.tracing_max_latency == 3_600_000_000


def test_other_tracers_have_the_buffer_back(config, guest):
    guest.tracer.current = "irqsoff"
    guest.run(until="short_section")
    guest.tracer.set_filter("inside")
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    events = list(guest.tracer.events())
    assert {event.name for event in events} == {"function"}
    # Another CPU may have been on its way to the tracer when the filter came.
    assert [event.function for event in events if event.pid == 1] == ["inside"] * 4
