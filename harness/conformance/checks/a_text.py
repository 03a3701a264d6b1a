# SPDX-License-Identifier: MIT
"""The writes of the patching functions: all text before and after each call, decoded."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from harness.conformance.kernel_words import since_2013
from harness.conformance.registry import check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.single_step import site_calls
from harness.conformance.under_test.switch import Switch
from harness.conformance.verdict import HALF_DONE, REACH, RECORDS, REFUSAL, Layer
from harness.isa import CallSite, Form, Isa

SITE = "leaf"
JUNK = 0xDEADBEEF
FLIPPED = (2, 15)
"""Bits that are inverted to make another instruction."""
LONGEST_WORD = 4
"""Bytes; of an instruction that is longer the last bit is inverted too."""

MARGIN = 0x100
"""Bytes between the end of the reachable range and the call site placed there."""


@check("C9a", "C9b", "C9c", "C9d", "C10b", "M4a", "M4b", "M4c", "M4d", layer=Layer.PATCHING)
def switching_every_site(bench: Bench) -> None:
    """On, off and on again, with the port's own functions."""
    bench.fresh()
    switch, isa, image = Switch(bench), bench.isa, bench.image
    off = bench.code.text()
    with bench.fail_if_guest_dies("C9b", "C9d"):
        switch.sites(True)
    on = bench.code.text()
    inside, caller = bench.sites.addresses_of(image.sites), image.address_of("ftrace_caller")
    for site in image.sites:
        at, size, slot = (
            site.address - image.text.start,
            bench.sites.size(site),
            isa.cpu.delay_slot,
        )
        _judge_on(bench, site, on[at : at + size], caller)
        if bench.applies("M4d"):
            kept = on[at + size :][:slot] == image.read(site.address + size, slot)
            bench.require("M4d", kept, f"{site.function}: the delay slot has changed")
    other = set(bench.code.changed(off, on)) - inside
    lines = [f"{address:#x} {image.symbolize(address)}" for address in sorted(other)[:16]]
    about = RECORDS if other and bench.sites.strays else ""
    message = "other text than the sites has changed"
    bench.require("C9d", not other, message, None, about, text=lines)
    with bench.fail_if_guest_dies("C9a", "C9c"):
        switch.sites(False)
    back = bench.code.text()
    same = back == off
    for clause in ("C9c", "C9a", *(c for c in ("M4a", "M4b") if bench.applies(c))):
        bench.require(
            clause,
            same,
            "off is not what it was before",
            text=lambda: bench.code.difference(off, back),
        )
    switch.sites(True)
    again = bench.code.text()
    bench.require(
        "C9c",
        again == on,
        "on is not what it was before",
        text=lambda: bench.code.difference(on, again),
    )


def behind_the_gate(bench: Bench) -> int:
    """The offset from ftrace_caller that sites call: the words before it may be skipped."""
    return 2 * len(bench.isa.sites.nop) if since_2013(bench.kernel) else 0


def _judge_on(bench: Bench, site: CallSite, code: bytes, caller: int) -> None:
    """One call of ftrace_caller, with the compiler's other instructions unchanged."""
    caller += behind_the_gate(bench)
    targets = [target for _, target in bench.code.calls(site.address, code)]
    bench.require(
        "C9b",
        targets == [caller],
        f"{site.function}: the site does not call ftrace_caller",
        expected=f"a call of {caller:#x}",
        found=bench.code.listing(site.address, code),
    )
    if not bench.applies("M4c"):
        return
    call = bench.isa.sites.encode_call(site.address, caller)
    expected = call + site.as_built[len(call) : len(code)]
    if since_2013(bench.kernel) and len(code) > len(call):
        expected = call + bench.isa.sites.nop
    for clause in ("M4c", *(["M4b"] if bench.applies("M4b") else [])):
        bench.require(
            clause,
            code == expected,
            f"{site.function}: the site is not what it has to be when it is on",
            expected=bench.code.listing(site.address, expected),
            found=bench.code.listing(site.address, code),
        )


@check("C9b", "C9c", "C9f", "C9g", layer=Layer.PATCHING)
def targets_everywhere(bench: Bench) -> None:
    """Calls of difficult addresses, up to the limits and one beyond."""
    if bench.kernel.call_target == "ftrace_caller":
        return
    bench.fresh()
    site = bench.sites.of(SITE)
    record = bench.port.record_of(site)
    _targets(bench, site, record)


