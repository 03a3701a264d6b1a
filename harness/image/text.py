# SPDX-License-Identifier: MIT
"""The instruction set and the code of an ELF file."""

from harness.errors import FormatError
from harness.image.elf import Elf
from harness.isa import Isa, for_elf


def isa_of(elf: Elf) -> Isa:
    """The instruction set of ``elf``; FormatError if it is not supported."""
    try:
        isa = for_elf(elf.machine, elf.bits, elf.byteorder, elf.flags)
    except FormatError as error:
        raise FormatError(f"{elf.name}: {error.message}", error.advice) from None
    if isa.marked and any(one.type == "STT_FUNC" and one.address & 1 for one in elf.symbols):
        return for_elf(elf.machine, elf.bits, elf.byteorder, elf.flags, marked=True)
    return isa


def code_around(elf: Elf, isa: Isa, address: int) -> tuple[bytes, bytes]:
    """The code before ``address`` and from it on, as much as is needed to recognise a call site.

    Either is short or empty at the edge of a segment, or if ``address`` is unaligned.
    """
    segment = elf.segment_at(address)
    if address % isa.unit or segment is None:
        return b"", b""
    start = max(segment.address, address - isa.sites.before)
    end = min(segment.address + segment.size, address + isa.sites.extent)
    code = elf.data[segment.offset + start - segment.address :][: end - start]
    return code[: address - start], code[address - start :]
