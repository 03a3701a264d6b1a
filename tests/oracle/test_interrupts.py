# SPDX-License-Identifier: MIT
"""An interrupt at every instruction of the port's stubs and of the ring buffer's writer.

The instructions of each path are learnt once, by single steps.  Then the guest is stopped in front
of each of them, an interrupt is raised there, and the guest goes on.  Its handler is traced like
everything else.  In the end every answer of the workload has to be right, and the events those that
the oracle saw: nothing lost, nothing twice, every call paired with its return.
"""

import pytest

from harness.errors import DeadlineMissed
from harness.oracle import find_marks
from harness.ring import TABLE_SIZE, ThreadTable

PATH_LIMIT = 2000
"""Instructions that no path comes near."""

SOON = 5.0
"""Seconds within which the guest comes to a place that it comes to all the time."""

PATHS = {
    "function": ["ftrace_caller", "function_trace_slow"],
    "function_graph": [
        *("ftrace_caller", "graph_enter_slow"),
        *("return_to_handler", "graph_leave_slow"),
    ],
}
"""Where the paths begin: the stubs, and the writer where an event needs a new page."""

STUBS = {"ftrace_caller", "return_to_handler"}
"""The paths that begin with interrupts open."""


class Prober:
    """A guest in ``answers``, traced, that is stopped in front of one instruction after another."""

    def __init__(self, watched):
        self.watched = watched
        self.guest = watched.guest
        self.debugger = watched.guest.debugger
        self.image = watched.guest.image
        self.traced = {site.function_address for site in self.image.sites}
        self.injected = 0
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

    def interrupt_at(self, pc):
        """Stop in front of ``pc``, raise an interrupt; where the guest says that it came.

        None if the guest does not come there any more: some branch is taken once in a long time.
        """
        # The handler of the interrupt before comes to the same places, with interrupts masked.
        self.guest.run(until="round_begins")
        try:
            self.guest.run(until=pc, timeout=SOON)
        except DeadlineMissed:
            return None
        if self.debugger.stop.address != pc:
            # gdb moves a breakpoint from a delay slot to its branch.
            self.debugger.step_instruction()
        assert self.debugger.stop.address == pc
        self.guest.inject_interrupt(self.debugger.stop.thread - 1)
        self.guest.run(until="injected_work")
        self.injected += 1
        return self.read(self.interrupted_pc, self.image.isa.word_size)

    def finish(self):
        """Let the workload come to its end; it returns how often it was wrong."""
        one = (1).to_bytes(4, self.image.byteorder)
        self.debugger.write_memory(self.guest.address_of("finish"), one)
        self.guest.run(until="workload_done")
        assert self.guest.workload_status == 0
        assert self.read(self.guest.address_of("injected_interrupts"), 4) == self.injected


@pytest.mark.parametrize("tracer", PATHS)
def test_at_every_instruction(watch, tracer):
    with watch("answers") as watched:
        prober = Prober(watched)
        watched.switch(tracer)
        marks = find_marks(prober.image)
        places = exact = missed = 0
        for start in PATHS[tracer]:
            path = prober.path(start)
            unmasked = start in STUBS
            for before, pc in zip([None, *path], path[:-1], strict=False):
                interrupted = prober.interrupt_at(pc)
                places += 1
                missed += interrupted is None
                exact += interrupted == pc
                # In a delay slot the branch is what has been interrupted.
                assert not unmasked or interrupted in (None, pc, before)
                # From there on it comes when interrupts are open again.
                unmasked = unmasked and pc not in marks
        prober.finish()
        assert missed <= places / 50
        assert exact > 10
        watched.check_function() if tracer == "function" else watched.check_graph()
        assert watched.guest.collector.counts.lost == 0
        print(f"{tracer}: {places} places, {exact} interrupted there, {missed} missed")
