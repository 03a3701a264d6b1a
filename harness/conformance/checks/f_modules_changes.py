# SPDX-License-Identifier: MIT
"""Changes of modules' call sites that are refused, or that another CPU meets half done."""

from collections.abc import Sequence
from functools import partial

from harness.conformance.checks.a_text import refused, spoilt
from harness.conformance.checks.f_modules import (
    RIGHT,
    RUN,
    both,
    load,
    require_all,
    sites_of,
    where_ip_was_made,
)
from harness.conformance.registry import MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.single_step import site_calls
from harness.conformance.under_test.switch import Switch
from harness.conformance.verdict import HALF_DONE, REACH, REFUSAL, Layer
from harness.image import THIS_MODULE
from harness.isa import CallSite, Form
from harness.trace import FunctionEvent

FAR = 1 << 40
"""The distance of a target that has the lower half of its address in common with another one."""


@check("C9e", "C9f", "M1d", variants=(MODULES,), layer=Layer.PATCHING)
def module_sites_that_are_not_what_they_must_be(bench: Bench) -> None:
    """Unexpected words in each place of a module's site, repeated requests, and wrong targets."""
    modules = load(bench)
    site = sites_of(modules)[0]
    record, this = bench.port.record_of(site), modules[0].address_of(THIS_MODULE)
    make_call, make_nop = site_calls(bench, record, this)
    off = bench.code.of(site)
    refused(bench, "C9e", site, make_nop, "the module's site is off already")
    other = bench.image.pointer_to(RUN) if bench.kernel.call_target == "any" else None
    reaches = partial(bench.isa.sites.reaches, bench.isa.sites.call_address(site))
    if other is not None and (site.form is Form.LONG_CALL or not reaches(other)):
        refused(bench, "C9f", site, (*make_call[:2], other), "a module's site that calls another")
    if other is not None and bench.isa.bits > FAR.bit_length():
        far = make_call[2] ^ FAR
        about = REFUSAL if reaches(far) else REACH
        what = "a target with the same lower half of its address"
        refused(bench, "C9f", site, (*make_call[:2], far), what, about)
    bench.call(*make_call)
    on = bench.code.of(site)
    refused(bench, "C9e", site, make_call, "the module's site is on already")
    if other is not None:
        refused(bench, "C9f", site, (*make_nop[:3], other), "a module's site that calls another")
    told_by_words = both(bench, "M1d") if bench.kernel.sites_told_by == "words" else []
    both_states = zip(bench.isa.split(off), bench.isa.split(on), strict=True)
    changing = [place for place, (was, now) in enumerate(both_states) if was != now]
    for code, call, state in ((off, make_call, "off"), (on, make_nop, "on")):
        for place in changing:
            for spoiled, what in spoilt(bench.isa, code, place):
                bench.write_memory(site.address, spoiled)
                for clause in ("C9e", *told_by_words):
                    refused(bench, clause, site, call, f"{what} at a module's site that is {state}")
    for code, done, call in ((off, on, make_call), (on, off, make_nop)):
        for place in range(len(bench.isa.split(code))):
            if place not in changing:
                for spoiled, what in spoilt(bench.isa, code, place):
                    bench.write_memory(site.address, spoiled)
                    _refused_or_done(bench, site, call, spoiled, done, changing, what)


def _refused_or_done(
    bench: Bench,
    site: CallSite,
    call: tuple[int, ...],
    code: bytes,
    done: bytes,
    changing: Sequence[int],
    what: str,
) -> None:
    """A word that stays is another: the port need not look at it, but does all or nothing."""
    name = bench.image.symbolize(call[0])
    with bench.fail_if_guest_dies("C9e"):
        status = bench.call(*call)
    now = bench.code.of(site)
    words, other = list(bench.isa.split(code)), bench.isa.split(done)
    if status == 0:
        for place in changing:
            words[place] = other[place]
    bench.require(
        "C9e",
        status <= 0 and now == b"".join(words),
        f"{name} returned {status} and did not do that: {what} at a module's site",
        None,
        HALF_DONE if status < 0 else "",
        expected=bench.code.listing(site.address, b"".join(words)),
        found=bench.code.listing(site.address, now),
    )


@check("C9i", "C2a", "M2c", variants=(MODULES,))
def a_cpu_parked_at_each_word_of_a_module_site(bench: Bench) -> None:
    """A module's site is switched while a CPU is stopped at each of its words, which then
    continues.
    """
    if not bench.kernel.PREEMPTION:
        return
    isa = bench.isa
    for on in (False, True):
        place = 0
        while True:
            modules = load(bench)
            # The words before its site are not nops: a search must not stop there.
            site = next(one for one in sites_of(modules) if one.function == "num_large")
            if place == len(isa.split(site.as_built)):
                break
            switch, debugger = Switch(bench), bench.guest.debugger
            switch.sites(not on, [site] if not on else [])
            switch.tracer(not on)
            bench.guest.tracer.clear()
            with bench.fail_if_guest_dies("C9i", "C2a", *both(bench, "M2c")):
                before = bench.enter(bench.image.address_of(RUN), 1)
                bench.run_to(site.address)
                steps, delayed = 0, False
                while steps < place or delayed:
                    here = debugger.read_register(isa.abi.pc_register) & isa.mask
                    delayed = isa.cpu.has_delay_slot(bench.code.instruction(here))
                    debugger.step_instruction()
                    steps += 1
                here = debugger.read_register(isa.abi.pc_register) & isa.mask
                switch.sites(on, [site])
                bench.run_to(CALL_RETURNS)
            result = bench.registers.value(isa.abi.results[0])
            bench.registers.put_back(before)
            bench.require(
                "C9i",
                result == RIGHT,
                f"a module's site was switched {'on' if on else 'off'} under a CPU at {here:#x}, "
                f"{here - site.address} bytes into it: {result} of {RIGHT} answers are "
                "right",
            )
            events = bench.guest.tracer.events()
            calls = [event for event in events if isinstance(event, FunctionEvent)]
            wrong = [str(event) for event in calls if event.ip != site.ip]
            require_all(
                bench,
                both(bench, "M2c") or ["C2a"],
                not wrong,
                f"switched off under a CPU at {here:#x} a module's site is not the event's ip",
                partial(where_ip_was_made, bench, site.ip),
                events=wrong,
            )
            place += 1
