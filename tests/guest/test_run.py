# SPDX-License-Identifier: MIT
"""Running to an address, with other stops before it."""

from harness import boot
from harness.guest import Outcome, control
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt", *others()]


def test_an_interrupt_right_in_front_of_the_place_is_an_arrival(config, monkeypatch):
    """gdb would step over the breakpoint if something else has stopped it there."""
    monkeypatch.setattr(control, "DRAIN_EVERY", 0.0)
    with boot(config, until="do_loop") as guest:
        place = guest.address_of("do_pointer")
        interrupt = guest.control.interrupt

        def stop_there():
            stop = interrupt()
            while stop.address != place:
                stop = guest.debugger.step_instruction()
            return stop

        monkeypatch.setattr(guest.control, "interrupt", stop_there)
        assert guest.run(until=place) is Outcome.REACHED
        assert guest.cpus.program_counters()[0] == place


def test_a_breakpoint_of_the_users_ends_the_run(config):
    with boot(config) as guest:
        guest.debugger.breakpoints.insert("do_loop")
        assert guest.run(until="workload_done") is Outcome.BREAKPOINT
        assert guest.image.symbolize(guest.debugger.stop.address) == "do_loop"
        assert guest.run(until="workload_done") is Outcome.REACHED


def test_one_of_several_places(config):
    with boot(config) as guest:
        assert guest.run(until=["do_pointer", "do_loop"]) is Outcome.REACHED
        assert guest.image.symbolize(guest.debugger.stop.address) == "do_loop"