@check("C9f", "C9g", layer=Layer.PATCHING)
def targets_from_the_edge_of_a_region(bench: Bench) -> None:
    """The same from sites at both ends of a region of jumps, where another one begins."""
    if bench.kernel.call_target == "ftrace_caller":
        return
    size = bench.sites.size(bench.sites.of(SITE))
    edges = bench.isa.cpu.edges(size)
    if not edges:
        for clause in ("C9f", "C9g"):
            bench.require(clause, True, "")
        return
    with bench.set_aside():
        bench.fresh(memory=bench.isa.cpu.edge_memory)
        real = bench.sites.of(SITE)
        off = bench.code.of(real)
        for address in edges:
            bench.write_memory(address, off)
            at = address & bench.isa.mask
            site = replace(real, address=at, function="at the edge", function_address=at)
            _targets(bench, site, bench.sites.fake_record(site))


def _targets(bench: Bench, site: CallSite, record: int) -> None:
    isa, image = bench.isa, bench.image
    make_call, make_nop = (image.address_of(f"ftrace_make_{what}") for what in ("call", "nop"))
    off, where = bench.code.of(site), isa.sites.call_address(site)
    low, high = isa.sites.reach(where)
    near = [
        low + (at & high - low & -isa.unit) for at in (0x8000, 0x7FFC, 0x5555554, 0xAAAAAA8, 0x4000)
    ]
    for target in (*near, low, high):
        target &= isa.mask
        clause = "C9g" if target in (low, high) else "C9b"
        with bench.fail_if_guest_dies(clause, "C9c"):
            status = bench.call(make_call, record, target)
        on = bench.code.of(site)
        what = f"a call of {target:#x} from {where:#x}"
        shown = {
            "expected": f"a call of {target:#x}",
            "found": bench.code.listing(site.address, on),
        }
        if not bench.require(clause, status == 0, f"{what} was refused: error {status}"):
            continue
        decoded = bench.code.calls(site.address, on) == [(where & isa.mask, target)]
        bench.require(clause, decoded, f"{what} became something else", **shown)
        if clause == "C9g":
            bench.require("C9b", decoded, f"{what} became something else", **shown)
        with bench.fail_if_guest_dies(clause, "C9c"):
            status = bench.call(make_nop, 0, record, target)
        back = bench.code.of(site)
        bench.require(
            "C9c",
            status == 0 and back == off,
            f"{what} was not taken back: error {status}",
            expected=bench.code.listing(site.address, off),
            found=bench.code.listing(site.address, back),
        )
        bench.write_memory(site.address, off)
    out = [
        (low - isa.unit, "C9g"),
        (high + isa.unit, "C9g"),
        (low - 0x10000000, "C9f"),
        (high + 0x10000000, "C9f"),
    ]
    if isa.word_size == 8:
        out.append((high - 0x100 + (1 << 32), "C9f"))  # Within reach by its lower half alone.
    for address, clause in out:
        target = address & isa.mask
        call = make_call, record, target
        refused(bench, clause, site, call, f"{target:#x} is out", REACH)
    for more in range(1 + isa.code_bit, isa.unit):
        unaligned = make_call, record, (low + 0x100 + more) & isa.mask
        refused(bench, "C9f", site, unaligned, f"unaligned by {more}", REACH)


def refused(
    bench: Bench,
    clause: str,
    site: CallSite,
    call: tuple[int, ...],
    what: str,
    about: str = REFUSAL,
) -> None:
    """The port returns an error and all text, also the site's, is unchanged."""
    ops = bench.read_memory(site.literal, bench.image.literal_size) if site.literal else b""
    before, code = bench.code.text(), bench.code.of(site)
    with bench.fail_if_guest_dies(clause):
        status = bench.call(*call)
    after, now = bench.code.text(), bench.code.of(site)
    half = about == REFUSAL and status < 0
    name = bench.image.symbolize(call[0])
    accepted = f"{name} accepted what it has to refuse: {what}"
    listing = partial(bench.code.listing, site.address)
    shown = {"expected": listing(code), "found": listing(now)} if code != now else {}
    bench.require(clause, status < 0, accepted, None, about, **shown)
    bench.require(
        clause,
        before == after and code == now,
        f"{name} returned {status} and wrote: {what}",
        None,
        HALF_DONE if half else about,
        text=lambda: bench.code.difference(before, after),
        found=listing(now),
    )
    if code != now:
        bench.write_memory(site.address, code)
    if ops:
        bench.write_memory(site.literal, ops)


def out_of_reach(bench: Bench, pc: int) -> int:
    """The first address that is out of range of a call at ``pc``."""
    _, high = bench.isa.sites.reach(pc)
    return (high + bench.isa.unit) & bench.isa.mask


@check("C9n", "M1d", layer=Layer.PATCHING)
def a_site_outside_of_the_kernels_text(bench: Bench) -> None:
    """A site of the kernel's form beyond the kernel's text: its words show its form."""
    if bench.kernel.sites_told_by == "address":
        return
    bench.fresh()
    real, sites = bench.sites.of(SITE), bench.isa.sites
    caller = bench.image.address_of("ftrace_caller")
    address = bench.image.address_of("__modules_start") + MARGIN
    if not sites.reaches(address, caller):
        # Modules are too far away; memory of the heap is within reach.
        address = sites.reach(caller)[1] - MARGIN
    address &= bench.isa.mask
    site = replace(real, address=address, function="behind the kernel", function_address=address)
    switch_elsewhere(
        bench, site, bench.code.of(real), ("C9n", *(["M1d"] if bench.applies("M1d") else []))
    )


