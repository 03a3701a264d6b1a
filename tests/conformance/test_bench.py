# SPDX-License-Identifier: MIT
"""The guests of one build under test: which are kept, and what is known of them."""

import pytest

from harness.conformance.checks.c_events import watch
from harness.conformance.registry import DYNAMIC
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS, START
from harness.conformance.under_test.hang import Hang, HangDetector, jumps_to_itself
from harness.conformance.variants import build_variant, suite_spec, variant_of
from harness.errors import GuestError


@pytest.fixture(scope="module", params=["aarch64-virt-smp", "mips-malta"])
def variant(request):
    return build_variant(variant_of(suite_spec(request.param), DYNAMIC), DYNAMIC)


@pytest.fixture
def bench(variant):
    made = Bench(variant)
    yield made
    made.end()


def test_a_guest_that_is_set_aside_is_there_again(bench):
    first = bench.fresh()
    with bench.set_aside():
        other = bench.fresh()
        assert other is not first
    assert not other.machine.alive
    assert bench.guest is first
    assert bench.fresh() is first


def test_the_guest_of_a_block_that_fails_stays(bench):
    first = bench.fresh()

    def fail():
        with bench.set_aside():
            bench.fresh()
            raise GuestError("it died")

    with pytest.raises(GuestError):
        fail()
    assert bench.guest is not first
    assert bench.guest.machine.alive
    assert not first.machine.alive


def test_the_guest_with_the_oracle_is_kept(bench):
    bench.fresh()
    seen = []
    for _ in range(2):
        with watch(bench) as watched:
            watched.run()
            seen.append((bench.guest, [call.function for call in watched.oracle.records()]))
    (first, calls), (second, again) = seen
    assert first is second
    assert set(calls) == set(again)
    bench.end()
    assert not first.machine.alive


def test_records_can_be_read_when_the_guest_was_replaced(bench):
    with watch(bench) as watched:
        watched.run()
        guest = bench.guest
        bench.fresh()
        assert bench.guest is not guest
        assert watched.oracle.records()
    with watch(bench) as watched:
        watched.run()
        assert watched.oracle.records()


def test_registers_are_known_until_something_changes_them(bench):
    bench.fresh()
    bench.call(bench.image.address_of("ftrace_dyn_arch_init"))
    known = bench.registers.state()
    assert known == {
        name: bench.guest.debugger.registers().get(name, known[name]) for name in known
    }
    result = bench.isa.abi.results[0]
    bench.guest.debugger.write_register(result, 5)
    assert bench.registers.state()[result] == 5


def test_breakpoints_stay_for_the_next_run_to_the_same_places(bench):
    bench.fresh()
    breakpoints, mask = bench.guest.debugger.breakpoints, bench.isa.mask
    leaf, back = (bench.image.address_of(name) & mask for name in ("leaf", CALL_RETURNS))
    own = bench.guest.control.own_breakpoints
    numbers = []
    for _ in range(2):
        bench.run_to(leaf)
        (number,) = set(breakpoints.addresses()) - own
        assert breakpoints.addresses()[number] == leaf
        numbers.append(number)
    assert len(set(numbers)) == 1
    bench.run_to(back)
    (number,) = set(breakpoints.addresses()) - own
    assert breakpoints.addresses()[number] == back
    # It would end a call by gdb.
    bench.guest.debugger.call(bench.image.symbols["local_clock"], returns="long long")
    assert set(breakpoints.addresses()) == own


def test_a_run_by_the_guest_leaves_no_breakpoint(bench):
    guest = bench.fresh()
    guest.run(until="leaf")
    assert set(guest.debugger.breakpoints.addresses()) == guest.control.own_breakpoints


def test_a_boot_begins_where_the_machine_was_switched_on(bench):
    first = bench.boot()
    began = bench.registers.read()
    bench.run_to(START)
    text = bench.code.text()
    bench.boot()
    assert bench.guest is first
    assert bench.registers.read() == began
    bench.run_to(START)
    assert bench.code.text() == text
    bench.fresh()
    bench.boot()
    assert bench.guest is first


def _jumps_in(bench, function):
    """The guest stopped in a jump to itself, with which the function begins now."""
    guest, sites, at = bench.fresh(), bench.isa.sites, bench.image.address_of(function)
    guest.debugger.write_memory(at, sites.encode_jump(at, at) + sites.nop)
    bench.run_to(at)
    return guest


def test_a_guest_that_only_jumps_to_itself_is_not_waited_for(bench, monkeypatch):
    guest = _jumps_in(bench, "leaf")
    status = bench.isa.abi.status_registers[0]
    before = bench.registers.value(status)
    assert not jumps_to_itself(guest, bench.registers)
    guest.debugger.write_register(status, bench.isa.cpu.with_interrupts_masked(before))
    assert jumps_to_itself(guest, bench.registers)
    monkeypatch.setattr(HangDetector, "hangs", False)
    with pytest.raises(Hang, match="did not come to workload_done"):
        bench.run_to(CALL_RETURNS)
    guest.debugger.write_register(status, before)
    assert not jumps_to_itself(guest, bench.registers)
