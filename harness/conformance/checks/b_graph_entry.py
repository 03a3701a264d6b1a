# SPDX-License-Identifier: MIT
"""What the kernel's function_graph_enter is told of a hijacked call."""

from functools import partial

from harness.conformance.checks.b_crossing import judge_entry, traced, wrong_ip
from harness.conformance.comparison import expected_behind
from harness.conformance.localization.kept_words import kept_word
from harness.conformance.localization.retrace import Retrace
from harness.conformance.places import function_of
from harness.conformance.registry import DYNAMIC
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.traced_call import GRAPH_ENTER, LANDING, TracedCall, prepare_of
from harness.conformance.verdict import CONSTANT, FRAME_POINTER, Place
from harness.isa import Form
from harness.tracer import has_one_slot, has_ops


def graph_stub(bench: Bench) -> str:
    """The clause that requires the call of the graph tracer in a dynamic build."""
    symbols = bench.image.symbols
    if has_one_slot(symbols):
        return "C20a"
    return "C4c" if has_ops(symbols) else "C11b"


def way_in(bench: Bench) -> str:
    """The clause that requires the call of the graph tracer."""
    return graph_stub(bench) if bench.variant.name == DYNAMIC else "C4a"


def judge_graph_entry(retrace: Retrace, call: TracedCall, what: str) -> bool:
    """The arguments that prepare_ftrace_return passes on."""
    bench = retrace.bench
    isa, site = bench.isa, call.site
    prepare, count = prepare_of(bench.image), len(call.called.get(GRAPH_ENTER, ()))
    reached = "C4d" if prepare in call.called else way_in(bench)
    message = f"{what} came {count} times to {GRAPH_ENTER}"
    if not bench.require(reached, count == 1, message, partial(why_not_hijacked, retrace, call)):
        return False
    seen, arguments = call.first(GRAPH_ENTER), isa.abi.argument_registers[:3]
    ret, func, pointer = (seen[name] & isa.mask for name in arguments)
    of_func = partial(_of_func, retrace, call, func)
    of_pointer = partial(retrace.origin, arguments[2], GRAPH_ENTER)
    told = {
        "expected": {"ret": f"{call.caller:#x}", "func": f"{site.ip:#x}"},
        "found": {"ret": f"{ret:#x}", "func": f"{func:#x}"},
    }
    right = func == site.ip
    bench.require("C4e", right, f"{what}: func is not the call site", of_func, **told)
    judge_saved(retrace, call, what)
    if "FUNCTION_GRAPH_FP_TEST" in bench.variant.features:
        message = f"{what}: there is no frame pointer"
        shown = f"{pointer:#x}"
        bench.require("C6a", pointer != 0, message, of_pointer, FRAME_POINTER, frame_pointer=shown)
    if "FUNCTION_GRAPH_RET_ADDR_PTR" in bench.variant.features:
        _judge_retp(retrace, call, what)
    for function in (prepare, GRAPH_ENTER):
        if function in call.called:
            judge_entry(retrace, call.before, call.first(function), what, function, "C1e", "C4c")
    return True


def _of_func(retrace: Retrace, call: TracedCall, func: int) -> Place | None:
    """Where a wrong call site came from: the stub, if it has told the port's function that."""
    bench, prepare = retrace.bench, prepare_of(retrace.bench.image)
    arguments = bench.isa.abi.argument_registers
    told = call.first(prepare) if prepare in call.called else {}
    names = (name for name in arguments if name in told and told[name] & bench.isa.mask == func)
    name = next(names, None)
    if name is not None:
        return retrace.origin(name, prepare)
    return retrace.origin(arguments[1], GRAPH_ENTER)


def _judge_retp(retrace: Retrace, call: TracedCall, what: str) -> None:
    """The location of the return address, which is replaced there.

    There need not be one while the function runs: it returns by a register at a patchable entry,
    where it has not stored the address yet, or where a leaf's site loads it again.
    """
    bench = retrace.bench
    isa, name = bench.isa, bench.isa.abi.argument_registers[3]
    retp, replaced = call.first(GRAPH_ENTER)[name] & isa.mask, _replaced(bench, call)
    by_register = call.site.form is Form.PATCHABLE_ENTRY or isa.abi.leaf_returns_by_register
    if bench.kernel.retp == "cookie":
        right = retp != 0
    elif call.caller_at is not None:
        right = retp == call.caller_at
    elif replaced:
        right = retp in replaced
    else:
        at_place = call.place == isa.cpu.plain_address(call.caller)
        right = at_place or (by_register and retp != 0)
    bench.require(
        "C12a",
        right,
        f"{what}: retp is not where the return address is",
        partial(retrace.origin, name, GRAPH_ENTER),
        expected=f"{call.caller:#x}" + "".join(f" at {address:#x}" for address in replaced),
        found=f"{call.place or 0:#x} at {retp:#x}",
    )


def _replaced(bench: Bench, call: TracedCall) -> list[int]:
    """Addresses of words on the function's stack that have the address of return_to_handler now."""
    isa, landing = bench.isa, bench.image.symbols.get(LANDING)
    # The stub may have left another stack pointer.
    behind = expected_behind(isa.abi, call.site.form, call.before)
    first, stack = (seen[isa.abi.stack_register] & isa.mask for seen in (call.before, behind))
    size, order = isa.word_size, bench.image.byteorder
    words = range(max(stack - first, 0), len(call.above_behind), size)
    return [
        first + at
        for at in words
        if isa.pointed_to(int.from_bytes(call.above_behind[at : at + size], order)) == landing
        and call.above[at : at + size] != call.above_behind[at : at + size]
    ]


