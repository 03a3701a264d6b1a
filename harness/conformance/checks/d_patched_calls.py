# SPDX-License-Identifier: MIT
"""Calls through a site or slot during patching, for ports that handle the intermediate code."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from harness.conformance.bench import CALL_RETURNS, Bench
from harness.conformance.checks.registry import check, several_cpus
from harness.conformance.hang import Hang
from harness.conformance.single_step import (
    MOST_STEPS,
    WAITING,
    Call,
    prepare_call,
    single_step,
    site_calls,
)
from harness.conformance.switch import TRACER, Switch
from harness.conformance.verdict import Layer
from harness.errors import GuestDied
from harness.isa import CallSite

SITE, OTHER = "leaf", "check_nested_calls"
ARGUMENTS = (3, 5)
"""A function of the workload, another one, and arguments of the first."""

MEANWHILE, BEHIND = "while another site is changed", "behind a change of its site"


@check("C9j", layer=Layer.PATCHING)
def a_call_of_a_site_behind_each_store(bench: Bench) -> None:
    """A site is switched in single steps; after each store to it the function is called."""
    if not bench.isa.sites.while_changed:
        return
    for on in (True, False):
        bench.fresh()
        site, right = bench.sites.of(SITE), bench.call(bench.image.address_of(SITE), *ARGUMENTS)
        Switch(bench).tracer(True)
        call = prepare_call(bench, site_calls(bench, bench.port.record_of(site)), on=on)
        what = f"switching a site {'on' if on else 'off'}"
        with bench.fail_if_guest_dies("C9j"):
            answers = list(_answers(bench, site, bench.isa.sites.call_address(site), call))
        wrong = [answer for answer in answers if answer != right]
        message = f"{what}: a call of it behind one of the stores is wrong"
        bench.require("C9j", bool(answers) and not wrong, message, found=answers)


@check("C9j", layer=Layer.PATCHING)
def a_breakpoint_of_others(bench: Bench) -> None:
    """What a site begins with during a change, in one that is not being changed."""
    sites = bench.isa.sites
    if not sites.unhandled:
        return
    site, other = bench.sites.of(SITE), bench.sites.of(OTHER)
    behind = site.address + len(sites.while_changed) - site.function_address
    told = f"{sites.unhandled} in {SITE}+{behind:#x}"
    for when in MEANWHILE, BEHIND:
        bench.fresh()
        with bench.fail_if_guest_dies("C9j"):
            if when is MEANWHILE:
                call = site_calls(bench, bench.port.record_of(other))[0]
                next(stores_of(bench, sites.call_address(other), call), None)
            else:
                bench.call(*site_calls(bench, bench.port.record_of(site))[0])
        bench.write_memory(site.address, sites.while_changed)
        try:
            found = f"the answer {bench.call(site.function_address, *ARGUMENTS)}"
        except GuestDied as error:
            found = error.headline or error.message
        bench.require(
            "C9j",
            found.startswith(told),
            f"{when}, a breakpoint of others is not left to the kernel",
            expected=told,
            found=found,
        )


@check("C10c", layer=Layer.PATCHING)
def a_call_of_the_stub_behind_each_store(bench: Bench) -> None:
    """The slot is changed from a tracer to a tracer; each call through it makes an event.

    One that a single store can change, the same tracer need not change at all.
    """
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
    with bench.fail_if_guest_dies("C10c"):
        answers = list(_answers(bench, site, slot, update))
    wrong = [answer for answer in answers if answer != right]
    size = bench.isa.sites.slot_size
    one_store = size.bit_count() == 1 and slot % size == 0
    message = "a tracer for a tracer: a call behind one of the stores is wrong"
    bench.require("C10c", (bool(answers) or one_store) and not wrong, message, found=answers)
    events = sum(event.name == "function" for event in bench.guest.tracer.events())
    bench.require(
        "C10c",
        events == len(answers),
        f"a tracer for a tracer: {len(answers)} calls made {events} events",
        found=events,
    )


@check("C9l", lacks=several_cpus, layer=Layer.PATCHING)
def other_cpus_are_waited_for_between_stores(bench: Bench) -> None:
    """A site is switched in single steps; its port waits for what other CPUs have fetched."""
    handled = bench.isa.sites.while_changed
    if not handled:
        return
    for on in (True, False):
        bench.fresh()
        site = bench.sites.of(SITE)
        call = prepare_call(bench, site_calls(bench, bench.port.record_of(site)), on=on)
        with bench.fail_if_guest_dies("C9l"):
            stores = list(stores_of(bench, bench.isa.sites.call_address(site), call))
        what = f"switching a site {'on' if on else 'off'}"
        for before, store in pairwise(stores):
            # While the other bytes are written the breakpoint is in place: no CPU executes them.
            first, last = before is stores[0], not store.code.startswith(handled)
            bench.require(
                "C9l",
                store.waited or not (first or last),
                f"{what}: no other CPU was waited for between two stores",
                found=bench.code.listing(site.address, before.code),
                expected=f"a call of {WAITING} in front of the next store",
            )


@dataclass(frozen=True, slots=True)
class Store:
    """The code after a store, and the instruction that stored.

    ``waited``: the port waited for other CPUs since the last store.
    """

    code: bytes
    address: int
    waited: bool


def _answers(bench: Bench, site: CallSite, place: int, call: Call) -> Iterator[int]:
    """Make a call in single steps; the site's function is called after each store to ``place``."""
    for _ in stores_of(bench, place, call):
        yield bench.call(site.function_address, *ARGUMENTS)


def stores_of(bench: Bench, place: int, call: Call) -> Iterator[Store]:
    """Make a call in single steps: each store to ``place``, where the guest is stopped then."""
    isa = bench.isa
    bench.enter(*call)
    here, end = call[0] & isa.mask, bench.image.symbols[CALL_RETURNS] & isa.mask
    waiting = bench.image.address_of(WAITING) & isa.mask
    code, waited = bench.read_memory(place, isa.longest), False
    for _ in range(MOST_STEPS):
        if here == end:
            return
        waited = waited or here == waiting
        at, is_store = here, isa.cpu.is_store(bench.code.linked(here))
        here = single_step(bench, here)
        now = bench.read_memory(place, isa.longest) if is_store else code
        if now != code:
            yield Store(now, at, waited)
            code, waited = now, False
    raise Hang(f"{bench.image.symbolize(call[0])} did not return within {MOST_STEPS} instructions")
