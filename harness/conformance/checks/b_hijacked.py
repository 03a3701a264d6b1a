# SPDX-License-Identifier: MIT
"""The same for the graph tracer: at entry, and at the return through return_to_handler."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

from harness.conformance.checks.b_crossing import (
    LEAF,
    OTHER,
    judge_entry,
    judge_tracer,
)
from harness.conformance.checks.b_frame_records import judge_records, judge_records_at_return
from harness.conformance.checks.b_graph_entry import (
    at_prepare,
    graph_stub,
    judge_graph_entry,
    judge_saved,
    way_in,
    why_not_hijacked,
)
from harness.conformance.comparison import GROUPS, compare, same, same_mask, same_stack
from harness.conformance.localization.kept_words import kept_word
from harness.conformance.localization.retrace import Retrace
from harness.conformance.localization.saved_registers import SavedResults
from harness.conformance.registry import BOTH, DYNAMIC, EVERY_KERNEL, GRAPH, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import TRACER, Switch
from harness.conformance.under_test.traced_call import (
    GRAPH_ENTER,
    GRAPH_FUNC,
    HANDLER,
    LANDING,
    PREPARE,
    NotReached,
    TracedCall,
    prepare_of,
)
from harness.conformance.verdict import FRAME_POINTER, Layer, Place
from harness.errors import GuestDied
from harness.isa import CallSite

C4 = ("C4c", "C4d", "C4e", "C4h", "C4j", "C6a", "C12a")
C5 = ("C5a", "C5b", "C5c", "C5d", "C5e", "C6b")
ALL_C4C = dict.fromkeys(GROUPS, "C4c")


IN_PREPARE = {PREPARE: ("C4d",), GRAPH_FUNC: ("C4d",)}
"""A guest that dies in the function that replaces return addresses has come through the stub."""


def hijacked(
    bench: Bench,
    name: str,
    both: bool | None = None,
    entry: str | None = None,
    *,
    alone: bool = False,
) -> CallSite:
    """Stop at a site with the graph tracer on, and the function tracer on or off.

    In a static build all functions are traced then; ``alone``: not before this call.
    """
    bench.fresh()
    switch, site = Switch(bench), bench.sites.of(name)
    if alone:
        bench.run_to(site.function_address)
    switch.graph(True, entry=entry)
    if both is not None:
        switch.tracer(both)
    switch.sites(True, [site])
    return site


@check(
    *C4,
    "C1e",
    "C1f",
    "C4a",
    "C4n",
    "C11b",
    "C14b",
    "C20a",
    "C3b",
    "C8e",
    variants=EVERY_KERNEL,
    features=GRAPH,
    layer=Layer.CALL,
)
def a_call_that_is_hijacked(bench: Bench) -> None:
    """The same through ftrace_graph_caller, and the return."""
    for name in (LEAF, OTHER):
        for both in (False, True):
            prepare = partial(hijacked, bench, name, both)
            retrace, dynamic = Retrace(bench, prepare), bench.variant.name == DYNAMIC
            own = ("C4c", "C4d", graph_stub(bench) if dynamic else "C4c")
            with bench.fail_if_guest_dies(*own, locate=retrace.last_instruction, inside=IN_PREPARE):
                call = _go(retrace, prepare, home=False)
            if call is None:
                return
            what = f"a hijacked call of {name}" + (" that is traced too" if both else "")
            if both:
                count = len(call.called.get(TRACER, ()))
                reached = "C8e" if dynamic else "C3b"
                told = f"{what} came {count} times to the tracer"
                bench.require(reached, count == 1, told, retrace.last_instruction)
                if count:
                    judge_tracer(retrace, call, what)
            judge_records(retrace, call, prepare_of(bench.image), what)
            if judge_graph_entry(retrace, call, what):
                _compare_hijacked(retrace, call, what)


def _compare_hijacked(retrace: Retrace, call: TracedCall, what: str) -> None:
    """Registers and stack behind the site, if the stub has returned there.

    It comes back through the landing if its own return address on the stack was replaced.
    """
    if call.caller_at is not None and HANDLER in call.called:
        retrace.bench.mark_unfinished()
    else:
        compare(retrace, call, what, ALL_C4C, hijacked=True)


def _judge_first_call(retrace: Retrace, call: TracedCall) -> None:
    what = "the first call of the workload"
    if call.caller_at is not None and GRAPH_ENTER in call.called:
        judge_saved(retrace, call, what)
    _compare_hijacked(retrace, call, what)


def _go(retrace: Retrace, prepare: Callable[..., CallSite], *, home: bool) -> TracedCall | None:
    """Make a call of `hijacked`; None if the guest died earlier and the cause was reported.

    If the first call of the workload is entered correctly, a static build may fail on a return of
    another call.  Then only this call is hijacked.
    """
    try:
        return retrace.go(home=home)
    except NotReached as error:
        unreached = error
    try:
        _judge_first(retrace, unreached)
    except NotReached:
        if Switch(retrace.bench).dynamic:
            raise
        return retrace.go_alone(partial(prepare, alone=True), unreached, home=home)
    return None


def _judge_first(retrace: Retrace, error: NotReached) -> None:
    """Judge the first call of the workload; it has no end if the port traces itself."""
    bench, stack = retrace.bench, retrace.bench.isa.abi.stack_register
    try:
        retrace.go_first(error, partial(_judge_first_call, retrace))
    except GuestDied:
        prepare = prepare_of(bench.image)
        entries = retrace.call.called.get(prepare, ()) if retrace.call else ()
        if len(entries) < 2 or entries[1][stack] >= entries[0][stack]:
            raise
        message = f"{prepare} calls what is traced: it is called again before it returns"
        bench.require("C4n", False, message, partial(at_prepare, retrace, "called again"))
        bench.mark_unfinished()


def _who_hijacked(retrace: Retrace) -> Place | None:
    """The end of a call that must not be hijacked; if it was, the function that did it."""
    place = retrace.last_instruction()
    if place is None or place.function != LANDING:
        return place
    return retrace.hijack() or at_prepare(retrace, "has replaced the return address")


@check(*C5, "C4d", "C4h", "C4j", "C14b", variants=EVERY_KERNEL, features=GRAPH, layer=Layer.CALL)
def the_way_home_of_a_hijacked_call(bench: Bench) -> None:
    """A hijacked function returns to its caller through return_to_handler, with its results."""
    for name in (LEAF, OTHER):
        prepare = partial(hijacked, bench, name)
        retrace = Retrace(bench, prepare)
        what = f"a hijacked call of {name}"
        with bench.fail_if_guest_dies("C4d", "C5c", locate=retrace.last_instruction):
            call = _go_home(retrace, prepare, what)
        if call is None:
            return
        for clause in ("C4d", *(c for c in ("C4h", "C4j") if bench.applies(c))):
            bench.require(
                clause,
                bool(call.landing),
                f"{what} returned to its caller without coming to {LANDING}",
                partial(why_not_hijacked, retrace, call),
                registers=lambda: bench.registers.read(),
            )
        if not call.landing:
            continue
        bench.require("C5c", True, "")
        landing = call.landing
        count = len(call.called.get(HANDLER, ()))
        message = f"{what} came {count} times to {HANDLER}"
        if not bench.require("C5c", count == 1, message, retrace.last_instruction):
            continue
        seen = call.first(HANDLER)
        if landing[bench.isa.abi.stack_register] % bench.isa.abi.stack_alignment:
            # It was misaligned already when the function returned.
            bench.mark_unfinished()
        else:
            judge_entry(retrace, landing, seen, what, HANDLER, "C5e", "C5e", home=True)
        _judge_frame_pointer(retrace, call, what)
        judge_records_at_return(retrace, call, what)
        _compare_return(retrace, call, what, {})
        with bench.fail_if_guest_dies("C4d", "C5c", locate=retrace.last_instruction):
            retrace.explain()


def _go_home(retrace: Retrace, prepare: Callable[..., CallSite], what: str) -> TracedCall | None:
    """Make the call and return; None if the guest died and the cause was reported."""
    try:
        return _go(retrace, prepare, home=True)
    except NotReached:
        raise
    except GuestDied:
        if not _is_explained(retrace, what):
            raise
    return None


def _is_explained(retrace: Retrace, what: str) -> bool:
    """Whether a call in which the guest died passed a wrong return address or frame pointer.

    The guest returns to that address, or the kernel panics because of the frame pointer.
    """
    call = retrace.call
    if call is None or GRAPH_ENTER not in call.called:
        return False
    same_address, same_pointer = (
        judge_saved(retrace, call, what),
        _judge_frame_pointer(retrace, call, what),
    )
    if same_address and same_pointer:
        return False
    retrace.bench.mark_unfinished()
    return True


def _judge_frame_pointer(retrace: Retrace, call: TracedCall, what: str) -> bool:
    bench = retrace.bench
    if not _is_tested(bench, call):
        return True
    went_in, came_out = _frame_pointers(bench, call)
    if "FUNCTION_GRAPH_RETVAL" in bench.variant.features:
        # It is in a struct of the port's; the kernel compares it, and panics.
        message = f"{what}: the kernel was not given the same frame pointer on the way out"
        place = partial(_wrong_in_memory, retrace, call, went_in)
        return bench.require("C6b", bool(call.back), message, place, FRAME_POINTER)
    return bench.require(
        "C6b",
        went_in == came_out,
        f"{what}: the frame pointer on the way out is another one",
        partial(_wrong_frame_pointer, retrace, call, went_in, came_out),
        FRAME_POINTER,
        expected=f"{went_in:#x}",
        found=f"{came_out:#x}",
    )


def why_left_alone(bench: Bench, function: str) -> Place | None:
    """Where the port decides not to hijack a call; None if it hijacks a function alone."""
    retrace = Retrace(bench, partial(hijacked, bench, function))
    call = retrace.go(home=False)
    return None if GRAPH_ENTER in call.called else why_not_hijacked(retrace, call)


def why_it_dies_at_the_return(bench: Bench, function: str) -> Place | None:
    """What made the wrong frame pointer of a call that dies, hijacked alone; None if none did."""
    retrace = Retrace(bench, partial(hijacked, bench, function))
    with suppress(GuestDied):
        retrace.go(home=True)
    call = retrace.call
    if call is None or call.back or not _is_tested(bench, call):
        return None
    went_in, came_out = _frame_pointers(bench, call)
    if "FUNCTION_GRAPH_RETVAL" in bench.variant.features:
        return _wrong_in_memory(retrace, call, went_in)
    return _wrong_frame_pointer(retrace, call, went_in, came_out) if went_in != came_out else None


def _is_tested(bench: Bench, call: TracedCall) -> bool:
    """Whether the kernel has compared the frame pointers of a call."""
    tested = "FUNCTION_GRAPH_FP_TEST" in bench.variant.features
    return tested and {GRAPH_ENTER, HANDLER} <= set(call.called)


def _frame_pointers(bench: Bench, call: TracedCall) -> tuple[int, int]:
    """What went in and what came out; not if that is in a struct of the port's."""
    (first, _, third, *_), mask = bench.isa.abi.argument_registers, bench.isa.mask
    return call.first(GRAPH_ENTER)[third] & mask, call.first(HANDLER)[first] & mask


