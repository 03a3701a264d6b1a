# SPDX-License-Identifier: MIT
"""tracing_cpumask: only the events of its CPUs are recorded, by every tracer."""

from collections import Counter
from pathlib import Path

import pytest

from harness.config import list_configs, load_config
from harness.errors import UsageError
from harness.guest import TracingOff

WORKLOAD = str(Path(__file__).with_name("workloads") / "bound.c")
CALLS = 500


def pytest_generate_tests(metafunc):
    if "config" in metafunc.fixturenames:
        several = [name for name in list_configs() if load_config(name).qemu.smp > 1]
        metafunc.parametrize("config", several)


pytestmark = pytest.mark.guest(workload=WORKLOAD)


def by_cpu(guest, name):
    return Counter(
        event.cpu
        for event in guest.tracer.events()
        if event.name == name and (event.name == "print" or event.function == "bound_leaf")
    )


@pytest.mark.parametrize("chosen", [{0}, {1}])
def test_functions_of_the_chosen_cpus(config, guest, chosen):
    guest.collector.cpumask = frozenset(chosen)
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert by_cpu(guest, "function") == dict.fromkeys(chosen, 2 * CALLS)
    assert by_cpu(guest, "print") == dict.fromkeys(chosen, CALLS)
    assert {event.cpu for event in guest.tracer.events()} == chosen
    assert guest.collector.counts.lost == 0
    others = set(range(guest.config.qemu.smp)) - chosen
    assert guest.collector.disabled == others


def test_the_graph_of_the_chosen_cpus(config, guest):
    guest.collector.cpumask = frozenset({1})
    guest.tracer.current = "function_graph"
    guest.tracer.set_filter("bound_*")
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    assert by_cpu(guest, "funcgraph_entry") == by_cpu(guest, "funcgraph_exit") == {1: 2 * CALLS}


def test_stack_traces_and_triggers(config, guest):
    tracer = guest.tracer
    guest.collector.cpumask = frozenset({0})
    tracer.set_option("func_stack_trace", "stacktrace")
    tracer.set_filter("bound_leaf", "bound_leaf:stacktrace")
    tracer.current = "function"
    guest.run(until="workload_done")
    assert {event.cpu for event in tracer.events()} == {0}
    assert guest.collector.counts.lost == 0


def test_a_mask_that_changes_on_the_way(config, guest):
    every = frozenset(range(guest.config.qemu.smp))
    tracer = guest.tracer
    assert guest.collector.cpumask == every
    tracer.set_filter("bound_leaf")
    tracer.current = "function"
    guest.collector.cpumask = frozenset()
    guest.run(until="bound_middle")
    guest.collector.cpumask = every
    guest.run(until="workload_done")
    found = by_cpu(guest, "function")
    assert set(found) == every
    assert 2 * CALLS in found.values()
    with pytest.raises(UsageError, match="there is no CPU 9"):
        guest.collector.cpumask = frozenset({9})
    assert guest.collector.cpumask == every


def test_tracing_on_is_another_switch_and_a_snapshot_has_both(config, guest):
    tracer = guest.tracer
    guest.collector.cpumask = frozenset({1})
    if guest.config.architecture == "aarch64":
        guest.snapshot("one")
    tracer.on = False
    assert guest.collector.cpumask == {1}
    tracer.on = True
    assert guest.collector.cpumask == {1}
    tracer.clear()
    assert guest.collector.cpumask == {1}
    cpu = (guest.debugger.selected_thread or 1) - 1
    guest.collector.cpumask = frozenset(range(guest.config.qemu.smp)) - {cpu}
    with pytest.raises(TracingOff):
        guest.write_marker("nobody records this")
    if guest.config.architecture == "aarch64":
        guest.restore("one")
        assert guest.collector.cpumask == {1}
