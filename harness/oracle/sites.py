# SPDX-License-Identifier: MIT
"""The call sites of a guest, found by disassembling it, independently of the guest's table."""

from weakref import WeakKeyDictionary

from harness.errors import GuestError
from harness.image import Function, Image
from harness.isa import Form, Instruction

ENTRY = 3
"""Instructions of a patchable entry, with a landing pad."""

_known: WeakKeyDictionary[Image, tuple[list[Function], dict[int, int]]] = WeakKeyDictionary()
"""A cache: disassembling a kernel takes longer than booting it."""


def find_sites(image: Image) -> list[int]:
    """Addresses of all call sites in the functions of an unmodified image, in order.

    If the image calls ``_mcount``, each such call is a site; a call through a register begins with
    the first instruction that loads it.  Otherwise a function that begins with two nops, behind a
    landing pad if any, is patchable, and the first nop is its site; the address is that of the
    record then, which may be the second nop.  A stub of an assembler file may begin like that too;
    it counts only if it is in the guest's table, in which only its own source can put it.
    """
    return sorted(find_watched(image).values())


def find_watched(image: Image) -> dict[int, int]:
    """The call sites of `find_sites`, by the address of the call instruction.

    In a patchable entry that is the second one.  The first one is the same in an enabled and a
    disabled site, and a CPU between the two, while the site is changed, executes the new second
    one.
    """
    functions, sites = _known.get(image, (None, {}))
    if functions is not image.functions:
        sites = _find(image)
        _known[image] = image.functions, sites
    return dict(sites)


def _find(image: Image) -> dict[int, int]:
    arch = image.isa.sites
    mcount = image.symbols.get(arch.mcount)
    if mcount is not None:
        # A stub may call ftrace_stub, and the two may be one.
        is_stub = mcount == image.symbols.get("ftrace_stub")
        every = (
            _disassemble(image, one, one.size)
            for one in image.functions
            if not (is_stub and image.is_assembled(one.address))
        )
        calls = [call for listing in every for call in arch.find_calls(listing, mcount)]
        if calls:
            return {site: site for site in calls}
    size = ENTRY * image.isa.longest
    starts = (
        _disassemble(image, one, min(one.size, size))
        for one in image.functions
        # Without room for a literal there is no site.
        if not image.literal_size or one.address % image.literal_size == 0
    )
    entries = [entry for listing in starts if (entry := arch.find_entry(listing))]
    table = _table(image)
    form = Form.PATCHABLE_ENTRY
    return {
        call: site + image.ip_offset(form, arch.size(form, image.read(site, size)))
        for site, call in entries
        if site in table or not image.is_assembled(site)
    }


def _table(image: Image) -> set[int]:
    try:
        return {site.address for site in image.sites}
    except GuestError:
        # It is damaged, which is reported elsewhere.
        return set()


def _disassemble(image: Image, function: Function, size: int) -> list[Instruction]:
    return image.isa.disassemble(image.read(function.address, size), function.address)
