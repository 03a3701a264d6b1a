# SPDX-License-Identifier: MIT
"""Symbols, the table of call sites, and the text as built and after boot."""

from collections.abc import Iterable
from functools import partial
from itertools import accumulate

from harness.conformance.kernel_words import since_2013
from harness.conformance.localization.answers import locate_write
from harness.conformance.localization.patching import locate_at_boot
from harness.conformance.places import function_of, subject_of
from harness.conformance.registry import BOTH, DYNAMIC, MCOUNT_FORMS, check
from harness.conformance.under_test.actions import MAKE_NOP, first_patching
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.others_data import written_by_call
from harness.conformance.under_test.single_step import AROUND
from harness.conformance.under_test.switch import NO_TRACER
from harness.conformance.verdict import BOOT, OTHERS_DATA, RECORDS, Layer, Place
from harness.debugger import return_address
from harness.image import RunningImage
from harness.isa import CallSite, SiteState
from harness.oracle import find_sites
from harness.tracer import has_one_slot

GRAPH_STUBS = (
    *("ftrace_graph_caller", "return_to_handler"),
    *("prepare_ftrace_return", "ftrace_return_to_handler", "function_graph_enter"),
)
PATCHING = (
    *("ftrace_make_nop", "ftrace_make_call", "ftrace_update_ftrace_func"),
    *("ftrace_enable_ftrace_graph_caller", "ftrace_disable_ftrace_graph_caller"),
)

GRAPH_INIT = "ftrace_graph_arch_init"
"""Prepares a port for the graph tracer; not all ports have it."""

STUB_INSTRUCTIONS = 4
"""ftrace_stub must return within this many instructions, not counting nops."""

FARTHEST = 4096
"""The most bytes from the start of a function to its call site: prologues are short."""


@check("C3f", "C4l", "C8c", variants=BOTH, layer=Layer.IMAGE)
def names(bench: Bench) -> None:
    """The image is linked, with the names that compilers and other ports use."""
    symbols = bench.image.symbols
    if bench.form in MCOUNT_FORMS:
        mcount = bench.isa.sites.mcount
        bench.require("C3f", mcount in symbols, f"there is no symbol {mcount}")
    two_slots = not has_one_slot(symbols)
    if "FUNCTION_GRAPH_TRACER" in bench.variant.features and two_slots:
        for name in ("ftrace_graph_caller", "prepare_ftrace_return"):
            bench.require("C4l", name in symbols, f"there is no symbol {name}")
    if bench.variant.name == DYNAMIC:
        # The kernel's struct dyn_ftrace has a member of the port's type.
        members = bench.port.record.members
        bench.require("C8c", "arch" in members, "struct dyn_ftrace has no member arch")


@check("C1i", "C4n", "C9m", variants=BOTH, layer=Layer.IMAGE)
def stubs_have_no_call_sites(bench: Bench) -> None:
    """No function on the path to a tracer, or of the patching code, is traced."""
    traced = {site.function_address: site for site in bench.image.sites}
    stubs = (bench.isa.sites.mcount, "ftrace_caller", "ftrace_stub")
    for clause, functions in (("C1i", stubs), ("C4n", GRAPH_STUBS), ("C9m", PATCHING)):
        for name in functions:
            address = bench.image.symbols.get(name)
            if address is None:
                continue
            held = bench.image.function_at(address)
            site = traced.get(held.address if held else address)
            bench.require(clause, site is None, f"{name} has a call site")


@check("C7a", "C7b", "C7c", "C7d", "C8b", "M3b", variants=BOTH, layer=Layer.IMAGE)
def the_table_of_call_sites(bench: Bench) -> None:
    """The guest's records against a disassembly of the whole image."""
    isa, image = bench.isa, bench.image
    start, stop = (image.address_of(f"__{end}_mcount_loc") for end in ("start", "stop"))
    word = isa.word_size
    raw = image.read(start, stop - start)
    table = [
        int.from_bytes(raw[at : at + word], image.byteorder) for at in range(0, len(raw), word)
    ]
    bench.require("C7d", start % word == 0, f"the table at {start:#x} is not aligned to words")
    # Linkers keep the order of files in the compiler's table; only the kernel's own table is
    # sorted.
    if bench.form in MCOUNT_FORMS:
        bench.require("C7d", table == sorted(table), "the table is not sorted")
    bench.require("C7d", len(set(table)) == len(table), "the table names a site twice")
    if bench.variant.name == DYNAMIC:
        bench.fresh()
        records, what = bench.sites.records, "records of the guest"
    else:
        records, what = table, "entries of the table"
    records = _in_functions(image, records)
    sites = find_sites(image)
    missing, extra = set(sites) - set(records), set(records) - set(sites)
    bench.require(
        "C7a", not missing, f"{len(missing)} sites without a record", sites=_places(bench, missing)
    )
    about = RECORDS if extra else ""
    # The records are what that makes of the table.
    adjust = partial(subject_of, image, bench.variant.spec.port, "C8b")
    place = adjust if bench.variant.name == DYNAMIC else None
    told = f"{len(extra)} {what} are no site"
    bench.require("C7b", not extra, told, place, about, records=_places(bench, extra))
    if bench.variant.name == DYNAMIC:
        bench.require(
            "C8b",
            not missing and not extra,
            "what ftrace_call_adjust makes of the table is not the sites",
            place,
            about,
            records=_places(bench, extra),
            sites=_places(bench, missing),
        )
    if bench.applies("M3b"):
        bench.require(
            "M3b", not extra, "records were placed by local labels", records=_places(bench, extra)
        )
    for address in records:
        function = image.function_at(address)
        near = function is not None and address - function.address < FARTHEST
        bench.require(
            "C7c", near, f"the record of {image.symbolize(address)} is far from its start"
        )
    bench.require("C7c", not extra, "records are not at the first word of a site", place, about)