def switch_elsewhere(bench: Bench, site: CallSite, off: bytes, clauses: Sequence[str]) -> None:
    """Write a site's code to another address, and have the port switch it on and off."""
    caller = bench.image.address_of("ftrace_caller")
    debugger = bench.guest.debugger
    bench.write_memory(site.address, off)
    record = bench.sites.fake_record(site)
    with bench.fail_if_guest_dies(*clauses):
        make_call, make_nop = site_calls(bench, record)
        status = bench.call(*make_call)
        on = debugger.dump_memory(site.address, len(off))
        status = status or bench.call(*make_nop)
    back = debugger.dump_memory(site.address, len(off))
    if site.form is Form.LONG_CALL:
        right = on == site.as_built[: len(off)]
    else:
        right = [target for _, target in bench.code.calls(site.address, on)] == [caller]
    # Wrong words are better evidence than a refusal; see findings.py.
    shown = {"words" if status and on == off else "found": bench.code.listing(site.address, on)}
    for clause in clauses:
        bench.require(
            clause,
            status == 0 and right,
            f"the site at {site.address:#x} was not switched on: error {status}",
            **shown,
        )
        bench.require(
            clause,
            back == off,
            f"the site at {site.address:#x} was not switched off: error {status}",
            expected=bench.code.listing(site.address, off),
            found=bench.code.listing(site.address, back),
        )


@check("C9e", "C9b", layer=Layer.PATCHING)
def sites_that_are_not_what_they_must_be(bench: Bench) -> None:
    """Unexpected words in each place of a site, and sites already in the requested state."""
    bench.fresh()
    isa, image = bench.isa, bench.image
    site, port = bench.sites.of(SITE), bench.port
    record, caller = port.record_of(site), image.address_of("ftrace_caller")
    make_call, make_nop = site_calls(bench, record)
    off = bench.code.of(site)
    refused(bench, "C9e", site, make_nop, "the site is off already")
    status = bench.call(*make_call)
    on = bench.code.of(site)
    if not bench.require("C9b", status == 0, f"ftrace_make_call returned {status}"):
        return
    refused(bench, "C9e", site, make_call, "the site is on already")
    if bench.kernel.call_target == "any":
        low, high = isa.sites.reach(isa.sites.call_address(site))
        # A full call range away: the offset in the instruction would be the same.
        for more in (64, high - low + isa.unit):
            target = (caller + more) & isa.mask
            about = REFUSAL if isa.sites.reaches(isa.sites.call_address(site), target) else REACH
            what = f"the site calls another function, not {more:#x} on"
            refused(bench, "C9e", site, (*make_nop[:3], target), what, about)
    for code, call, state in ((off, make_call, "off"), (on, make_nop, "on")):
        for place in compared(bench, site, code):
            for spoiled, what in spoilt(isa, code, place):
                bench.write_memory(site.address, spoiled)
                refused(bench, "C9e", site, call, f"{what} at a site that is {state}")
    if "ftrace_init_nop" in image.symbols:
        prepare = (image.address_of("ftrace_init_nop"), 0, record)
        if site.literal:
            literal = image.read(site.literal, image.literal_size)
            bench.write_memory(site.literal, literal)
        for place in range(len(isa.split(site.as_built))):
            for spoiled, what in spoilt(isa, site.as_built, place):
                bench.write_memory(site.address, spoiled)
                refused(bench, "C9e", site, prepare, f"{what} at a site as built")


def compared(bench: Bench, site: CallSite, code: bytes) -> range:
    """The places of a site's instructions that a port has to look at before it writes."""
    isa = bench.isa
    front = site.ip_offset // isa.unit if bench.kernel.KPROBES else 0
    return range(front, len(isa.split(code)))


def spoilt(isa: Isa, code: bytes, place: int) -> Iterator[tuple[bytes, str]]:
    """Copies of the code with one instruction replaced, and a description of each."""
    instructions = isa.split(code)
    old = instructions[place]
    value, size = isa.value(old), len(old)
    # Without the words themselves, which change with the layout of the port's code.
    words = {f"junk in word {place}": JUNK >> max(0, 8 * (4 - size))}
    flipped = (*FLIPPED, 8 * size - 1) if size > LONGEST_WORD else FLIPPED
    words |= {f"bit {bit} of word {place} inverted": value ^ 1 << bit for bit in flipped}
    for what, word in words.items():
        new = isa.encode(word, size=size)
        yield b"".join((*instructions[:place], new, *instructions[place + 1 :])), what
