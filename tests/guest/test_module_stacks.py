# SPDX-License-Identifier: MIT
"""Stack traces through functions of modules, and through kernel functions that they call."""

from collections import defaultdict
from itertools import pairwise

import pytest

from support.interrupts import outside

DEEP = """\
#include <linux/compiler.h>
#include <linux/module.h>
#include <linux/trace_events.h>
#define traced __attribute__((noipa))
traced long deepest(long x) { trace_printk("here\\n"); return x + 1; }
traced long deeper(long x) { long y = deepest(x); barrier(); return y * 2; }
traced long deep(long x) { char big[40000]; long y;
	__asm__ volatile("" : : "r"(big) : "memory"); y = deeper(x); barrier(); return y * 2; }
static long run(long x) { long y = deep(x); barrier(); return y + 1; }
module_run(run);
"""

BELOW = ["callbacks_run [callbacks]", "run_modules", "workload"]


def stacks(guest):
    """Each event and the functions of the kernel_stack event after it, on the same CPU."""
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    per_cpu = defaultdict(list)
    for event in outside(guest.tracer.events()):
        per_cpu[event.cpu].append(event)
    return [
        (event, following.functions)
        for events in per_cpu.values()
        for event, following in pairwise(events)
        if following.name == "kernel_stack"
    ]


@pytest.mark.guest(workload="modules", modules=["callbacks"])
def test_every_function_of_a_module(config, guest):
    guest.tracer.set_filter(":mod:callbacks")
    guest.tracer.set_option("func_stack_trace")
    guest.tracer.current = "function"
    found = {}
    for event, functions in stacks(guest):
        assert functions[:2] == (event.function, event.parent)
        below = functions.index("callbacks_run [callbacks]")
        assert list(functions[below : below + 3]) == BELOW, functions
        names = [name.partition(" ")[0] for name in functions[:below]]
        found.setdefault(event.function.partition(" ")[0], []).append(names)
    assert ["mod_leaf", "mod_middle", "mod_nested"] in found["mod_leaf"]
    assert ["mod_leaf", "mod_large_frame"] in found["mod_leaf"]
    assert ["mod_recursion"] * 3 in found["mod_recursion"]
    assert all(names[-2:] == ["qsort", "mod_sort"] for names in found["mod_compare"])


@pytest.mark.parametrize("tracer", ["nop", "function_graph"])
@pytest.mark.guest(workload="modules")
def test_hijacked_or_not(config, guest, tmp_path, tracer):
    source = tmp_path / "deep.c"
    source.write_text(DEEP)
    guest.load_module(source)
    guest.tracer.set_option("stacktrace")
    guest.tracer.current = tracer
    printed = [functions for event, functions in stacks(guest) if event.name == "print"]
    assert len(printed) == 3
    for functions in printed:
        names = [name.partition(" ")[0] for name in functions]
        assert names[:3] == ["deepest", "deeper", "deep"]
        assert names[4:6] == ["run_modules", "workload"]
