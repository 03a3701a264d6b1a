# SPDX-License-Identifier: MIT
"""Where a patching function lets a request pass: the call is repeated with what it must refuse."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

from harness.conformance.localization.decisions import parting
from harness.conformance.localization.patching_search import STATUS
from harness.conformance.localization.repeated_calls import come_to, steps_of
from harness.conformance.localization.requests import RECORD, site_of
from harness.conformance.places import last_place
from harness.conformance.under_test.actions import Actions, Called, Written
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.watched_call import WatchedStep
from harness.conformance.verdict import Place
from harness.debugger import return_address
from harness.errors import GdbError, GuestError
from harness.isa import CallSite

FURTHER = 0x10000000
"""A distance in bytes by which a target out of reach stays out of reach of every call."""


def other_targets(
    bench: Bench, function: str, actions: Actions, executed: Sequence[int]
) -> Place | None:
    """Where other targets are refused, behind a branch that this one passes.

    If none is, where the port goes another way than with a target in reach, and does not refuse
    this one either; None if it goes the same way.
    """
    last = actions.last_call
    if last is None or not last.arguments or last.function != bench.image.symbols[function]:
        return None
    for target in _further_targets(bench, last.arguments[-1]):
        other = replace(last, arguments=(*last.arguments[:-1], target))
        # The guest may die of this target.
        with suppress(GuestError, GdbError):
            steps = _steps_of_call(bench, function, actions, other)
            if _is_refused(bench, steps):
                how = "refuses other targets, and lets this one pass"
                return parting(bench, executed, _way(steps), how)
    target = bench.image.pointer_to("ftrace_caller")
    valid = replace(last, arguments=(*last.arguments[:-1], target))
    with suppress(GuestError, GdbError):
        way = _way(_steps_of_call(bench, function, actions, valid))
        return parting(bench, executed, way, "goes another way with this target, and accepts it")
    return None


def other_sites(
    bench: Bench,
    function: str,
    actions: Actions,
    executed: Sequence[int],
    changed: Collection[int],
) -> Place | None:
    """Where what is no site is refused: a record whose address is not aligned.

    ``changed`` are the addresses whose bytes the request changes.  None if the port asks about
    another word of the site, or if the site is refused nowhere.
    """
    isa, last = bench.isa, actions.last_call
    if last is None or last.function != bench.image.symbols[function]:
        return None
    come_to(bench, function, actions)
    ip = site_of(bench, function, bench.registers.read())
    site = next((site for site in bench.image.sites if site.ip == ip), None)
    others = [] if site is None else [*_untouched(bench, site, changed)]
    if not others or isa.unit == 1:
        return None
    pointer = last.arguments[RECORD[function]] + bench.port.record.member("ip").offset
    unaligned = ip + isa.unit // 2
    moved = Written(pointer, unaligned.to_bytes(isa.word_size, bench.image.byteorder))
    # The guest may die of these sites.
    with suppress(GuestError, GdbError):
        if _way(_steps_of_call(bench, function, actions, *others, last)) != [*executed]:
            return None
        steps = _steps_of_call(bench, function, actions, moved, last)
        if _is_refused(bench, steps):
            how = "refuses what is no site, and not this one"
            refused = parting(bench, executed, _way(steps), how, but_answers=True)
            return refused and _asked_inline(bench, steps, unaligned, refused)
    return None


def _asked_inline(bench: Bench, steps: Sequence[WatchedStep], ip: int, refused: Place) -> Place:
    """The place of a question about a site, or of the inline function that loads its address.

    A compiler joins the question of such a function with one of its caller, in the caller's line.
    """
    image = bench.image
    states = (ip & bench.isa.mask in step.registers.values() for step in steps)
    loaded = next((at for at, holds in enumerate(states) if holds), 0)
    inside = image.inlined_calls(steps[loaded].address)
    if not loaded or not inside or inside == image.inlined_calls(refused.address):
        return refused
    how = "loads the address of the site, and does not refuse it"
    return last_place(image, _way(steps[: loaded + 1]), how) or refused


def _untouched(bench: Bench, site: CallSite, changed: Collection[int]) -> Iterator[Written]:
    """Other words in the place of those of a site that have none of these addresses."""
    at = site.address
    for word in bench.isa.split(bench.code.of(site)):
        if not {*range(at, at + len(word))} & {*changed}:
            yield Written(at, bytes(0xFF ^ byte for byte in word))
        at += len(word)


def _steps_of_call(
    bench: Bench, function: str, actions: Actions, *last: Called | Written
) -> list[WatchedStep]:
    """The steps of a call with other actions in the place of the last one."""
    come_to(bench, function, replace(actions, done=[*actions.done[:-1], *last]))
    return [*steps_of(bench, return_address(bench.guest.debugger, bench.isa.abi), bytes)]


def _way(steps: Sequence[WatchedStep]) -> list[int]:
    """The addresses of the instructions; the first step is the state before them."""
    return [step.address for step in steps[1:]]


def _is_refused(bench: Bench, steps: Sequence[WatchedStep]) -> bool:
    """Whether a call has returned an error."""
    return bool(steps[-1].registers[bench.isa.abi.results[0]] & STATUS)


def _further_targets(bench: Bench, target: int) -> Iterator[int]:
    """Other targets that a function refuses which must refuse this one, likeliest first."""
    mask = bench.isa.mask
    unaligned = [target + more & mask for more in (1, 2)]
    far = [target + more & mask for more in (FURTHER, -FURTHER)]
    is_unaligned = bool(target & ~bench.isa.code_bit & bench.isa.unit - 1)
    yield from (*unaligned, *far) if is_unaligned else (*far, *unaligned)
