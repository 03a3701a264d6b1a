# SPDX-License-Identifier: MIT
"""A return is that of its call, whatever lies between, and longjmp() ends what it leaves."""

from support.oracle_plugin import BASE, THREADS, both, flow


@both
def test_a_return_pairs_with_its_call(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    cpu.site()
    inner = cpu.call(200)
    cpu.site()
    cpu.ret(201)
    cpu.enter(inner)
    cpu.ret(202)
    cpu.enter(outer)
    assert flow(oracle) == [("C", outer), ("C", inner), ("R", inner), ("R", outer)]
    assert {record.site for record in oracle.flow()} == {BASE}


@both
def test_the_return_of_a_tail_call_is_that_of_both(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    cpu.transfer(10, cpu.code.jump)
    cpu.site()
    cpu.ret(10)
    cpu.enter(back)
    assert flow(oracle) == [("C", back), ("C", back), ("R", back), ("R", back)]


@both
def test_a_return_that_makes_a_detour(machine, name):
    """As return_to_handler does: to a place that nobody called from, and from there back."""
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    cpu.ret(10)
    cpu.enter(500)
    handler = cpu.call(501)
    cpu.ret(600)
    cpu.enter(handler)
    assert flow(oracle) == [("C", back)]
    cpu.ret(503)
    cpu.enter(back)
    assert flow(oracle) == [("C", back), ("R", back)]


@both
def test_longjmp_ends_what_it_leaves(machine, name):
    """At once, and no more than that, although all of them return to the same place."""
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    caught = cpu.setjmp(10, THREADS - 0x800)
    for _ in range(3):
        assert cpu.call(100) == back
        cpu.site()
    cpu.longjmp(12, THREADS - 0x800, caught)
    assert flow(oracle) == [("C", back)] * 4 + [("left", back)] * 3
    cpu.ret(14)
    cpu.enter(back)
    assert flow(oracle)[7:] == [("R", back)]


@both
def test_accesses_behind_the_block_of_a_watched_one_are_others(machine, name):
    """QEMU 7.2 may keep the callback of an instruction that ends its block."""
    (cpu,), oracle = machine(name)
    buffer = THREADS - 0x800
    caught = cpu.setjmp(10, buffer)
    cpu.longjmp(12, buffer, caught)
    back = cpu.call(100)
    cpu.site()
    cpu.stale(buffer + 8, False)
    cpu.stale(buffer + 8, True)
    assert flow(oracle) == [("C", back)]
    cpu.ret(14)
    cpu.enter(back)
    assert flow(oracle)[1:] == [("R", back)]


@both
def test_longjmp_goes_back_to_the_buffer_that_it_is_given(machine, name):
    (cpu,), oracle = machine(name)
    outer, inner = THREADS - 0x800, THREADS - 0x400
    backs = []
    for number, buffer in enumerate((outer, inner)):
        backs.append(cpu.call(100 + 100 * number))
        cpu.site()
        caught = cpu.setjmp(10 + 10 * number, buffer)
    cpu.call(300)
    cpu.site()
    cpu.longjmp(30, inner, caught)
    assert [kind for kind, _ in flow(oracle)] == ["C", "C", "C", "left"]
    cpu.longjmp(31, outer, 10)
    assert flow(oracle)[4:] == [("left", backs[1])]


def test_returns_in_a_closed_window(machine):
    (cpu,), oracle = machine()
    oracle.window(False)
    first = cpu.call(100)
    cpu.site()
    oracle.window(True)
    second = cpu.call(200)
    cpu.site()
    oracle.window(False)
    cpu.ret(10)
    cpu.enter(second)
    oracle.window(True)
    cpu.ret(11)
    cpu.enter(first)
    assert flow(oracle) == [("C", second), ("late", second)]
