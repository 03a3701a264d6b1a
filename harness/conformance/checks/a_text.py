# SPDX-License-Identifier: MIT
"""What the patching functions write: all text before and after each call of them, decoded."""

from collections.abc import Iterator, Sequence

from harness.conformance.bench import Bench
from harness.conformance.checks.registry import check
from harness.conformance.switch import NO_TRACER, TRACER, Switch
from harness.errors import GuestError
from harness.isa import CallSite, Form, Isa

GRAPH = ("FUNCTION_GRAPH_TRACER",)
SITE = "leaf"
OTHER_TRACER = "panic"
"""Any function will do where nobody comes to call it."""

JUNK = 0xDEADBEEF
FLIPPED = (1 << 2, 1 << 15)
"""Bits of an instruction that is replaced by another one."""

MARGIN = 0x100
"""Bytes between the end of what reaches something and the call site that is put there."""


@check("C9a", "C9b", "C9c", "C9d", "C10b", "M4a", "M4b", "M4c", "M4d")
def switching_every_site(bench: Bench) -> None:
    """On, off and on again, with the port's own functions."""
    bench.fresh()
    switch, isa, image = Switch(bench), bench.isa, bench.image
    off = bench.text()
    with bench.stakes("C9b", "C9d"):
        switch.sites(True)
    on = bench.text()
    inside, caller = bench.addresses_of(image.sites), image.address_of("ftrace_caller")
    for site in image.sites:
        at, size, slot = site.address - image.text.start, bench.size(site), isa.machine.delay_slot
        _judge_on(bench, site, on[at : at + size], caller)
        if bench.applies("M4d"):
            kept = on[at + size :][:slot] == image.read(site.address + size, slot)
            bench.require("M4d", kept, f"{site.function}: the delay slot has changed")
    other = set(bench.changed(off, on)) - inside
    lines = [f"{address:#x} {image.symbolize(address)}" for address in sorted(other)[:16]]
    bench.require("C9d", not other, "other text than the sites has changed", text=lines)
    with bench.stakes("C9a", "C9c"):
        switch.sites(False)
    back = bench.text()
    same = back == off
    for clause in ("C9c", "C9a", *(c for c in ("M4a", "M4b") if bench.applies(c))):
        bench.require(
            clause, same, "off is not what it was before", text=lambda: bench.difference(off, back)
        )
    switch.sites(True)
    again = bench.text()
    bench.require(
        "C9c",
        again == on,
        "on is not what it was before",
        text=lambda: bench.difference(on, again),
    )


def _judge_on(bench: Bench, site: CallSite, code: bytes, caller: int) -> None:
    """One call of ftrace_caller, and what goes with it as the compiler wrote it."""
    targets = [target for _, target in bench.calls(site.address, code)]
    bench.require(
        "C9b",
        targets == [caller],
        f"{site.function}: the site does not call ftrace_caller",
        expected=f"a call of {caller:#x}",
        found=bench.listing(site.address, code),
    )
    if not bench.applies("M4c"):
        return
    call = bench.isa.sites.encode_call(site.address, caller)
    expected = call + site.as_built[len(call) : len(code)]
    for clause in ("M4c", *(["M4b"] if bench.applies("M4b") else [])):
        bench.require(
            clause,
            code == expected,
            f"{site.function}: the site is not what the compiler had written",
            expected=bench.listing(site.address, expected),
            found=bench.listing(site.address, code),
        )


@check("C9b", "C9c", "C9f", "C9g")
def targets_everywhere(bench: Bench) -> None:
    """Calls of awkward addresses, to the very limits and one beyond."""
    bench.fresh()
    site = bench.site(SITE)
    record = bench.port.record_of(site)
    _targets(bench, site, record)


@check("C9f", "C9g")
def targets_from_the_edge_of_a_region(bench: Bench) -> None:
    """The same from sites at the end of what one jump can reach, where the next region begins."""
    size = bench.size(bench.site(SITE))
    edges = bench.isa.machine.edges(size)
    if not edges:
        for clause in ("C9f", "C9g"):
            bench.require(clause, True, "")
        return
    bench.fresh(memory=bench.isa.machine.edge_memory)
    real = bench.site(SITE)
    off = bench.code(real)
    for address in edges:
        bench.guest.debugger.write_memory(address, off)
        site = CallSite(address & bench.isa.mask, real.form, "at the edge", address, real.as_built)
        _targets(bench, site, bench.fake_record(site))
    bench.close()


