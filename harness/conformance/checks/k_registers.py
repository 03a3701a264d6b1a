# SPDX-License-Identifier: MIT
"""The stub that saves all registers, and the change of a site from one stub to the other."""

from functools import partial

from harness.conformance.checks.a_text import compared, out_of_reach, refused, spoilt
from harness.conformance.checks.b_crossing import LEAF, OTHER
from harness.conformance.checks.b_frame_records import judge_records
from harness.conformance.checks.f_modules import RUN, load, sites_of
from harness.conformance.checks.j_tracers import (
    STUB,
    changed_argument,
    given,
    led_elsewhere,
    returned,
    watched,
)
from harness.conformance.localization.patching import locate_request
from harness.conformance.localization.saved_registers import SavedRegisters
from harness.conformance.registry import MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.selftests import Selftest
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import (
    BELOW,
    SELFTEST,
    come_to,
    frame_records,
    free_registers,
    lay_out,
)
from harness.conformance.verdict import MANY_REGISTERS, REACH, Layer

REGS = ("DYNAMIC_FTRACE_WITH_REGS",)
REGS_STUB = "ftrace_regs_caller"


@check("C21a", "C14b", features=REGS, layer=Layer.CALL)
def all_registers_of_the_site(bench: Bench) -> None:
    """struct pt_regs from ftrace_regs_caller, and the frame records that its tracer finds."""
    for name in (LEAF, OTHER):
        _judge_regs(bench, name, REGS_STUB, "C21a")


@check("C21f", features=REGS, layer=Layer.CALL)
def registers_of_the_other_stub(bench: Bench) -> None:
    """struct pt_regs from ftrace_caller: none, or all of it too."""
    left = _left_on_the_stack(bench, LEAF, REGS_STUB)
    for name, below in ((LEAF, left), (OTHER, b"")):
        _judge_regs(bench, name, STUB, "C21f", below)


def _left_on_the_stack(bench: Bench, name: str, stub: str) -> bytes:
    """The stack below the stack pointer of the site after a stub has saved zeros there."""
    call = come_to(bench, watched(bench, name, stub=stub))
    lay_out(bench, call)
    bench.registers.write(dict.fromkeys(free_registers(bench, call.site), 0))
    bench.run_to(bench.image.address_of(SELFTEST))
    stack = call.before[bench.isa.abi.stack_register]
    return bench.guest.debugger.dump_memory(stack - BELOW, BELOW)


def _judge_regs(bench: Bench, name: str, stub: str, clause: str, below: bytes = b"") -> None:
    """``below``: contents of the stack below the site; by default random values, and once zeros."""
    abi, mask = bench.isa.abi, bench.isa.mask
    entry, tracer = (bench.image.address_of(one) for one in (stub, SELFTEST))
    prepare = partial(watched, bench, name, stub=stub)
    saved = SavedRegisters(bench, prepare)
    call = come_to(bench, prepare())
    lay_out(bench, call)
    if name == LEAF and not below:
        # Values that the stub does not store, or stores from another register, are zero then.
        bench.registers.write(dict.fromkeys(free_registers(bench, call.site), 0))
        call.before, below = bench.registers.read(), bytes(BELOW)
    if below:
        stack = call.before[abi.stack_register]
        bench.guest.debugger.restore_memory(stack - BELOW, below)
    bench.run_to(entry)
    arrived = bench.registers.read()
    bench.run_to(tracer)
    there = bench.registers.read()
    if stub == REGS_STUB:
        call.called[SELFTEST], call.returns[SELFTEST] = [there], frame_records(bench, there)
        call.returns_to[SELFTEST] = bench.isa.pointed_to(there[abi.return_register])
    bench.run_to(there[abi.return_register] & mask)
    test, size = Selftest(bench, 0), bench.isa.word_size
    found, start = dict(zip(abi.pt_regs, test.regs, strict=False)), test.read("regs")
    if stub == REGS_STUB:
        # The search for a place makes the guest fresh.
        judge_records(saved, call, SELFTEST, f"a traced call of {name} through {stub}")
        told = f"a tracer of {name} got no struct pt_regs from {stub}"
        if not bench.require(clause, bool(found) or not abi.pt_regs, told, saved.no_pt_regs):
            return
    expected = call.before | {abi.pc_register: bench.sites.resumes(call.site)}
    wrong = {
        register: (expected[register] & mask, value)
        for register, value in found.items()
        # The site's own instructions may have changed some, but not what the call itself changes.
        if value != expected[register] & mask
        and (register in abi.at_site(call.site.form).pinned or value != arrived[register] & mask)
    }
    of_other = stub == STUB and len(wrong) > MANY_REGISTERS
    words = [start + size * abi.pt_regs.index(register) for register in wrong]
    bench.require(
        clause,
        not wrong,
        f"struct pt_regs of {name} through {stub}: {', '.join(wrong)} is not as at the site",
        partial(saved.needless_pt_regs if of_other else saved.wrong_words, words),
        registers={one: f"{was:#x} -> {now:#x}" for one, (was, now) in wrong.items()},
    )


