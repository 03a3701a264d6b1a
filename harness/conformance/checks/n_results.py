# SPDX-License-Identifier: MIT
"""The return values of functions that the graph tracer gets."""

from functools import partial

from harness.conformance.bench import Bench
from harness.conformance.checks.b_crossing import LEAF, OTHER
from harness.conformance.checks.registry import check
from harness.conformance.places import place_of
from harness.conformance.switch import Switch
from harness.conformance.traced_call import LANDING, come_to
from harness.conformance.verdict import Layer
from harness.trace import FuncgraphExitEvent

SETS = (1, 2)
"""The numbers of two sets of patterns, so that a constant value is detected."""


@check("C24a", layer=Layer.CALL)
def results_in_the_events_of_returns(bench: Bench) -> None:
    """A leaf, and a function that calls others, with other results than they have."""
    abi = bench.isa.abi
    for name in (LEAF, OTHER):
        for number in SETS:
            bench.fresh()
            switch, site = Switch(bench), bench.sites.of(name)
            bench.guest.tracer.set_option("funcgraph-retval")
            switch.graph(True)
            switch.sites(True, [site])
            call = come_to(bench, site)
            with bench.fail_if_guest_dies("C24a"):
                bench.run_to(LANDING)
                bench.registers.fill(abi.results, abi.float_results, number)
                expected = bench.registers.read()[abi.results[0]] & bench.isa.mask
                bench.run_to(call.caller)
            events = bench.guest.tracer.events()
            found = [one.retval for one in events if isinstance(one, FuncgraphExitEvent)]
            bench.require(
                "C24a",
                found == [expected],
                f"the event of the return from {name} has another result",
                partial(place_of, bench.image, bench.image.address_of(LANDING), "hands it over"),
                expected=f"{expected:#x}",
                found=[f"{value:#x}" for value in found if value is not None],
            )
