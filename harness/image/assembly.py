# SPDX-License-Identifier: MIT
"""The parts of an image that come from assembler files, according to its debug information."""

import io
from typing import Any

ASSEMBLER = 0x8001
"""DW_LANG_Mips_Assembler, used by GNU as and LLVM for every architecture."""

COMPRESSED = 0x800
"""SHF_COMPRESSED: the size of such a section is not known in advance."""

WORK = 1 << 28
"""Bytes of abbreviations to read at most; a guest has a hundredth of it."""


def assembled(data: bytes) -> list[range]:
    """The addresses of that code in a linked file; empty without debug information or with too
    much.

    For a damaged file pyelftools raises any exception.
    """
    from elftools.elf.elffile import ELFFile

    file: Any = ELFFile(io.BytesIO(data))
    debug = [s for s in file.iter_sections() if s.name.startswith((".debug_", ".zdebug_"))]
    sizes = {section.name: section["sh_size"] for section in debug}
    if any(section["sh_flags"] & COMPRESSED for section in debug) or ".debug_aranges" not in sizes:
        return []
    dwarf = file.get_dwarf_info(relocate_dwarf_sections=False)
    entries = dwarf.get_aranges().entries
    units = {entry.info_offset for entry in entries}
    if len(units) * sizes.get(".debug_abbrev", 0) > WORK:
        return []
    languages = {unit: _language(dwarf, unit) for unit in units}
    return [
        range(entry.begin_addr, entry.begin_addr + entry.length)
        for entry in entries
        if languages[entry.info_offset] == ASSEMBLER
    ]


def _language(dwarf: Any, unit: int) -> int | None:
    found = dwarf.get_CU_at(unit).get_top_DIE().attributes.get("DW_AT_language")
    return None if found is None else int(found.value)