@check("C21b", features=REGS, layer=Layer.CALL)
def the_same_through_the_other_stub(bench: Bench) -> None:
    """The registers that a tracer gets and changes, from a site that calls ftrace_regs_caller."""
    for name, number in ((LEAF, 1), (OTHER, 0)):
        given(bench, name, number, REGS_STUB, "C21b")
    for name in (LEAF, OTHER):
        led_elsewhere(bench, name, REGS_STUB, "C21b")
        returned(bench, name, REGS_STUB, "C21b")
    for number in range(len(bench.isa.abi.argument_registers)):
        changed_argument(bench, number, REGS_STUB, "C21b")


@check("C21c", "C21d", features=REGS, layer=Layer.PATCHING)
def from_one_stub_to_the_other(bench: Bench) -> None:
    """A site that is on, there and back, and requests that are to be refused."""
    bench.fresh()
    image, isa = bench.image, bench.isa
    site, caller, other = bench.sites.of(LEAF), *map(image.address_of, (STUB, REGS_STUB))
    modify = image.address_of("ftrace_modify_call"), bench.port.record_of(site)
    there, back = (*modify, caller, other), (*modify, other, caller)
    refused(bench, "C21d", site, there, "the site is off")
    Switch(bench).sites(True, [site])
    on, texts = bench.code.of(site), [bench.code.text()]
    refused(bench, "C21d", site, back, "the site does not call the first address")
    for call, target in ((there, other), (back, caller)):
        with bench.fail_if_guest_dies("C21c"):
            status = bench.call(*call)
        texts.append(bench.code.text())
        name, found = image.symbolize(target), bench.code.of(site)
        bench.require(
            "C21c",
            status == 0 and [to for _, to in bench.code.calls(site.address, found)] == [target],
            f"a site that is on does not call {name} then: error {status}",
            found=bench.code.listing(site.address, found),
        )
    outside = set(bench.code.changed(*texts[:2])) - bench.sites.addresses_of([site])
    bench.require(
        "C21c",
        not outside,
        "other text than the site has changed",
        text=lambda: bench.code.difference(*texts[:2]),
    )
    bench.require(
        "C21c",
        texts[2] == texts[0],
        "there and back the text is not what it was",
        text=lambda: bench.code.difference(texts[0], texts[2]),
    )
    if bench.kernel.call_target == "any":
        far = out_of_reach(bench, isa.sites.call_address(site))
        refused(
            bench, "C21d", site, (*modify, caller, far), "the new address is out of reach", REACH
        )
        refused(bench, "C21d", site, (*modify, far, other), "the old address is out of reach")
    for place in compared(bench, site, on):
        for spoiled, what in spoilt(isa, on, place):
            bench.write_memory(site.address, spoiled)
            refused(bench, "C21d", site, there, f"{what} at a site that is on")
    bench.write_memory(site.address, on)


@check("C21e", variants=(MODULES,), features=REGS)
def both_stubs_from_a_module(bench: Bench) -> None:
    """A module's site calls one stub, then the other, then the first again."""
    modules = load(bench)
    site = next(
        site for site in sites_of(modules) if site.function == f"{modules[0].module_name}_run"
    )
    image, test = bench.image, Selftest(bench, 0)
    caller, other = map(image.address_of, (STUB, REGS_STUB))
    test.switch(True)
    for full, function, *addresses in (
        (True, "ftrace_make_call", other),
        (False, "ftrace_modify_call", other, caller),
        (True, "ftrace_modify_call", caller, other),
    ):
        what = f"{function}({', '.join(map(image.symbolize, addresses))}) for a module's site"
        with bench.fail_if_guest_dies("C21e"):
            status = bench.call(image.address_of(function), bench.port.record_of(site), *addresses)
        locate = partial(locate_request, bench, bench.actions.so_far())
        if not bench.require("C21e", status == 0, f"{what}: error {status}", locate):
            return
        test.write(calls=0, regs=0)
        with bench.fail_if_guest_dies("C21e"):
            bench.call(image.address_of(RUN), 1)
        calls, told = test.read("calls"), "with" if test.read("regs") else "without"
        if not bench.require(
            "C21e",
            calls > 0 and (told == "with" or not full),
            f"{what}: {calls} calls of the tracer, {told} registers",
            locate,
        ):
            # The search for the place has made the guest fresh.
            return
