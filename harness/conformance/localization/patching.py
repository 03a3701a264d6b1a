# SPDX-License-Identifier: MIT
"""Single steps of a call of a patching function, to find the line that a failure comes from."""

import re
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from harness.conformance.findings import aspect_of
from harness.conformance.localization.byte_search import ByteSearch
from harness.conformance.localization.conditions import constant_condition, needless_choice
from harness.conformance.localization.decisions import decided_last, wrong_decision
from harness.conformance.localization.other_requests import other_sites, other_targets
from harness.conformance.localization.patching_search import STATUS, Search
from harness.conformance.localization.repeated_calls import come_to, mapped, steps_of, watched_text
from harness.conformance.localization.requests import RECORD, right_text, site_of, target_of
from harness.conformance.places import is_of_port, place_of
from harness.conformance.under_test.actions import (
    INIT_NOP,
    MAKE_NOP,
    MODULE_INIT,
    Actions,
    Called,
    first_patching,
)
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.others_data import OthersData
from harness.conformance.under_test.single_step import AROUND
from harness.conformance.verdict import CALLED, OTHERS_DATA, REACH, REFUSAL, WORDS, Evidence, Place
from harness.debugger import return_address
from harness.errors import GdbError, GuestError

_ADDRESS = re.compile("0x[0-9a-f]+")
"""What a line about an instruction begins with."""


def locate_patching(bench: Bench) -> None:
    """Find the lines of the first failures of each kind of the check that just ended.

    The guest is left in any state.
    """
    known: dict[tuple[str, str], Place | None] = {}
    told = {clause: [*failures] for clause, failures in bench.failures.items()}
    for clause, number, actions in [*bench.patched]:
        failure = told[clause][number]
        aspect = aspect_of(clause, failure)
        key = failure.patching, aspect
        if key not in known:
            known[key] = None
            # The guest may die again where it died before; then the line stays unknown.
            wrong = _differing(failure.evidence)
            for function in _called_for_site(failure.patching, actions):
                with suppress(GuestError, GdbError):
                    known[key] = _locate(bench, aspect, function, actions, wrong)
                    break
        place = known[key]
        if place is not None:
            told[clause][number] = replace(failure, place=place)
    # Without those of the calls that were repeated.
    bench.failures, bench.patched = told, []


def locate_at_boot(bench: Bench, aspect: str, function: str) -> Place | None:
    """The line of an aspect of the first call of a function of the port's, while the guest boots.

    The guest is left in any state.
    """
    return _locate(bench, aspect, function, Actions())


def locate_refused_site(bench: Bench) -> Place | None:
    """The line that refused the module in the last call, which was load_module().

    It is that which refused to switch a site off, or to prepare the module for the graph tracer.
    It is the function for sites if no line is found.  The guest is left in any state.
    """
    function, result = first_patching(bench.image), bench.isa.abi.results[0]
    actions, start = bench.actions.so_far(), bench.image.address_of(function)
    come_to(bench, function, actions)
    here = start & bench.isa.mask
    while here == start & bench.isa.mask:
        site = site_of(bench, function, bench.registers.read())
        bench.run_to(return_address(bench.guest.debugger, bench.isa.abi))
        if bench.registers.value(result) & STATUS:
            actions.site = site
            return _locate(bench, WORDS, function, actions)
        here = bench.run_to(start, CALL_RETURNS)
    return _not_prepared(bench, actions) or place_of(bench.image, start, CALLED)


def _not_prepared(bench: Bench, actions: Actions) -> Place | None:
    """The port's last decision before it refused to prepare the module for the graph tracer."""
    start, result = bench.image.symbols.get(MODULE_INIT), bench.isa.abi.results[0]
    if start is None or not is_of_port(bench.image, start):
        return None
    come_to(bench, MODULE_INIT, actions)
    place = decided_last(bench, "decided last, and refused the module")
    return place if bench.registers.value(result) & STATUS else None


def locate_refusal(bench: Bench) -> Place | None:
    """The line of the last call, a patching function's, that returned an error.

    It is the function if no line is found.  None if the port does not refuse it when only the
    actions are repeated: the functions that ran between them have changed what it looks at.  The
    guest is left in any state.
    """
    actions = bench.actions.so_far()
    return locate_request(bench, actions) if _is_refused_again(bench, actions) else None


def _is_refused_again(bench: Bench, actions: Actions) -> bool:
    """Whether the last of these actions, a call, returns an error again, or cannot be repeated."""
    last = actions.last_call
    called = None if last is None else bench.image.function_at(last.function)
    if called is None:
        return True
    try:
        come_to(bench, called.name, replace(actions, site=0))
        bench.run_to(CALL_RETURNS)
    except (GuestError, GdbError):
        return True
    return bool(bench.registers.value(bench.isa.abi.results[0]) & STATUS)


def locate_request(bench: Bench, actions: Actions) -> Place | None:
    """The line of the last of these actions, a patching function's, that was not done right."""
    function = actions.patching(bench.image)
    with suppress(GuestError, GdbError):
        place = _locate(bench, WORDS, function, actions)
        if place is not None:
            return place
    start = bench.image.symbols.get(function)
    return None if start is None else place_of(bench.image, start, CALLED)


def _called_for_site(function: str, actions: Actions) -> Sequence[str]:
    """The functions of the port that the kernel may have called for the site in ``function``."""
    by_kernel = actions.site and actions.last_call is not None and function not in RECORD
    return ("ftrace_modify_call", "ftrace_make_call", MAKE_NOP) if by_kernel else (function,)


