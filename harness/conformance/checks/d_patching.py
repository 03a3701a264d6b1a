# SPDX-License-Identifier: MIT
"""Patching in single steps: the stores to text, and the cache maintenance after them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from harness.conformance.checks.a_text_slots import slots_of_tracers, with_gate
from harness.conformance.checks.f_modules import load, sites_of
from harness.conformance.registry import MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.hang import Hang
from harness.conformance.under_test.others_data import OthersData
from harness.conformance.under_test.selftests import Selftest
from harness.conformance.under_test.single_step import (
    MOST_STEPS,
    Call,
    prepare_call,
    single_step,
    site_calls,
)
from harness.conformance.under_test.switch import NO_TRACER, TRACER
from harness.conformance.verdict import OTHERS_DATA, Layer
from harness.debugger import return_address
from harness.image import THIS_MODULE, Function
from harness.isa import CallSite, Isa, Property
from harness.tracer import has_call_ops

SITE = "leaf"

LINE = 64
"""Bytes; a multiple of the cache line size of all CPUs here."""

FLUSH = "flush_icache_range"
"""The kernel's function for cache maintenance, where it is one."""

EDGE, BEYOND = 0x10000, 0x2000000
"""A boundary of cache lines, of pages of every size, and of 16-bit offsets; synthetic sites are at
this distance after the kernel's text, in unused memory."""
EDGE_AROUND = 16
"""Bytes before and after a site there that are watched."""


@dataclass
class Log:
    """Writes to text and maintenance of fetched instructions, in the order of execution."""

    values: dict[int, list[bytes]]
    """The successive values of each word that changed: a unit, or the first instruction of the site
    or slot."""
    steps: dict[int, list[int]] = field(default_factory=dict)
    """The steps in which it did, by the number of instructions before."""
    instructions: list[bytes] = field(default_factory=list)
    """All that were executed."""
    flushed: dict[int, int] = field(default_factory=dict)
    """The words that were flushed, with the number of values that each had had by then."""

    def flush(self, lines: range, mask: int, asked: range | None = None) -> None:
        """The words that begin in ``lines`` are flushed; they must be in what was ``asked`` for."""
        for address, values in self.values.items():
            ends = (address & mask, address + len(values[-1]) - 1 & mask)
            if address in lines and (asked is None or all(at in asked for at in ends)):
                self.flushed[address] = len(values)


@check("C9d", "C9j", "C9k", "C10b", "C10c", "C21c", "C22b", "C22c", layer=Layer.PATCHING)
def stores_and_maintenance(bench: Bench) -> None:
    """Each patching function in single steps: no word is half new; cache maintenance for it."""
    bench.fresh()
    for operation in (*_kernel_sites(bench), *_slots(bench), *_at_an_edge(bench)):
        _judge(bench, operation)


@check("C9d", "C9j", "C9k", variants=(MODULES,), layer=Layer.PATCHING)
def stores_and_maintenance_in_modules(bench: Bench) -> None:
    """The same for a call site of a module."""
    site = sites_of(load(bench, init=False))[0]

    def prepare(*, on: bool) -> Call:
        module = load(bench, init=False)[0].address_of(THIS_MODULE)
        return prepare_call(bench, site_calls(bench, bench.port.record_of(site), module), on=on)

    for on in (True, False):
        what, watched = f"switching a module's site {_STATES[on]}", _around(bench, site)
        _judge(bench, _Operation(what, partial(prepare, on=on), watched, site.address))


_STATES = {True: "on", False: "off"}


@dataclass(frozen=True, slots=True)
class _Operation:
    """A call of a patching function.

    ``prepare`` boots or restores the guest, does what must come before, and returns the call;
    ``watched`` are the addresses that it may write, and ``place`` is the site or slot;
    ``literals`` are those of the site's own ops if the image has no such site; ``constant`` must
    not change at any time.  Only ``own`` words are judged, if there are any: that others change is
    seen in whole texts.
    """

    name: str
    prepare: Callable[[], Call]
    watched: range
    place: int
    literals: range = range(0)
    constant: range = range(0)
    own: Collection[int] = ()


def _judge(bench: Bench, operation: _Operation) -> None:
    coherent = Property.COHERENT_FETCH in bench.config.properties
    with bench.fail_if_guest_dies("C9j" if coherent else "C9k"):
        function, log, written = _step_through(bench, operation)
    what = f"{function}, {operation.name}"
    make = function in ("ftrace_make_call", "ftrace_make_nop")
    message = f"{what}: data that is not the port's has changed"
    bench.require("C9d" if make else "C10b", not written, message, None, OTHERS_DATA, data=written)
    clause = "C9j" if make else "C21c" if function == "ftrace_modify_call" else "C10c"
    literal = operation.literals or bench.sites.literals_of(bench.image.sites)
    _judge_literal(bench, what, log, sorted(set(log.values) & set(literal)))
    for address, values in log.values.items():
        if address in literal or (operation.own and address not in operation.own):
            continue
        shown = [line for value in values for line in bench.code.listing(address, value)]
        if address in operation.constant:
            message = f"{what}: the site was something else in between"
            bench.require("C22c", len(values) == 1, message, found=shown)
            continue
        place = f"{address:#x} {bench.image.symbolize(address)}"
        bench.require(
            clause,
            _is_old_or_new(bench.isa, address, values),
            f"{what}: the word at {place} was something else in between",
            found=shown,
        )
        if coherent:
            continue
        bench.require(
            "C9k",
            log.flushed.get(address, 0) == len(values),
            f"{what}: nothing makes the last word written to {place} visible to fetches",
            found=shown,
        )