def _in_functions(image: RunningImage, records: Iterable[int]) -> list[int]:
    """Records without those outside of functions, which are of overridden weak functions."""
    return [address for address in records if image.function_at(address) is not None]


def _places(bench: Bench, addresses: Iterable[int]) -> list[str]:
    return [f"{at:#x} {bench.image.symbolize(at)}" for at in sorted(addresses)[:8]]


@check("C8h", layer=Layer.PATCHING)
def nothing_is_patched_before_the_port_is_ready(bench: Bench) -> None:
    """ftrace_dyn_arch_init() comes first and returns 0.

    It, and what the port prepares for the graph tracer, write no data but the port's.
    """
    bench.boot()
    if function := function_of(bench.image, GRAPH_INIT):
        bench.run_to(GRAPH_INIT)
        written = written_by_call(bench)
        message = f"{GRAPH_INIT} has written data that is not the port's"
        bench.require("C8h", not written, message, lambda: function, OTHERS_DATA, data=written)
    bench.run_to("ftrace_dyn_arch_init")
    text = bench.image.text
    built = bench.image.read(text.start, len(text))
    lines = bench.code.difference(built, bench.code.text())
    bench.require("C8h", not lines, "text has changed before ftrace_dyn_arch_init", text=lines)
    written = written_by_call(bench)
    result = bench.registers.value(bench.isa.abi.results[0]) & 0xFFFFFFFF
    # The kernel panics then, before it has a workload.
    message = f"ftrace_dyn_arch_init returned {result:#x}"
    bench.require("C8h", result == 0, message, partial(_answer_at_boot, bench), BOOT)
    at = partial(locate_at_boot, bench, OTHERS_DATA, "ftrace_dyn_arch_init")
    message = "ftrace_dyn_arch_init has written data that is not the port's"
    bench.require("C8h", not written, message, at, OTHERS_DATA, data=written)


def _answer_at_boot(bench: Bench) -> Place | None:
    bench.boot()
    bench.run_to("ftrace_dyn_arch_init")
    end = return_address(bench.guest.debugger, bench.isa.abi)
    return locate_write(bench, bench.isa.abi.results[0], end)


