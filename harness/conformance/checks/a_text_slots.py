# SPDX-License-Identifier: MIT
"""The port's writes to its slots when tracers are switched: all text before and after, decoded."""

from harness.conformance.checks.a_sites import judge_gate
from harness.conformance.checks.a_text import out_of_reach, spoilt
from harness.conformance.kernel_words import excused
from harness.conformance.registry import GRAPH, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import NO_TRACER, TRACER, Switch
from harness.conformance.verdict import REACH, Layer
from harness.errors import GuestError
from harness.tracer import has_one_slot
from harness.tracer.setup import GRAPH_FUNC
from harness.tracer.slots import LIST_FUNC

OTHER_TRACER = "panic"
"""Any function is suitable, as it is never called."""


@check("C10a", "C10b", "C10d", "M5b", "M5c", layer=Layer.PATCHING)
def the_slot_of_the_tracer(bench: Bench) -> None:
    """ftrace_update_ftrace_func() with one tracer, another, none, and one out of reach."""
    bench.fresh()
    image, isa = bench.image, bench.isa
    slot, built = image.address_of("ftrace_call"), bench.code.text()
    stub = image.function_at(slot)
    update = image.address_of("ftrace_update_ftrace_func")
    with bench.fail_if_guest_dies("C10a"):
        bench.call(update, image.address_of(NO_TRACER))
    # As built it is a nop; without a tracer it may later be a call of ftrace_stub.
    idle = bench.code.text()
    allowed = slots_of_tracers(bench)
    bench.require(
        "C10b",
        set(bench.code.changed(built, idle)) <= allowed,
        "to be told that there is no tracer changes more than the slot",
        text=lambda: bench.code.difference(built, idle, allowed),
    )
    if asks_of_the_gate(bench):
        # Boot may have left another word there.
        judge_gate(bench, idle)
    # With one slot the kernel puts these there too.
    others = (LIST_FUNC, GRAPH_FUNC) if has_one_slot(image.symbols) else ()
    for name in (TRACER, OTHER_TRACER, *others, TRACER):
        if name not in image.symbols:
            continue  # Built without the graph tracer.
        target = image.address_of(name)
        with bench.fail_if_guest_dies("C10a"):
            status = bench.call(update, target)
        text = bench.code.text()
        bench.require("C10a", status == 0, f"{name} was refused: error {status}")
        changed = bench.code.changed(idle, text)
        held = bench.code.slot(slot)
        bench.require(
            "C10a",
            [to for _, to in bench.code.calls(slot, held)] == [target],
            f"the slot does not call {name}",
            expected=f"a call of {target:#x}",
            found=bench.code.listing(slot, held),
        )
        outside = [
            address
            for address in changed
            if address not in allowed and (stub is None or image.function_at(address) != stub)
        ]
        lines = [f"{address:#x} {image.symbolize(address)}" for address in outside[:16]]
        bench.require("C10b", not outside, "text outside of the stub has changed", text=lines)
        bench.require(
            "C10b",
            set(changed) <= allowed,
            "other words of the stub than the slot have changed",
            text=bench.code.difference(idle, text, allowed),
        )
        if asks_of_the_gate(bench):
            gate = bench.code.instruction(image.address_of("ftrace_caller"))
            bench.require("M5c", gate == isa.sites.nop, "the jump at ftrace_caller is still there")
    if bench.kernel.tracers == "any":
        _take_tracers_at_any_distance(bench, slot, update)
        _refuse_far_tracer(bench, slot, update)
        _fill_a_foreign_slot(bench, slot, update)
    with bench.fail_if_guest_dies("C10a", "C10b"):
        status = bench.call(update, image.address_of(NO_TRACER))
    after = bench.code.text()
    bench.require("C10a", status == 0, f"no tracer was refused: error {status}")
    for clause in ("C10b", *(("M5b", "M5c") if asks_of_the_gate(bench) else ())):
        bench.require(
            clause,
            after == idle,
            "without a tracer the text is not what it was",
            text=lambda: bench.code.difference(idle, after),
        )


def asks_of_the_gate(bench: Bench) -> bool:
    """Whether the jump at ftrace_caller is removed and restored with the tracers."""
    return bench.applies("M5c") and not excused(bench.kernel, "M5c")


def _take_tracers_at_any_distance(bench: Bench, slot: int, update: int) -> None:
    """Each bit of the distance is 0 once and 1 once; nothing is called there."""
    isa = bench.isa
    low, high = isa.sites.reach(slot)
    for bits in (0x55555555, 0xAAAAAAAA):
        for sign, room in ((1, high - slot), (-1, slot - low)):
            # The largest power of two that is in reach.
            size = 1 << (room & isa.mask).bit_length() - 1
            distance = sign * (bits & (size - 1) & -isa.unit)
            target = (slot + distance) & isa.mask
            with bench.fail_if_guest_dies("C10a"):
                status = bench.call(update, target | isa.code_bit)
            held = bench.code.slot(slot)
            bench.require(
                "C10a",
                status == 0 and [to for _, to in bench.code.calls(slot, held)] == [target],
                f"the slot does not call a tracer that is {distance:+#x} bytes away",
                expected=f"a call of {target:#x}",
                found=[f"error {status}", *bench.code.listing(slot, held)],
            )


