# SPDX-License-Identifier: MIT
"""The call sites of a guest, found by disassembling it: independent of the guest's own table."""

from collections.abc import Iterator

from harness.image import Function, Image
from harness.isa import Instruction

MCOUNT = "_mcount"


def find_sites(image: Image) -> list[int]:
    """Addresses of every call site in the functions of a pristine image, in order.

    An image with a call to ``_mcount`` is of that form; then each such call is a site.  In any
    other, a function that begins with two nops, behind a landing pad if it has one, is patchable,
    and the first of them is its site.
    """
    mcount = image.symbols.get(MCOUNT)
    if mcount is not None:
        calls = [site for function in image.functions for site in _calls(image, function, mcount)]
        if calls:
            return sorted(set(calls))
    return sorted({site for function in image.functions for site in _entry(image, function)})


def _calls(image: Image, function: Function, target: int) -> Iterator[int]:
    for instruction in _disassemble(image, function, function.size):
        mnemonic, _, operand = instruction.text.partition(" ")
        # Calls are branches that link: bl, jal, bal.  A jump to _mcount would be no site.
        if mnemonic.endswith("l") and operand.strip().lstrip("#") == f"{target:#x}":
            yield instruction.address


def _entry(image: Image, function: Function) -> Iterator[int]:
    entry = _disassemble(image, function, min(function.size, 12))
    if entry and entry[0].text.startswith(("bti", "hint")):
        entry = entry[1:]
    if [instruction.text for instruction in entry[:2]] == ["nop", "nop"]:
        yield entry[0].address


def _disassemble(image: Image, function: Function, size: int) -> list[Instruction]:
    return image.isa.disassemble(image.read(function.address, size), function.address)