@check("C8a", "C8g", "C9a", "C9d", "C8b", "M4a", "M4d", "M5a", "M5b", "C11a", layer=Layer.PATCHING)
def text_after_boot(bench: Bench) -> None:
    """Every site is off, and no other text has changed since the build."""
    bench.fresh()
    isa, image = bench.isa, bench.image
    built, now = image.read(image.text.start, len(image.text)), bench.code.text()
    inside = bench.sites.addresses_of(image.sites)
    for site in image.sites:
        at, size = site.address - image.text.start, bench.sites.size(site)
        code = now[at : at + size]
        shown = bench.code.listing(site.address, code)
        for clause in ("C8g", "C9a"):
            bench.require(
                clause,
                not bench.code.calls(site.address, code),
                f"{site.function} is on",
                found=shown,
            )
        wrong = _other_words(bench, site, code)
        message = f"{site.function}: a word is neither the nop nor as it was built"
        bench.require("C9a", not wrong, message, found=wrong)
        mcount = isa.sites.mcount
        if mcount in image.symbols and site.form in MCOUNT_FORMS:
            built_calls = [to for _, to in bench.code.calls(site.address, site.as_built)]
            bench.require(
                "C8a",
                built_calls == [image.symbols[mcount]],
                f"{site.function} calls no {mcount}",
            )
        if bench.applies("M4a"):
            first = code.startswith(isa.sites.nop)
            bench.require("M4a", first, f"{site.function}: no nop", found=shown)
        if bench.applies("M4d"):
            behind, slot = at + size, isa.cpu.delay_slot
            kept = now[behind : behind + slot] == built[behind : behind + slot]
            bench.require("M4d", kept, f"{site.function}: the delay slot has changed")
    if bench.applies("M5b") and since_2013(bench.kernel):
        caller = image.address_of("ftrace_caller")
        inside |= set(range(caller, caller + len(isa.sites.nop)))
    other = [address for address in bench.code.changed(built, now) if address not in inside]
    lines = [f"{address:#x} {image.symbolize(address)}" for address in other[:16]]
    near = [site for site in image.sites if other and other[0] - site.address in AROUND]
    # What is not near a site has not been changed by ftrace_make_nop().
    writer = None if near else partial(function_of, image, "ftrace_dyn_arch_init")
    bench.actions.site = near[0].ip if near else 0
    message = "text other than sites has changed since boot"
    about = RECORDS if other and bench.sites.strays else ""
    for clause in ("C9d", "C8b"):
        bench.require(clause, not other, message, writer, about, text=lines)
    bench.actions.site = 0
    if bench.applies("M5a"):
        entry, caller = (image.address_of(name) for name in (isa.sites.mcount, "ftrace_caller"))
        message = f"_mcount is {entry:#x}, ftrace_caller {caller:#x}"
        bench.require("M5a", entry == caller, message)
        judge_gate(bench, built, "ftrace_caller", built=True)
        judge_gate(bench, now, "ftrace_dyn_arch_init")
    if "ftrace_graph_caller" in image.symbols:
        slot, tracer = (image.address_of(n) for n in ("ftrace_graph_call", "ftrace_call"))
        bench.require("C11a", slot > tracer, "ftrace_graph_call does not follow ftrace_call")
        for text in (built, now):
            held = text[slot - image.text.start :][: len(isa.sites.nop)]
            idle = held in isa.sites.idle
            bench.require(
                "C11a", idle, "the slot is not idle", found=bench.code.listing(slot, held)
            )


def judge_gate(bench: Bench, text: bytes, function: str = "", *, built: bool = False) -> None:
    """ftrace_caller begins with a jump to ftrace_stub; ``function`` may have written it last.

    Without a ``function`` it is the one that was called last.

    Since 2013 it is a branch, which releases o32's stack space and becomes a nop at boot.
    """
    image, isa = bench.image, bench.isa
    caller = image.address_of("ftrace_caller")
    at = partial(function_of, image, function) if function else None
    found = text[caller - image.text.start :][: 2 * len(isa.sites.nop)]
    if since_2013(bench.kernel):
        first = bench.code.listing(caller, found)[0]
        what = f"b {image.address_of(NO_TRACER):#x}" if built else "nop"
        bench.require(
            "M5b",
            first.endswith(f": {what}"),
            "ftrace_caller does not begin with a branch to ftrace_stub that goes at boot",
            at,
            expected=what,
            found=first,
        )
        return
    expected = isa.sites.encode_jump(caller, image.address_of(NO_TRACER)) + isa.sites.nop
    bench.require(
        "M5b",
        found == expected,
        "ftrace_caller does not begin with a jump to ftrace_stub",
        at,
        expected=bench.code.listing(caller, expected),
        found=bench.code.listing(caller, found),
    )


def _other_words(bench: Bench, site: CallSite, code: bytes) -> list[str]:
    """The words that switched a site off and are no nops; a jump out of the site is as good."""
    isa, units = bench.isa, bench.isa.split(code)
    built = bench.image.read(site.address, len(code))
    off = {*isa.split(isa.sites.code_for(site, SiteState.NOP, 0)), *isa.sites.off}
    places = list(accumulate(map(len, units), initial=site.address))
    end = places.pop()
    out = (end, end + isa.cpu.delay_slot)
    wrong = []
    for place, word in zip(places, units, strict=True):
        was = built[place - site.address :][: len(word)]
        jumps = (isa.sites.encode_jump(place, to) for to in out)
        if word not in (was, isa.sites.nop, *off, *jumps):
            wrong += bench.code.listing(place, word)
    return wrong


@check("C8a", "C8b", "C9a", "C9d", "M4a", "M4b", layer=Layer.PATCHING)
def switching_off_at_boot(bench: Bench) -> None:
    """If the guest does not reach its workload: each site that was switched off before."""
    if bench.reaches_workload():
        return
    bench.boot()
    isa, image = bench.isa, bench.image
    function, sites = first_patching(image), {s.ip: s for s in image.sites}
    is_told = function == MAKE_NOP
    before = b""
    while True:
        bench.run_to(function)
        # The kernel's own part of the boot has changed text too, before the first call.
        before = before or bench.code.text()
        called = bench.registers.read(*isa.abi.argument_registers[1:3])
        record, target = (isa.pointed_to(value) for value in called.values())
        back = return_address(bench.guest.debugger, isa.abi)
        ip = bench.word_at(record + bench.port.record.member("ip").offset) & isa.mask
        site = sites.get(ip)
        if not _is_asked(bench, ip, target if is_told else None, site) or site is None:
            return
        bench.actions.site = site.ip
        with bench.fail_if_guest_dies("C9a"):
            bench.run_to(back)
        if not _is_off(bench, site, before):
            return
        before = bench.code.text()


