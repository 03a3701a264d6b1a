# SPDX-License-Identifier: MIT
"""The function profiler counts exactly the calls that QEMU executed, on each CPU."""

from collections import Counter
from pathlib import Path

import pytest

from harness.config import load_config
from harness.errors import UsageError
from harness.isa import Form
from harness.tracefs import Tracefs
from tests.support.configs import others

CONFIGS = [
    *("mips-malta", "mips64el-malta", "mips64-malta-smp"),
    *("aarch64-virt-smp", "aarch64-virt-bti-pac-patchable"),
    *others(),
]
GUESTS = Path(__file__).parents[1] / "guest" / "workloads"


def pytest_generate_tests(metafunc):
    static = metafunc.function is test_every_call_of_a_static_guest
    if "config" in metafunc.fixturenames:
        patchable = [n for n in CONFIGS if load_config(n).build.form is Form.PATCHABLE_ENTRY]
        left_out = patchable if static else []
        metafunc.parametrize("config", [n for n in CONFIGS if n not in left_out])


def hits(guest):
    """(CPU, call site) and how often it was called."""
    cpus = range(len(guest.collector.spools))
    assert not any(guest.tracer.profiler.missed(cpu) for cpu in cpus)
    return Counter(
        {(cpu, one.site): one.calls for cpu in cpus for one in guest.tracer.profiler.profiles(cpu)}
    )


def check(watched, wanted=lambda call: True):
    """What was counted is what was executed.

    A CPU that was stopped anywhere may have executed a site, and not have counted it yet.
    """
    records = [call for call in watched.oracle.records() if wanted(call)]
    executed = Counter((call.cpu, call.site) for call in records)
    last = {call.cpu: call.site for call in records}
    found = hits(watched.guest)
    missing = executed - found
    assert not found - executed
    assert missing == {(cpu, last[cpu]): 1 for cpu, _ in missing}
    assert {cpu for cpu, _ in missing} <= watched.running
    return found


def start(watched, *globs):
    if globs:
        watched.guest.tracer.set_filter(*globs)
    watched.guest.tracer.profiler.enabled = True
    watched.oracle.window(True)


@pytest.mark.parametrize("workload", ["calls", "interpreter", "recursion"])
def test_every_call_of_a_workload(watch, workload):
    with watch(workload) as watched:
        start(watched)
        watched.guest.run(until="workload_done")
        assert watched.guest.workload_status == 0
        assert len(check(watched)) > 20


def test_every_call_of_a_static_guest(watch):
    with watch("calls", static=True) as watched:
        start(watched)
        watched.guest.run(until="workload_done")
        assert len(check(watched)) > 20


def test_threads_that_move(watch):
    with watch("threads", tick=1000) as watched:
        start(watched)
        watched.guest.run(until="workload_done", timeout=300)
        assert watched.guest.workload_status == 0
        # A thread that is preempted in the stub is counted on the CPU on which it goes on.
        found = hits(watched.guest)
        executed = Counter(call.site for call in watched.oracle.records())
        counted = Counter()
        for (_, site), calls in found.items():
            counted[site] += calls
        assert not counted - executed
        assert (executed - counted).total() <= len(watched.running)
        assert {cpu for cpu, _ in found} == set(range(watched.guest.config.qemu.smp))


def test_with_a_filter_and_the_function_tracer(watch):
    with watch(str(GUESTS / "bound.c")) as watched:
        guest = watched.guest
        guest.tracer.current = "function"
        start(watched, "bound_*")
        guest.run(until="workload_done")
        found = check(watched, lambda call: call.function.startswith("bound_"))
        events = Counter(
            (event.cpu, event.ip) for event in guest.tracer.events() if event.name == "function"
        )
        assert found == events
        assert len(found) == 2 * guest.config.qemu.smp


def test_off_and_on_again(watch):
    with watch("calls") as watched:
        guest, tracer = watched.guest, watched.guest.tracer
        start(watched)
        guest.run(until="do_recursion")
        tracer.profiler.enabled = False
        watched.oracle.window(False)
        before = check(watched)
        guest.run(until="tail_second")
        assert hits(guest) == before
        watched.oracle.reset()
        start(watched)
        assert not hits(guest)
        guest.run(until="workload_done")
        assert check(watched)
        assert tracer.current == "nop"
        tracer.profiler.enabled = False
        assert tracer.enabled_functions == []


def test_functions_of_a_module(watch):
    with watch("modules") as watched:
        (module,) = watched.load("callbacks")
        start(watched)
        watched.guest.run(until="workload_done")
        found = check(watched)
        assert {site for _, site in found} & {site.ip for site in module.sites}


def test_times(watch):
    with watch("calls") as watched:
        start(watched)
        guest = watched.guest
        guest.run(until="workload_done")
        names = {site.ip: site.function for site in guest.image.sites}
        found = {names[one.site]: one for one in guest.tracer.profiler.profiles(0)}
        outer, middle, inner = (found[name] for name in ("do_nested", "do_middle", "do_inner"))
        assert outer.time > middle.time > inner.time > 0
        assert found["workload"].time > outer.time
        assert outer.time_squared == outer.time**2
        leaf = found["leaf"]
        assert leaf.time**2 > leaf.time_squared > leaf.average**2
        tracefs = Tracefs(guest)
        lines = list(tracefs.file("trace_stat/function0").read(guest))[2:]
        assert [line.split()[0] for line in lines] == [
            names[one.site][:30] for one in guest.tracer.profiler.profiles(0)
        ]
        with pytest.raises(UsageError, match="same callbacks"):
            guest.tracer.current = "function_graph"
        assert guest.tracer.current == "nop"
        guest.tracer.profiler.enabled = False
        guest.tracer.current = "function_graph"
        with pytest.raises(UsageError, match="same callbacks"):
            guest.tracer.profiler.enabled = True
