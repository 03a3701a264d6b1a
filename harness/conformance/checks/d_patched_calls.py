# SPDX-License-Identifier: MIT
"""Calls through a site or a slot while it is being changed, where a port handles what stands there
meanwhile.
"""

from collections.abc import Iterator

from harness.conformance.bench import CALL_RETURNS, Bench
from harness.conformance.checks.registry import check
from harness.conformance.hang import Hang
from harness.conformance.single_step import single_step
from harness.conformance.switch import TRACER, Switch
from harness.conformance.verdict import Layer
from harness.isa import CallSite

MOST_STEPS = 4000
"""The most instructions of one call of a patching function."""

SITE = "leaf"
ARGUMENTS = (3, 5)
"""A function of the workload, and its arguments."""


@check("C9j", layer=Layer.PATCHING)
def a_call_of_a_site_behind_each_store(bench: Bench) -> None:
    """A site is switched in single steps; behind each store to it its function is called."""
    if not bench.isa.sites.while_changed:
        return
    for on in (True, False):
        bench.fresh()
        site, right = bench.sites.of(SITE), bench.call(bench.image.address_of(SITE), *ARGUMENTS)
        Switch(bench).tracer(True)
        record, caller = bench.port.record_of(site), bench.image.address_of("ftrace_caller")
        call: tuple[int, ...] = (bench.image.address_of("ftrace_make_call"), record, caller)
        if not on:
            bench.call(*call)
            call = (bench.image.address_of("ftrace_make_nop"), 0, record, caller)
        what = f"switching a site {'on' if on else 'off'}"
        with bench.stakes("C9j"):
            answers = list(_answers(bench, site, site.address, call))
        wrong = [answer for answer in answers if answer != right]
        message = f"{what}: a call of it behind one of the stores is wrong"
        bench.require("C9j", bool(answers) and not wrong, message, found=answers)


@check("C10c", layer=Layer.PATCHING)
def a_call_of_the_stub_behind_each_store(bench: Bench) -> None:
    """The slot is changed from a tracer to a tracer; each call through it makes an event."""
    if not bench.isa.sites.while_changed:
        return
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(SITE)
    right = bench.call(bench.image.address_of(SITE), *ARGUMENTS)
    switch.tracer(True)
    switch.sites(True, [site])
    bench.guest.tracer.clear()
    slot = bench.image.address_of("ftrace_call")
    update = bench.image.address_of("ftrace_update_ftrace_func"), bench.image.address_of(TRACER)
    with bench.stakes("C10c"):
        answers = list(_answers(bench, site, slot, update))
    wrong = [answer for answer in answers if answer != right]
    message = "a tracer for a tracer: a call behind one of the stores is wrong"
    bench.require("C10c", bool(answers) and not wrong, message, found=answers)
    events = sum(event.name == "function" for event in bench.guest.tracer.events())
    bench.require(
        "C10c",
        events == len(answers),
        f"a tracer for a tracer: {len(answers)} calls made {events} events",
        found=events,
    )


def _answers(bench: Bench, site: CallSite, place: int, call: tuple[int, ...]) -> Iterator[int]:
    """Make a call in single steps, and behind each store to ``place`` one of the site's function;
    the results of those.
    """
    isa = bench.isa
    bench.enter(*call)
    here, end = call[0] & isa.mask, bench.image.symbols[CALL_RETURNS] & isa.mask
    code = bench.read_memory(place, isa.longest)
    for _ in range(MOST_STEPS):
        if here == end:
            return
        is_store = isa.machine.is_store(bench.code.linked(here))
        here = single_step(bench, here)
        now = bench.read_memory(place, isa.longest) if is_store else code
        if now != code:
            code = now
            yield bench.call(site.function_address, *ARGUMENTS)
    raise Hang(f"{bench.image.symbolize(call[0])} did not return within {MOST_STEPS} instructions")
