# SPDX-License-Identifier: MIT
"""Call sites of modules, switched by the port, and the way from there to the stubs."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

from harness.conformance.checks.a_text import switch_elsewhere
from harness.conformance.checks.f_modules import both, load, require_all, sites_of, texts
from harness.conformance.places import is_of_port, last_place
from harness.conformance.registry import MODULES, STATIC_MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import Registers
from harness.conformance.verdict import Layer
from harness.image import THIS_MODULE
from harness.isa import CallSite, Form

STEPS_TO_STUB = 8
"""The most instructions from a call in a module to the stub, veneers included."""


@check("C7f", "C9b", "C9c", "M1c", "M1d", "M2b", "C9p", variants=(MODULES,), layer=Layer.PATCHING)
def switching_module_sites(bench: Bench) -> None:
    """On, off and on again, with the port's own functions; every call leads to the stub."""
    modules = load(bench)
    sites, switch = sites_of(modules), Switch(bench)
    off = texts(bench, modules)
    with bench.fail_if_guest_dies("C7f", "C9b"):
        switch.sites(True, sites)
    on = texts(bench, modules)
    for site in sites:
        code = bench.code.of(site)
        require_all(
            bench,
            both(bench, "M1c", "M1d", "M2b"),
            code == site.as_built,
            f"{site.function}: the site is not what the linker had made of it",
            expected=bench.code.listing(site.address, site.as_built),
            found=bench.code.listing(site.address, code),
        )
    for site in (sites[0], sites[-1]):
        reaches, keeps = ("C7f", "C9b", *both(bench, "C9p", "M2b")), ("C7f", *both(bench, "C9p"))
        _follow(bench, site, "ftrace_caller", reaches, keeps)
    with bench.fail_if_guest_dies("C7f", "C9c"):
        switch.sites(False, sites)
    same = texts(bench, modules) == off
    restored = ("C9c", *both(bench, "M1c"))
    require_all(bench, restored, same, "off is not what it was before in a module")
    switch.sites(True, sites)
    same = texts(bench, modules) == on
    require_all(bench, restored, same, "on is not what it was before in a module")


@check("C7f", "C9b", "C9c", "M1c", "M2b", variants=(MODULES,), layer=Layer.PATCHING)
def module_sites_of_difficult_targets(bench: Bench) -> None:
    """Sites that were built for a target whose address is encoded in parts with a carry."""
    modules = load(bench)
    real = sites_of(modules)[0]
    clauses = ("C7f", "C9b", "C9c", *both(bench, "M1c", "M2b"))
    record, this = bench.port.record_of(real), modules[0].address_of(THIS_MODULE)
    make_call, make_nop = (bench.image.address_of(f"ftrace_make_{to}") for to in ("call", "nop"))
    any_target = bench.kernel.call_target == "any"
    for target, built in bench.isa.sites.difficult_calls(real) if any_target else ():
        bench.write_memory(real.address, built)
        site = replace(real, as_built=built)
        told = f"a module's site that was built to call {target:#x}"
        with bench.fail_if_guest_dies(*clauses):
            status = bench.call(make_nop, this, record, target)
        off = bench.code.of(site)
        shown = bench.code.listing(site.address, off)
        message = f"{told} is not switched off: error {status}"
        if not require_all(bench, clauses, status == 0 and off != built, message, found=shown):
            return
        with bench.fail_if_guest_dies(*clauses):
            status = bench.call(make_call, record, target)
        on = bench.code.of(site)
        shown = bench.code.listing(site.address, on)
        built_for = bench.code.listing(site.address, built)
        message = f"{told} is not as built when it is on again: error {status}"
        right = status == 0 and on == built
        if not require_all(bench, clauses, right, message, expected=built_for, found=shown):
            return


@check("C9n", "M1d", variants=(MODULES,), layer=Layer.PATCHING)
def a_module_site_in_the_kernels_text(bench: Bench) -> None:
    """A long call in the kernel's text, where calls are short: its words show its form."""
    if bench.kernel.sites_told_by == "address":
        return
    modules = load(bench)
    real = sites_of(modules)[0]
    if real.form is not Form.LONG_CALL:
        return
    off = bench.code.of(real)
    # A function that is not called here.
    address = bench.image.address_of("run_user_program")
    site = replace(real, address=address, function="run_user_program", function_address=address)
    switch_elsewhere(bench, site, off, ("C9n", "M1d"))