def _is_old_or_new(isa: Isa, address: int, values: Sequence[bytes]) -> bool:
    """Whether a word is always old or new, or an intermediate one that the port handles.

    A store that crosses a cache line is not atomic; without an intermediate word it requires
    stopped CPUs.
    """
    handled = isa.sites.while_changed
    whole = [value for value in values if not (handled and value.startswith(handled))]
    changed = [at for at, (a, b) in enumerate(zip(whole[0], whole[-1], strict=True)) if a != b]
    lines = {(address + at) // LINE for at in changed}
    return (
        values[-1] == whole[-1]
        and len(whole) <= 2
        and (len(lines) <= 1 or not handled or len(values) > len(whole))
    )


def _judge_literal(bench: Bench, what: str, log: Log, literal: Sequence[int]) -> None:
    """The units of a literal that have changed: in one store, and in front of a branch."""
    if not literal:
        return
    steps = {tuple(log.steps.get(address, ())) for address in literal}
    bench.require(
        "C22b",
        len(steps) == 1 and all(len(one) == 1 for one in steps),
        f"{what}: a literal is not written in one store",
        steps={f"{address:#x}": log.steps.get(address) for address in literal},
    )
    written = max(step for one in steps for step in one)
    called = [
        log.steps[address][-1]
        for address, values in log.values.items()
        if address in log.steps.keys() - literal and bench.code.calls(address, values[-1])
    ]
    for branch in called:
        between = log.instructions[written + 1 : branch]
        bench.require(
            "C22b",
            written < branch and any(map(bench.isa.cpu.orders_stores, between)),
            f"{what}: a CPU may take the branch and find the old ops",
            literal=f"instruction {written} of the call",
            branch=f"instruction {branch}",
        )


def _kernel_sites(bench: Bench) -> Iterator[_Operation]:
    # As near as possible to the end of a cache line, where a wrong line shows.
    site = max(bench.image.sites, key=lambda site: site.address % LINE)
    make_call, make_nop = site_calls(bench, bench.port.record_of(site))
    own = _around(bench, site)
    operation = partial(_kernel_operation, bench, site.address, own)
    yield operation("switching a site on", make_call)
    yield operation("switching a site off", make_nop, make_call)
    if "ftrace_regs_caller" in bench.image.symbols:
        _, record, caller = make_call
        other = bench.image.address_of("ftrace_regs_caller")
        modify = bench.image.address_of("ftrace_modify_call"), record
        there, back = (*modify, caller, other), (*modify, other, caller)
        yield operation("to the other stub", there, make_call)
        yield operation("and back", back, make_call, there)
    if has_call_ops(bench.image.symbols):
        _, record, caller = make_call
        same = bench.image.address_of("ftrace_modify_call"), record, caller, caller
        register = bench.image.address_of("register_ftrace_function"), Selftest(bench).ops
        changed = operation("another ops", same, make_call, register)
        yield replace(changed, constant=own)


def _slots(bench: Bench) -> Iterator[_Operation]:
    image = bench.image
    if has_call_ops(image.symbols):
        return
    update = image.address_of("ftrace_update_ftrace_func")
    tracer, other, none = (
        (update, image.address_of(name)) for name in (TRACER, "panic", NO_TRACER)
    )
    slot = image.address_of("ftrace_call")
    operation = partial(_kernel_operation, bench, slot, slots_of_tracers(bench))
    yield operation("a tracer", tracer)
    yield operation("another tracer", tracer, other)
    yield operation("no tracer", none, tracer)
    if "ftrace_graph_call" in image.symbols:
        slot = image.symbols["ftrace_graph_call"]
        operation = partial(_kernel_operation, bench, slot, with_gate(bench, slot))
        enable = (image.address_of("ftrace_enable_ftrace_graph_caller"),)
        disable = (image.address_of("ftrace_disable_ftrace_graph_caller"),)
        yield operation("", enable)
        yield operation("", disable, enable)


def _kernel_operation(
    bench: Bench, place: int, own: Collection[int], name: str, call: Call, *earlier: Call
) -> _Operation:
    def prepare() -> Call:
        bench.fresh()
        for one in earlier:
            bench.call(*one)
        return call

    return _Operation(name, prepare, bench.image.text, place, own=own)


def _at_an_edge(bench: Bench) -> Iterator[_Operation]:
    """Made-up sites whose last word ends at a boundary, and, if they have several, across one.

    Beyond the kernel: an address in its text may be that of the code that patches.
    """
    if bench.kernel.sites_told_by == "address":
        return
    real = bench.sites.of(SITE)
    off, unit = bench.code.of(real), bench.isa.unit
    edge = _edge(bench)

    def prepare(address: int, *, on: bool) -> Call:
        bench.fresh()
        if bench.image.literal_size:
            # So that all of the literal will change.
            bench.write_memory(address - EDGE_AROUND, b"\xff" * EDGE_AROUND)
        bench.write_memory(address, off)
        site = replace(real, address=address, function="at an edge", function_address=address)
        return prepare_call(bench, site_calls(bench, bench.sites.fake_record(site)), on=on)

    places = {"that ends at": edge - len(off), "across": edge - unit}
    for where, address in places.items():
        if where == "across" and len(off) == unit:
            continue
        watched = range(address - EDGE_AROUND, address + len(off) + EDGE_AROUND)
        literals = range(watched.start, address) if bench.image.literal_size else range(0)
        for on in (True, False):
            what = f"switching a site {where} a page's end {_STATES[on]}"
            yield _Operation(what, partial(prepare, address, on=on), watched, address, literals)


def _edge(bench: Bench) -> int:
    """A boundary in unused memory: far after the kernel or, if that is out of range of a call,
    before its text.
    """
    start = bench.image.text.start & -EDGE
    caller = bench.image.address_of("ftrace_caller")
    return start + (BEYOND if bench.isa.sites.reaches(start + BEYOND, caller) else -EDGE)


def _around(bench: Bench, site: CallSite) -> range:
    return range(site.address, site.address + bench.sites.size(site))


def _step_through(bench: Bench, operation: _Operation) -> tuple[str, Log, list[str]]:
    """Find which words a call changes, then run it in single steps, without an interrupt.

    Returns its function, the log, and the changes in data that is not the port's.
    """
    call, isa, watched = operation.prepare(), bench.isa, operation.watched
    image, asked = bench.image, range(0)
    before = bench.guest.bulk.read(watched.start, len(watched))
    bench.call(*call)
    after = bench.guest.bulk.read(watched.start, len(watched))
    operation.prepare()
    log = Log(_words(isa, operation, before, after))
    others = OthersData(bench)
    bench.enter(*call)
    debugger, cpu = bench.guest.debugger, isa.cpu
    end = image.symbols[CALL_RETURNS]
    here = call[0] & isa.mask
    for _ in range(MOST_STEPS):
        if here == end:
            return image.symbolize(call[0]), log, others.changed()
        function = image.function_at(here)
        flush = function if function is not None and function.name == FLUSH else None
        if flush is not None and here == flush.address:
            start, stop = (debugger.read_register(one) for one in isa.abi.argument_registers[:2])
            asked = range(start & isa.mask, stop & isa.mask)
            if bench.config.qemu.smp == 1:
                # With others, those would run too, and change data.
                here = _run_flush(bench, log, flush)
                log.flush(asked, isa.mask, asked)
                continue
        instruction = bench.code.linked(here)
        log.instructions.append(instruction)
        visible = cpu.fetch_maintenance(instruction, debugger.read_register)
        # A step may take a branch's delay slot along, with a store in it.
        step = {here, bench.code.in_slot(here)}
        stores = any(cpu.is_store(bench.code.linked(at)) for at in step)
        here = single_step(bench, here)
        if visible:
            # The kernel's function flushes whole lines, and the port does not know their size.
            log.flush(visible, isa.mask, asked if flush else None)
        elif stores:
            _note(bench, log)
    raise Hang(f"{bench.image.symbolize(call[0])} did not return within {MOST_STEPS} instructions")


def _run_flush(bench: Bench, log: Log, flush: Function) -> int:
    """Let the kernel's function run to its end, without an interrupt; returns where it returns."""
    isa, debugger, status = bench.isa, bench.guest.debugger, bench.isa.abi.status_registers[0]
    log.instructions += isa.split(bench.image.read(flush.address, flush.size))
    home, before = return_address(debugger, isa.abi), debugger.read_register(status)
    debugger.write_register(status, isa.cpu.with_interrupts_masked(before))
    bench.run_to(home)
    debugger.write_register(status, before)
    return home


def _words(isa: Isa, operation: _Operation, before: bytes, after: bytes) -> dict[int, list[bytes]]:
    """The words that change, each with its first value, by address."""
    start, place = operation.watched.start, operation.place - operation.watched.start
    whole = isa.split(before[place : place + isa.longest])[0]
    sizes = {place: len(whole)}
    inside = range(place, place + len(whole))
    sizes |= {at: isa.unit for at in range(0, len(before), isa.unit) if at not in inside}
    return {
        start + at: [before[at : at + size]]
        for at, size in sizes.items()
        if before[at : at + size] != after[at : at + size] or start + at in operation.constant
    }


def _note(bench: Bench, log: Log) -> None:
    for address, values in log.values.items():
        now = bench.read_memory(address, len(values[-1]))
        if now != values[-1]:
            values.append(now)
            log.steps.setdefault(address, []).append(len(log.instructions) - 1)
