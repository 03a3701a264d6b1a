# SPDX-License-Identifier: MIT
"""Faults planted without knowing anything: each instruction of each stub in turn.

``drop``: a nop in its place; a nop goes altogether.  ``double``: it stands twice.  ``swap``: it and
the next one change places.  ``register``: another register of its kind in place of its first one,
``last``: of its last one.  ``offset``: a word further in memory.  ``target``: to another place.
"""

import re
from collections.abc import Iterator, Sequence

from harness.conformance.assembly import Statement, render
from harness.isa import Isa

OPERATIONS = ("drop", "double", "swap", "register", "last", "offset", "target")

_LABEL_OPERAND = re.compile(r"(?<![\w.$%:])(\.L\w+|[a-zA-Z_]\w{3,})$")


def faults(found: Sequence[Statement], isa: Isa) -> Iterator[tuple[str, str, str]]:
    """Name, what was done and the new text, for each fault in a file.

    The name is ``function/number/operation``, with the number of the instruction in the function.
    """
    numbers: dict[str, int] = {}
    labels = [one.text[:-1] for one in found if one.is_label and not one.text[0].isdigit()]
    for at, one in enumerate(found):
        if not one.is_instruction:
            continue
        number = numbers[one.function] = numbers.get(one.function, -1) + 1
        for operation in OPERATIONS:
            new = _mutated(found, at, operation, isa, labels)
            if new is not None:
                name = f"{one.function}/{number}/{operation}"
                yield name, f"{one.text}: {operation}", render([*found[:at], *new])


def _mutated(
    found: Sequence[Statement], at: int, operation: str, isa: Isa, labels: Sequence[str]
) -> list[Statement] | None:
    """The statements from ``at`` on with the fault in; None where there is nothing to do."""
    one, rest = found[at], list(found[at + 1 :])
    mnemonic, _, operands = one.text.partition(" ")
    if operation == "drop":
        return rest if mnemonic == "nop" else [Statement("nop", one.function), *rest]
    if operation == "double":
        return [one, one, *rest]
    if operation == "swap":
        following = rest[0] if rest else None
        if following is None or not following.is_instruction or following.text == one.text:
            return None
        return [following, one, *rest[1:]]
    changed = _operands(operands, operation, isa, labels)
    if changed is None or changed == operands:
        return None
    return [Statement(f"{mnemonic} {changed}", one.function), *rest]


def _operands(operands: str, operation: str, isa: Isa, labels: Sequence[str]) -> str | None:
    if operation in ("register", "last"):
        matches = list(re.finditer(isa.assembly_register, operands))
        if not matches or (operation == "last" and len(matches) < 2):
            return None
        place = matches[0 if operation == "register" else -1]
        register = isa.another_register(place[0])
        return f"{operands[: place.start()]}{register}{operands[place.end() :]}"
    if operation == "offset":
        return isa.another_offset(operands)
    match = _LABEL_OPERAND.search(operands)
    if not match:
        return None
    other = next((label for label in labels if label != match[1]), None)
    return None if other is None else operands[: match.start()] + other
