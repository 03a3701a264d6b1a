# SPDX-License-Identifier: MIT
"""The kernel around the port: threads, ticks, several CPUs, user mode."""

import re
from pathlib import Path

import pytest

from harness import boot
from harness.errors import GuestDied
from tests.support.configs import others

HERE = Path(__file__).parent / "workloads"
LINES = str(HERE / "lines.c")
DIES = str(HERE / "dies.c")
ANSWERS = str(HERE.parents[1] / "oracle" / "workloads" / "answers.c")

NEED_THE_KERNEL = ["threads", "smp", "syscalls", "recursion", "recursion_threads"]

# One config of each kind, for what does not depend on the form of call sites.
KINDS = [
    "aarch64-virt",
    "aarch64-virt-smp",
    "mips-malta",
    "mips-malta-smp",
    "mips64-malta",
    "mips64-malta-smp",
    *others(),
]


def functions(guest):
    return [event.function for event in guest.tracer.events() if event.name == "function"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("workload", NEED_THE_KERNEL)
def test_workloads_find_their_answers_under_ticks(kind, workload):
    with boot(kind, workload=workload, tick=1000) as guest:
        guest.tracer.current = "function_graph"
        guest.run(until="workload_done")
        assert guest.workload_status == 0


@pytest.mark.parametrize("kind", KINDS)
def test_one_thread_has_no_ticks_unless_they_are_asked_for(kind):
    with boot(kind, workload="sort", tick=0) as guest:
        trace_ticks(guest)
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        assert not functions(guest)
    # Without end: how soon a tick comes is the host's affair.
    with boot(kind, workload=ANSWERS, tick=5000) as guest:
        trace_ticks(guest)
        for _ in range(5):
            guest.run(until="tick_interrupt")
        assert set(functions(guest)) == {"handle_irq", "tick_interrupt"}


def trace_ticks(guest):
    guest.tracer.set_filter("handle_irq", "tick_interrupt", "schedule")
    guest.tracer.current = "function"


@pytest.mark.parametrize("kind", KINDS)
def test_threads_are_listed_with_their_names(kind):
    with boot(kind, workload="threads") as guest:
        guest.run(until="polynomial_thread")
        names = {thread.pid: thread.comm for thread in guest.threads() if thread.pid}
        assert names[1] == "workload"
        assert "polynomial" in names.values()
        idle = {thread.comm for thread in guest.threads() if thread.pid == 0}
        assert idle == {f"swapper/{cpu}" for cpu in range(guest.config.qemu.smp)}


@pytest.mark.parametrize("kind", KINDS)
def test_lines_of_several_threads_stay_whole(kind):
    with boot(kind, workload=LINES, tick=1000) as guest:
        guest.run(until="workload_done")
        # The first one may have lost its beginning.
        printed = guest.machine.console.tail(lines=40).splitlines()[1:-1]
    matches = [
        re.fullmatch(r"worker \d+ line \d+ length (\d+) ([a-z]*)\.", line) for line in printed
    ]
    assert len(matches) == 38
    assert all(int(match[1]) == len(match[2]) for match in matches)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("how", "says"),
    [
        ("overflow", r"stack overflow in thread \d+ \(dying\)"),
        ("sleeping", r"schedule: thread \d+ \(dying\) must not be preempted"),
        ("panic", r"CPU {last} of {cpus}"),
    ],
)
def test_a_thread_that_ends_the_kernel(kind, how, says):
    with boot(kind, workload=DIES, cflags=[f"-DHOW={how}"]) as guest:
        cpus = guest.config.qemu.smp
        with pytest.raises(GuestDied) as caught:
            guest.run(until="workload_done")
        expected = says.format(last=cpus - 1, cpus=cpus)
        assert re.search(f"Kernel panic - not syncing: {expected}", caught.value.evidence)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.endswith("-smp")])
def test_a_panic_stops_the_other_cpus(kind):
    with boot(kind, workload=DIES, cflags=["-DHOW=panic"]) as guest:
        with pytest.raises(GuestDied):
            guest.run(until="workload_done")
        # The interrupt that stops them is on its way when the panic is noticed.
        counts = []
        for _ in range(3):
            guest.debugger.resume()
            assert guest.debugger.wait_stop(0.2) is None
            guest.debugger.interrupt()
            assert guest.debugger.wait_stop(10)
            counts.append(guest.debugger.read_memory(guest.address_of("rounds"), 4))
        assert counts[1] == counts[2]


@pytest.mark.parametrize("kind", KINDS)
def test_user_programs_are_killed_and_say_why(kind):
    with boot(kind, workload="syscalls") as guest:
        guest.run(until="workload_done")
        killed = re.findall(r"(\w+)\[\d+\]: killed at 0x[0-9a-f]+: .+", guest.console)
    assert killed == ["null_store", "kernel_load", "kernel_store", "kernel_jump", "bad_instruction"]
