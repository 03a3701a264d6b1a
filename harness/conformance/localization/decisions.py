# SPDX-License-Identifier: MIT
"""Which decision of a patching function is wrong: the call is repeated, and decided otherwise."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from harness.conformance.places import is_of_port, question
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.single_step import single_step, steps_to
from harness.conformance.verdict import DECIDED_WRONGLY, Place
from harness.debugger import return_address
from harness.errors import GdbError, GuestError

MOST_DECISIONS = 12
"""The most conditional branches of one call that are decided otherwise, the last ones first."""

_TARGET = re.compile(r"\b0x([0-9a-f]+)$")
"""What the text of a direct branch ends with."""


def wrong_decision(
    bench: Bench, again: Callable[[], object], executed: Sequence[int], succeeds: Callable[[], bool]
) -> Place | None:
    """The last conditional branch that makes the call succeed when it is decided the other way.

    ``again`` comes to the entry of the function, ``executed`` are the addresses of the steps from
    there on, and ``succeeds`` judges the call after its return.
    """
    for at, end, other in islice(other_ways(bench, executed), MOST_DECISIONS):
        if other is None:
            continue
        # The guest may die on a way that it never takes.
        with suppress(GuestError, GdbError):
            again()
            back = return_address(bench.guest.debugger, bench.isa.abi)
            here = executed[0]
            for _ in range(end):
                here = single_step(bench, here)
            bench.registers.write({bench.isa.abi.pc_register: other})
            bench.run_to(back)
            if succeeds():
                return question(bench.image, executed[: at + 1], DECIDED_WRONGLY)
    return None


def parting(
    bench: Bench,
    executed: Sequence[int],
    others: Sequence[int],
    how: str,
    *,
    but_answers: bool = False,
) -> Place | None:
    """The port's last conditional branch before two calls of a function take different ways.

    ``but_answers``: None if it is about what a function of the kernel's has answered just before.
    """
    pairs = enumerate(zip(executed, others, strict=False))
    same = next((at for at, (one, other) in pairs if one != other), 0)
    if but_answers and _is_about_answer(bench, executed[: same + 1]):
        return None
    return last_decision(bench, executed[: same + 1], how)


def _is_about_answer(bench: Bench, executed: Sequence[int]) -> bool:
    """Whether the last branch is the first one behind a call of a function of the kernel's."""
    image, every = bench.image, _branches(bench, executed)
    last, before = next(every, 0), next(every, 0)
    inside = image.function_at(executed[last])
    return any(
        image.function_at(here) != inside and not is_of_port(image, here)
        for here in executed[before:last]
    )


def last_decision(
    bench: Bench, executed: Sequence[int], how: str, *, own: bool = False
) -> Place | None:
    """The port's last conditional branch among these steps, but for the last one.

    ``own``: of the function that is executed first, and of no inline one.
    """
    image = bench.image

    def is_own(at: int) -> bool:
        same = image.function_at(executed[at]) == image.function_at(executed[0])
        return same and not image.inlined_calls(executed[at])

    branch = next((at for at in _branches(bench, executed) if not own or is_own(at)), None)
    return None if branch is None else question(bench.image, executed[: branch + 1], how)


def decided_last(bench: Bench, how: str) -> Place | None:
    """The port's last decision in a call at whose entry the guest is; None if that takes too long.

    The guest has come to the end of the call then.
    """
    end = return_address(bench.guest.debugger, bench.isa.abi)
    executed = steps_to(bench, end)
    came = executed[-1] == end & bench.isa.mask
    return last_decision(bench, executed, how) if came else None


def _branches(bench: Bench, executed: Sequence[int]) -> Iterator[int]:
    """The steps that are conditional branches of the port, the last one first."""
    is_conditional, linked = bench.isa.cpu.is_conditional, bench.code.linked
    for at in range(len(executed) - 2, -1, -1):
        address = executed[at]
        if is_conditional(linked(address)) and is_of_port(bench.image, address):
            yield at


def other_ways(bench: Bench, executed: Sequence[int]) -> Iterator[tuple[int, int, int | None]]:
    """The port's conditional branches among these steps, the last one first.

    The step of each, the first step behind it, and where it did not go; None if it is not direct.
    """
    for at in _branches(bench, executed):
        # A step may end in the delay slot of a branch, or behind it.
        slot = bench.code.in_slot(executed[at])
        end = at + 2 if executed[at + 1] == slot else at + 1
        yield at, end, _other_way(bench, executed[at], *executed[end : end + 1])


def _other_way(bench: Bench, address: int, *went: int) -> int | None:
    """Where a conditional branch leads that it did not go; None if it is no direct branch.

    ``went`` is where it went, if anything was executed behind it.
    """
    target = _TARGET.search(bench.code.disassembled(address))
    if target is None or bench.image.function_at(int(target[1], 16)) is None:
        return None
    last = bench.code.in_slot(address)
    behind = last + len(bench.code.linked(last))
    return int(target[1], 16) if went == (behind,) else behind
