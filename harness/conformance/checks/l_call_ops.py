# SPDX-License-Identifier: MIT
"""The ops of each call site, in the literal before its function."""

from collections.abc import Sequence
from functools import partial

from harness.conformance.checks.a_text import compared, out_of_reach, refused, spoilt
from harness.conformance.checks.b_crossing import LEAF, OTHER
from harness.conformance.checks.j_tracers import SECOND, STUB, into_stub
from harness.conformance.localization.retrace import Retrace
from harness.conformance.places import place_of
from harness.conformance.registry import check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.selftests import Selftest
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import SELFTEST
from harness.conformance.under_test.ways import Prepare
from harness.conformance.verdict import REACH, RECORDS, Layer, Place
from harness.isa import CallSite
from harness.tracer import LIST_OPS, NOP_OPS

MOST = 64
"""More instructions than a stub has up to its tracer."""

UNALIGNED = "unaligned_entry"
"""A function of the guest without room for a literal."""


@check("C22a", layer=Layer.CALL)
def each_site_has_its_own_ops(bench: Bench) -> None:
    """A tracer for each of two functions, switched on in both orders, and calls of both in turn."""
    sites = [bench.sites.of(name) for name in (LEAF, SECOND)]
    for first in (0, 1):
        tests = [Selftest(bench, number) for number in (first, 1 - first)]
        _switch_each_on(bench, tests, sites)
        for round_ in (1, 2):
            for test, site in zip(tests, sites, strict=True):
                with bench.fail_if_guest_dies("C22a"):
                    bench.call(site.function_address, 1)
                found = {"calls": test.read("calls"), "op": test.read("op"), "ip": test.read("ip")}
                told = {
                    "expected": {"calls": round_, "op": test.ops, "ip": site.ip},
                    "found": found,
                }
                message = f"a call of {site.function} did not come to its own tracer with its ops"
                if not bench.require(
                    "C22a",
                    found == told["expected"],
                    message,
                    partial(_of_ops, bench, partial(_switched, bench, tests, sites, site)),
                    **told,
                ):
                    # The search for the place has made the guest fresh.
                    return


def _switch_each_on(bench: Bench, tests: Sequence[Selftest], sites: Sequence[CallSite]) -> None:
    """The guest as booted, and each tracer for one of the sites."""
    bench.fresh()
    Switch(bench).sites(True, sites)
    for test, site in zip(tests, sites, strict=True):
        test.only(site)
        test.switch(True)


def _switched(
    bench: Bench, tests: Sequence[Selftest], sites: Sequence[CallSite], site: CallSite
) -> CallSite:
    _switch_each_on(bench, tests, sites)
    return site


def _of_ops(bench: Bench, prepare: Prepare) -> Place | None:
    """Where the stub made the address of what it called, or of the ops that it has handed over."""
    retrace = Retrace(bench, prepare)
    third = bench.isa.abi.argument_registers[2]
    return retrace.target(SELFTEST) or retrace.origin(third, SELFTEST)


@check("C22a", layer=Layer.CALL)
def the_function_is_that_of_the_ops(bench: Bench) -> None:
    """An ops that is not in the list of tracers, in a literal that the debugger has written."""
    site = _with_own_ops(bench)
    listed, own = Selftest(bench, 0), Selftest(bench, 1)
    with bench.fail_if_guest_dies("C22a"):
        bench.call(site.function_address, 1)
    found = own.read("calls"), listed.read("calls")
    bench.require(
        "C22a",
        found == (1, 0),
        "the stub does not call the function of the site's ops",
        partial(_of_ops, bench, partial(_with_own_ops, bench)),
        expected="one call of the site's, none of one that is in the list",
        found=found,
    )


def _with_own_ops(bench: Bench) -> CallSite:
    """The guest as booted, with a tracer in the list and another one in a site's literal."""
    bench.fresh()
    site, size, order = bench.sites.of(LEAF), bench.isa.word_size, bench.image.byteorder
    Selftest(bench, 0).switch(True)
    Switch(bench).sites(True, [site])
    bench.write_memory(site.literal, Selftest(bench, 1).ops.to_bytes(size, order))
    return site


@check("C22f", layer=Layer.CALL)
def tracers_change_under_a_cpu_in_the_stub(bench: Bench) -> None:
    """At each of its instructions up to the tracer: one tracer comes, and another one goes."""
    retrace = Retrace(bench, partial(_with_tracers, bench, 1))
    for comes in (True, False):
        for number in range(1, MOST):
            site = _with_tracers(bench, 1 if comes else 2)
            stays, other = Selftest(bench, 0), Selftest(bench, 1)
            here = into_stub(bench, number)
            if bench.image.function_at(here) != bench.code.stub:
                break
            with bench.fail_if_guest_dies("C22f"):
                other.switch(comes)
                bench.run_to(bench.sites.resumes(site))
            found = {"calls": stays.read("calls"), "op": stays.read("op")}
            called = other.read("calls")
            right = found == {"calls": 1, "op": stays.ops} and called <= 1
            what = f"a tracer {'came' if comes else 'went'} under a CPU"
            bench.require(
                "C22f",
                right and other.read("op") == other.ops * called,
                f"{what} at {bench.image.symbolize(here)}",
                partial(_loads_again, retrace, site, here),
                expected={"calls": 1, "op": stays.ops},
                found=found,
                of_the_other=called,
            )


def _with_tracers(bench: Bench, number: int) -> CallSite:
    """The guest as booted, with so many tracers of a site that is on."""
    bench.fresh()
    site = bench.sites.of(LEAF)
    for one in range(number):
        Selftest(bench, one).switch(True)
    Switch(bench).sites(True, [site])
    return site


