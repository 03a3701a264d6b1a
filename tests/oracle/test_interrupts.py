# SPDX-License-Identifier: MIT
"""An interrupt at every instruction of the port's stubs and of the ring buffer's writer.

The instructions of each path are learnt once, by single steps.  Then the guest is stopped in front
of each of them, an interrupt is raised there, and the guest goes on.  Its handler is traced like
everything else.  In the end every answer of the workload has to be right, and the events those that
the oracle saw: nothing lost, nothing twice, every call paired with its return.
"""

import pytest

from harness.config import list_configs, load_config
from harness.oracle import find_marks
from harness.ring import TABLE_SIZE, ThreadTable

PATH_LIMIT = 2000
"""Instructions that no path comes near."""

ROUNDS = 300
"""Rounds of the workload within which the writer has begun a new page several times."""

STUBS = {
    "function": ["ftrace_caller"],
    "function_graph": ["ftrace_caller", "return_to_handler"],
}
"""Where the paths through the stubs and the writer begin."""

NEW_PAGE = {"function": ["function_trace_slow"], "function_graph": []}
"""And where the writer does what is rare: the same code for both, of which no stub is part."""

NEW_PAGE_CONFIGS = ["mips-malta", "mips64el-malta", "aarch64-virt"]

PROBE = 8
"""Of so many places one is looked at closely: whether the interrupt came just there."""


def pytest_generate_tests(metafunc):
    """Machines with one CPU, where the workload stays."""
    configs = [name for name in list_configs() if load_config(name).qemu.smp == 1]
    metafunc.parametrize("config", configs)


class Prober:
    """A guest in ``answers``, traced, that is stopped in front of one instruction after another."""

    def __init__(self, watched):
        self.watched = watched
        self.guest = watched.guest
        self.debugger = watched.guest.debugger
        self.image = watched.guest.image
        self.traced = {site.function_address for site in self.image.sites}
        self.injected = 0
        # A breakpoint that comes or goes makes QEMU translate everything again.
        self.debugger.cli("set breakpoint always-inserted on")
        self.round = self.debugger.insert_breakpoint(self.guest.address_of("round_begins"))
        (thread,) = [thread for thread in self.guest.threads() if thread.pid == 1]
        self.interrupted_pc = thread.address + self.table().offsets["interrupted_pc"]

    def table(self):
        raw = self.debugger.read_memory(self.guest.address_of("thread_table"), TABLE_SIZE)
        return ThreadTable.parse(raw, self.image.byteorder)

    def read(self, address, size):
        return int.from_bytes(self.debugger.read_memory(address, size), self.image.byteorder)

    def in_traced_function(self, pc):
        function = self.image.function_at(pc)
        return function is not None and function.address in self.traced

    def path(self, start):
        """The instructions from ``start`` until the guest is back in a traced function.

        Not those of the first time, which is unlike all others: the buffer is still empty.
        """
        for _ in range(3):
            self.guest.run(until=start)
        pcs = [self.debugger.stop.address]
        while not self.in_traced_function(pcs[-1]) or len(pcs) == 1:
            pcs.append(self.debugger.step_instruction().address)
            assert len(pcs) < PATH_LIMIT
        return pcs

    def go_to(self, pc):
        """Stop in front of ``pc``, outside of an interrupt.

        False if the guest does not come there any more: some branch is taken once in a long time.
        """
        # The handler of the interrupt before comes to the same places, with interrupts masked.
        self.resume_to(self.round)
        number = self.debugger.insert_breakpoint(pc)
        there = self.resume_to(number)
        self.debugger.delete_breakpoint(number)
        if there and self.debugger.stop.address != pc:
            # gdb moves a breakpoint from a delay slot to its branch, which may skip it this time.
            self.debugger.step_instruction()
        return there and self.debugger.stop.address == pc

    def resume_to(self, number):
        """Whether the guest stops at this breakpoint within so many rounds."""
        for _ in range(ROUNDS):
            self.debugger.resume()
            stop = self.debugger.wait_stop(60)
            if stop.breakpoint == number:
                return True
            assert stop.address != self.guest.address_of("panic_stop")
            self.guest.drain()
        return False

    def interrupt_at(self, pc, closely):
        """Raise an interrupt in front of ``pc``; None if the guest does not come there.

        ``closely``: where the guest says that it came.
        """
        if not self.go_to(pc):
            return None
        self.guest.inject_interrupt()
        self.injected += 1
        if not closely:
            return pc
        self.guest.run(until="injected_work")
        return self.read(self.interrupted_pc, self.image.isa.word_size)

    def finish(self):
        """Let the workload come to its end; it returns how often it was wrong."""
        one = (1).to_bytes(4, self.image.byteorder)
        self.debugger.write_memory(self.guest.address_of("finish"), one)
        self.debugger.delete_breakpoint(self.round)
        self.guest.run(until="workload_done")
        assert self.guest.workload_status == 0
        assert self.read(self.guest.address_of("injected_interrupts"), 4) == self.injected


@pytest.mark.parametrize("tracer", STUBS)
def test_at_every_instruction(watch, config, tracer, request):
    if tracer == "function_graph" and not request.config.getoption("--full"):
        pytest.skip("has not been seen to end yet: pytest --full")
    with watch("answers") as watched:
        prober = Prober(watched)
        watched.switch(tracer)
        marks = find_marks(prober.image)
        places = closely = exact = missed = 0
        for start in STUBS[tracer] + NEW_PAGE[tracer] * (config in NEW_PAGE_CONFIGS):
            path = prober.path(start)
            unmasked = start in STUBS[tracer]
            for before, pc in zip([None, *path], path[:-1], strict=False):
                look = places % PROBE == 0
                interrupted = prober.interrupt_at(pc, look)
                places += 1
                missed += interrupted is None
                closely += look
                exact += look and interrupted == pc
                # In a delay slot the branch is what has been interrupted.
                assert not unmasked or interrupted in (None, pc, before)
                # From there on it comes when interrupts are open again.
                unmasked = unmasked and pc not in marks
        prober.finish()
        print(f"{places} places, {exact} of {closely} interrupted just there, {missed} not reached")
        assert missed <= places / 20
        assert exact > 2
        watched.check_function() if tracer == "function" else watched.check_graph()
        assert watched.guest.collector.counts.lost == 0