def _refuse_far_tracer(bench: Bench, slot: int, update: int) -> None:
    before = bench.code.text()
    status = bench.call(update, out_of_reach(bench, slot))
    after = bench.code.text()
    accepted = "a tracer out of reach was accepted"
    bench.require("C10d", status < 0, accepted, None, REACH)
    bench.require(
        "C10d",
        before == after,
        "a tracer out of reach was refused, but text has changed",
        None,
        REACH,
        text=lambda: bench.code.difference(before, after),
    )


def _fill_a_foreign_slot(bench: Bench, slot: int, update: int) -> None:
    """The port may refuse to change code that it did not write, or make the requested change."""
    held, target = bench.code.instruction(slot), bench.image.address_of(OTHER_TRACER)
    foreign, _what = next(spoilt(bench.isa, held, 0))
    bench.write_memory(slot, foreign)
    with bench.fail_if_guest_dies("C10a"):
        status = bench.call(update, target)
    now = bench.read_memory(slot, len(foreign))
    called = bench.code.calls(slot, bench.code.instruction(slot)) == [(slot, target)]
    bench.require(
        "C10a",
        called if status == 0 else status < 0 and now == foreign,
        f"ftrace_update_ftrace_func returned {status} for a foreign slot, and did not do that",
        found=bench.code.listing(slot, now),
    )
    bench.write_memory(slot, held)


@check("C11c", "C11d", "C11e", "M5c", features=GRAPH, layer=Layer.PATCHING)
def both_slots_in_every_order(bench: Bench) -> None:
    """Each slot is switched in either state of the other: the text depends on the state alone."""
    bench.fresh()
    switch, image = Switch(bench), bench.image
    switch.tracer(False)
    texts = {(False, False): bench.code.text()}
    state = (False, False)
    # Every change between the four states in both directions, and each switch twice in a row.
    for step in "gGtTtgTGgttTgGtGggTG":
        tracer, graph = state
        clause = "C11e" if step in "tT" else "C11c" if step == "g" else "C11d"
        want = (step == "t", graph) if step in "tT" else (tracer, step == "g")
        with bench.fail_if_guest_dies(clause):
            try:
                if step in "tT":
                    switch.tracer(step == "t")
                else:
                    switch.graph(step == "g")
            except GuestError as error:
                # A request for the current state may be an error, which changes nothing.
                bench.require(clause, want == state, error.message)
        text = bench.code.text()
        known = texts.setdefault(want, text)
        if want[1] and known is text:
            _judge_graph_slot(bench, texts, text)
        bench.require(
            clause if want != (False, False) or step != "T" else "C11e",
            text == known,
            f"tracer {'on' if want[0] else 'off'}, graph {'on' if want[1] else 'off'}: the text is "
            "not what it was in this state before",
            text=lambda known=known, text=text: bench.code.difference(known, text),
        )
        if asks_of_the_gate(bench):
            gate = bench.code.instruction(image.address_of("ftrace_caller"))
            is_open = gate == bench.isa.sites.nop
            bench.require(
                "M5c", is_open == any(want), f"ftrace_caller is {'open' if is_open else 'closed'}"
            )
        state = want


def _judge_graph_slot(bench: Bench, texts: dict[tuple[bool, bool], bytes], text: bytes) -> None:
    """The text with the graph tracer on for the first time, with or without the function tracer."""
    image, isa = bench.image, bench.isa
    slot, caller = (image.address_of(n) for n in ("ftrace_graph_call", "ftrace_graph_caller"))
    on = text[slot - image.text.start :][: isa.longest]
    line = isa.disassemble(on, slot)[0]
    bench.require(
        "C11c",
        line.text.endswith(f"{caller:#x}"),
        "the slot does not lead to ftrace_graph_caller",
        expected=f"a jump to {caller:#x}",
        found=str(line),
    )
    idle = texts[False, False]
    if text is texts.get((False, True)):
        allowed = with_gate(bench, slot)
        bench.require(
            "C11c",
            set(bench.code.changed(idle, text)) <= allowed,
            "other words than the slot have changed",
            text=lambda: bench.code.difference(idle, text, allowed),
        )


def _patched(bench: Bench, place: int) -> range:
    """The addresses of the instructions that a port writes to a place in its stub."""
    return range(place, place + bench.isa.sites.slot_size)


def slots_of_tracers(bench: Bench) -> set[int]:
    """Where a port may write to change the tracer: its slots, and the gate if there is one."""
    symbols = bench.image.symbols
    places = [symbols[name] for name in ("ftrace_call", "ftrace_regs_call") if name in symbols]
    return {at for place in places for at in with_gate(bench, place)}


def with_gate(bench: Bench, slot: int) -> set[int]:
    """Where a port may write to switch a tracer on or off: a slot and the gate."""
    gate = [bench.image.address_of("ftrace_caller")] if bench.isa.sites.has_gate else []
    return {at for place in (slot, *gate) for at in _patched(bench, place)}
