# SPDX-License-Identifier: MIT
"""What decides in a static stub: the pointers of the graph tracer, and function_trace_stop."""

from functools import partial
from itertools import product

from harness.conformance.checks.b_crossing import LEAF, flag_test
from harness.conformance.checks.c_events import DONE, answers
from harness.conformance.localization.retrace import Retrace
from harness.conformance.registry import GRAPH, STATIC, STATIC_STOP, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import PREPARE
from harness.isa import CallSite

STOPS = (1, 2, 0x100, 0x80000000)
"""Values of function_trace_stop: one in each byte at an end, and bits that are not the lowest."""


@check("C4a", "C4b", variants=(STATIC,), features=GRAPH)
def either_pointer_is_enough(bench: Bench) -> None:
    """One pointer that is not its stub is enough to call ftrace_graph_caller."""
    stubs = ("ftrace_graph_entry_stub", "ftrace_stub")
    own = ("trace_graph_entry", "trace_graph_return")
    where = bench.image.address_of(PREPARE)
    for traced, entry, leave in product((False, True), repeat=3):
        names = (own[0] if entry else stubs[0], own[1] if leave else stubs[1])
        prepare = partial(_with_pointers, bench, traced, *names)
        prepare()
        what = f"{' and '.join(names)}{', and a function tracer' if traced else ''}"
        clause = "C4a" if entry or leave else "C4b"
        with bench.fail_if_guest_dies(clause):
            here = bench.run_to(where, DONE)
        right = bench.require(
            clause,
            (here == where) == bool(entry or leave),
            f"with {what} ftrace_graph_caller was {'' if here == where else 'not '}reached",
            partial(Retrace(bench, prepare).decision, PREPARE),
        )
        if not right:
            continue
        with bench.fail_if_guest_dies(clause):
            if here == where:
                bench.run_to(DONE)
        answers(bench, (clause,), f"with {what}")


def _with_pointers(bench: Bench, traced: bool, entry: str, leave: str) -> CallSite:
    bench.fresh()
    switch = Switch(bench)
    switch.tracer(traced)
    switch.graph(True, entry, leave)
    return bench.sites.of(LEAF)


@check("C16a", "C16b", variants=(STATIC_STOP,))
def function_trace_stop_stops(bench: Bench) -> None:
    """While it is not zero nothing is recorded; at zero all calls are."""
    for value in (*STOPS, 0):
        bench.fresh()
        switch = Switch(bench)
        switch.tracer(True)
        switch.variable("function_trace_stop", value)
        clause = "C16a" if value else "C16b"
        with bench.fail_if_guest_dies(clause):
            bench.run_to(DONE)
        count = len(list(bench.guest.tracer.events()))
        answers(bench, (clause,), f"with function_trace_stop {value:#x}")
        bench.require(
            clause,
            bool(count) != bool(value),
            f"{count} events with function_trace_stop {value:#x}",
            partial(flag_test, bench, value),
        )
