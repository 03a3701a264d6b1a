# SPDX-License-Identifier: MIT
"""Calls through a site or slot during patching, for ports that handle the intermediate code."""

from collections.abc import Callable
from functools import partial
from itertools import pairwise

from harness.conformance.meanwhile import CallsMeanwhile, locate_in_handler
from harness.conformance.registry import check, several_cpus
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.single_step import (
    WAITING,
    Call,
    prepare_call,
    site_calls,
    stores_of,
)
from harness.conformance.under_test.switch import TRACER, Switch
from harness.conformance.verdict import Layer, Place
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
    bench.fresh()
    site, right = bench.sites.of(SITE), bench.call(bench.image.address_of(SITE), *ARGUMENTS)
    place = bench.isa.sites.call_address(site)
    if not _is_right(bench, partial(_switching, bench, site, on=True), site, right):
        # Not what is there in between is wrong.
        bench.mark_unfinished()
        return
    for on in (True, False):
        prepare = partial(_switching, bench, site, on=on)
        calls = CallsMeanwhile(bench, prepare, place, (site.function_address, *ARGUMENTS), right)
        with bench.fail_if_guest_dies("C9j", locate=calls.last):
            calls.make()
        if not calls.answers:
            # Clauses about the words of a site say so.
            bench.mark_unfinished()
            return
        what = f"switching a site {'on' if on else 'off'}"
        message = f"{what}: a call of it behind one of the stores is wrong"
        bench.require("C9j", calls.wrong is None, message, calls.wrong, found=calls.answers)


def _is_right(bench: Bench, prepare: Callable[[], Call], site: CallSite, right: int) -> bool:
    """Whether a call is right when the patching call has been made in one go."""
    try:
        bench.call(*prepare())
        return bench.call(site.function_address, *ARGUMENTS) == right
    except GuestDied:
        return False


def _switching(bench: Bench, site: CallSite, *, on: bool) -> Call:
    """The call that switches a site while tracing is on, in a fresh guest."""
    bench.fresh()
    Switch(bench).tracer(True)
    return prepare_call(bench, site_calls(bench, bench.port.record_of(site)), on=on)


@check("C9j", layer=Layer.PATCHING)
def a_breakpoint_of_others(bench: Bench) -> None:
    """What a site begins with during a change, in one that is not being changed."""
    sites = bench.isa.sites
    if not sites.unhandled:
        return
    site = bench.sites.of(SITE)
    behind = site.address + len(sites.while_changed) - site.function_address
    told = f"{sites.unhandled} in {SITE}+{behind:#x}"
    call = site.function_address, *ARGUMENTS
    for when in MEANWHILE, BEHIND:
        _put_breakpoint(bench, site, when)
        try:
            found = f"the answer {bench.call(*call)}"
        except GuestDied as error:
            found = error.headline or error.message
        bench.require(
            "C9j",
            found.startswith(told),
            f"{when}, a breakpoint of others is not left to the kernel",
            partial(_not_left, bench, site, when),
            expected=told,
            found=found,
        )


def _put_breakpoint(bench: Bench, site: CallSite, when: str) -> None:
    """Write the breakpoint of others to a site, in a fresh guest."""
    bench.fresh()
    with bench.fail_if_guest_dies("C9j"):
        if when is MEANWHILE:
            other = bench.sites.of(OTHER)
            change = site_calls(bench, bench.port.record_of(other))[0]
            next(stores_of(bench, bench.isa.sites.call_address(other), change), None)
        else:
            bench.call(*site_calls(bench, bench.port.record_of(site))[0])
    bench.write_memory(site.address, bench.isa.sites.while_changed)


def _not_left(bench: Bench, site: CallSite, when: str) -> Place | None:
    """What the handler did with the breakpoint of others."""
    _put_breakpoint(bench, site, when)
    return locate_in_handler(bench, site.address, (site.function_address, *ARGUMENTS))


@check("C10c", layer=Layer.PATCHING)
def a_call_of_the_stub_behind_each_store(bench: Bench) -> None:
    """The slot is changed from a tracer to a tracer; each call through it makes an event.

    For the same tracer a port need not store anything.
    """
    if not bench.isa.sites.while_changed:
        return
    bench.fresh()
    site, right = bench.sites.of(SITE), bench.call(bench.image.address_of(SITE), *ARGUMENTS)
    slot, prepare = bench.image.address_of("ftrace_call"), partial(_exchanging, bench, site)
    if not _is_right(bench, prepare, site, right):
        # Not what is there in between is wrong.
        bench.mark_unfinished()
        return
    calls = CallsMeanwhile(bench, prepare, slot, (site.function_address, *ARGUMENTS), right)
    with bench.fail_if_guest_dies("C10c", locate=calls.last):
        calls.make()
    message = "a tracer for a tracer: a call behind one of the stores is wrong"
    bench.require("C10c", calls.wrong is None, message, calls.wrong, found=calls.answers)
    made, events = len(calls.answers), calls.events()
    message = f"a tracer for a tracer: {made} calls made {events} events"
    bench.require("C10c", events == made, message, calls.without_event, found=events)


def _exchanging(bench: Bench, site: CallSite) -> Call:
    """The call that changes the slot from a tracer to the same one, in a fresh guest."""
    bench.fresh()
    switch = Switch(bench)
    switch.tracer(True)
    switch.sites(True, [site])
    bench.guest.tracer.clear()
    return bench.image.address_of("ftrace_update_ftrace_func"), bench.image.address_of(TRACER)


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