def _targets(bench: Bench, site: CallSite, record: int) -> None:
    isa, image = bench.isa, bench.image
    make_call, make_nop = (image.address_of(f"ftrace_make_{what}") for what in ("call", "nop"))
    off, where = bench.code(site), isa.sites.call_address(site)
    low, high = isa.sites.reach(where)
    near = [
        low + (at & high - low & -isa.unit) for at in (0x8000, 0x7FFC, 0x5555554, 0xAAAAAA8, 0x4000)
    ]
    for target in (low, high, *near):
        target &= isa.mask
        clause = "C9g" if target in (low, high) else "C9b"
        with bench.stakes(clause, "C9c"):
            status = bench.call(make_call, record, target)
        on = bench.code(site)
        what = f"a call of {target:#x} from {where:#x}"
        shown = {"expected": f"a call of {target:#x}", "found": bench.listing(site.address, on)}
        if not bench.require(clause, status == 0, f"{what} was refused: error {status}"):
            continue
        decoded = bench.calls(site.address, on) == [(where & isa.mask, target)]
        bench.require(clause, decoded, f"{what} became something else", **shown)
        if clause == "C9g":
            bench.require("C9b", decoded, f"{what} became something else", **shown)
        with bench.stakes(clause, "C9c"):
            status = bench.call(make_nop, 0, record, target)
        back = bench.code(site)
        bench.require(
            "C9c",
            status == 0 and back == off,
            f"{what} was not taken back: error {status}",
            expected=bench.listing(site.address, off),
            found=bench.listing(site.address, back),
        )
        bench.guest.debugger.write_memory(site.address, off)
    for target, clause in (
        (low - isa.unit, "C9g"),
        (high + isa.unit, "C9g"),
        (low - 0x10000000, "C9f"),
        (high + 0x10000000, "C9f"),
    ):
        refused(bench, clause, site, (make_call, record, target & isa.mask), f"{target:#x} is out")
    refused(
        bench,
        "C9f",
        site,
        (make_call, record, (low + 0x100 + isa.unit // 2) & isa.mask),
        "unaligned",
    )


def refused(bench: Bench, clause: str, site: CallSite, call: tuple[int, ...], what: str) -> None:
    """The port says no, and all text is what it was, the site's too."""
    before, code = bench.text(), bench.code(site)
    with bench.stakes(clause):
        status = bench.call(*call)
    after, now = bench.text(), bench.code(site)
    name = bench.image.symbolize(call[0])
    bench.require(clause, status < 0, f"{name} accepted what it has to refuse: {what}")
    bench.require(
        clause,
        before == after and code == now,
        f"{name} returned {status} and wrote: {what}",
        text=lambda: bench.difference(before, after),
        found=bench.listing(site.address, now),
    )
    if code != now:
        bench.guest.debugger.write_memory(site.address, code)


@check("C9n", "M1d")
def a_site_outside_of_the_kernels_text(bench: Bench) -> None:
    """A site of the kernel's form behind the kernel, within reach: its words say what it is."""
    bench.fresh()
    real, sites = bench.site(SITE), bench.isa.sites
    caller = bench.image.address_of("ftrace_caller")
    address = bench.image.address_of("__modules_start") + MARGIN
    if not sites.reach(address)[0] <= caller <= sites.reach(address)[1]:
        # Modules are too far away; it is memory of the heap that is just in reach.
        address = sites.reach(caller)[1] - MARGIN
    address &= bench.isa.mask
    site = CallSite(address, real.form, "behind the kernel", address, real.as_built)
    switch_elsewhere(
        bench, site, bench.code(real), ("C9n", *(["M1d"] if bench.applies("M1d") else []))
    )


def switch_elsewhere(bench: Bench, site: CallSite, off: bytes, clauses: Sequence[str]) -> None:
    """Write a site's code to where no such site lies, and have the port switch it on and off."""
    image, caller = bench.image, bench.image.address_of("ftrace_caller")
    debugger = bench.guest.debugger
    debugger.write_memory(site.address, off)
    record = bench.fake_record(site)
    with bench.stakes(*clauses):
        status = bench.call(image.address_of("ftrace_make_call"), record, caller)
        on = debugger.dump_memory(site.address, len(off))
        status = status or bench.call(image.address_of("ftrace_make_nop"), 0, record, caller)
    back = debugger.dump_memory(site.address, len(off))
    if site.form is Form.LONG_CALL:
        right = on == site.as_built[: len(off)]
    else:
        right = [target for _, target in bench.calls(site.address, on)] == [caller]
    for clause in clauses:
        bench.require(
            clause,
            status == 0 and right,
            f"the site at {site.address:#x} was not switched on: error {status}",
            found=bench.listing(site.address, on),
        )
        bench.require(
            clause,
            back == off,
            f"the site at {site.address:#x} was not switched off: error {status}",
            expected=bench.listing(site.address, off),
            found=bench.listing(site.address, back),
        )


@check("C9e", "C9b")
def sites_that_are_not_what_they_must_be(bench: Bench) -> None:
    """Foreign words in each place of a site, and sites that are in the state asked for already."""
    bench.fresh()
    isa, image = bench.isa, bench.image
    site, port = bench.site(SITE), bench.port
    record, caller = port.record_of(site), image.address_of("ftrace_caller")
    make_call = (image.address_of("ftrace_make_call"), record, caller)
    make_nop = (image.address_of("ftrace_make_nop"), 0, record, caller)
    off = bench.code(site)
    refused(bench, "C9e", site, make_nop, "the site is off already")
    status = bench.call(*make_call)
    on = bench.code(site)
    if not bench.require("C9b", status == 0, f"ftrace_make_call returned {status}"):
        return
    refused(bench, "C9e", site, make_call, "the site is on already")
    other = (*make_nop[:3], (caller + 64) & isa.mask)
    refused(bench, "C9e", site, other, "the site calls another function")
    for code, call, state in ((off, make_call, "off"), (on, make_nop, "on")):
        for place in range(len(isa.split(code))):
            for spoiled, what in spoilt(isa, code, place):
                bench.guest.debugger.write_memory(site.address, spoiled)
                refused(bench, "C9e", site, call, f"{what} of a site that is {state}")


def spoilt(isa: Isa, code: bytes, place: int) -> Iterator[tuple[bytes, str]]:
    """Code with one of its instructions replaced by others, and what each of them is."""
    instructions = isa.split(code)
    old = instructions[place]
    value, size = isa.value(old), len(old)
    for junk in (JUNK >> 8 * (4 - size), *(value ^ bit for bit in FLIPPED)):
        new = isa.encode(junk, size=size)
        spoiled = b"".join((*instructions[:place], new, *instructions[place + 1 :]))
        yield spoiled, f"0x{junk:0{2 * size}x} as word {place}"


@check("C10a", "C10b", "C10d", "M5b", "M5c")
def the_slot_of_the_tracer(bench: Bench) -> None:
    """ftrace_update_ftrace_func() with one tracer, another, none, and one out of reach."""
    bench.fresh()
    image, isa = bench.image, bench.isa
    slot, built = image.address_of("ftrace_call"), bench.text()
    stub = image.function_at(slot)
    update = image.address_of("ftrace_update_ftrace_func")
    with bench.stakes("C10a"):
        bench.call(update, image.address_of(NO_TRACER))
    # As built there is a nop; what stands for no tracer afterwards may be a call of ftrace_stub.
    idle = bench.text()
    bench.require(
        "C10b",
        set(bench.changed(built, idle)) <= set(_patched(bench, slot)),
        "to be told that there is no tracer changes more than the slot",
        text=lambda: bench.difference(built, idle),
    )
    for name in (TRACER, OTHER_TRACER, TRACER):
        target = image.address_of(name)
        with bench.stakes("C10a"):
            status = bench.call(update, target)
        text = bench.text()
        bench.require("C10a", status == 0, f"{name} was refused: error {status}")
        changed = bench.changed(idle, text)
        held = bench.instruction(slot)
        bench.require(
            "C10a",
            bench.calls(slot, held) == [(slot, target)],
            f"the slot does not call {name}",
            expected=f"a call of {target:#x}",
            found=bench.listing(slot, held),
        )
        outside = [a for a in changed if stub is None or image.function_at(a) != stub]
        lines = [f"{address:#x} {image.symbolize(address)}" for address in outside[:16]]
        bench.require("C10b", not outside, "text outside of the stub has changed", text=lines)
        allowed = _allowed(bench, slot)
        bench.require(
            "C10b",
            set(changed) <= allowed,
            "other words of the stub than the slot have changed",
            text=bench.difference(idle, text),
        )
        if bench.applies("M5c"):
            gate = bench.instruction(image.address_of("ftrace_caller"))
            bench.require("M5c", gate == isa.sites.nop, "the jump at ftrace_caller is still there")
    _, high = isa.sites.reach(slot)
    before = bench.text()
    status = bench.call(update, (high + isa.unit) & isa.mask)
    after = bench.text()
    bench.require("C10d", status < 0, "a tracer out of reach was accepted")
    bench.require(
        "C10d",
        before == after,
        "a tracer out of reach was refused, but text has changed",
        text=lambda: bench.difference(before, after),
    )
    with bench.stakes("C10a", "C10b"):
        status = bench.call(update, image.address_of(NO_TRACER))
    after = bench.text()
    bench.require("C10a", status == 0, f"no tracer was refused: error {status}")
    for clause in ("C10b", *(c for c in ("M5b", "M5c") if bench.applies(c))):
        bench.require(
            clause,
            after == idle,
            "without a tracer the text is not what it was",
            text=lambda: bench.difference(idle, after),
        )


@check("C11c", "C11d", "C11e", "M5c", features=GRAPH)
def both_slots_in_every_order(bench: Bench) -> None:
    """Each slot is switched with the other in either state: the text depends on the state alone."""
    bench.fresh()
    switch, image = Switch(bench), bench.image
    switch.tracer(False)
    texts = {(False, False): bench.text()}
    state = (False, False)
    # Every edge between the four states in both directions, and each switch twice in a row.
    for step in "gGtTtgTGgttTgGtGggTG":
        tracer, graph = state
        clause = "C11e" if step in "tT" else "C11c" if step == "g" else "C11d"
        want = (step == "t", graph) if step in "tT" else (tracer, step == "g")
        with bench.stakes(clause):
            try:
                if step in "tT":
                    switch.tracer(step == "t")
                else:
                    switch.graph(step == "g")
            except GuestError as error:
                # To be asked for what is there already may be an error, which changes nothing.
                bench.require(clause, want == state, error.message)
        text = bench.text()
        known = texts.setdefault(want, text)
        bench.require(
            clause if want != (False, False) or step != "T" else "C11e",
            text == known,
            f"tracer {'on' if want[0] else 'off'}, graph {'on' if want[1] else 'off'}: the text is "
            "not what it was in this state before",
            text=lambda known=known, text=text: bench.difference(known, text),
        )
        if bench.applies("M5c"):
            gate = bench.instruction(image.address_of("ftrace_caller"))
            is_open = gate == bench.isa.sites.nop
            bench.require(
                "M5c", is_open == any(want), f"ftrace_caller is {'open' if is_open else 'closed'}"
            )
        state = want
    _judge_graph_slot(bench, texts)


def _judge_graph_slot(bench: Bench, texts: dict[tuple[bool, bool], bytes]) -> None:
    image, isa = bench.image, bench.isa
    slot, caller = (image.address_of(n) for n in ("ftrace_graph_call", "ftrace_graph_caller"))
    on = texts[True, True][slot - image.text.start :][: isa.longest]
    line = isa.disassemble(on, slot)[0]
    bench.require(
        "C11c",
        line.text.endswith(f"{caller:#x}"),
        "the slot does not lead to ftrace_graph_caller",
        expected=f"a jump to {caller:#x}",
        found=str(line),
    )
    changed = set(bench.changed(texts[False, False], texts[False, True]))
    bench.require(
        "C11c", changed <= _allowed(bench, slot), "other words than the slot have changed"
    )


def _patched(bench: Bench, place: int) -> range:
    """The addresses of an instruction that a port writes at a place in its stub."""
    return range(place, place + len(bench.isa.sites.nop))


def _allowed(bench: Bench, slot: int) -> set[int]:
    """Where a port may write to switch a tracer on or off."""
    gate = [bench.image.address_of("ftrace_caller")] if bench.isa.sites.has_gate else []
    return {at for place in (slot, *gate) for at in _patched(bench, place)}
