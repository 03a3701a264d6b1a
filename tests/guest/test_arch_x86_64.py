# SPDX-License-Identifier: MIT
"""The guest for x86-64."""

import shutil

import pytest

from harness import boot
from harness.errors import GuestDied

CONFIG = "x86_64-q35"
NEEDED = ("qemu-system-x86_64", "x86_64-linux-gnu-gcc")

pytestmark = [
    pytest.mark.unsliced,
    pytest.mark.skipif(not all(map(shutil.which, NEEDED)), reason=f"needs {' and '.join(NEEDED)}"),
]


@pytest.mark.parametrize("tracer", ["function", "function_graph"])
def test_both_tracers_record_a_workload(tracer):
    with boot(CONFIG, workload="calls") as guest:
        guest.tracer.current = tracer
        guest.run(until="workload_done")
        events = list(guest.tracer.events())
        names = [event.function for event in events]
        guest.tracer.current = "nop"
        assert guest.workload_status == 0
    assert names[0] == "workload"
    assert {"do_nested", "do_middle", "do_inner", "leaf"} <= set(names)
    # Each entry has its exit, but for the workload's, which ends the guest.
    assert len(events) == {"function": 50, "function_graph": 100}[tracer]


def test_what_is_switched_off_is_as_it_was():
    with boot(CONFIG, workload="calls") as guest:
        before = guest.debugger.dump_memory(guest.image.text.start, len(guest.image.text))
        guest.tracer.set_filter("do_*", "leaf")
        guest.tracer.current = "function"
        guest.run(until="do_recursion")
        names = {event.function for event in guest.tracer.events()}
        guest.tracer.current = "nop"
        after = guest.debugger.dump_memory(guest.image.text.start, len(guest.image.text))
    assert names <= {"do_nested", "do_middle", "do_inner", "do_loop", "leaf", "do_recursion"}
    assert "leaf" in names
    assert before == after


FAULTS = {
    "store to 0x4 in workload": "*(volatile int *)4 = 1;",
    "load from 0x4 in workload": "(void)*(volatile int *)4;",
    "jump to 0x12345 in 0x0*12345 <- workload": "((void (*)(void))0x12345)();",
    "invalid opcode in workload": '__asm__ volatile("ud2");',
}

WORKLOAD = """\
#ifndef FAULT
#define FAULT
#endif

int workload(void);

int workload(void)
{
	FAULT
	return 0;
}
"""


@pytest.mark.parametrize("told", FAULTS)
def test_a_fault_says_what_and_where(tmp_path, told):
    source = tmp_path / "faults.c"
    source.write_text(f"#define FAULT {FAULTS[told]}\n{WORKLOAD}")
    with boot(CONFIG, workload=source) as guest, pytest.raises(GuestDied, match=told):
        guest.run(until="workload_done")
