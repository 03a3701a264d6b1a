# SPDX-License-Identifier: MIT
"""Registers and stack that a traced call has changed, and the instruction that did it."""

from collections.abc import Iterable
from functools import partial

from harness.conformance.kernel_words import live_registers
from harness.conformance.localization.retrace import Retrace
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.traced_call import LANDING, Registers, TracedCall
from harness.conformance.verdict import COPIED, MANY_REGISTERS, MASK
from harness.isa import Abi, Form

IN, HOME = "on the way in", "on the way back"

GROUPS = ("args", "others", "return", "saved", "status", "fixed", "stack")
"""All that `compare` can compare, as in its ``clauses``."""


def compare(
    retrace: Retrace,
    call: TracedCall,
    what: str,
    clauses: dict[str, str],
    *,
    hijacked: bool = False,
) -> None:
    """Compare registers and stack after the site with those before it.

    ``clauses`` names the clause for arguments (``args``), ``others`` that are live, the return
    address (``return``), callee-``saved`` registers, ``status``, ``fixed`` and the ``stack``.
    """
    bench, abi = retrace.bench, retrace.bench.isa.abi
    before, behind = call.before, call.behind
    at_site = abi.at_site(call.site.form)
    live, floats = live_registers(abi, call.site.form, bench.kernel), bench.kernel.floating_point
    arguments = [name for name in live if name in abi.argument_registers]
    others = [name for name in live if name not in abi.argument_registers]
    status = [name for name in abi.float_status if name in before]
    groups: dict[str, Iterable[str]] = {
        "args": (*arguments, *(abi.float_arguments if floats and live else ())),
        "others": others,
        "saved": (*abi.saved, *(abi.float_saved if floats else ()), abi.stack_register),
        "status": status if floats else (),
        "fixed": abi.fixed,
    }
    taken = _taken_away(bench, call)
    asked = [
        (clauses[group], names, group)
        for group, names in groups.items()
        if group in clauses and (names or group not in taken)
    ]
    same(retrace, expected_behind(abi, call.site.form, before), behind, asked, what)
    landing = bench.image.symbols.get(LANDING)
    if "return" in clauses:
        wrong = {
            name: (before[source], behind[name])
            for name, source in at_site.moved.items()
            if behind[name] != before[source]
            and not (hijacked and bench.isa.pointed_to(behind[name]) == landing)
        }
        bench.require(
            clauses["return"],
            not wrong,
            f"{what}: the return address is not back in {', '.join(wrong)}",
            partial(retrace.last_write, tuple(wrong)),
            registers_of(wrong, IN),
            registers={name: f"{was:#x} -> {now:#x}" for name, (was, now) in wrong.items()},
        )
    same_mask(retrace, clauses.get("status", clauses["saved"]), before, behind, what)
    if "stack" in clauses:
        same_stack(retrace, clauses["stack"], call, what, allowed=1 if hijacked else 0)


def expected_behind(abi: Abi, form: Form, before: Registers) -> Registers:
    """The registers before a site, with the stack pointer expected after it."""
    stack = abi.stack_register
    return before | {stack: before[stack] + abi.at_site(form).pops}


def _taken_away(bench: Bench, call: TracedCall) -> tuple[str, ...]:
    """The groups from which port.toml excludes registers."""
    live = bench.isa.abi.at_site(call.site.form).live
    kernel = bench.kernel
    return (
        *(() if kernel.nested_functions or bench.isa.abi.static_chain not in live else ["others"]),
        *(() if kernel.floating_point else ["status"]),
    )


def same(
    retrace: Retrace,
    before: Registers,
    after: Registers,
    groups: Iterable[tuple[str, Iterable[str], str]],
    what: str,
    *,
    home: bool = False,
) -> None:
    """Whether the registers of each clause are unchanged; a name for each group."""
    told = [
        (clause, [name for name in names if before[name] != after[name]], group)
        for clause, names, group in groups
    ]
    every = tuple(dict.fromkeys(name for _, wrong, _ in told for name in wrong))
    for clause, wrong, group in told:
        names = every if len(every) > MANY_REGISTERS else tuple(wrong)
        retrace.bench.require(
            clause,
            not wrong,
            f"{what}: {group} changed: {', '.join(wrong)}",
            partial(retrace.last_write, names, home=home),
            _copied(retrace, (after[name] for name in wrong))
            or registers_of(names, HOME if home else IN),
            registers={name: f"{before[name]:#x} -> {after[name]:#x}" for name in wrong},
        )


def same_mask(
    retrace: Retrace,
    clause: str,
    before: Registers,
    after: Registers,
    what: str,
    *,
    home: bool = False,
) -> None:
    """Whether interrupts are masked and enabled as before."""
    isa = retrace.bench.isa
    status = isa.abi.status_registers[0]
    was, now = (isa.cpu.interrupt_mask(values[status]) for values in (before, after))
    retrace.bench.require(
        clause,
        was == now,
        f"{what}: the interrupt mask changed",
        partial(retrace.masked, home=home),
        MASK,
        registers={status: f"{before[status]:#x} -> {after[status]:#x}"},
    )


def changed_registers(names: Iterable[str], before: Registers, after: Registers) -> dict[str, str]:
    """Of these registers those that have changed, with both values, as evidence shows them."""
    return {n: f"{before[n]:#x} -> {after[n]:#x}" for n in names if before[n] != after[n]}


def registers_of(names: Iterable[str], way: str) -> str:
    """The key that failures of several calls share if they lose the same registers."""
    return f"{', '.join(sorted(names))} {way}"


def same_stack(
    retrace: Retrace,
    clause: str,
    call: TracedCall,
    what: str,
    *,
    home: bool = False,
    allowed: int = 0,
) -> None:
    isa, word = retrace.bench.isa, retrace.bench.isa.word_size
    order = retrace.bench.image.byteorder
    before, after = call.above, call.above_behind
    registers = call.before
    if home:
        before, after, registers = call.above_landing, call.above_back, call.landing
    stack = registers[isa.abi.stack_register]
    wrong = [
        at for at in range(0, len(before), word) if before[at : at + word] != after[at : at + word]
    ]
    retrace.bench.require(
        clause,
        len(wrong) <= allowed,
        f"{what}: memory of the function and its callers was written",
        lambda: retrace.written(wrong[-1], home=home),
        _copied(retrace, (int.from_bytes(after[at : at + word], order) for at in wrong)),
        expected={f"{stack + at:#x}": before[at : at + word].hex() for at in wrong[:8]},
        found={f"{stack + at:#x}": after[at : at + word].hex() for at in wrong[:8]},
    )


def _copied(retrace: Retrace, values: Iterable[int]) -> str:
    """What a failure is about if one of the wrong values is the address of return_to_handler."""
    bench = retrace.bench
    landing = bench.image.symbols.get(LANDING)
    return COPIED if any(bench.isa.pointed_to(value) == landing for value in values) else ""
