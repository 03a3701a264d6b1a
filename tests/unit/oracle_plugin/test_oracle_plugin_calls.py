# SPDX-License-Identifier: MIT
"""The plugin's shadow stack, block by block: who called, and who called the caller."""

import ctypes
import struct

import pytest

from support.oracle_plugin import BASE, BGEZAL, CODES, VECTOR, at, both, parents


@both
def test_parent_is_the_return_address(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.site()
    (call,) = oracle.records()
    assert (call.cpu, call.site, call.function) == (0, BASE, "traced")
    assert call.parent == at(back)


def test_a_call_of_16_bits_returns_right_behind_itself(machine):
    (cpu,), oracle = machine("short")
    outer = cpu.call(100)
    assert at(outer) == at(100) + 2
    cpu.site()
    cpu.ret(301)
    cpu.enter(outer)
    cpu.site()
    assert [call.parent for call in oracle.records()] == [at(outer), 0]


def test_before_any_call_there_is_no_parent(machine):
    (cpu,), oracle = machine()
    cpu.site()
    assert parents(oracle) == [0]


@both
def test_return_takes_the_frame_away(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.enter(300)
    cpu.ret(301)
    cpu.enter(inner)
    cpu.site()
    assert parents(oracle) == [outer]


@both
def test_tail_call_keeps_the_caller(machine, name):
    (cpu,), oracle = machine(name)
    back = cpu.call(100)
    cpu.enter(200)
    cpu.transfer(201, cpu.code.jump)
    cpu.site()
    assert parents(oracle) == [back]


@both
def test_leaving_several_frames_at_once(machine, name):
    (cpu,), oracle = machine(name)
    outer = cpu.call(100)
    middle = cpu.call(200)
    cpu.call(300)
    cpu.call(400)
    cpu.enter(500)
    cpu.transfer(501, cpu.code.jump)
    cpu.enter(middle)
    cpu.site()
    assert parents(oracle) == [outer]


def test_conditional_call_that_is_not_taken(machine):
    (cpu,), oracle = machine()
    back = cpu.call(100)
    cpu.transfer(200, BGEZAL)
    cpu.enter(202)
    cpu.site()
    assert parents(oracle) == [back]


def test_conditional_call_that_is_taken(machine):
    (cpu,), oracle = machine()
    cpu.call(100)
    cpu.transfer(200, BGEZAL)
    cpu.site()
    assert parents(oracle) == [202]


@pytest.mark.parametrize("word", [CODES["mips"].call, BGEZAL])
def test_block_that_ends_before_the_delay_slot(machine, word):
    (cpu,), oracle = machine()
    cpu.run(100, word)
    cpu.run(101, cpu.code.nop)
    cpu.site()
    assert parents(oracle) == [102]


def test_return_whose_delay_slot_is_a_block_of_its_own(machine):
    (cpu,), oracle = machine()
    outer = cpu.call(100)
    inner = cpu.call(200)
    cpu.run(300, cpu.code.ret)
    cpu.run(301, cpu.code.nop)
    cpu.enter(inner)
    cpu.site()
    assert parents(oracle) == [outer]


def test_call_that_a_fault_starts_over(machine):
    """The fault is in the delay slot: the handler returns to the call itself."""
    (cpu,), oracle = machine()
    outer = cpu.call(100)
    cpu.run(200, cpu.code.call, cpu.code.nop)
    vector = (VECTOR - BASE) // 4
    cpu.transfer(vector, cpu.code.eret)
    back = cpu.call(200)
    cpu.enter(300)
    cpu.ret(301)
    cpu.enter(back)
    cpu.site()
    assert parents(oracle) == [outer]


def test_sign_extended_addresses(machine):
    (cpu,), oracle = machine()
    for place, word in ((100, cpu.code.call), (0, cpu.code.nop)):
        data = struct.pack(">II", word, 0)
        address = at(place) | 0xFFFFFFFF_00000000
        cpu.library.fake_execute(0, ctypes.c_uint64(address), data, 2)
    assert [(call.site, call.parent) for call in oracle.records()] == [(BASE, at(102))]


def test_count_does_not_include_the_site(machine):
    (cpu,), oracle = machine()
    cpu.run(10, *[cpu.code.nop] * 7)
    cpu.site()
    assert oracle.records()[0].instructions == 7
    assert oracle.instructions == 8
