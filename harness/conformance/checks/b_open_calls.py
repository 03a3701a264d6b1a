# SPDX-License-Identifier: MIT
"""Calls of one function that are open at the same time, under the graph tracer."""

from functools import partial

from harness.conformance.checks.b_hijacked import why_left_alone
from harness.conformance.registry import GRAPH, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import GRAPH_ENTER, Registers

DEEP, CALLS = "recurse", 6
"""A recursive function of the workload, and the number of calls that are checked."""

UNIQUE = {
    "FUNCTION_GRAPH_FP_TEST": ("C6a", 2, "frame pointer"),
    "FUNCTION_GRAPH_RET_ADDR_PTR": ("C12a", 3, "retp"),
}
"""What each open call has of its own: clause, argument of function_graph_enter, and its name."""


@check("C4d", "C6a", "C12a", features=GRAPH)
def open_calls_are_distinguished(bench: Bench) -> None:
    """Open calls of one function have different frame pointers and different places."""
    asked = [UNIQUE[feature] for feature in UNIQUE if feature in bench.variant.features]
    if not asked:
        return
    bench.fresh()
    switch, site, isa = Switch(bench), bench.sites.of(DEEP), bench.isa
    switch.graph(True)
    switch.sites(True, [site])
    seen: list[Registers] = []
    why = partial(why_left_alone, bench, DEEP)
    with bench.fail_if_guest_dies("C4d", locate=why):
        while len(seen) < CALLS:
            bench.run_to(GRAPH_ENTER)
            seen.append(bench.registers.read())
            bench.guest.debugger.step_instruction()
    for clause, number, name in asked:
        values = [registers[isa.abi.argument_registers[number]] & isa.mask for registers in seen]
        bench.require(
            clause,
            len(set(values)) == len(values) and 0 not in values,
            f"open calls of {DEEP} do not each have a {name} of their own",
            found=[f"{one:#x}" for one in values],
        )