def _wrong_frame_pointer(
    retrace: Retrace, call: TracedCall, went_in: int, came_out: int
) -> Place | None:
    """Where the wrong one of the two was made: the one that the caller's registers do not have.

    A frame pointer is preferred to a stack pointer: a callee's frame may begin there.  The one on
    the way out, if nothing tells them apart.
    """
    arguments = retrace.bench.isa.abi.argument_registers
    callers = _pointers_of_caller(retrace, call)
    first, second = ([*callers, pointer].index(pointer) for pointer in (came_out, went_in))
    if first < second:
        other = Retrace(retrace.bench, partial(hijacked, retrace.bench, OTHER))
        made = kept_word(retrace, other)
        return made or retrace.origin(arguments[2], GRAPH_ENTER, again=True)
    return retrace.origin(arguments[0], HANDLER, home=True)


def _wrong_in_memory(retrace: Retrace, call: TracedCall, went_in: int) -> Place | None:
    """The same where it comes out in memory: if the caller has the one that went in, it is that."""
    if went_in in _pointers_of_caller(retrace, call):
        return SavedResults(retrace.bench, retrace.prepare).another(went_in)
    return retrace.origin(retrace.bench.isa.abi.argument_registers[2], GRAPH_ENTER, again=True)


def _pointers_of_caller(retrace: Retrace, call: TracedCall) -> list[int]:
    """The caller's frame pointer, stack pointer and other registers that are preserved."""
    isa = retrace.bench.isa
    record = isa.abi.frame_record
    pointers = (*([record.register] if record else ()), isa.abi.stack_register)
    names = (*pointers, *isa.abi.saved)
    return [call.landing[name] & isa.mask for name in names if name in call.landing]


