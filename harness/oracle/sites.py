# SPDX-License-Identifier: MIT
"""The call sites of a guest, found by disassembling it: independent of the guest's own table."""

from weakref import WeakKeyDictionary

from harness.errors import GuestError
from harness.image import Function, Image
from harness.isa import MCOUNT, Instruction

ENTRY = 3
"""Instructions in which a patchable entry is, with a landing pad in front of it."""

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
    mcount, arch = image.symbols.get(MCOUNT), image.isa.sites
    if mcount is not None:
        every = (_disassemble(image, one, one.size) for one in image.functions)
        calls = [call for listing in every for call in arch.find_calls(listing, mcount)]
        if calls:
            return {site: site for site in calls}
    size = ENTRY * image.isa.longest
    starts = (_disassemble(image, one, min(one.size, size)) for one in image.functions)
    entries = [entry for listing in starts if (entry := arch.find_entry(listing))]
    table = _table(image)
    return {call: site for site, call in entries if site in table or not image.is_assembled(site)}


def _table(image: Image) -> set[int]:
    try:
        return {site.address for site in image.sites}
    except GuestError:
        # It is damaged, which is for others to say.
        return set()


def _disassemble(image: Image, function: Function, size: int) -> list[Instruction]:
    return image.isa.disassemble(image.read(function.address, size), function.address)
