# SPDX-License-Identifier: MIT
"""Generated faults: each operation on each instruction of each stub.

``drop``: replaced by a nop; a nop is removed.  ``double``: repeated.  ``swap``: exchanged with the
next one.  ``register``: its first register replaced by another of its kind, ``last``: its last one.
``offset``: one word higher in memory.  ``target``: to another label.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from harness.isa import AsmSyntax, Effect
from harness.mutation.assembly import Statement, render

OPERATIONS = ("drop", "double", "swap", "register", "last", "offset", "target")

IDEMPOTENT = "done twice it does the same: it writes nothing that it reads"
UNREACHABLE = "nothing comes to the second one: what stands in front of it goes elsewhere"
INDEPENDENT = "neither of the two reads or writes what the other one writes"
SAME_CODE = "the compiler makes the same of it in every build of this config"
PROOFS = (IDEMPOTENT, UNREACHABLE, INDEPENDENT, SAME_CODE)

_LABEL_OPERAND = re.compile(r"(?<![\w.$%:])(\.L\w+|[a-zA-Z_]\w{3,})$")
_NUMBER = re.compile(r"[\d\s+*()-]+")


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault in one file.

    ``name`` is ``function/number/operation`` with the number of the instruction in the function,
    ``source`` the text of the file, and ``equivalent`` the proof that it changes nothing, if any.
    """

    name: str
    at: int
    about: str
    source: str
    equivalent: str = ""


def faults(found: Sequence[Statement], syntax: AsmSyntax) -> Iterator[Fault]:
    """Every fault in the statements of a file."""
    numbers: dict[str, int] = {}
    labels = [one.text[:-1] for one in found if one.is_label and not one.text[0].isdigit()]
    for at, one in enumerate(found):
        if not one.is_instruction:
            continue
        number = numbers[one.function] = numbers.get(one.function, -1) + 1
        for operation in OPERATIONS:
            new = _mutated(found, at, operation, syntax, labels)
            if new is not None:
                yield Fault(
                    f"{one.function}/{number}/{operation}",
                    at,
                    f"{one.text}: {operation}",
                    render([*found[:at], *new]),
                    _proof(found, at, operation, syntax),
                )


def _proof(found: Sequence[Statement], at: int, operation: str, syntax: AsmSyntax) -> str:
    """Why a fault cannot change anything; empty if the statements do not show it."""
    if _is_slot(found, at):
        return IDEMPOTENT if operation == "double" and not syntax.jumps_delay else ""
    ahead = next((n for n in range(at - 1, -1, -1) if found[n].is_instruction), None)
    before = None if ahead is None else found[ahead]
    delayed = before is not None and syntax.delays(before.text)
    if ahead is not None and _is_slot(found, ahead):
        # After what is written there.
        delayed = syntax.jumps_delay
    if operation == "double":
        if _is_nop(found[at]):
            return IDEMPOTENT
        # After an unconditional branch without a delay slot, or after its delay slot.
        last = before.text if before is not None and delayed else found[at].text
        if syntax.ends(last) and delayed == syntax.delays(last):
            return UNREACHABLE
    if delayed:
        return ""
    effect = syntax.effect(found[at].text)
    if effect is None:
        return ""
    if operation == "double" and _idempotent(effect):
        return IDEMPOTENT
    if operation == "swap":
        other = syntax.effect(next(n for n in found[at + 1 :] if n.is_instruction).text)
        if other is not None and _independent(effect, other):
            return INDEPENDENT
    return ""


def _is_slot(found: Sequence[Statement], at: int) -> bool:
    """Whether it is a nop with a label, where a port writes a call or a jump."""
    return _is_nop(found[at]) and at > 0 and found[at - 1].is_label


def _is_nop(one: Statement) -> bool:
    """Whether it is a nop, of any width."""
    return one.text.partition(".")[0] == "nop"


def _idempotent(effect: Effect) -> bool:
    return not effect.reads & effect.writes and not (effect.loads and effect.stores)


def _independent(one: Effect, other: Effect) -> bool:
    return (
        not one.writes & (other.reads | other.writes)
        and not other.writes & one.reads
        and not _overlap(one.stores, other.stores)
        and not _overlap(one.stores, other.loads)
        and not _overlap(one.loads, other.stores)
    )


def _overlap(one: tuple[str, str, int] | None, other: tuple[str, str, int] | None) -> bool:
    """Whether two memory operands may overlap."""
    if one is None or other is None:
        return False
    first, second = (_value(place[1]) for place in (one, other))
    if one[0] != other[0] or first is None or second is None:
        return True
    return first < second + other[2] and second < first + one[2]


def _value(offset: str) -> int | None:
    """An offset as a number; None if it is not a sum or product of numbers."""
    text = offset.strip() or "0"
    if not _NUMBER.fullmatch(text):
        return None
    try:
        total = 0
        for term in re.split(r"\+", text):
            product = 1
            for factor in term.split("*"):
                product *= int(factor.strip().strip("()").strip())
            total += product
    except ValueError:
        return None
    return total


def _mutated(
    found: Sequence[Statement], at: int, operation: str, syntax: AsmSyntax, labels: Sequence[str]
) -> list[Statement] | None:
    """The statements from ``at`` on with the fault; None if the operation does not apply."""
    one, rest = found[at], list(found[at + 1 :])
    mnemonic, _, operands = one.text.partition(" ")
    if operation == "drop":
        return rest if _is_nop(one) else [Statement("nop", one.function), *rest]
    if operation == "double":
        return [one, one, *rest]
    if operation == "swap":
        place = next((n for n, other in enumerate(rest) if not other.is_unwind), 0)
        following = rest[place] if rest else None
        if following is None or not following.is_instruction or following.text == one.text:
            return None
        return [following, *rest[:place], one, *rest[place + 1 :]]
    changed = _operands(operands, operation, syntax, labels)
    if changed is None or changed == operands:
        return None
    return [Statement(f"{mnemonic} {changed}", one.function), *rest]


def _operands(
    operands: str, operation: str, syntax: AsmSyntax, labels: Sequence[str]
) -> str | None:
    if operation in ("register", "last"):
        matches = list(re.finditer(syntax.register, operands))
        if not matches or (operation == "last" and len(matches) < 2):
            return None
        place = matches[0 if operation == "register" else -1]
        register = syntax.another_register(place[0])
        return f"{operands[: place.start()]}{register}{operands[place.end() :]}"
    if operation == "offset":
        return syntax.another_offset(operands)
    match = _LABEL_OPERAND.search(operands)
    if not match:
        return None
    other = next((label for label in labels if label != match[1]), None)
    return None if other is None else operands[: match.start()] + other
