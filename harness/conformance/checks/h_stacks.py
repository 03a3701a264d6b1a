# SPDX-License-Identifier: MIT
"""Stack traces taken in the tracer, through the port's stubs."""

from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import pairwise

from harness.conformance.checks.b_crossing import LEAF, traced
from harness.conformance.checks.c_events import Watched, watch
from harness.conformance.localization.retrace import Retrace
from harness.conformance.registry import BOTH, check
from harness.conformance.under_test import switch
from harness.conformance.under_test.bench import Bench
from harness.conformance.verdict import Place
from harness.isa import CallSite
from harness.oracle import Call, Return
from harness.trace import FunctionEvent, TraceEvent
from harness.trace.kernel_events import KernelStackEvent
from harness.tracer import has_call_ops

TRACER = "function_stack_trace_call"
"""The tracer that records a function entry, and a stack trace after it."""

EVERY = 12
"""One of this many sites is on, and of a function and the one that checks it both."""
CHECKS = "check_"

DEEP = 8
"""The number of callers that are compared."""

JUMPS = "longjmp"
"""Part of the names of functions that discard frames without returning."""


@check("C14b", variants=BOTH)
def stack_traces_from_the_tracer(bench: Bench) -> None:
    """The traced function and its callers, against QEMU's record, at sites of all kinds."""
    with watch(bench) as watched:
        _trace(watched, TRACER)
        _judge(watched, ("C14b",), "in the tracer")


@check("C12b", "C14b", features=("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_RET_ADDR_PTR"))
def stack_traces_of_hijacked_functions(bench: Bench) -> None:
    """The same while some of these functions are hijacked."""
    if bench.kernel.retp == "cookie":
        return
    with watch(bench) as watched:
        watched.switch.graph(True)
        _trace(watched, TRACER)
        _judge(watched, ("C12b", "C14b"), "with functions hijacked")


def _trace(watched: Watched, tracer: str) -> None:
    bench = watched.bench
    bench.used.add("function")
    if has_call_ops(bench.image.symbols) or not bench.by_port:
        watched.switch.tracer(True, tracer)
    elif watched.switch.dynamic:
        address = bench.image.address_of(tracer)
        bench.call(bench.image.address_of("ftrace_update_ftrace_func"), address)
    else:
        watched.switch.pointer("ftrace_trace_function", tracer)
    watched.switch.sites(True, _chosen(bench))
    bench.guest.tracer.clear()
    with bench.fail_if_guest_dies("C14b"):
        watched.run()


def _chosen(bench: Bench) -> list[CallSite]:
    """Some of the sites; all of them for a static port."""
    sites = [site for site in bench.image.sites if "." not in site.function]
    some = {site.function.removeprefix(CHECKS) for site in sites[::EVERY]}
    return [site for site in sites if site.function.removeprefix(CHECKS) in some]


def _judge(watched: Watched, clauses: tuple[str, ...], when: str) -> None:
    bench = watched.bench
    events = [e for e in watched.events if isinstance(e, FunctionEvent | KernelStackEvent)]
    # Compared by function: the exact ip is the subject of another clause.
    function_at = bench.image.function_at
    on = {function_at(event.ip) for event in events if isinstance(event, FunctionEvent)}
    if "C12b" in clauses:
        through = any(function_at(a) in on for _, stack in _with_stacks(events) for a in stack[1:])
        bench.require("C12b", through, f"no stack trace {when} comes through one of these")
    flow = watched.oracle.flow()
    calls = [(call, chain) for call, chain in _chains(flow) if function_at(call.site) in on]
    pairs = list(_with_stacks(events))
    right = len(calls) == len(pairs) > 0 and all(
        function_at(event.ip) == function_at(call.site)
        for (event, _), (call, _) in zip(pairs, calls, strict=True)
    )
    for clause in clauses:
        bench.require(
            clause, right, f"{len(pairs)} stack traces {when} of {len(calls)} calls, or of others"
        )
    wrong = [
        (call, chain, callers)
        for (_, callers), (call, chain) in zip(pairs, calls, strict=False)
        if chain is not None and not _same(bench, call, chain, callers)
    ]
    frame = cache(partial(_frame, bench))
    for clause in clauses:
        bench.require(
            clause,
            not wrong,
            f"{len(wrong)} of {len(pairs)} stack traces {when} are not who called whom",
            frame,
            traces=lambda: [
                line
                for call, chain, callers in wrong[:3]
                for line in (
                    f"{call.function} (first of {len(wrong)})",
                    *(
                        f"{name}: {' <- '.join(bench.image.symbolize(a) for a in some[:DEEP])}"
                        for name, some in (("expected", [call.site, *chain]), ("found", callers))
                    ),
                )
            ],
        )


def _frame(bench: Bench) -> Place | None:
    """Where the stub makes its frame, whose record or table is wrong."""
    return Retrace(bench, partial(traced, bench, LEAF)).frame(switch.TRACER)


def _with_stacks(events: Sequence[TraceEvent]) -> Iterator[tuple[FunctionEvent, list[int]]]:
    """Each function entry with the stack trace after it."""
    for event, following in pairwise((*events, None)):
        if isinstance(event, FunctionEvent):
            stack = following.callers if isinstance(following, KernelStackEvent) else ()
            yield event, list(stack)


def _chains(flow: Sequence[Call | Return]) -> Iterator[tuple[Call, list[int] | None]]:
    """Each call with its return addresses, innermost first; None if frames were discarded."""
    open_calls: list[Call] = []
    for record in flow:
        if isinstance(record, Return):
            if open_calls:
                open_calls.pop()
            continue
        open_calls.append(record)
        jumped = any(JUMPS in call.function for call in open_calls)
        yield record, None if jumped else _parents(open_calls)


def _parents(open_calls: Sequence[Call]) -> list[int]:
    """The callers on the stack: a function that made a tail call is not on it any more."""
    found: list[int] = []
    inner: Call | None = None
    for call in reversed(open_calls):
        if inner is None or call.parent != inner.parent or call.function == inner.function:
            found.append(call.parent)
        inner = call
        if len(found) == DEEP:
            break
    return found


def _same(bench: Bench, call: Call, chain: Sequence[int], callers: Sequence[int]) -> bool:
    """Whether a trace has the traced function first, and then these return addresses."""
    if not callers:
        return False
    first, own = bench.image.function_at(callers[0]), bench.image.function_at(call.site)
    return first == own and list(callers[1 : 1 + len(chain)]) == list(chain)