def _differing(evidence: Evidence) -> set[int]:
    """The addresses of instructions that are not what they have to be, if it lists them."""
    lists = (evidence.get(title) for title in ("expected", "found", "text"))
    expected, found, text = (set(one) if isinstance(one, list) else set() for one in lists)
    wrong = text | (expected ^ found if expected and found else set())
    return {int(match[0], 16) for match in map(_ADDRESS.match, wrong) if match}


def _locate(
    bench: Bench, aspect: str, function: str, actions: Actions, wrong: Collection[int] = ()
) -> Place | None:
    """``wrong`` are addresses of instructions that are not what they have to be, if known."""
    search, registers = _search(bench, aspect, function, actions, wrong)
    if search is None:
        return None
    executed = search.executed
    place = granted = None
    if aspect == WORDS:
        granted = _granted_of(bench, function, registers, search)
    if aspect == WORDS and search.is_refused:
        before = _prepared_wrong if function in RECORD else _left_before
        place = before(bench, function, actions)
    left_alone = aspect == WORDS and (search.is_incomplete or search.is_refused)
    if place is None and (left_alone or aspect in (REFUSAL, REACH)):
        place = constant_condition(bench, executed)
    if place is None and aspect == WORDS and not left_alone:
        place = needless_choice(bench, executed)
    if place is None and aspect == REFUSAL and function in RECORD:
        place = other_sites(bench, function, actions, executed, search.changed)
    if place is None and aspect == REACH:
        place = search.half_distance() or other_targets(bench, function, actions, executed)
    elif place is None and granted is not None:
        again = partial(come_to, bench, function, actions)
        compared = search.compared() if search.is_refused and function in RECORD else None
        place = compared or wrong_decision(bench, again, executed, granted)
        if place is None and not search.wrote and function in RECORD:
            place = search.done_nothing()
        place = place or search.asked_about()
    return place or search.place(aspect)


def _search(
    bench: Bench, aspect: str, function: str, actions: Actions, wrong: Collection[int] = ()
) -> tuple[Search | None, dict[str, int]]:
    """The steps of the call, None if there are none; and the registers of its arguments."""
    isa = bench.isa
    come_to(bench, function, actions)
    registers = bench.registers.read(*isa.abi.argument_registers)
    if aspect == OTHERS_DATA:
        others = OthersData(bench)
        look: Callable[[], bytes] = lambda: "\n".join(others.changed()).encode()  # noqa: E731
        wrong, right, start = (), b"", 0
    else:
        watched = watched_text(bench, function, registers)
        look = partial(bench.read_memory, watched.start, len(watched))
        right, start = right_text(bench, function, registers, watched), watched.start
        wrong = [at - watched.start for at in wrong if at in watched]
    steps = list(steps_of(bench, return_address(bench.guest.debugger, isa.abi), look))
    if not steps:
        return None, registers
    search = ByteSearch if isa.unit == 1 else Search
    return search(bench, steps[0], steps[1:], wrong, right, start), registers


def _left_before(bench: Bench, function: str, actions: Actions) -> Place | None:
    """Where the call before this one of the function left its slot wrong; None if it did not."""
    done, start = actions.done, bench.image.symbols[function]
    calls = [at for at, one in enumerate(done) if isinstance(one, Called) and one.function == start]
    if len(calls) < 2 or done[calls[-1]] is not actions.last_call:
        return None
    search, _ = _search(bench, WORDS, function, replace(actions, done=done[: calls[-2] + 1]))
    return search.place(WORDS) if search is not None and search.is_wrong else None


def _prepared_wrong(bench: Bench, function: str, actions: Actions) -> Place | None:
    """Where ftrace_init_nop() left the site wrong; None if it did not, or others have changed it.

    The guest is at the entry of the function that refused it, or behind it.
    """
    if first_patching(bench.image) != INIT_NOP or function == INIT_NOP:
        return None
    site = actions.site
    if not site:
        come_to(bench, function, actions)
        site = site_of(bench, function, bench.registers.read())
    if site not in bench.image.text:
        # Modules are not there at boot.
        return None
    search, _ = _search(bench, WORDS, INIT_NOP, Actions(memory=actions.memory, site=site))
    return search.place(WORDS) if search is not None and search.is_wrong else None


def _granted_of(
    bench: Bench, function: str, registers: dict[str, int], search: Search
) -> Callable[[], bool] | None:
    """Judges the same request after other decisions; None if that is not known.

    ``registers`` are those of its arguments.
    """
    if function not in RECORD:
        return partial(_is_right, bench, search) if search.is_wrong else None
    if search.wrote:
        return None
    ip = site_of(bench, function, registers)
    words = mapped(bench, range(ip, ip + AROUND.stop))
    target = target_of(bench, function, registers)
    before = bench.read_memory(words.start, len(words))
    return partial(_granted, bench, words, before, target)


def _is_right(bench: Bench, search: Search) -> bool:
    """Whether the call that has just returned left the slot as it has to be."""
    result = bench.isa.abi.results[0]
    watched = search.watched
    done = not bench.registers.value(result) & STATUS
    return done and bench.read_memory(watched.start, len(watched)) == search.right


def _granted(bench: Bench, words: range, before: bytes, target: int | None) -> bool:
    """Whether the call that has just returned switched its site, as far as the words tell.

    ``target`` is what the site has to call directly; None if it has to call nothing.
    """
    result = bench.isa.abi.results[0]
    if bench.registers.value(result) & STATUS:
        return False
    now = bench.read_memory(words.start, len(words))
    old, new = ({*bench.code.calls(words.start, code)} for code in (before, now))
    wanted = set() if target is None else {target}
    return now != before and {where for _, where in new - old} == wanted
