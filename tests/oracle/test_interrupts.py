# SPDX-License-Identifier: MIT
"""An interrupt at every instruction of the port's stubs and of the ring buffer's writer.

The guest is stepped along a path, from a call site to its return, or from `return_to_handler` to
the caller.  Before each instruction an interrupt is raised and handled; its handler is traced too.
Where interrupts are masked an interrupt stays pending, so each such instruction needs a path of its
own.

In the end the workload's results must be right, and the events those of the oracle: none lost, none
twice, every call paired with its return.  Only a full ret_stack may prevent an event, and the guest
counts these.
"""

from functools import partial

import pytest

from harness.config import list_configs, load_config
from harness.isa import FlowKind, Form
from harness.oracle import find_marks

PATH_LIMIT = 2000
"""Instructions that no path comes near."""

FEW = 4
"""Masked instructions of each path at which the usual run raises an interrupt; --full: at all."""

ROUNDS = 10
"""Rounds of the workload in which the writer begins a page."""

MANY_ROUNDS = 100 * ROUNDS
"""Rounds after which a path that nothing has come to is none."""

DRAIN = 16
"""Interrupts whose events there is certainly room for."""

RETURN = "return_to_handler"

NEW_PAGE = {
    "function": ["function_trace_slow"],
    "function_graph": ["graph_enter_new_page", "graph_leave_new_page"],
}
"""Where the writer begins what is rare, with interrupts masked already."""


def builds():
    """Every machine with interrupts raised from outside, as dynamic and as static guest."""
    for name in list_configs():
        config = load_config(name)
        if config.qemu.inject is not None:
            yield name, False
            # Sites of nops need somebody who writes the calls.
            if config.build.form is not Form.PATCHABLE_ENTRY:
                yield name, True


def pytest_generate_tests(metafunc):
    if "static" in metafunc.fixturenames:
        ids = [f"{name}-{'static' if static else 'dynamic'}" for name, static in builds()]
        metafunc.parametrize(("config", "static"), list(builds()), ids=ids)
    else:
        metafunc.parametrize("config", dict.fromkeys(name for name, _ in builds()))
    metafunc.parametrize("tracer", ["function", "function_graph"])


