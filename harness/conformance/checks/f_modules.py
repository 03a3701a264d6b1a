# SPDX-License-Identifier: MIT
"""Call sites of modules: loading, refused changes and unloading."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from harness.conformance.bench import CALL_RETURNS, Bench
from harness.conformance.checks.a_text import refused, spoilt, switch_elsewhere
from harness.conformance.checks.registry import MODULES, check
from harness.conformance.comparison import expected_behind
from harness.conformance.live_modules import load_module
from harness.conformance.single_step import site_calls
from harness.conformance.switch import Switch
from harness.conformance.variants import LOADED
from harness.conformance.verdict import HALF_DONE, Layer, Place
from harness.image import THIS_MODULE, ModuleImage
from harness.isa import CallSite, Form
from harness.oracle import find_sites
from harness.trace import FunctionEvent

RUN = "run_modules"
RIGHT = 7 + 8
"""The result of RUN if every function of both modules has the right result."""

FAR = 1 << 40
"""The distance of a target that has the lower half of its address in common with another one."""


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
    bench.registers.write(
        {
            name: before[name]
            for name in (
                *isa.abi.general_registers,
                isa.abi.pc_register,
                *isa.abi.status_registers[:1],
            )
            if before.get(name) != after.get(name)
        }
    )
    before = expected_behind(isa.abi, site.form, before)
    kept = (isa.abi.stack_register, *isa.abi.saved)
    wrong = {n: f"{before[n]:#x} -> {after[n]:#x}" for n in kept if before[n] != after[n]}
    require_all(
        bench,
        both(bench, "C7f", "C9a", "M1b"),
        here == end and not wrong,
        f"{site.function}: a CPU at the site comes to {here:#x} and not to {end:#x}, or loses "
        f"registers",
        site=lambda: listed(bench, site),
        registers=wrong,
    )


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
    sites = bench.isa.sites
    if other is not None and (
        site.form is Form.LONG_CALL or not sites.reaches(sites.call_address(site), other)
    ):
        refused(bench, "C9f", site, (*make_call[:2], other), "a module's site that calls another")
    if other is not None and bench.isa.bits > FAR.bit_length():
        far = (*make_call[:2], make_call[2] ^ FAR)
        refused(bench, "C9f", site, far, "a target with the same lower half of its address")
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
            result = bench.registers.read()[isa.abi.results[0]]
            bench.registers.write(before)
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
                events=wrong,
            )
            place += 1
