# SPDX-License-Identifier: MIT
"""Snapshots: guest, debugger, tracer and events are restored together."""

import pytest

from harness import boot
from harness.config import list_configs, load_config
from harness.errors import GuestDied, UsageError
from harness.guest import Outcome
from harness.guest.control import PANIC_OUTPUT


def pytest_generate_tests(metafunc):
    """Every config whose machine has snapshots; ``without`` takes those that have none."""
    having = [name for name in list_configs() if load_config(name).qemu.snapshots]
    lacking = [name for name in list_configs() if name not in having]
    for argument, names in (("config", having), ("without", lacking)):
        if argument in metafunc.fixturenames:
            metafunc.parametrize(argument, names)


def functions(guest):
    return [event.function for event in guest.tracer.events()]


def test_registers_memory_and_events_are_what_they_were(config, guest):
    debugger, isa = guest.debugger, guest.image.isa
    guest.tracer.set_filter("do_*")
    guest.tracer.current = "function"
    guest.run(until="do_loop")
    seen = functions(guest)
    text = debugger.dump_memory(guest.image.text.start, len(guest.image.text))
    registers = debugger.registers()
    guest.snapshot("middle")
    guest.run(until="workload_done")
    guest.tracer.current = "nop"
    guest.tracer.set_filter("leaf")
    guest.tracer.clear()
    debugger.write_register(isa.abi.argument_registers[0], 1)
    guest.restore("middle")
    assert debugger.registers() == registers
    assert debugger.dump_memory(guest.image.text.start, len(guest.image.text)) == text
    assert guest.tracer.current == "function"
    assert functions(guest) == seen == ["do_nested", "do_middle", "do_inner"]
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    guest.tracer.current = "nop"
    assert "do_struct" in functions(guest)
    assert "leaf" not in functions(guest)


def test_a_dead_guest_comes_back(config, guest):
    guest.snapshot("before")
    for _ in range(3):
        guest.debugger.write_register(guest.image.isa.abi.pc_register, guest.address_of("panic"))
        with pytest.raises(Exception, match="panic"):
            guest.run(until="workload_done")
        guest.restore("before")
    guest.run(until="workload_done")
    assert guest.workload_status == 0


def test_back_to_before_the_ring_buffer_and_again_to_after(config, guest):
    guest.tracer.current = "function"
    guest.snapshot("tracing")
    guest.tracer.current = "nop"
    guest.snapshot("idle")
    guest.restore("tracing")
    assert guest.tracer.current == "function"
    guest.snapshot("idle")
    guest.restore("idle")
    assert guest.tracer.current == "function"
    with pytest.raises(UsageError, match=r"no snapshot 'never'\nThe snapshots are: idle, tracing"):
        guest.restore("never")


def test_one_snapshot_after_the_other_with_nothing_run_in_between(config, guest):
    guest.snapshot("here")
    for _ in range(3):
        guest.restore("here")
    guest.run(until="workload_done")
    assert guest.workload_status == 0


def test_a_machine_without_refuses_and_goes_on(without):
    with boot(without, "calls") as guest:
        with pytest.raises(UsageError, match=f"cannot restore a snapshot of {without}"):
            guest.snapshot("here")
        guest.run()
        assert guest.workload_status == 0


@pytest.mark.guest(config="mips-malta")
def test_a_snapshot_from_before_irqsoff_reads_the_ring_buffer_again(guest):
    tracer = guest.tracer
    guest.snapshot("before")
    tracer.current = "irqsoff"
    guest.run()
    guest.restore("before")
    tracer.current = "function"
    guest.run()
    assert len(list(tracer.events())) > 40


def test_a_branch_is_taken_after_a_snapshot_in_its_delay_slot(config, guest):
    isa, debugger = guest.image.isa, guest.debugger
    size = isa.cpu.delay_slot
    if not size:
        pytest.skip("an architecture without delay slots")
    pc = isa.abi.pc_register
    guest.tracer.set_filter("do_*", "leaf*")
    guest.tracer.current = "function"
    while not isa.cpu.has_delay_slot(debugger.read_memory(debugger.read_register(pc) - size, size)):
        debugger.step_instruction()
    branch, slot = debugger.read_register(pc) - size, debugger.read_register(pc)
    guest.snapshot("slot")
    assert debugger.read_register(pc) not in (branch, slot)
    ends = []
    for _ in range(2):
        guest.run(until="workload_done")
        ends.append((guest.workload_status, functions(guest)))
        guest.restore("slot")
    assert ends[0] == ends[1]


def test_time_is_what_it_was(config):
    if load_config(config).qemu.smp > 1:
        pytest.skip("QEMU runs its CPUs one after the other, in no certain order")
    with boot(config, "threads", tick=1000, deterministic=True) as guest:
        guest.tracer.current = "function"
        guest.run(until="tick_interrupt")
        guest.snapshot("middle")
        seen = []
        for _ in range(2):
            guest.run(until="workload_done")
            seen.append([str(event) for event in guest.tracer.events()])
            guest.restore("middle")
        assert seen[0] == seen[1]


def test_ticks_go_on_after_a_restore(config):
    # A tick that is pending would hide a timer that stands still: time waits for the debugger.
    # Several CPUs take turns then, and one that spins uses up the time of the one it waits for.
    single = load_config(config).qemu.smp == 1
    with boot(config, "threads", tick=1000, deterministic=single) as guest:
        if not guest.image.isa.cpu.unsaved_timer:
            pytest.skip("its timer is in the snapshot")
        guest.snapshot("start")
        guest.run(until="workload_done")
        guest.restore("start")
        guest.run(until="tick_interrupt", timeout=10)


def test_in_front_of_the_first_instruction(config):
    with boot(config, until=None) as guest:
        guest.snapshot("power on")
        for _ in range(2):
            guest.run(until="workload")
            guest.tracer.current = "function"
            guest.snapshot("tracing")
            guest.run(until="workload_done")
            assert guest.workload_status == 0
            guest.restore("power on")
            guest.restore("power on")
            assert guest.console == ""
            guest.snapshot("power on")
        guest.restore("tracing")
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        assert "leaf" in functions(guest)


def test_a_guest_that_comes_back_has_not_printed_how_it_died(config, guest):
    guest.snapshot("before")
    printed = guest.console
    guest.debugger.write_register(guest.image.isa.abi.pc_register, guest.address_of("panic"))
    with pytest.raises(GuestDied, match="the guest panicked"):
        guest.run(until="workload_done")
    assert guest.console != printed
    guest.restore("before")
    assert guest.console == printed
    # Longer than the time in which a guest that has printed so is waited for.
    assert guest.run(until="panic_stop", seconds=PANIC_OUTPUT + 1) is Outcome.ELAPSED