def _is_asked(bench: Bench, ip: int, target: int | None, site: CallSite | None) -> bool:
    """Judge rec->ip, and MCOUNT_ADDR of asm/ftrace.h where ftrace_make_nop() is told it."""
    code = bench.code
    # Records outside functions are those of overridden weak functions.
    if site is None and bench.image.function_at(ip) is not None:
        listing = code.listing(ip, bench.image.read(ip, 4 * bench.isa.unit))
        message = f"rec->ip is {ip:#x} {bench.image.symbolize(ip)}, which is no call site"
        return bench.require("C8b", False, message, lambda: None, found=listing)
    if site is None or target is None or not bench.applies("C8a"):
        return True
    called = [to for _, to in code.calls(site.address, site.as_built)]
    message = f"MCOUNT_ADDR is {target:#x}; {site.function} calls {called[0]:#x}" if called else ""
    built = code.listing(site.address, site.as_built)
    return bench.require("C8a", called in ([], [target]), message, lambda: None, found=built)


def _is_off(bench: Bench, site: CallSite, before: bytes) -> bool:
    """Judge one call of ftrace_make_nop() by all text before and after it."""
    isa, image = bench.isa, bench.image
    status = bench.registers.value(isa.abi.results[0]) & 0xFFFFFFFF
    now, own = bench.code.text(), bench.sites.addresses_of([site])
    code = now[site.address - image.text.start :][: bench.sites.size(site)]
    other = [address for address in bench.code.changed(before, now) if address not in own]
    shown = bench.code.listing(site.address, code)
    lines = [f"{address:#x} {image.symbolize(address)}" for address in other[:16]]
    error, function = status - (status >> 31 << 32), first_patching(image)
    refused = f"{site.function}: {function} returned {error} at boot"
    good = bench.require("C9a", status == 0, refused, found=shown)
    calls = bench.code.calls(site.address, code)
    good &= bench.require("C9a", not calls, f"{site.function} is on", found=shown)
    wrong = _other_words(bench, site, code)
    message = f"{site.function}: a word is neither the nop nor as it was built"
    good &= bench.require("C9a", not wrong, message, found=wrong)
    if bench.applies("M4a"):
        first = code.startswith(isa.sites.nop)
        good &= bench.require("M4a", first, f"{site.function}: no nop", found=shown)
    if bench.applies("M4b"):
        whole = isa.split(code).count(isa.sites.nop) == len(isa.split(code))
        good &= bench.require("M4b", whole, f"{site.function}: not all words are nops", found=shown)
    good &= bench.require("C9d", not other, "text other than the site has changed", text=lines)
    return good


@check("C3e", variants=BOTH, layer=Layer.CALL)
def the_stub_that_does_nothing(bench: Bench) -> None:
    """ftrace_stub has a few instructions without stores and calls, and then the return."""
    isa, start = bench.isa, bench.image.address_of(NO_TRACER)
    function, most = bench.image.function_at(start), 4 * STUB_INSTRUCTIONS * isa.longest
    size = min(most, function.address + function.size - start) if function else most
    stub = isa.split(bench.image.read(start, size))
    working = [at for at, one in enumerate(stub) if one != isa.sites.nop]
    stub = stub[: working[STUB_INSTRUCTIONS]] if len(working) > STUB_INSTRUCTIONS else stub
    returns = [at for at, one in enumerate(stub) if isa.cpu.is_return(one)]
    shown = bench.code.listing(start, b"".join(stub))
    bench.require("C3e", bool(returns), "ftrace_stub does not return", found=shown)
    body = stub[: returns[0]] if returns else stub
    stores = [one for one in body if isa.cpu.is_store(one)]
    calls = bench.code.calls(start, b"".join(body))
    bench.require("C3e", not stores and not calls, "ftrace_stub does more", found=shown)
    if isa.sites.has_gate:
        # There it is the end of _mcount and not a function: M5d.
        return
    bench.fresh()
    bench.registers.fill([*isa.abi.scratch, *isa.abi.saved], (), 1)
    before = bench.registers.read()
    bench.enter(start)
    with bench.fail_if_guest_dies("C3e"):
        bench.run_to(CALL_RETURNS)
    after = bench.registers.read()
    kept = (*isa.abi.results, *isa.abi.saved)
    wrong = [name for name in kept if before[name] != after[name]]
    bench.require("C3e", not wrong, f"ftrace_stub changed {', '.join(wrong)}")
