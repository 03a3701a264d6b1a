# SPDX-License-Identifier: MIT
"""What only guests for Arm with 32 bits have: a stack that is aligned by the stubs, modes."""

import shutil

import pytest

from harness import boot
from harness.config import load_port
from harness.errors import GuestDied
from harness.isa import SiteState
from support.command import harness

pytestmark = pytest.mark.unsliced

FAULTS = """
#include <linux/types.h>

static volatile unsigned long nowhere = 4;

int workload(void)
{
	*(volatile u32 *)nowhere = 1;
	return 0;
}
"""

JUMPS = """
int workload(void)
{
	((void (*)(void))4)();
	return 0;
}
"""

UNDEFINED = """
int workload(void)
{
	__asm__ volatile(".4byte 0xe7f000f0"); /* udf #0 */
	return 0;
}
"""

FRAME = """
#include <linux/module.h>

#define WORDS 2

__attribute__((noipa)) int leaf(int x)
{
	return x + 1;
}

__attribute__((noipa)) int framed(int x)
{
	volatile int local[WORDS];

	local[0] = x;
	return leaf(local[0]) + leaf(local[0]);
}

static long run(long x)
{
	return framed(x);
}
module_run(run);
"""

BLOCK = """
static volatile int zero;

__attribute__((noipa)) int chosen(int x)
{
	int result;

	__asm__ volatile(
		"cmp	%1, #0\\n	ite	ne\\n	movne	%0, #1\\n	moveq	%0, #2"
		: "=r"(result)
		: "r"(x)
		: "cc");
	return result;
}

__attribute__((noipa)) int sum(int x)
{
	return chosen(x) + chosen(x);
}

int workload(void)
{
	return sum(zero) - 4;
}
"""


def test_a_lost_result_is_where_it_is_loaded(tmp_path):
    copy = tmp_path / "port"
    shutil.copytree(load_port("arm").directory, copy)
    stub = copy / "return_to_handler.S"
    right = stub.read_text()
    assert right.count("\tpop\t{r0, r1}\n") == 1
    stub.write_text(right.replace("\tpop\t{r0, r1}\n", "\tpop\t{r0, ip}\n"))
    done = harness(
        *("conform", "-c", "arm-virt", "--port", copy, "--clause", "C5a", "--replay"),
        input="x/i $pc\n",
    )
    assert done.returncode == 1, done.stderr
    assert "C5a: return_to_handler: " in done.stdout


@pytest.mark.parametrize(
    ("source", "told"),
    [(FAULTS, "store to 0x4 in workload"), (JUMPS, "jump to 0x4"), (UNDEFINED, "undefined")],
)
def test_a_fault_is_told(tmp_path, source, told):
    workload = tmp_path / "faulty.c"
    workload.write_text(source)
    with boot("arm-virt", workload=workload) as guest, pytest.raises(GuestDied) as died:
        guest.run(until="workload_done")
    assert told in f"{died.value.message}\n{died.value.evidence}", died.value.evidence


def test_sites_leave_the_stack_at_both_remainders():
    """Of one nested function and of all others: the stubs align it for C."""
    found = set()
    with boot("arm-virt", workload="returns") as guest:
        guest.tracer.set_filter("leaf", "add.0")
        guest.tracer.current = "function"
        while guest.run(until=["function_trace_call", "workload_done"]):
            if guest.debugger.read_register("pc") != guest.image.symbols["function_trace_call"]:
                break
            # fp is the frame of ftrace_caller, six words below what the site has pushed.
            found.add((guest.debugger.read_register("r11") + 24) % 8)
            assert guest.debugger.read_register("sp") % 8 == 0
            if len(found) == 2:
                break
    assert found == {0, 4}


def test_a_module_built_anew_has_other_frames_at_the_same_addresses(tmp_path):
    """The kernel keeps what the tables say of a site, and forgets it with the module."""
    source, sites = tmp_path / "frame.c", set()
    with boot("arm-virt-thumb", workload="modules") as guest:
        for words in (2, 8, 2):
            source.write_text(FRAME.replace("WORDS 2", f"WORDS {words}"))
            guest.load_module(source)
            guest.tracer.set_filter("framed")
            guest.tracer.current = "function_graph"
            assert [guest.call("run_modules", number) for number in (1, 2)] == [4, 6]
            events = list(guest.tracer.events())[-4:]
            assert [event.name for event in events] == ["funcgraph_entry", "funcgraph_exit"] * 2
            assert {event.function for event in events} == {"framed [frame]"}
            sites.update(
                now.site.address for now in guest.tracer.sites() if now.state is SiteState.CALL
            )
            guest.tracer.current = "nop"
            guest.unload_module("frame")
    assert len(sites) == 1


@pytest.fixture
def in_block(tmp_path):
    """A guest that is stopped in a block of instructions with conditions that do not hold."""
    source = tmp_path / "block.c"
    source.write_text(BLOCK)
    with boot("arm-virt-thumb", workload=source) as guest:
        guest.run(until="chosen")
        for _ in range(20):
            if guest.image.isa.cpu.in_block(guest.debugger.read_register("cpsr")):
                break
            guest.debugger.step_instruction()
        assert guest.image.isa.cpu.in_block(guest.debugger.read_register("cpsr"))
        yield guest


def test_a_function_that_is_called_in_a_block_is_executed_in_full(in_block):
    assert [in_block.call("sum", number) for number in (0, 7)] == [4, 2]
    in_block.run(until="workload_done")
    assert in_block.workload_status == 0


def test_a_marker_that_is_written_in_a_block_is_complete(in_block):
    in_block.write_marker("in a block")
    assert [event.text for event in in_block.tracer.events()] == ["in a block"]
    in_block.run(until="workload_done")
    assert in_block.workload_status == 0