@check("C3f", variants=(STATIC_MODULES,), layer=Layer.PATCHING)
def calls_of_modules_reach_mcount(bench: Bench) -> None:
    """In a static build a CPU gets from a module's site to mcount, and loses nothing."""
    sites = sites_of(load(bench))
    for site in (sites[0], sites[-1]):
        _follow(bench, site, bench.isa.sites.mcount, ["C3f"], ["C3f"])


@dataclass(frozen=True, slots=True)
class _Step:
    """An instruction, and the general registers after it."""

    address: int
    registers: Registers


def _follow(
    bench: Bench, site: CallSite, stub: str, reaches: Iterable[str], keeps: Iterable[str]
) -> None:
    """From a site a CPU gets to a stub, also through the port's trampolines.

    They may change what any call may, but for the registers that this one uses.  ``reaches`` and
    ``keeps`` are the clauses about that.
    """
    isa, image = bench.isa, bench.image
    before = bench.registers.state()
    goal = image.address_of(stub) & isa.mask
    size = bench.sites.size(site)
    way = _way(bench, site.address, goal, size // isa.unit + STEPS_TO_STUB)
    here = bench.guest.debugger.read_register(isa.abi.pc_register) & isa.mask
    # The status too: a branch may require that the next instruction is a landing pad.
    bench.registers.put_back(before)
    end = site.address + size
    of_site = [step for step in way if site.address <= step.address < end]
    behind = way[len(of_site) :]
    shown = partial(_listing, bench, way)
    trampoline = [
        step.address
        for step in behind
        if image.module_at(step.address) and is_of_port(image, step.address)
    ]
    # Without one the site itself is wrong, which the port's function is stepped for.
    leads = None
    if trampoline and (here == goal or not _another_leads(bench, site, trampoline[0], goal)):
        leads = partial(last_place, image, trampoline, "leads there", ())
    arrived = require_all(
        bench,
        reaches,
        here == goal,
        f"{site.function}: the call of a module does not come to {stub}",
        leads,
        way=shown,
    )
    if not (arrived and behind):
        return
    left, at_stub = of_site[-1].registers, behind[-1].registers
    lost = [name for name in _used(bench, site, before, left) if left[name] != at_stub[name]]
    changed = [
        at
        for at, (was, step) in enumerate(pairwise(way), 1)
        if any(was.registers[name] != step.registers[name] for name in lost)
    ]
    require_all(
        bench,
        keeps,
        not lost,
        f"{site.function}: on the way to {stub} a call of a module loses {', '.join(lost)}",
        lambda: last_place(
            image, [s.address for s in way[: changed[-1] + 1]], f"wrote {lost[0]} last", ()
        ),
        way=shown,
        registers={name: f"{left[name]:#x} -> {at_stub[name]:#x}" for name in lost},
    )


def _another_leads(bench: Bench, site: CallSite, trampoline: int, goal: int) -> bool:
    """Whether a CPU gets to a stub from another trampoline of the site's module."""
    image, before = bench.image, bench.registers.state()
    used, module = image.function_at(trampoline), image.module_at(site.address)
    for other in image.modules[module].functions:
        if other != used and is_of_port(image, other.address):
            last = _way(bench, other.address, goal)[-1].address
            here = bench.guest.debugger.read_register(bench.isa.abi.pc_register)
            bench.registers.put_back(before)
            if here & bench.isa.mask == goal and image.module_at(last) == module:
                return True
    return False


def _way(bench: Bench, start: int, goal: int, most: int = STEPS_TO_STUB) -> list[_Step]:
    """Step to a stub, as far as there is code."""
    isa, here = bench.isa, start
    bench.registers.write({isa.abi.pc_register: start})
    way: list[_Step] = []
    while here != goal and len(way) < most:
        at = here
        here = bench.guest.debugger.step_instruction().address & isa.mask
        way.append(_Step(at, bench.registers.read(*isa.abi.general_registers)))
        if bench.image.function_at(here) is None:
            break
    return way


def _listing(bench: Bench, way: list[_Step]) -> list[str]:
    code, addresses = bench.code, (step.address for step in way)
    return [line for at in addresses for line in code.listing(at, code.instruction(at))]


def _used(bench: Bench, site: CallSite, before: Registers, left: Registers) -> list[str]:
    """The registers that a veneer must keep: what calls keep, and what the site uses or has set."""
    abi = bench.isa.abi
    at_site = abi.at_site(site.form)
    used = {*at_site.live, *at_site.pinned}
    return [
        name
        for name in abi.general_registers
        if name not in abi.scratch or name in used or before[name] != left[name]
    ]
