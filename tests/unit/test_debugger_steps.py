# SPDX-License-Identifier: MIT
"""Single steps, whose stub says of some that they are done before it has begun them."""

import pytest

from harness.debugger.session import REMOTE_TIMEOUT
from harness.debugger.threads import STEP_TRIES, Threads
from harness.errors import DeadlineMissed, GdbError


class Stub:
    """gdb on a stub: each step takes the program counter to the next of these places."""

    def __init__(self, *places, reply="T05thread:01;"):
        self.pc, self.places, self.reply = 0x1000, iter(places), reply
        self.steps = 0
        self.timeout = REMOTE_TIMEOUT

    def command(self, mi):
        return {}

    def console(self, *commands):
        return "".join(map(self.answer, commands))

    def answer(self, command):
        if "output/x $pc" in command:
            return hex(self.pc)
        if command.startswith("set remotetimeout"):
            self.timeout = int(command.rpartition(" ")[2])
        if "vCont;s:p1.2" not in command:
            return ""
        self.steps += 1
        if not self.reply:
            raise GdbError("Remote communication error.  error while fetching packet")
        self.pc = next(self.places)
        return f'sending: vCont;s:p1.2\nreceived: "{self.reply}"\n'


def test_a_step():
    stub = Stub(0x1004)
    assert (Threads(stub).step(1, (1, 2)), stub.steps) == (0x1004, 1)


def test_what_gdb_had_still_to_print_is_in_front():
    class Behind(Stub):
        def console(self, *commands):
            return f"\nBreakpoint 4, 0x1004 in leaf\n{super().console(*commands)}"

    stub = Behind(0x1004)
    assert (Threads(stub).step(1, (1, 2)), stub.steps) == (0x1004, 1)


def test_a_step_that_an_interrupt_came_before_is_done_again():
    stub = Stub(0x1000, 0x1000, 0x2000)
    assert (Threads(stub).step(1, (1, 2)), stub.steps) == (0x2000, 3)


def test_a_jump_to_itself_ends():
    stub = Stub(*[0x1000] * 100)
    assert (Threads(stub).step(1, (1, 2)), stub.steps) == (0x1000, STEP_TRIES)


def test_a_step_that_does_not_end():
    with pytest.raises(DeadlineMissed, match="did not finish one instruction"):
        Threads(Stub(0x1000, reply="T02thread:01;")).step(1, (1, 2))


def test_a_stub_that_does_not_answer_has_its_time_for_other_commands_again():
    stub = Stub(0x1000, reply="")
    with pytest.raises(DeadlineMissed, match="did not finish one instruction"):
        Threads(stub).step(1, (1, 2))
    assert stub.timeout == REMOTE_TIMEOUT


def test_a_stub_that_does_not_step():
    with pytest.raises(GdbError, match="the stub did not step"):
        Threads(Stub(0x1000, reply="E22")).step(1, (1, 2))
