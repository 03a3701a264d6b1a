# SPDX-License-Identifier: MIT
"""The oracle's records, and its errors.

Without ticks: the records are compared one by one, without those of interrupts.
"""

import pytest

from harness import boot
from harness.errors import HostError
from harness.oracle import Oracle


def functions(oracle):
    return [call.function for call in oracle.records()]


def test_only_an_open_window_records(watch):
    with watch("calls", tick=0) as watched:
        guest, oracle = watched.guest, watched.oracle
        guest.run(until="do_loop")
        assert functions(oracle) == []
        oracle.window(True)
        guest.run(until="do_recursion")
        oracle.window(False)
        guest.run(until="workload_done")
        assert functions(oracle) == ["do_loop", "leaf", "leaf", "leaf"]


def test_callers_are_known_when_the_window_opens_late(watch):
    with watch("calls", tick=0) as watched:
        guest, oracle = watched.guest, watched.oracle
        guest.run(until="tail_second")
        oracle.window(True)
        guest.run(until="do_many_arguments")
        (call,) = oracle.records()
        assert call.function == "tail_second"
        assert guest.image.function_at(call.parent).name == "do_tail"


def test_reset_forgets(watch):
    with watch("calls", tick=0) as watched:
        guest, oracle = watched.guest, watched.oracle
        oracle.window(True)
        guest.run(until="do_sum")
        oracle.reset()
        assert oracle.instructions == 0
        assert functions(oracle) == []
        guest.run(until="workload_done")
        assert functions(oracle)[:3] == ["do_sum", "leaf", "leaf"]


def test_a_restored_guest_is_followed_as_before(watch):
    with watch("calls", tick=0) as watched:
        guest, oracle = watched.guest, watched.oracle
        guest.snapshot("begin")
        oracle.snapshot()

        def run():
            oracle.window(True)
            guest.run(until="workload_done")
            calls = oracle.records()
            # Other CPUs are idle, and not always at the same time.
            return [(call.function, call.parent) for call in calls if call.thread == first_thread]

        oracle.window(True)
        guest.run(until="leaf")
        first_thread = oracle.records()[-1].thread
        oracle.window(False)
        guest.restore("begin")
        oracle.restore()
        first = run()
        guest.restore("begin")
        oracle.restore()
        assert run() == first
        assert "do_loop" in dict(first)


def test_too_many_records_are_counted_and_refused(watch):
    with watch("calls", capacity=10, tick=0) as watched:
        watched.oracle.window(True)
        watched.guest.run(until="workload_done")
        assert watched.oracle.dropped > 20
        with pytest.raises(HostError, match="no room for"):
            watched.oracle.records()
        watched.oracle.reset()
        assert watched.oracle.dropped == 0
        assert watched.oracle.records() == []


def test_a_machine_without_the_plugin_is_noticed(image_of, config, tmp_path):
    with Oracle(image_of("calls"), tmp_path) as oracle, boot(config, "calls"):
        with pytest.raises(HostError, match="has not loaded the oracle"):
            oracle.window(True)
        with pytest.raises(HostError, match="has not loaded the oracle"):
            oracle.records()
