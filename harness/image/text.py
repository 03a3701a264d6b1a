# SPDX-License-Identifier: MIT
"""The instruction set and the code of an ELF file."""

from harness.errors import FormatError
from harness.image.elf import Elf
from harness.isa import Isa, for_elf


def isa_of(elf: Elf) -> Isa:
    """The instruction set that ``elf`` is for; FormatError when it cannot be traced."""
    try:
        return for_elf(elf.machine, elf.bits, elf.byteorder, elf.flags)
    except FormatError as error:
        raise FormatError(f"{elf.name}: {error.message}", error.advice) from None


def code_around(elf: Elf, isa: Isa, address: int) -> tuple[bytes, bytes]:
    """The code in front of ``address`` and from there on, as much as call sites are known by.

    Either is short or empty where the file's segment ends, or where ``address`` is unaligned.
    """
    segment = elf.segment_at(address)
    if address % isa.unit or segment is None:
        return b"", b""
    start = max(segment.address, address - isa.sites.before)
    end = min(segment.address + segment.size, address + isa.sites.extent)
    code = elf.data[segment.offset + start - segment.address :][: end - start]
    return code[: address - start], code[address - start :]
