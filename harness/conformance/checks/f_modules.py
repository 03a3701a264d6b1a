# SPDX-License-Identifier: MIT
"""Call sites of modules that have just been loaded."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial

from harness.conformance.checks.b_crossing import wrong_ip
from harness.conformance.comparison import changed_registers, expected_behind
from harness.conformance.localization.retrace import Retrace
from harness.conformance.registry import MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.live_modules import load_module
from harness.conformance.under_test.switch import TRACER, Switch
from harness.conformance.variants import LOADED
from harness.conformance.verdict import Layer, Place
from harness.image import THIS_MODULE, ModuleImage
from harness.isa import CallSite
from harness.oracle import find_sites

RUN = "run_modules"
RIGHT = 7 + 8
"""The result of RUN if every function of both modules has the right result."""


def load(bench: Bench, *, init: bool = True) -> list[ModuleImage]:
    """Load all modules into a fresh guest, and with ``init`` initialise them."""
    return list(_loading(bench, init=init))


def _loading(bench: Bench, *, init: bool) -> Iterator[ModuleImage]:
    """The same, each module as soon as it is loaded."""
    bench.fresh()
    for name in LOADED:
        with bench.fail_if_guest_dies("C7f", "C9a", "M1b"):
            module = load_module(bench, name, init=init)
        yield module


def sites_of(modules: list[ModuleImage]) -> list[CallSite]:
    """Their call sites."""
    return [site for module in modules for site in module.sites]


def texts(bench: Bench, modules: list[ModuleImage]) -> list[bytes]:
    """Their current text."""
    return [bench.guest.debugger.dump_memory(one.text.start, len(one.text)) for one in modules]


def listed(bench: Bench, site: CallSite) -> list[str]:
    """The instructions of a site, as they are now."""
    return bench.code.listing(site.address, bench.code.of(site))


def both(bench: Bench, *clauses: str) -> list[str]:
    """The clauses that apply to this config."""
    return [clause for clause in clauses if bench.applies(clause)]


def enter_modules(bench: Bench, ip: int, *, graph: bool) -> CallSite:
    """Have the guest call the modules' functions next, with a tracer on at one site alone.

    A static build traces all of them, and those of the kernel that modules call.
    """
    site = next(one for one in (*sites_of(load(bench)), *bench.image.sites) if one.ip == ip)
    switch = Switch(bench)
    if graph:
        switch.graph(True)
    else:
        switch.tracer(True)
    switch.sites(True, [site])
    bench.enter(bench.image.address_of(RUN), 1)
    return site


def where_ip_was_made(bench: Bench, ip: int) -> Place | None:
    """Where a wrong address of a call site comes from that the function tracer is told.

    None if it is told the right one.
    """
    retrace = Retrace(bench, partial(enter_modules, bench, ip, graph=False))
    if wrong_ip(retrace) is None:
        return None
    return retrace.origin(bench.isa.abi.argument_registers[0], TRACER)


def require_all(
    bench: Bench,
    clauses: Iterable[str],
    holds: bool,
    message: str,
    place: Callable[[], Place | None] | None = None,
    /,
    **evidence: object,
) -> bool:
    """One requirement of several clauses, as of `Bench.require`."""
    for clause in clauses:
        bench.require(clause, holds, message, place, **evidence)
    return holds


@check("C7f", "M3a", "C8b", variants=(MODULES,), layer=Layer.PATCHING)
def records_of_modules(bench: Bench) -> None:
    """The records of a module against a disassembly."""
    modules = load(bench, init=False)
    for module in modules:
        found = sorted(bench.port.records(module.address_of(THIS_MODULE))[1])
        expected = find_sites(module)
        require_all(
            bench,
            both(bench, "C7f", "M3a", "C8b"),
            found == expected,
            f"the records of the module {module.module_name} are not its sites",
            expected=[f"{at:#x} {bench.image.symbolize(at)}" for at in expected],
            found=[f"{at:#x} {bench.image.symbolize(at)}" for at in found],
        )


@check("C7f", "C9a", "C9d", "M1a", "M1b", variants=(MODULES,), layer=Layer.PATCHING)
def module_sites_are_off(bench: Bench) -> None:
    """After loading all sites are off, no other text has changed, and a CPU passes the sites.

    The modules are not initialised: a wrong nop would kill the guest first.
    """
    kinds: dict[int, CallSite] = {}
    modules: list[ModuleImage] = []
    for module in _loading(bench, init=False):
        modules.append(module)
        _judge_loaded(bench, modules)
        for site in module.sites:
            kinds.setdefault(bench.sites.size(site), site)
    for site in kinds.values():
        _pass(bench, site)


def _judge_loaded(bench: Bench, modules: list[ModuleImage]) -> None:
    """The text of modules, and each site of the last one."""
    inside = bench.sites.addresses_of(sites_of(modules))
    for module, now in zip(modules, texts(bench, modules), strict=True):
        start, built = module.text.start, module.read(module.text.start, len(module.text))
        other = [
            start + at
            for at in range(len(now))
            if now[at] != built[at] and start + at not in inside
        ]
        lines = [f"{at:#x} {bench.image.symbolize(at)}" for at in other[:16]]
        bench.require("C9d", not other, "loading changes more than the sites", text=lines)
    if not bench.applies("M1a"):
        return
    for site in modules[-1].sites:
        bench.actions.site = site.ip
        end, found = site.address + bench.sites.size(site), listed(bench, site)
        branch = ": b 0x" in found[0]
        told = {"expected": f"b {end:#x}", "found": found}
        bench.require(
            "M1a", branch, f"{site.function}: the site does not begin with a branch", **told
        )
        bench.require(
            "M1b",
            not branch or found[0].endswith(f": b {end:#x}"),
            f"{site.function}: the branch does not end behind the site",
            **told,
        )
    bench.actions.site = 0


def _pass(bench: Bench, site: CallSite) -> None:
    """From a site that is off a CPU gets to the first word after it, with its stack pointer."""
    isa, debugger = bench.isa, bench.guest.debugger
    end = site.address + bench.sites.size(site)
    before = bench.registers.read()
    bench.registers.write({isa.abi.pc_register: site.address})
    here, steps = site.address, 0
    while site.address <= here < end and steps < bench.sites.size(site) // isa.unit:
        here, steps = debugger.step_instruction().address & isa.mask, steps + 1
    after = bench.registers.read()
    bench.registers.put_back(before, after)
    before = expected_behind(isa.abi, site.form, before)
    kept = (isa.abi.stack_register, *isa.abi.saved)
    wrong = changed_registers(kept, before, after)
    lost = f"loses {', '.join(wrong)}"
    goes = lost if here == end else f"comes to {here:#x} and not to {end:#x}"
    require_all(
        bench,
        both(bench, "C7f", "C9a", "M1b"),
        here == end and not wrong,
        f"{site.function}: a CPU at the site {goes}",
        site=lambda: listed(bench, site),
        registers=wrong,
    )
