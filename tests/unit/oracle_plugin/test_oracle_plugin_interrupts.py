# SPDX-License-Identifier: MIT
"""Handlers come between any two instructions, and the shadow stack stays right."""

from support.oracle_plugin import BASE, VECTOR, VECTOR_PLACE, both, flow, linux_image, parents


@both
def test_interrupt_between_a_return_and_its_arrival(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.ret(300)
    vector = (VECTOR - BASE) // 4
    cpu.enter(vector)
    handler = cpu.call(vector + 1)
    cpu.ret(400)
    cpu.enter(handler)
    cpu.run(vector + 20, cpu.code.eret)
    cpu.enter(inner)
    cpu.site()
    assert parents(oracle) == [outer]


def test_a_site_whose_delay_slot_is_interrupted_is_one_call(machine):
    """As at the end of a page, where the block ends in front of the slot."""
    (cpu,), oracle = machine()
    back = cpu.call(100)
    cpu.run(0, cpu.code.site)
    handler = cpu.interrupt()
    cpu.ret(400)
    cpu.enter(handler)
    cpu.run(VECTOR_PLACE + 20, cpu.code.eret)
    cpu.run(0, cpu.code.site, cpu.code.nop)
    assert parents(oracle) == [back]
    cpu.enter(300)
    cpu.ret(301)
    cpu.enter(2)
    cpu.ret(10)
    cpu.enter(back)
    assert flow(oracle) == [("C", back), ("R", back)]
    cpu.site()
    assert len(oracle.records()) == 2


@both
def test_interrupts_back_to_back_are_one_level(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.ret(300)
    for _ in range(100):
        handler = cpu.interrupt()
        cpu.site()
        cpu.ret(400)
        cpu.enter(handler)
        cpu.run(VECTOR_PLACE + 20, cpu.code.eret)
    cpu.enter(inner)
    cpu.site()
    assert {call.level for call in oracle.records()[:-1]} == {1}
    assert (parents(oracle)[-1], oracle.records()[-1].level) == (outer, 0)


def test_interrupt_at_a_label_behind_a_call(machine):
    """The handler returns to what is also a return address, but nothing has returned there."""
    (cpu,), oracle = machine()
    cpu.call(100)
    back = cpu.call(200)
    cpu.enter(300)
    vector = (VECTOR - BASE) // 4
    cpu.enter(vector)
    cpu.run(vector + 20, cpu.code.eret)
    cpu.enter(back)
    cpu.site()
    assert parents(oracle) == [back]


def test_handlers_that_never_return_are_forgotten(machine):
    (cpu,), oracle = machine()
    back = cpu.call(100)
    vector = (VECTOR - BASE) // 4
    for _ in range(100):
        cpu.enter(vector)
    cpu.ret(200)
    cpu.enter(vector)
    cpu.run(vector + 20, cpu.code.eret)
    cpu.enter(back)
    cpu.site()
    assert parents(oracle) == [0]


def test_vectors_that_the_guest_places_itself(machine):
    (cpu,), oracle = machine(image=linux_image)
    oracle.set_vectors(VECTOR - 0x180)
    cpu.call(100)
    handler = cpu.interrupt()
    cpu.site()
    cpu.leave(handler, 10)
    cpu.site()
    assert [call.level for call in oracle.records()] == [1, 0]


def test_calls_in_interrupts_have_a_level(machine):
    (cpu,), oracle = machine()
    cpu.call(100)
    cpu.site()
    handler = cpu.interrupt()
    cpu.site()
    cpu.leave(handler, 10)
    cpu.site()
    assert [call.level for call in oracle.records()] == [0, 1, 0]
