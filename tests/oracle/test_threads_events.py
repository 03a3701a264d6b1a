# SPDX-License-Identifier: MIT
"""Both tracers against the oracle with preempted threads and several CPUs.

The order of each CPU's events is exact, each thread of the oracle is one process of the trace, and
in each thread every entry has its exit.  At 20 kHz a guest under QEMU does little else than handle
ticks, so they come everywhere, in the stubs and in the tracer too.
"""

from itertools import groupby

import pytest

from tests.support.configs import others

TICKS = [0, 1000, 20_000]
CONFIGS = [
    *("mips-malta", "mips64el-malta", "mips-malta-smp", "mips64-malta-smp"),
    *("aarch64-virt", "aarch64-virt-smp", "aarch64-virt-bti-pac-patchable-smp"),
    *others(),
]


def pytest_generate_tests(metafunc):
    if "config" in metafunc.fixturenames:
        metafunc.parametrize("config", CONFIGS)


@pytest.mark.parametrize("tick", TICKS)
def test_function(watch, tick):
    with watch("threads", tick=tick) as watched:
        watched.switch("function")
        watched.guest.run(until="workload_done", timeout=300)
        assert watched.guest.workload_status == 0
        found = watched.check_function()
        assert len({event.pid for event in found}) > 20
        assert moved(watched, found)
        check_clock(watched, found)


@pytest.mark.parametrize("tick", TICKS)
def test_function_graph(watch, tick):
    with watch("threads", tick=tick) as watched:
        watched.switch("function_graph")
        watched.guest.run(until="workload_done", timeout=300)
        assert watched.guest.workload_status == 0
        found, model = watched.check_graph()
        assert len({event.pid for event in found}) > 20
        assert moved(watched, found)
        assert model.given_up == model.left == 0


@pytest.mark.parametrize("tracer", ["function", "function_graph"])
def test_switched_on_and_off_while_threads_run(watch, tracer):
    """At arbitrary moments, on every CPU, with threads that wait in earlier functions.

    Ticks are the clock for that: on a busy host a workload has more of them.  A call in the stub
    when the tracer is switched off may be given up; there are no other exceptions.
    """
    with watch("threads", tick=1000) as watched:
        guest = watched.guest
        for _ in range(6):
            watched.go_on("tick_interrupt")
            watched.switch(tracer)
            watched.go_on("tick_interrupt")
            watched.switch("nop")
        guest.run(until="workload_done", timeout=300)
        assert guest.workload_status == 0
        if tracer == "function":
            assert watched.check_function()
        else:
            found, _ = watched.check_graph()
            assert found


def moved(watched, events):
    """Whether a thread has events on several CPUs, if there are several."""
    places = {(event.pid, event.cpu) for event in events if event.pid}
    return len(places) > len({pid for pid, _ in places}) or watched.guest.config.qemu.smp == 1


def check_clock(watched, found):
    """Time stamps never decrease on a CPU, nor in a thread that moves from one CPU to another."""
    for _, events in groupby(found, key=lambda event: event.cpu):
        stamps = [event.stamp for event in events]
        assert stamps == sorted(stamps)
    last = {}
    for event in watched.guest.tracer.events():
        if event.pid:
            assert last.get(event.pid, 0) <= event.stamp
            last[event.pid] = event.stamp
