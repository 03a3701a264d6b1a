# SPDX-License-Identifier: MIT
"""The call sites of a guest, found by disassembling it: independent of the guest's own table."""

from collections.abc import Iterator
from weakref import WeakKeyDictionary

from harness.errors import GuestError
from harness.image import Function, Image
from harness.isa import Instruction

MCOUNT = "_mcount"

SECOND = 4
"""From the first instruction of a patchable site to the second."""

_known: WeakKeyDictionary[Image, tuple[list[Function], dict[int, int]]] = WeakKeyDictionary()
"""What was found with which functions: to disassemble a kernel takes longer than to boot it."""


def find_sites(image: Image) -> list[int]:
    """Addresses of every call site in the functions of a pristine image, in order.

    An image with a call to ``_mcount`` is of that form; then each such call is a site, where it
    begins: a call through a register begins with the instruction that starts to load it.  In any
    other image, a function that begins with two nops, behind a landing pad if it has one, is
    patchable, and the first of them is its site.  A stub of an assembler file may begin so too; it
    is patchable only if it stands in the guest's table, where nobody else but itself puts it.
    """
    return sorted(find_watched(image).values())


def find_watched(image: Image) -> dict[int, int]:
    """The call sites of `find_sites`, by the address of the instruction that a call happens at.

    That is the second one where a site is patchable: the first is the same whether it is switched
    on or not, and a CPU that is between them as that changes does what the second says then.
    """
    functions, sites = _known.get(image, (None, {}))
    if functions is not image.functions:
        sites = _find(image)
        _known[image] = image.functions, sites
    return dict(sites)


def _find(image: Image) -> dict[int, int]:
    mcount = image.symbols.get(MCOUNT)
    if mcount is not None:
        calls = [site for function in image.functions for site in _calls(image, function, mcount)]
        if calls:
            return {site: site for site in calls}
    entries = [site for function in image.functions for site in _entry(image, function)]
    table = _table(image)
    return {
        site + SECOND: site for site in entries if site in table or not image.is_assembled(site)
    }


def _table(image: Image) -> set[int]:
    try:
        return {site.address for site in image.sites}
    except GuestError:
        # It is damaged, which is for others to say.
        return set()


def _calls(image: Image, function: Function, target: int) -> Iterator[int]:
    loads = _Loads()
    for instruction in _disassemble(image, function, function.size):
        mnemonic, _, operand = instruction.text.partition(" ")
        # Calls are branches that link: bl, jal, bal.  A jump to _mcount would be no site.
        if mnemonic.endswith("l") and operand.strip().lstrip("#") == f"{target:#x}":
            yield instruction.address
        loaded = loads.values.get(operand.strip()) if mnemonic == "jalr" else None
        if loaded is not None and loaded & image.isa.mask == target:
            yield loads.begin[operand.strip()]
        loads.follow(instruction.address, mnemonic, [part.strip() for part in operand.split(",")])


class _Loads:
    """The numbers that a run of instructions puts into registers, and where each load begins."""

    def __init__(self) -> None:
        self.values: dict[str, int] = {}
        self.begin: dict[str, int] = {}

    def follow(self, address: int, mnemonic: str, operands: list[str]) -> None:
        """Take in one instruction; registers whose number is not known any more are dropped."""
        register = operands[0]
        value = self._value(mnemonic, operands[1:])
        if value is None:
            self.values.pop(register, None)
            return
        if mnemonic == "lui":
            self.begin[register] = address
        self.values[register] = value

    def _value(self, mnemonic: str, operands: list[str]) -> int | None:
        if mnemonic == "lui":
            upper = int(operands[0], 0) << 16
            return upper - (upper >> 31 << 32)
        known = self.values.get(operands[0]) if len(operands) == 2 else None
        if known is None:
            return None
        if mnemonic in ("addiu", "daddiu"):
            return known + int(operands[1], 0)
        if mnemonic in ("dsll", "dsll32"):
            return known << int(operands[1], 0) + (32 if mnemonic == "dsll32" else 0)
        other = self.values.get(operands[1])
        return known + other if mnemonic in ("addu", "daddu") and other is not None else None


def _entry(image: Image, function: Function) -> Iterator[int]:
    entry = _disassemble(image, function, min(function.size, 12))
    if entry and entry[0].text.startswith(("bti", "hint")):
        entry = entry[1:]
    if [instruction.text for instruction in entry[:2]] == ["nop", "nop"]:
        yield entry[0].address


def _disassemble(image: Image, function: Function, size: int) -> list[Instruction]:
    return image.isa.disassemble(image.read(function.address, size), function.address)
