# SPDX-License-Identifier: MIT
"""NMIs at every instruction of traced calls: the tracer refuses or records, and breaks nothing."""

import pytest

from harness.config import list_configs, load_config

ROUNDS = 1200


def pytest_generate_tests(metafunc):
    if "config" in metafunc.fixturenames:
        every = map(load_config, list_configs())
        able = [config for config in every if config.injection and config.injection.nmi]
        metafunc.parametrize("config", [config.name for config in able if config.qemu.smp == 1])


pytestmark = pytest.mark.guest(workload="nmi", deterministic=True)


def came_to(guest, function):
    """Whether an NMI interrupted this function."""
    image = guest.image
    word = image.isa.word_size
    data = guest.debugger.read_memory(image.address_of("nmi_pcs"), ROUNDS * word)
    pcs = (
        int.from_bytes(data[at : at + word], image.byteorder) for at in range(0, len(data), word)
    )
    return any(image.symbolize(pc).startswith(function) for pc in pcs)


def run(guest, tracer):
    guest.tracer.set_filter("outer", "inner", "nmi_work")
    guest.tracer.current = tracer
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    events = list(guest.tracer.events())
    stamps = [event.stamp for event in events]
    assert stamps == sorted(stamps)
    return events, guest.collector.counts


def test_function_events_are_whole_and_the_refused_ones_are_counted(config, guest):
    events, counts = run(guest, "function")
    calls = [event.function for event in events]
    assert calls.count("outer") == ROUNDS
    assert calls.count("inner") == 3 * ROUNDS
    assert calls.count("nmi_work") + counts.dropped == ROUNDS
    # Some NMIs come while an event is written, and most do not.
    assert 0 < counts.dropped < ROUNDS / 2
    assert all(event.flags & 0x40 for event in events if event.function == "nmi_work")
    assert not any(event.flags & 0x40 for event in events if event.function != "nmi_work")


def test_every_recorded_call_of_the_graph_has_its_return(config, guest):
    events, counts = run(guest, "function_graph")
    open_calls = []
    entered = []
    for event in events:
        if event.name == "funcgraph_entry":
            open_calls.append(event)
            entered.append(event.function)
        else:
            call = open_calls.pop()
            assert (call.func, call.depth) == (event.func, event.depth)
    assert open_calls == []
    assert entered.count("outer") == ROUNDS
    assert entered.count("inner") == 3 * ROUNDS
    assert entered.count("nmi_work") + counts.dropped == ROUNDS
    # Where a call of the graph tracer takes longer than the rounds no NMI comes that late.
    assert counts.dropped > 0 or not came_to(guest, "ring_buffer_reserve")
