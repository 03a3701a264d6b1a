# SPDX-License-Identifier: MIT
"""The instruction set and the instruction words of an ELF file."""

from harness.errors import FormatError
from harness.image.elf import Elf
from harness.isa import Isa, for_elf


def isa_of(elf: Elf) -> Isa:
    """The instruction set that ``elf`` is for; FormatError when it cannot be traced."""
    try:
        return for_elf(elf.machine, elf.bits, elf.byteorder, elf.flags)
    except FormatError as error:
        raise FormatError(f"{elf.name}: {error.message}", error.advice) from None


def words_around(elf: Elf, isa: Isa, address: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The words before ``address`` and those from there on, as many as ``isa`` likes to see.

    Either is short or empty where the file's segment ends, or where ``address`` is unaligned.
    """
    if address % 4:
        return (), ()
    segment = elf.segment_at(address)
    if segment is None:
        return (), ()
    start = max(segment.address, address - 4 * isa.words_before_site)
    end = min(segment.address + segment.size, address + 4 * isa.words_at_site)
    size = (end - start) // 4 * 4
    offset = segment.offset + start - segment.address
    words = isa.bytes_to_words(elf.data[offset : offset + size])
    split = (address - start) // 4
    return words[:split], words[split:]
