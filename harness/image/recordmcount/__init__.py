# SPDX-License-Identifier: MIT
"""The table of call sites of a linked kernel, made from its relocations.

MIPS gcc has no ``-mrecord-mcount``.  In a final link with ``ld --emit-relocs`` every call to
``_mcount`` still has its relocation.  Unlike object files, the final link is unambiguous: bodies of
overridden weak functions are in no function, data references to ``_mcount`` are recognised by the
contents, and labels such as ``$L1`` do not matter.
"""

from dataclasses import dataclass

from harness.errors import FormatError, GuestError
from harness.image.elf import Elf
from harness.image.functions import functions_of, symbols_of
from harness.image.text import code_around, isa_of


@dataclass(frozen=True, slots=True)
class Records:
    """Addresses of call sites, sorted, and of other references to ``_mcount`` in text.

    ``ignored`` has addresses and reasons; the ``suspicious`` ones call ``_mcount``, but not as the
    compiler does.
    """

    sites: list[int]
    ignored: list[tuple[int, str]]
    suspicious: list[int]
    word_size: int


def recordmcount(data: bytes, name: str) -> Records:
    """Find the call sites in ``data``, a final link with ``--emit-relocs``.

    FormatError if it is not such a file; GuestError if it never calls ``_mcount``, which is always
    a mistake of the build.
    """
    elf = Elf(data, name)
    isa = isa_of(elf)
    if elf.type != "ET_EXEC":
        raise FormatError(f"{name} is not a final link", "Link it to an executable first.")
    relocations = elf.relocations()
    if not relocations:
        raise FormatError(f"{name} holds no relocations of its text", "Link with --emit-relocs.")
    called = isa.sites.mcount
    symbol_of_mcount = symbols_of(elf, isa.code_bit).get(called)
    mcount = symbol_of_mcount.address if symbol_of_mcount else None
    functions = functions_of(elf, isa.code_bit)
    named = {index for index, symbol in enumerate(elf.symbols) if symbol.name == called}
    sites: set[int] = set()
    suspicious: set[int] = set()
    ignored: dict[int, str] = {}
    for place, symbol, kind in relocations:
        if symbol not in named or kind not in isa.sites.call_relocations:
            continue
        address = place - isa.sites.relocation_offset
        before, code = code_around(elf, isa, address)
        if functions.at(address) is None:
            ignored[address] = "it lies in no function, as the body of an overridden weak one"
        elif isa.sites.recognise(address, code, mcount, before) is not None:
            sites.add(address)
        elif code and isa.sites.call_target(address, code) == mcount:
            suspicious.add(address)
            ignored[address] = f"it calls {called}, but not as the compiler does for -pg"
        else:
            ignored[address] = f"it names {called}, but does not call it"
    if not sites:
        raise GuestError(f"{name} has no call of {called} for -pg", "Compile it with -pg.")
    return Records(sorted(sites), sorted(ignored.items()), sorted(suspicious), isa.word_size)


def assembly(records: Records, source: str) -> str:
    """An assembler file with the section ``.mcount_loc``: one address for each site."""
    size = records.word_size
    lines = [
        f"/* Made by harness.image.recordmcount from {source}: {len(records.sites)} call sites. */",
        '\t.section .mcount_loc, "a", %progbits',
        f"\t.balign {size}",
        *(f"\t.{size}byte 0x{address:0{2 * size}x}" for address in records.sites),
    ]
    return "\n".join(lines) + "\n"
