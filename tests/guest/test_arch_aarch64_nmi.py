# SPDX-License-Identifier: MIT
"""NMIs (FIQ) on AArch64: at every instruction of traced calls, and raised from outside."""

from collections import Counter
from pathlib import Path

import pytest

from harness import boot

pytestmark = pytest.mark.unsliced

CONFIGS = ["aarch64-virt", "aarch64-virt-bti-pac-patchable"]

FEATURES = [
    *("FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", "DYNAMIC_FTRACE", "FUNCTION_GRAPH_TRACER"),
    *("FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR", "FTRACE_NMI_ENTER"),
]

PATCH = Path(__file__).with_name("workloads") / "nmi_patch.c"
PATCH_ROUNDS = 800

ROUNDS = 1200
"""As in guests/workloads/nmi.c."""

# Functions that an NMI has to have hit.
HIT = {
    "function": ["outer", "inner", "ftrace_caller", "function_trace_call"],
    "function_graph": [
        *("outer", "inner", "ftrace_caller", "ftrace_graph_caller", "prepare_ftrace_return"),
        *("function_graph_enter", "return_to_handler", "ftrace_return_to_handler"),
    ],
}


def interrupted(guest, rounds=ROUNDS):
    raw = guest.debugger.read_memory(guest.address_of("nmi_pcs"), 8 * rounds)
    return [int.from_bytes(raw[i : i + 8], "little") for i in range(0, len(raw), 8)]


@pytest.mark.parametrize("tracer", HIT)
@pytest.mark.parametrize("name", CONFIGS)
def test_an_nmi_at_each_instruction(name, tracer):
    with boot(name, workload="nmi", features=FEATURES, deterministic=True) as guest:
        guest.tracer.set_filter("outer", "inner", "nmi_work")
        guest.tracer.current = tracer
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        events = Counter((event.name, event.function) for event in guest.tracer.events())
        names = ["funcgraph_entry", "funcgraph_exit"] if "graph" in tracer else ["function"]
        for event in names:
            assert events[event, "outer"] == ROUNDS
            assert events[event, "inner"] == 3 * ROUNDS
        # In the middle of an event the ring buffer takes no other; it counts what it refuses.
        seen = events[names[0], "nmi_work"]
        assert 0 < seen <= ROUNDS
        assert ROUNDS - seen <= guest.collector.counts.dropped
        pcs = interrupted(guest)
        functions = Counter(guest.image.function_at(pc).name for pc in pcs)
        assert not [function for function in HIT[tracer] if not functions[function]]


@pytest.mark.parametrize("name", CONFIGS)
def test_an_nmi_from_outside_comes_where_interrupts_are_masked(name):
    with boot(name, workload="calls") as guest:
        guest.run(until="do_inner")
        guest.debugger.write_register("cpsr", guest.debugger.read_register("cpsr") | 1 << 7)
        before = guest.debugger.read_register("pc")
        guest.inject_interrupt(nmi=True)
        guest.inject_interrupt()
        guest.run(until="nmi_work")
        where = guest.address_of("nmi_interrupted_pc")
        raw = guest.debugger.read_memory(where, 8)
        assert int.from_bytes(raw, "little") == before
        counter = guest.debugger.read_memory(guest.address_of("injected_interrupts"), 4)
        assert counter == bytes(4)


@pytest.mark.parametrize("name", CONFIGS)
def test_the_port_hears_of_an_nmi_first_and_last(name):
    order = ["ftrace_nmi_enter", "nmi_work", "ftrace_nmi_exit", "workload_done"]
    with boot(name, workload="calls", features=FEATURES) as guest:
        guest.run(until="do_inner")
        guest.inject_interrupt(nmi=True)
        places = {
            guest.debugger.breakpoints.insert(guest.address_of(place)): place for place in order
        }
        met = []
        while "workload_done" not in met:
            guest.debugger.resume()
            stop = guest.debugger.wait_stop(60.0)
            met.append(places[stop.breakpoint])
        assert met == order


@pytest.mark.parametrize("name", CONFIGS)
def test_an_nmi_at_each_instruction_of_a_patch_meets_old_or_new_text(name):
    """Its handler calls the function that is patched, which is traced from some instruction on."""
    # The NMI comes a number of instructions after the patch began: a tick's would be among them.
    with boot(name, workload=str(PATCH), features=FEATURES, deterministic=True, tick=0) as guest:
        guest.tracer.set_filter("strlen")
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        where = guest.address_of("nmi_events")
        seen = list(guest.debugger.read_memory(where, PATCH_ROUNDS))
        for rounds, before, after in ((seen[::2], 0, 1), (seen[1::2], 1, 0)):
            turn = rounds.index(after)
            assert 10 < turn < len(rounds) - 10
            assert rounds == [before] * turn + [after] * (len(rounds) - turn)
        functions = [guest.image.function_at(pc) for pc in interrupted(guest, PATCH_ROUNDS)]
        assert {"ftrace_make_call", "ftrace_make_nop"} <= {hit.name for hit in functions if hit}
        calls = [event.function for event in guest.tracer.events()]
        assert calls.count("nmi_work") == sum(seen)
