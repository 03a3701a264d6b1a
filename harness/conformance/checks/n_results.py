# SPDX-License-Identifier: MIT
"""The return values of functions that the graph tracer gets."""

from functools import partial

from harness.conformance.checks.b_crossing import LEAF, OTHER
from harness.conformance.localization.saved_registers import RESULT, SavedResults, result_events
from harness.conformance.registry import check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import LANDING, come_to
from harness.conformance.verdict import Layer
from harness.isa import CallSite

SETS = (1, 2)
"""The numbers of two sets of patterns, so that a constant value is detected."""


def _prepare(bench: Bench, name: str) -> CallSite:
    """The guest as booted, with the graph tracer and one site on."""
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(name)
    bench.guest.tracer.set_option("funcgraph-retval")
    switch.graph(True)
    switch.sites(True, [site])
    return site


@check("C24a", layer=Layer.CALL)
def results_in_the_events_of_returns(bench: Bench) -> None:
    """A leaf, and a function that calls others, with other results than they have."""
    abi = bench.isa.abi
    for name in (LEAF, OTHER):
        for number in SETS:
            call = come_to(bench, _prepare(bench, name))
            with bench.fail_if_guest_dies("C24a"):
                bench.run_to(LANDING)
                bench.registers.fill(abi.results, abi.float_results, number)
                expected = bench.registers.value(abi.results[0]) & bench.isa.mask
                bench.run_to(call.caller)
            found = result_events(bench)
            saved = SavedResults(bench, partial(_prepare, bench, name))
            bench.require(
                "C24a",
                found == [expected],
                f"the event of the return from {name} has another result",
                partial(saved.wrong_value, RESULT, next(iter(found), 0), ()),
                expected=f"{expected:#x}",
                found=[f"{value:#x}" for value in found],
            )
