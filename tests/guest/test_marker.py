# SPDX-License-Identifier: MIT
"""trace_marker: events that the guest writes for the harness, wherever it is stopped."""

from pathlib import Path

import pytest

from harness.guest import TracingOff
from tests.support.configs import others

CONFIGS = ["mips-malta", "mips64-malta-smp", "aarch64-virt-smp", *others()]

WORKLOAD = str(Path(__file__).with_name("workloads") / "tracing.c")

pytestmark = pytest.mark.guest(workload=WORKLOAD)

ROUNDS = 25


def marks(guest):
    return [event for event in guest.tracer.events() if event.message.startswith("tracing_mark_")]


def registers(guest):
    debugger, abi = guest.debugger, guest.image.isa.abi
    names = (*abi.general_registers, abi.pc_register, abi.status_registers[0])
    return {name: debugger.read_register(name) for name in names}


def test_a_marker_leaves_the_guest_as_it_was(config, guest):
    guest.tracer.current = "function"
    guest.run("middle")
    # Another CPU may be in the middle of an event, which is finished first.
    guest.settle()
    before, others = registers(guest), guest.cpus.program_counters()
    guest.write_marker("here")
    assert registers(guest) == before
    assert guest.cpus.program_counters() == others
    (mark,) = marks(guest)
    assert mark.message == "tracing_mark_write: here"
    assert mark.pid == guest.cpus.current()[mark.cpu].pid
    guest.run()
    assert guest.workload_status == 0
    stamps = [event.stamp for event in guest.tracer.events() if event.cpu == mark.cpu]
    assert stamps == sorted(stamps)
    functions = [event for event in guest.tracer.events() if event.name == "function"]
    assert functions[0].stamp < mark.stamp < functions[-1].stamp
    assert not [event for event in functions if event.function == "tracing_mark_write"]


def test_markers_in_the_middle_of_anything(config, guest):
    """One after each few instructions, in stubs, in the tracer and in delay slots too."""
    guest.tracer.current = "function_graph"
    guest.run("speak")
    for number in range(ROUNDS):
        for _ in range(1 + number % 7 * 5):
            guest.debugger.step_instruction()
        guest.write_marker(f"number {number}")
    guest.run()
    assert guest.workload_status == 0
    assert [mark.text for mark in marks(guest)] == [f"number {one}" for one in range(ROUNDS)]
    assert guest.collector.counts.dropped == 0


@pytest.mark.guest(workload="syscalls")
def test_a_marker_while_a_program_is_in_user_mode(config, guest):
    cpu, read = guest.image.isa.cpu, guest.debugger.read_register
    guest.run("do_syscall")
    for _ in range(2000):
        guest.debugger.step_instruction()
        if not cpu.runs_kernel(read):
            break
    assert not cpu.runs_kernel(read)
    guest.write_marker("from user mode")
    # Settling may have stopped another CPU, which was in the kernel and wrote it.
    assert cpu.runs_kernel(read) or guest.config.qemu.smp > 1
    guest.run()
    assert guest.workload_status == 0
    assert len(marks(guest)) == 1


def test_a_long_text_is_several_events(config, guest):
    guest.write_marker("x" * 2000)
    texts = [mark.text for mark in marks(guest)]
    assert "".join(texts) == "x" * 2000
    assert len(texts) == 3
    assert all(event.text for event in marks(guest))


def test_nothing_is_recorded_while_tracing_is_off(config, guest):
    guest.tracer.set_event_pid(77)
    guest.write_marker("one")
    guest.tracer.on = False
    with pytest.raises(TracingOff):
        guest.write_marker("two")
    guest.tracer.on = True
    assert [mark.text for mark in marks(guest)] == ["one"]
    guest.run()
    assert guest.workload_status == 0
