# SPDX-License-Identifier: MIT
"""Patching in single steps, and patching of text that a CPU is executing."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.conformance.bench import CALL_RETURNS, Bench
from harness.conformance.checks.registry import check
from harness.conformance.hang import Hang
from harness.conformance.switch import NO_TRACER, TRACER, Switch
from harness.conformance.verdict import Layer
from harness.guest.answer import wrong_answer
from harness.isa import CallSite

MOST_STEPS = 4000
"""The most instructions of one call of a patching function."""

SITE = "leaf"

LINE = 64
"""Bytes; a multiple of the cache line size of all CPUs here."""


@dataclass
class Log:
    """Writes to text and maintenance of fetched instructions, in the order of execution."""

    values: dict[int, list[bytes]]
    """The successive values of each instruction unit that changed."""
    flushed: dict[int, int] = field(default_factory=dict)
    """The units that were flushed, with the number of values that each had had by then."""


@check("C9j", "C9k", "C10c", layer=Layer.PATCHING)
def stores_and_maintenance(bench: Bench) -> None:
    """Each patching function in single steps: one store a word, then cache maintenance for it."""
    for name, prepare, call in _operations(bench):
        function = bench.image.symbolize(call[0])
        with bench.stakes("C9k"):
            log = _step_through(bench, prepare, call)
        what = f"{function}, {name}"
        clause = "C9j" if "make" in function else "C10c"
        for address, values in log.values.items():
            place = f"{address:#x} {bench.image.symbolize(address)}"
            shown = [line for value in values for line in bench.code.listing(address, value)]
            bench.require(
                clause,
                len(values) <= 2,
                f"{what}: the word at {place} was something else in between",
                found=shown,
            )
            bench.require(
                "C9k",
                log.flushed.get(address, 0) == len(values),
                f"{what}: nothing makes the last word written to {place} visible to fetches",
                found=shown,
            )


Call = tuple[int, ...]


def _operations(bench: Bench) -> list[tuple[str, list[Call], Call]]:
    """A name, the calls before it, and the call to judge."""
    bench.fresh()
    image = bench.image
    # As near as possible to the end of a cache line, where a wrong line shows.
    site = max(image.sites, key=lambda site: site.address % LINE)
    record = bench.port.record_of(site)
    caller = image.address_of("ftrace_caller")
    make_call = (image.address_of("ftrace_make_call"), record, caller)
    make_nop = (image.address_of("ftrace_make_nop"), 0, record, caller)
    update = image.address_of("ftrace_update_ftrace_func")
    tracer, other, none = (
        (update, image.address_of(name)) for name in (TRACER, "panic", NO_TRACER)
    )
    found: list[tuple[str, list[Call], Call]] = [
        ("switching a site on", [], make_call),
        ("switching a site off", [make_call], make_nop),
        ("a tracer", [], tracer),
        ("another tracer", [other], tracer),
        ("no tracer", [tracer], none),
    ]
    if "ftrace_graph_call" in image.symbols:
        enable = (image.address_of("ftrace_enable_ftrace_graph_caller"),)
        disable = (image.address_of("ftrace_disable_ftrace_graph_caller"),)
        found += [("", [], enable), ("", [enable], disable)]
    return found


def _step_through(bench: Bench, prepare: Sequence[Call], call: Call) -> Log:
    """Find which words a call changes, then run it in single steps."""
    before, after = b"", b""
    for seen in (False, True):
        bench.fresh()
        for one in prepare:
            bench.call(*one)
        if not seen:
            before = bench.code.text()
            bench.call(*call)
            after = bench.code.text()
    guest, isa = bench.guest, bench.isa
    changed = bench.code.changed(before, after)
    log = Log({address: [bench.read_memory(address, isa.unit)] for address in changed})
    bench.enter(*call)
    debugger, machine = guest.debugger, isa.machine
    end, text = bench.image.symbols[CALL_RETURNS], bench.image.text
    here = call[0] & isa.mask
    for _ in range(MOST_STEPS):
        if here == end:
            return log
        at = here - text.start
        inside = 0 <= at < len(before) - isa.longest
        instruction = isa.split(before[at : at + isa.longest])[0] if inside else b""
        instruction = instruction or bench.code.instruction(here)
        visible = machine.fetch_maintenance(instruction, debugger.read_register)
        here = debugger.step_instruction().address & isa.mask
        if visible:
            for address, values in log.values.items():
                if address in visible:
                    log.flushed[address] = len(values)
        elif machine.is_store(instruction) or machine.delay_slot:
            # A step may include the delay slot of a branch, with a store in it.
            _note(bench, log)
    raise Hang(f"{bench.image.symbolize(call[0])} did not return within {MOST_STEPS} instructions")


def _note(bench: Bench, log: Log) -> None:
    for address, values in log.values.items():
        now = bench.read_memory(address, bench.isa.unit)
        if now != values[-1]:
            values.append(now)


@check("C9i")
def a_cpu_parked_at_each_word_of_a_site(bench: Bench) -> None:
    """A site is switched while a CPU is stopped at each of its words, which then continues."""
    site = bench.sites.of(SITE)
    for on in (True, False):
        for number, place in enumerate(bench.sites.places(site)):
            bench.fresh()
            switch = Switch(bench)
            if not on:
                switch.sites(True, [site])
            with bench.stakes("C9i"):
                _run_into(bench, site, place)
                before = bench.registers.read()
                switch.sites(on, [site])
                bench.run_to(bench.sites.resumes(site))
            after = bench.registers.read()
            kept = (bench.isa.abi.stack_register, *bench.isa.abi.saved)
            wrong = {n: f"{before[n]:#x} -> {after[n]:#x}" for n in kept if before[n] != after[n]}
            what = f"switched {'on' if on else 'off'} under a CPU at its word {number}"
            bench.require(
                "C9i", not wrong, f"a site was {what}: registers changed", registers=wrong
            )
            with bench.stakes("C9i"):
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
    stub = bench.image.function_at(bench.image.address_of("ftrace_call"))
    entered = False
    for number in range(1, 64):
        bench.fresh()
        switch, site, isa = Switch(bench), bench.sites.of(SITE), bench.isa
        switch.tracer(True)
        switch.graph(True)
        switch.sites(True, [site])
        _run_into(bench, site, site.address)
        here, delayed = site.address, False
        for _ in range(number):
            delayed = isa.machine.has_delay_slot(bench.code.instruction(here))
            here = bench.guest.debugger.step_instruction().address & isa.mask
        if delayed:
            # No CPU is ever stopped in a delay slot.
            continue
        inside = bench.image.function_at(here) == stub
        if entered and not inside:
            break
        entered = entered or inside
        with bench.stakes("C10c"):
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