class Path:
    """A traced guest that is stepped along and interrupted."""

    def __init__(self, watched):
        self.guest = watched.guest
        self.debugger = watched.guest.debugger
        self.image = watched.guest.image
        self.marks = find_marks(self.image)
        self.sites = {
            self.image.function_at(site).name: site
            for site in watched.oracle.sites
            if self.image.function_at(site)
        }
        self.traced = {self.image.function_at(site) for site in self.sites.values()}
        self.injected = 0
        self.at = set()
        # A breakpoint that comes or goes makes QEMU translate everything again.
        self.debugger.cli("set breakpoint always-inserted on")
        self.handled = {self.debugger.breakpoints.insert(address) for address in self.erets()}

    def erets(self):
        """The instructions that return from exceptions."""
        isa = self.image.isa
        patterns = [p for p in isa.cpu.flow_patterns if p.kind is FlowKind.EXCEPTION_RETURN]
        at = self.image.text.start
        for instruction in isa.split(self.image.read(at, len(self.image.text))):
            if any(isa.value(instruction) & one.mask == one.value for one in patterns):
                yield at
            at += len(instruction)

    def resume_to(self, numbers):
        while True:
            self.debugger.resume()
            stop = self.debugger.wait_stop(60)
            assert stop is not None, "the guest, or QEMU, hangs"
            if stop.breakpoint in numbers:
                return stop.breakpoint
            assert stop.breakpoint is not None, self.guest.describe()

    def step(self):
        return self.debugger.step_instruction().address

    def interrupt(self, pc):
        """Raise an interrupt here; returns where the guest continues after it."""
        self.guest.inject_interrupt(self.debugger.stop.thread - 1)
        self.injected += 1
        self.at.add(pc)
        self.resume_to(self.handled)
        if self.injected % DRAIN == 0:
            self.guest.drain()
        return self.step()

    def walk(self, start, times=1):
        """Interrupts before each instruction, but only once where they are masked."""
        number = self.debugger.breakpoints.insert(start)
        for _ in range(times):
            self.resume_to({number})
        # gdb would step over it, with interrupts held back.
        self.debugger.breakpoints.delete(number)
        before, pc, away, masked = None, start, False, False
        for _ in range(PATH_LIMIT):
            traced = self.image.function_at(pc) in self.traced
            if away and traced:
                return
            away = away or not traced
            goes_on = self.interrupt(pc)
            if goes_on != pc:
                if masked:
                    # It has waited; there everything is open again.
                    masked, before, pc = False, None, goes_on
                    continue
                # In a delay slot the branch is what has been interrupted.
                assert goes_on == before
                assert self.step() == pc
            masked = masked or pc in self.marks
            before, pc = pc, self.step()
        raise AssertionError(f"the path from {start:#x} does not end")

    def walk_masked(self, start, masked, few):
        """Interrupts before all masked instructions of a path, or before a few.

        ``masked``: interrupts are masked at its start.  Each has a path of its own, which may
        differ: if the writer begins a page, or after a long pause.
        """
        number = self.debugger.breakpoints.insert(start)
        self.round = self.debugger.breakpoints.insert(self.guest.address_of("round_begins"))
        opens = {self.interrupt(self.come_to_masked(number, start, masked))}
        length = len(self.masked_path(number, start, masked, opens, PATH_LIMIT))
        for after in range(1, length, max(1, length // FEW) if few else 1):
            pcs = self.masked_path(number, start, masked, opens, after)
            opens.add(self.interrupt(pcs[-1]))
        self.debugger.breakpoints.delete(number)
        self.debugger.breakpoints.delete(self.round)

    def masked_path(self, number, start, masked, opens, steps):
        """Step along the masked instructions of a path, at most to their end."""
        pcs = [self.come_to_masked(number, start, masked)]
        while pcs[-1] not in opens and len(pcs) <= steps:
            pcs.append(self.step())
        return pcs

    def come_to_masked(self, number, start, masked):
        """Step to the first instruction of a path with interrupts masked."""
        for rounds in range(1, MANY_ROUNDS):
            if self.resume_to({number, self.round}) == number:
                # A handler that comes here itself may not have taken its interrupt back yet.
                if self.taken == self.injected:
                    break
            elif rounds % ROUNDS == 0:
                # Rounds are all alike: pages might always be full at the same place.
                self.guest.write_marker("x" * (rounds // ROUNDS))
        else:
            raise AssertionError(f"nothing comes to {start:#x}")
        pc = start
        while not masked:
            masked = pc in self.marks
            pc = self.step()
        return pc

    @property
    def taken(self):
        """The injected interrupts that the guest has counted."""
        raw = self.debugger.read_memory(self.guest.address_of("injected_interrupts"), 4)
        return int.from_bytes(raw, self.image.byteorder)

    def finish(self):
        """Run the workload to its end; its results must be right."""
        for number in self.handled:
            self.debugger.breakpoints.delete(number)
        self.guest.run(until="workload_done")
        assert self.guest.workload_status == 0
        assert self.taken == self.injected
        assert self.guest.collector.counts.lost == 0


@pytest.fixture
def few(request):
    """Whether only some of the masked instructions are tested."""
    return not request.config.getoption("--full")


@pytest.fixture
def start(watch, config):
    """As `watch`, without ticks.  One CPU is deterministic.  Several would have to take turns, and
    then QEMU from 9.0 on does not tell which of them executes.
    """
    return partial(watch, tick=0, deterministic=load_config(config).qemu.smp == 1)


def check(watched, tracer, path):
    """The events are those of the oracle."""
    path.finish()
    if tracer == "function":
        found, deep = len(watched.check_function()), 0
    else:
        events, model = watched.check_graph()
        found, deep = len(events), model.too_deep
        assert model.given_up == 0
    print(f"{len(path.at)} instructions, {path.injected} interrupts, {found} events")
    return deep


def test_at_every_instruction(start, config, static, tracer, few):
    capacity = 1_000_000 if few else 4_000_000
    with start("answers", static=static, capacity=capacity) as watched:
        path = Path(watched)
        watched.switch(tracer)
        starts = [path.sites["leaf"]]
        if tracer == "function_graph":
            starts.append(watched.guest.address_of(RETURN))
        for start in starts:
            # Not the first time, which is unlike all others: the buffer is still empty.
            path.walk(start, times=3)
            path.walk_masked(start, False, few)
        for start in NEW_PAGE[tracer]:
            path.walk_masked(watched.guest.address_of(start), True, few)
        one = (1).to_bytes(4, path.image.byteorder)
        watched.guest.debugger.write_memory(watched.guest.address_of("finish"), one)
        assert check(watched, tracer, path) == 0
        assert len(path.at) > 20


def test_at_every_instruction_of_a_call_from_a_module(start, config, tracer):
    """The other forms of call sites, and the trampolines of far modules."""
    with start("modules") as watched:
        watched.load("callbacks")
        path = Path(watched)
        watched.switch(tracer)
        path.walk(path.sites["mod_leaf"])
        if tracer == "function_graph":
            path.walk(watched.guest.address_of(RETURN))
        check(watched, tracer, path)


def test_at_every_instruction_where_the_stack_of_return_addresses_is_full(start, config, tracer):
    """Calls of the handlers find no entry either; each is counted, and nothing else is lost."""
    with start("recursion") as watched:
        path = Path(watched)
        watched.switch(tracer)
        path.walk(path.sites["sum_to"], times=140)
        deep = check(watched, tracer, path)
        assert (deep > path.injected) == (tracer == "function_graph")