def _compare_return(
    retrace: Retrace, call: TracedCall, what: str, clauses: Mapping[str, str]
) -> None:
    """Registers and memory after return_to_handler; ``clauses`` replaces clauses by others."""
    bench, abi = retrace.bench, retrace.bench.isa.abi
    floats = bench.kernel.floating_point
    saved = (*abi.saved, *(abi.float_saved if floats else ()))
    groups: list[tuple[str, tuple[str, ...], str]] = [
        ("C5a", abi.results, "results"),
        ("C5d", (*saved, abi.stack_register, *abi.fixed), "what a call may not change"),
    ]
    if floats:
        groups.append(("C5b", abi.float_results, "floating-point results"))
        groups.append(("C5d", tuple(abi.float_status), "floating-point control and status"))
    told = [(clauses.get(clause, clause), names, group) for clause, names, group in groups]
    same(retrace, call.landing, call.back, told, what, home=True)
    kept = clauses.get("C5d", "C5d")
    same_mask(retrace, kept, call.landing, call.back, what, home=True)
    same_stack(retrace, kept, call, what, home=True)


ALL_C5G = dict.fromkeys(("C5a", "C5b", "C5d"), "C5g")


@check("C4d", "C5g", "C6b", features=GRAPH, layer=Layer.CALL)
def the_way_home_after_tracing_has_ended(bench: Bench) -> None:
    """The same if the graph tracer was switched off while the function ran."""
    prepare = partial(hijacked, bench, LEAF)
    retrace = Retrace(bench, prepare, ended=True)
    what = f"a hijacked call of {LEAF} that ended after the graph tracer"
    bench.locate = retrace.last_instruction
    call = _go_home(retrace, prepare, what)
    if call is None:
        return
    message = f"{what} did not come to {LANDING}"
    if bench.require("C5g", bool(call.landing), message, partial(why_not_hijacked, retrace, call)):
        _compare_return(retrace, call, what, ALL_C5G)


@check(*("C4f", "C4a", "C4c", "C11b", "C20a"), variants=BOTH, features=GRAPH, layer=Layer.CALL)
def a_call_that_the_graph_tracer_refuses(bench: Bench) -> None:
    """The entry handler returns 0: the function returns as if it were not traced."""
    for name in (LEAF, OTHER):
        prepare = partial(hijacked, bench, name, entry="ftrace_graph_entry_stub")
        retrace = Retrace(bench, prepare)
        bench.locate = partial(_who_hijacked, retrace)
        what = f"a refused call of {name}"
        try:
            call = retrace.go(home=True)
        except NotReached as error:
            _judge_first(retrace, error)
            return
        bench.require(
            "C4f", not call.landing, f"{what} came to {LANDING}", partial(_who_hijacked, retrace)
        )
        asked = GRAPH_ENTER in call.called
        message = f"{what} did not come to {GRAPH_ENTER}"
        reached = "C4f" if prepare_of(bench.image) in call.called else way_in(bench)
        bench.require(reached, asked, message, partial(why_not_hijacked, retrace, call))
        compare(retrace, call, what, dict.fromkeys(ALL_C4C, "C4f"))
