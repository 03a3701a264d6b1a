# SPDX-License-Identifier: MIT
"""Each thread has a shadow stack of its own, on whichever CPU it runs."""

import threading

import pytest

from harness.errors import HostError
from support.oracle_plugin import (
    NR_THREADS,
    SWITCH,
    THREAD_ENTRY,
    THREAD_SIZE,
    THREADS,
    both,
    flow,
    linux_image,
    parents,
    place,
)


@both
def test_each_thread_has_its_own_callers(machine, name):
    (cpu,), oracle = machine(name)
    one = cpu.call(100)
    first = cpu.switch(0, 1, 110)
    cpu.enter(THREAD_ENTRY)
    other = cpu.call(200)
    cpu.site()
    second = cpu.switch(1, 0, 210)
    cpu.enter(first)
    cpu.site()
    cpu.switch(0, 1, 120)
    cpu.enter(second)
    cpu.ret(10)
    cpu.enter(other)
    cpu.site()
    assert parents(oracle) == [other, one, 0]
    assert [oracle.thread_address(call.thread) for call in oracle.records()] == [
        THREADS + THREAD_SIZE,
        THREADS,
        THREADS + THREAD_SIZE,
    ]
    assert flow(oracle)[-2:] == [("R", other), ("C", place(0))]


@both
def test_tasks_of_a_linux_kernel_are_known_by_where_their_registers_are_saved(machine, name):
    (cpu,), oracle = machine(name, image=linux_image)
    init, worker, stack = THREADS + 0x1000, THREADS + 0x5000, THREADS + 0x9000

    def switch(before, after, place):
        back = cpu.call(place)
        cpu.enter(SWITCH)
        # The status lies behind the other registers, and is saved first.
        for offset in (44, 0, 4):
            cpu.memory(SWITCH + 1, before + offset, True)
        cpu.memory(SWITCH + 1, after, False)
        # A variable of the kernel.
        cpu.memory(SWITCH + 1, stack, True)
        cpu.memory(SWITCH + 1, after + 44, False)
        cpu.ret(SWITCH + 2)
        return back

    entries = cpu.code.isa.linux.switch[1:]
    one = cpu.call(100)
    first = switch(init, worker, 110)
    cpu.enter(THREAD_ENTRY + len(entries) - 1)
    other = cpu.call(200)
    cpu.site()
    second = switch(worker, init, 210)
    cpu.enter(first)
    cpu.site()
    switch(init, worker, 120)
    cpu.enter(second)
    cpu.site()
    assert parents(oracle) == [other, one, other]
    threads = [oracle.thread_address(call.thread) for call in oracle.records()]
    assert threads == [worker, init, worker]


@both
def test_a_thread_that_moves_to_another_cpu(machine, name):
    (first, second), oracle = machine(name, cpus=2)
    one = first.call(100)
    goes_on = first.switch(0, 2, 110)
    first.enter(THREAD_ENTRY)
    second.switch(1, 0, 300)
    second.enter(goes_on)
    second.site()
    assert parents(oracle) == [one]
    (call,) = oracle.records()
    assert (call.cpu, oracle.thread_address(call.thread)) == (1, THREADS)


@both
def test_preempted_between_a_return_and_its_arrival(machine, name):
    """Another thread runs in the middle of an interrupt, and is itself taken up again there."""
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.ret(300)
    handler = cpu.interrupt()
    resumed = cpu.switch(0, 1, 500)
    cpu.enter(THREAD_ENTRY)
    other = cpu.call(600)
    cpu.site()
    second_handler = cpu.interrupt()
    second = cpu.switch(1, 0, 500)
    cpu.enter(resumed)
    cpu.leave(handler, inner)
    cpu.site()
    cpu.switch(0, 1, 700)
    cpu.enter(second)
    cpu.leave(second_handler, 10)
    cpu.site()
    assert parents(oracle) == [other, outer, other]
    assert [call.level for call in oracle.records()] == [0, 0, 0]


def test_a_place_in_the_table_that_is_used_again(machine):
    (cpu,), oracle = machine()
    back = cpu.switch(0, 1, 100)
    cpu.enter(THREAD_ENTRY)
    cpu.call(200)
    cpu.interrupt()
    cpu.switch(1, 0, 300)
    cpu.enter(back)
    cpu.switch(0, 1, 400)
    cpu.enter(THREAD_ENTRY)
    cpu.site()
    (call,) = oracle.records()
    assert (call.parent, call.level) == (0, 0)


def test_accesses_to_other_memory_switch_nothing(machine):
    (cpu,), oracle = machine()
    cpu.access(NR_THREADS, False)
    cpu.access(-1, True)
    cpu.site()
    (call,) = oracle.records()
    assert oracle.thread_address(call.thread) == 0


@both
@pytest.mark.parametrize("word", ["ret", "nop"])
def test_what_neither_loads_nor_stores_is_not_watched_for_it(machine, name, word):
    """QEMU 7.2 would not take the callback of a branch from the CPU again."""
    (cpu,), oracle = machine(name)
    cpu.memory(SWITCH, THREADS + 40, False, getattr(cpu.code, word))
    cpu.site()
    (call,) = oracle.records()
    assert oracle.thread_address(call.thread) == 0


def test_cpus_do_not_mix(machine):
    (first, second), oracle = machine(cpus=2)
    one, other = first.call(100), second.call(200)
    first.site()
    second.site()
    assert parents(oracle) == [one, other]
    assert [call.cpu for call in oracle.records()] == [0, 1]
    assert [call.instructions for call in oracle.records()] == [2, 2]
    assert oracle.instructions == 6


def test_cpus_that_take_turns_in_one_thread(machine, request):
    """As with -icount: from interface 2 on it is not known which of them executes a block."""
    (first, second), oracle = machine(cpus=2)
    for cpu in (first, second):
        cpu.library.fake_begin(cpu.number)
    second.call(200)
    second.site()
    assert oracle.instructions == 3
    if "interface-1" in request.node.name:
        assert [call.cpu for call in oracle.records()] == [1]
    else:
        with pytest.raises(HostError, match="which CPU executes"):
            oracle.records()


def test_cpus_with_threads_of_their_own(machine):
    (first, second), oracle = machine(cpus=2)
    for cpu in (first, second):
        thread = threading.Thread(target=cpu.library.fake_begin, args=(cpu.number,))
        thread.start()
        thread.join()
    second.site()
    assert [call.cpu for call in oracle.records()] == [1]


@both
def test_restored_threads_are_as_at_the_snapshot(machine, name):
    (cpu,), oracle = machine(name)
    cpu.call(100)
    first = cpu.switch(0, 1, 110)
    cpu.enter(THREAD_ENTRY)
    cpu.call(200)

    def go_on():
        oracle.window(True)
        cpu.call(210)
        cpu.site()
        cpu.switch(1, 2, 220)
        cpu.enter(THREAD_ENTRY)
        cpu.call(230)
        cpu.site()
        cpu.switch(2, 0, 240)
        cpu.enter(first)
        cpu.site()
        threads = [(call.thread, oracle.thread_address(call.thread)) for call in oracle.records()]
        return threads, flow(oracle)

    oracle.window(False)
    oracle.snapshot()
    expected = go_on()
    for _ in range(2):
        oracle.restore()
        assert go_on() == expected


@both
def test_a_machine_that_has_not_moved_since_the_snapshot_can_be_restored(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    oracle.snapshot()
    oracle.restore()
    oracle.window(True)
    cpu.site()
    assert parents(oracle) == [back]
    oracle.restore()
    oracle.window(True)
    cpu.site()
    assert parents(oracle) == [back]
