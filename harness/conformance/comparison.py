# SPDX-License-Identifier: MIT
"""What a call has left of registers and stack, against what was there before it."""

from collections.abc import Iterable

from harness.conformance.bench import Bench
from harness.conformance.kernel_words import live_registers
from harness.conformance.traced_call import LANDING, Registers, TracedCall


def compare(
    bench: Bench,
    call: TracedCall,
    what: str,
    clauses: dict[str, str],
    *,
    hijacked: bool = False,
) -> None:
    """Registers and stack behind the site against those in front of it.

    ``clauses`` says which clause asks for arguments (``args``), ``others`` that mean something,
    the return address (``return``), ``saved`` registers, ``status``, ``fixed`` and the ``stack``.
    """
    isa, abi = bench.isa, bench.isa.abi
    before, behind = call.before, call.behind
    at_site = isa.abi.at_site(call.site.form)
    live, floats = live_registers(abi, call.site.form, bench.kernel), bench.kernel.floating_point
    arguments = [name for name in live if name in abi.argument_registers]
    others = [name for name in live if name not in abi.argument_registers]
    status = [name for name in abi.float_status if name in before]
    groups: dict[str, Iterable[str]] = {
        "args": (*arguments, *(abi.float_arguments if floats and live else ())),
        "others": others,
        "saved": (*abi.saved, *(abi.float_saved if floats else ()), isa.abi.stack_register),
        "status": status if floats else (),
        "fixed": abi.fixed,
    }
    for group, names in groups.items():
        nothing_left = group in _taken_away(bench, call) and not names
        if group in clauses and not nothing_left:
            same(bench, clauses[group], before, behind, names, f"{what}: {group}")
    landing = bench.image.symbols.get(LANDING)
    if "return" in clauses:
        wrong = {
            name: (before[source], behind[name])
            for name, source in at_site.moved.items()
            if behind[name] != before[source]
            and not (hijacked and behind[name] & isa.mask == landing)
        }
        bench.require(
            clauses["return"],
            not wrong,
            f"{what}: the return address is not back in {', '.join(wrong)}",
            registers={name: f"{was:#x} -> {now:#x}" for name, (was, now) in wrong.items()},
        )
    if "stack" in clauses:
        allowed = 1 if hijacked else 0
        same_stack(bench, clauses["stack"], call.above, call.above_behind, before, what, allowed)


def _taken_away(bench: Bench, call: TracedCall) -> tuple[str, ...]:
    """The groups of which port.toml rules out some registers."""
    live = bench.isa.abi.at_site(call.site.form).live
    kernel = bench.kernel
    return (
        *(() if kernel.nested_functions or bench.isa.abi.static_chain not in live else ["others"]),
        *(() if kernel.floating_point else ["status"]),
    )


def same(
    bench: Bench,
    clause: str,
    before: Registers,
    after: Registers,
    names: Iterable[str],
    what: str,
) -> None:
    """The clause asks for these registers to hold what they held before."""
    names = tuple(names)
    wrong = [name for name in names if before[name] != after[name]]
    bench.require(
        clause,
        not wrong,
        f"{what} changed: {', '.join(wrong)}",
        registers={name: f"{before[name]:#x} -> {after[name]:#x}" for name in wrong},
    )


def same_stack(
    bench: Bench,
    clause: str,
    before: bytes,
    after: bytes,
    registers: Registers,
    what: str,
    allowed: int = 0,
) -> None:
    """The clause asks for the stack to hold what it held before, but for so many words."""
    word = bench.isa.word_size
    stack = registers[bench.isa.abi.stack_register]
    wrong = [
        at for at in range(0, len(before), word) if before[at : at + word] != after[at : at + word]
    ]
    bench.require(
        clause,
        len(wrong) <= allowed,
        f"{what}: memory of the function and its callers was written",
        expected={f"{stack + at:#x}": before[at : at + word].hex() for at in wrong[:8]},
        found={f"{stack + at:#x}": after[at : at + word].hex() for at in wrong[:8]},
    )