def judge_saved(retrace: Retrace, call: TracedCall, what: str) -> bool:
    """The return address that the kernel saves."""
    bench, saved = retrace.bench, _saved(retrace, call)
    right = saved == call.caller
    told = {"expected": f"{call.caller:#x}", "found": f"{saved:#x}"}
    place = partial(_of_saved, retrace, call)
    message = f"{what}: the saved return address is not the caller's"
    bench.require("C4d", right, message, place, **told)
    if bench.applies("C4j"):
        message = f"{what}: the saved return address is not the plain address"
        bench.require("C4j", right, message, place, **told)
    return right


def _saved(retrace: Retrace, call: TracedCall) -> int:
    """The return address that the kernel saves in a call that has come to it."""
    isa = retrace.bench.isa
    return isa.pointed_to(call.first(GRAPH_ENTER)[isa.abi.argument_registers[0]])


def _of_saved(retrace: Retrace, call: TracedCall) -> Place | None:
    """Where a wrong saved return address was made, or the place that it was read from."""
    bench = retrace.bench
    read_there = _place_of_another(retrace, call) if call.place == _saved(retrace, call) else None
    return read_there or retrace.origin(bench.isa.abi.argument_registers[0], GRAPH_ENTER)


def _place_of_another(retrace: Retrace, call: TracedCall) -> Place | None:
    """Where the address of another word than the return address was made; None if none was.

    It can be told where the call has left that on the stack, and the kernel is given its address.
    """
    retp = _told_place(retrace, call)
    is_another = None not in (retp, call.caller_at) and retp != call.caller_at
    return _origin_of_place(retrace) if is_another else None


def _place_of_unused(retrace: Retrace, call: TracedCall) -> Place | None:
    """Where the address of a word was made that was replaced, and by which nothing returns."""
    isa, symbols = retrace.bench.isa, retrace.bench.image.symbols
    retp = _told_place(retrace, call)
    if retp is None:
        return None
    left = retrace.left_at((retp - call.before[isa.abi.stack_register]) & isa.mask)
    is_replaced = left is not None and isa.pointed_to(left) == symbols.get(LANDING)
    return _origin_of_place(retrace) if is_replaced else None


def _told_place(retrace: Retrace, call: TracedCall) -> int | None:
    """The address of the return address that the kernel is told; None if it is not told any."""
    bench = retrace.bench
    if "FUNCTION_GRAPH_RET_ADDR_PTR" not in bench.variant.features:
        return None
    return call.first(GRAPH_ENTER)[bench.isa.abi.argument_registers[3]] & bench.isa.mask


def _origin_of_place(retrace: Retrace) -> Place | None:
    return retrace.origin(retrace.bench.isa.abi.argument_registers[3], GRAPH_ENTER)


def at_prepare(retrace: Retrace, how: str) -> Place | None:
    """The entry of the function that replaces return addresses."""
    image = retrace.bench.image
    return function_of(image, prepare_of(image), how=how)


def why_not_hijacked(
    retrace: Retrace, call: TracedCall, other: Retrace | None = None
) -> Place | None:
    """Where the port decided so, or hijacked something else; or its last instruction.

    ``other`` is the same call with the function tracer on, if it is not one of the workload.
    """
    prepare, place = prepare_of(retrace.bench.image), None
    if GRAPH_ENTER in call.called:
        place = _place_of_another(retrace, call) or _place_of_unused(retrace, call)
        if place is None and _saved(retrace, call) != call.caller:
            place = _of_saved(retrace, call)
        place = place or _hijacked_otherwise(retrace) or retrace.refusal(GRAPH_ENTER)
        # Nothing is decided behind it, and nothing is made.
        place = place or retrace.call_of(GRAPH_ENTER)
    elif prepare in call.called:
        how = f"did not call {GRAPH_ENTER}"
        place = (
            retrace.never_stored(prepare)
            or _wrong_site(retrace, call, prepare, other)
            or kept_word(retrace)
            or retrace.return_early(prepare, f"decided last; it {how}")
            or at_prepare(retrace, how)
        )
    elif retrace.bench.variant.name != DYNAMIC:
        place = retrace.not_asked(GRAPH_ENTER)
    return place or retrace.last_instruction()


def _hijacked_otherwise(retrace: Retrace) -> Place | None:
    """What made the address of return_to_handler, or the word by which it went to another place."""
    made = retrace.hijack()
    if made is None or made.how in CONSTANT:
        return made
    return kept_word(retrace) or made


def _wrong_site(
    retrace: Retrace, call: TracedCall, prepare: str, other: Retrace | None
) -> Place | None:
    """Where the stub made a wrong address of the call site; a tracer may be told it too."""
    bench, passed, site = retrace.bench, call.first(prepare), call.site
    values = {name: passed[name] & bench.isa.mask for name in bench.isa.abi.argument_registers}
    ip = wrong_ip(other or Retrace(bench, partial(traced, bench, site.function)))
    told = [name for name, value in values.items() if value == ip]
    inside = range(site.address, bench.sites.resumes(site) + 1)
    near = [name for name, value in values.items() if value in inside]
    if told or site.ip in values.values() or not near:
        return retrace.origin(told[0], prepare) if told else None
    return retrace.origin(near[0], prepare, again=True)
