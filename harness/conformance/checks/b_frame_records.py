# SPDX-License-Identifier: MIT
"""The frame records of a traced call, if the ABI has them."""

from functools import partial

from harness.conformance.comparison import expected_behind
from harness.conformance.localization.retrace import Retrace
from harness.conformance.places import function_of
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.switch import Switch
from harness.conformance.under_test.traced_call import HANDLER, TracedCall
from harness.conformance.verdict import Place
from harness.tracer import has_one_slot


def judge_records(retrace: Retrace, call: TracedCall, function: str, what: str) -> None:
    """The innermost return addresses in the frame records, if the ABI has them."""
    bench = retrace.bench
    if not bench.isa.abi.frame_record or function not in call.returns:
        return
    # The function may have made its record before the site.
    beyond = [address for address in call.outer if address != call.caller]
    expected = [bench.sites.resumes(call.site), call.caller, *beyond[:1]]
    found = call.returns[function]
    if has_one_slot(bench.image.symbols):
        # The list function has come in between.
        stub = bench.code.stub
        found = [at for at in found if bench.image.function_at(at) != stub]
    found = found[: len(expected)]
    caller = _called_by(bench, call, function)
    # The linked list is whole up to a wrong address behind which there are right ones.
    wrong = [at for at, pair in enumerate(zip(found, expected, strict=False)) if len({*pair}) > 1]
    stored = wrong[0] if len(wrong) == 1 and len(found) == len(expected) else None
    bench.require(
        "C14b",
        found == expected,
        f"{what}: from {function} an unwinder does not come to the function and its callers",
        partial(_record, retrace, function, caller, stored) if caller else None,
        f"the frame record of {caller}" if caller else "",
        expected=[bench.image.symbolize(address) for address in expected],
        found=[bench.image.symbolize(address) for address in found],
    )


def judge_records_at_return(retrace: Retrace, call: TracedCall, what: str) -> None:
    """The frame records in the handler of returns lead to the caller's frame.

    Not without one, nor behind a site that has left another stack pointer: the function's own frame
    is wrong then.
    """
    bench, stack = retrace.bench, retrace.bench.isa.abi.stack_register
    expected = expected_behind(bench.isa.abi, call.site.form, call.before)
    if not call.linked or call.behind[stack] != expected[stack]:
        return
    bench.require(
        "C14b",
        call.linked[0] in call.returns[HANDLER][:2],
        f"{what}: from {HANDLER} an unwinder does not come to the caller's frame",
        retrace.last_instruction,
        expected=[bench.image.symbolize(address) for address in call.linked[:1]],
        found=[bench.image.symbolize(address) for address in call.returns[HANDLER]],
    )


def _record(retrace: Retrace, function: str, caller: str, wrong: int | None) -> Place | None:
    """Where the stub has made its frame record, or the stub."""
    return retrace.record(function, wrong) or function_of(retrace.bench.image, caller)


def _called_by(bench: Bench, call: TracedCall, function: str) -> str:
    """The stub that called a C function."""
    caller = bench.image.function_at(call.returns_to[function])
    # A stub that is patched goes on to this one, and the frame is its own.
    if caller and caller.name == "ftrace_graph_caller" and Switch(bench).dynamic:
        caller = bench.code.stub
    return caller.name if caller else ""