def _loads_again(retrace: Retrace, site: CallSite, here: int) -> Place | None:
    """Where the stub loads the literal of a site again, or else where the CPU was."""
    again = retrace.loads_again(site.literal)
    return again or place_of(retrace.bench.image, here, "is where it was")


@check("C22c", layer=Layer.PATCHING)
def the_literal_follows_the_tracers(bench: Bench) -> None:
    """None, one, several and one again, for functions that share them and for one that does not."""
    bench.fresh()
    sites = [bench.sites.of(name) for name in (LEAF, SECOND, OTHER)]
    every, own = Selftest(bench, 0), Selftest(bench, 1)
    own.only(sites[0])
    nop, several = (bench.image.address_of(name) for name in (NOP_OPS, LIST_OPS))
    for site in bench.image.sites:
        found = bench.word_at(site.literal)
        name = site.function
        told = f"the literal of {name} is not ftrace_nop_ops at boot"
        bench.actions.site = site.ip
        bench.require("C22c", found == nop, told, **_listed(bench, site, nop, found))
    bench.actions.site = 0
    switch, off = Switch(bench), bench.code.text()
    switch.sites(True, sites[:2])
    _judge(bench, sites, (several, several, nop), "on without a tracer")
    on = bench.code.text()
    for test, state, expected, what in (
        (every, True, (every.ops, every.ops, nop), "one tracer of all functions"),
        (own, True, (several, every.ops, nop), "another one of the first function"),
        (every, False, (own.ops, several, nop), "the second one alone"),
        (every, True, (several, every.ops, nop), "both in the other order"),
        (own, False, (every.ops, every.ops, nop), "the one of all functions alone"),
        (every, False, (several, several, nop), "none any more"),
    ):
        with bench.fail_if_guest_dies("C22c"):
            test.switch(state)
        _judge(bench, sites, expected, what)
        literals = bench.sites.literals_of(sites[:2])
        text = bench.code.text()
        other = set(bench.code.changed(on, text)) - literals
        lines = [f"{at:#x} {bench.image.symbolize(at)}" for at in sorted(other)[:16]]
        bench.require("C22c", not other, "other text than literals has changed", text=lines)
    every.switch(True)
    switch.sites(True, sites[2:])
    _judge(bench, sites, (every.ops, every.ops, every.ops), "a site that is switched on later")
    switch.sites(False, sites)
    _judge(bench, sites, (nop, nop, nop), "off with a tracer")
    after = bench.code.text()
    bench.require(
        "C22c",
        after == off,
        "off is not what it was before",
        text=lambda: bench.code.difference(off, after),
    )


def _judge(bench: Bench, sites: Sequence[CallSite], expected: Sequence[int], what: str) -> None:
    for site, ops in zip(sites, expected, strict=True):
        found = bench.word_at(site.literal)
        told = f"{what}: the literal of {site.function} is another"
        bench.actions.site = site.ip
        bench.require("C22c", found == ops, told, **_listed(bench, site, ops, found))
    bench.actions.site = 0


def _listed(bench: Bench, site: CallSite, expected: int, found: int) -> dict[str, list[str]]:
    """What the literal of a site has to be, and is, as the search for the place reads it."""
    values = {"expected": expected, "found": found}
    return {
        title: [f"{site.literal:#x}: {value:#x} {bench.image.object_at(value)}"]
        for title, value in values.items()
    }


@check("C22d", layer=Layer.PATCHING)
def a_function_without_room_is_left_out(bench: Bench) -> None:
    """No record of it, and its words as built; all others have room."""
    bench.fresh()
    image, size = bench.image, bench.image.literal_size
    function = image.function_at(image.address_of(UNALIGNED))
    assert function is not None, "the guest has one"
    start, end = function.address - size, function.address + function.size
    records = [ip for ip in bench.sites.records if start <= ip < end]
    shown = [f"{ip:#x} {image.symbolize(ip)}" for ip in records]
    about = RECORDS if records else ""
    bench.require("C22d", not records, f"{UNALIGNED} has a record", None, about, records=shown)
    with bench.fail_if_guest_dies("C22d"):
        Switch(bench).sites(True)
    built, now = image.read(start, end - start), bench.read_memory(start, end - start)
    bench.require(
        "C22d",
        built == now,
        f"{UNALIGNED} was written to",
        None,
        about,
        expected=bench.code.listing(start, built),
        found=bench.code.listing(start, now),
    )


@check("C22e", layer=Layer.PATCHING)
def requests_for_another_ops_that_are_refused(bench: Bench) -> None:
    """A site that is off or calls something else, and words that the port has not written."""
    bench.fresh()
    image, site = bench.image, bench.sites.of(LEAF)
    caller = image.address_of(STUB)
    modify = image.address_of("ftrace_modify_call"), bench.port.record_of(site)
    same = (*modify, caller, caller)
    refused(bench, "C22e", site, same, "the site is off")
    Switch(bench).sites(True, [site])
    # So that there is another ops to write.
    test = Selftest(bench, 0)
    test.only(bench.sites.of(SECOND))
    test.switch(True)
    test.write(function=site.ip)
    other = (caller + 64) & bench.isa.mask
    refused(bench, "C22e", site, (*modify, other, caller), "the site calls another function")
    if bench.kernel.call_target == "any":
        far = out_of_reach(bench, bench.isa.sites.call_address(site))
        refused(
            bench, "C22e", site, (*modify, caller, far), "the new address is out of reach", REACH
        )
        refused(bench, "C22e", site, (*modify, far, caller), "the old address is out of reach")
    on = bench.code.of(site)
    for place in compared(bench, site, on):
        for spoiled, what in spoilt(bench.isa, on, place):
            bench.write_memory(site.address, spoiled)
            refused(bench, "C22e", site, same, f"{what} at a site that is on")
    bench.write_memory(site.address, on)
