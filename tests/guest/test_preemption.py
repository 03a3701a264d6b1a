# SPDX-License-Identifier: MIT
"""No site changes under a CPU, an interrupted frame or a preempted thread that is inside of it.  On
o32 a site that is switched on between its words loses eight bytes of stack, and the workload would
return to a wrong address.
"""

from itertools import accumulate
from pathlib import Path

import pytest

from harness import boot
from harness.config import list_configs, load_config
from harness.isa import SiteState

ANSWERS = str(Path(__file__).parents[1] / "oracle" / "workloads" / "answers.c")
NEED_RESCHED = 0x24
"""_TIF_NEED_RESCHED of guests/kernel/include/linux/threads.h: as a tick sets it."""

STATES = {"off": ("nop", "function"), "on": ("function", "nop")}

ONE = [name for name in list_configs() if load_config(name).qemu.smp == 1]
SEVERAL = [name for name in list_configs() if load_config(name).qemu.smp > 1]

TWO_THREADS = """\
#include <linux/thread.h>
#define traced __attribute__((noipa))
volatile int finish;
traced unsigned int leaf(unsigned int value)
{
	return value * 2654435761u;
}
traced unsigned int nested(unsigned int value)
{
	unsigned int first = leaf(value), second = leaf(first);

	__asm__ volatile("" : "+r"(second));
	return first ^ second;
}
traced unsigned int second_turn(unsigned int value)
{
	return value * 2246822519u;
}
static int worker(void *argument)
{
	unsigned int n, wrong = 0, right = (1 * 2654435761u) ^ (1 * 2654435761u * 2654435761u);

	for (n = 0; !finish; n++) {
		if (argument)
			wrong += second_turn(n) != n * 2246822519u;
		else
			wrong += nested(1) != right;
	}
	return wrong;
}
int workload(void)
{
	struct thread_info *one = kthread_run_on(0, worker, 0, "one");
	struct thread_info *two = kthread_run_on(0, worker, (void *)&finish, "two");
	int wrong = kthread_join(one);

	return wrong + kthread_join(two);
}
"""


def words_of(guest, function):
    """The addresses of a site's words, and the next one."""
    (site,) = guest.tracer.sites_of(function)
    isa = guest.image.isa
    words = isa.split(isa.sites.code_for(site, SiteState.NOP, 0))
    return list(accumulate(map(len, words), initial=site.address))


def finish(guest):
    one = (1).to_bytes(4, guest.image.byteorder)
    guest.debugger.write_memory(guest.address_of("finish"), one)
    guest.run(until="workload_done")
    assert guest.workload_status == 0


def changed_words(guest, function):
    """The words inside of the change at a site."""
    (site,) = guest.tracer.sites_of(function)
    isa, target = guest.image.isa, guest.address_of("ftrace_caller")
    off, on = (
        isa.split(isa.sites.code_for(site, state, target))
        for state in (SiteState.NOP, SiteState.CALL)
    )
    words = list(accumulate(map(len, off), initial=site.address))
    changed = [i for i in range(len(off)) if off[i] != on[i]]
    return words[changed[0] + 1 : changed[-1] + 1]


def stop_at(guest, address):
    """Stop one CPU before an instruction."""
    guest.run(until=address)
    if guest.debugger.stop.address != address:
        # gdb moves a breakpoint from a delay slot to its branch.
        guest.debugger.step_instruction()
    assert guest.debugger.stop.address == address


def states(guest, function):
    """Each word of a site, with the site off and on, as (word, what to switch to)."""
    for before, after in STATES.values():
        for address in words_of(guest, function):
            guest.tracer.current = before
            yield address, after


@pytest.mark.parametrize("name", ONE)
def test_a_cpu_at_every_word(name):
    with boot(name, ANSWERS, deterministic=True) as guest:
        for address, tracer in states(guest, "leaf"):
            stop_at(guest, address)
            guest.tracer.current = tracer
            inside = changed_words(guest, "leaf")
            assert guest.cpus.program_counters()[0] not in inside
            guest.run(until="round_begins")
        finish(guest)


@pytest.mark.parametrize("name", SEVERAL)
def test_a_cpu_at_every_word_while_others_run(name, tmp_path):
    """One CPU is stopped there, the others continue for a while, then the tracer is switched."""
    workload = tmp_path / "two.c"
    # The second thread on the second CPU.
    workload.write_text(TWO_THREADS.replace("_on(0, worker, (void", "_on(1, worker, (void"))
    with boot(name, workload) as guest:
        guest.run(until="second_turn")
        for address, tracer in states(guest, "leaf"):
            stop_at(guest, address)
            parked = guest.debugger.stop.thread - 1
            for other in (0, 1):
                for _ in range(50 if other != parked else 0):
                    guest.cpus.step(other)
            # What is stepped out of the way of a patch is nobody's choice.
            assert guest.debugger.selected_thread == parked + 1
            assert guest.cpus.program_counters()[parked] == address
            guest.tracer.current = tracer
            inside = changed_words(guest, "leaf")
            assert not set(guest.cpus.program_counters().values()) & set(inside)
            guest.run(until="second_turn")
        finish(guest)


@pytest.mark.parametrize("name", ONE)
def test_an_interrupted_frame_at_every_word(name):
    with boot(name, ANSWERS, deterministic=True) as guest:
        for address, tracer in states(guest, "leaf"):
            stop_at(guest, address)
            guest.inject_interrupt()
            guest.run(until="injected_work")
            guest.tracer.current = tracer
            inside = changed_words(guest, "leaf")
            assert not set(guest.cpus.saved_contexts().values()) & set(inside)
            guest.run(until="round_begins")
        finish(guest)


@pytest.mark.parametrize("name", ONE)
def test_a_preempted_thread_at_every_word(name, tmp_path):
    workload = tmp_path / "two.c"
    workload.write_text(TWO_THREADS)
    with boot(name, workload, deterministic=True) as guest:
        guest.run(until="second_turn")
        for address, tracer in states(guest, "leaf"):
            preempt_at(guest, address)
            guest.tracer.current = tracer
            inside = changed_words(guest, "leaf")
            assert not set(guest.cpus.saved_contexts().values()) & set(inside)
            guest.run(until="second_turn")
        finish(guest)


def preempt_at(guest, address):
    """Preempt the first thread before an instruction."""
    stop_at(guest, address)
    one = guest.cpus.current()[0]
    assert one.comm == "one", "only it comes there"
    guest.inject_interrupt()
    guest.run(until="injected_work")
    raw = (guest.cpus.current()[0].flags | NEED_RESCHED).to_bytes(4, guest.image.byteorder)
    guest.debugger.write_memory(flags_address(guest, one), raw)
    guest.run(until="__switch_to")
    while guest.cpus.current()[0].comm == "one":
        guest.cpus.step(0)
    (one,) = [thread for thread in guest.threads() if thread.comm == "one"]
    # Between a branch and its delay slot it is the branch that goes on.
    assert one.interrupted_pc in (address, address - 4)


def flags_address(guest, thread):
    return thread.address + guest.image.structures.struct("thread_info").member("flags").offset
