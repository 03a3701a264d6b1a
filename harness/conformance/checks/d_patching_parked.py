# SPDX-License-Identifier: MIT
"""Patching of text at which a CPU is stopped, which then continues."""

from harness.conformance.comparison import changed_registers, expected_behind
from harness.conformance.registry import check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.switch import Switch
from harness.guest.answer import wrong_answer
from harness.isa import CallSite

SITE = "leaf"

MOST_INSTRUCTIONS = 64
"""The most instructions of a stub at which a CPU is stopped."""


@check("C9i")
def a_cpu_parked_at_each_word_of_a_site(bench: Bench) -> None:
    """A site is switched while a CPU is stopped at each of its words, which then continues."""
    if not bench.kernel.PREEMPTION:
        return
    site = bench.sites.of(SITE)
    for on in (True, False):
        for number, place in enumerate(bench.sites.places(site)):
            bench.fresh()
            switch = Switch(bench)
            if not on:
                switch.sites(True, [site])
            with bench.fail_if_guest_dies("C9i"):
                _run_into(bench, site, place)
                before = bench.registers.read()
                switch.sites(on, [site])
                bench.run_to(bench.sites.resumes(site))
            before = expected_behind(bench.isa.abi, site.form, before)
            after = bench.registers.read()
            kept = (bench.isa.abi.stack_register, *bench.isa.abi.saved)
            wrong = changed_registers(kept, before, after)
            what = f"switched {'on' if on else 'off'} under a CPU at its word {number}"
            bench.require(
                "C9i", not wrong, f"a site was {what}: registers changed", registers=wrong
            )
            with bench.fail_if_guest_dies("C9i"):
                bench.run_to(CALL_RETURNS)
            status = bench.guest.workload_status
            bench.require("C9i", status == 0, f"a site was {what}: the workload is wrong")


def _run_into(bench: Bench, site: CallSite, place: int) -> None:
    for stop in (site.function_address, site.address, place):
        pc = bench.guest.debugger.read_register(bench.isa.abi.pc_register) & bench.isa.mask
        if pc != stop & bench.isa.mask:
            bench.run_to(stop)


@check("C10c", "C8f", "C11e", features=("FUNCTION_GRAPH_TRACER",))
def a_cpu_parked_in_the_stub(bench: Bench) -> None:
    """The tracers are switched off while a CPU is stopped at each instruction of the stub."""
    if not bench.kernel.PREEMPTION:
        return
    for number, here in _stops_in_stub(bench).items():
        switch, site = _all_on(bench)
        _run_into(bench, site, here)
        with bench.fail_if_guest_dies("C10c"):
            switch.sites(False, [site])
            switch.tracer(False)
            switch.graph(False)
            bench.run_to(CALL_RETURNS)
        status = bench.guest.workload_status
        bench.require(
            "C10c",
            status == 0,
            f"tracers were switched off under a CPU at {bench.image.symbolize(here)} "
            f"(instruction {number} of the call): {wrong_answer(bench.image, status)}",
        )


def _all_on(bench: Bench) -> tuple[Switch, CallSite]:
    """A fresh guest with both tracers, and one site that is on."""
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(SITE)
    switch.tracer(True)
    switch.graph(True)
    switch.sites(True, [site])
    return switch, site


def _stops_in_stub(bench: Bench) -> dict[int, int]:
    """Where a CPU can be stopped on its way through the stub, by the number of instructions."""
    isa, stub = bench.isa, bench.code.stub
    _, site = _all_on(bench)
    _run_into(bench, site, site.address)
    here, found, entered = site.address, {}, False
    for number in range(1, MOST_INSTRUCTIONS):
        delayed = isa.cpu.has_delay_slot(bench.code.instruction(here))
        here = bench.guest.debugger.step_instruction().address & isa.mask
        # No CPU is ever stopped in a delay slot.
        if delayed:
            continue
        inside = bench.image.function_at(here) == stub
        if entered and not inside:
            break
        entered = entered or inside
        found[number] = here
    return found
