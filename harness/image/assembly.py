# SPDX-License-Identifier: MIT
"""Which of an image's code an assembler file brought, as its debug information says."""

import io
from typing import Any

ASSEMBLER = 0x8001
"""DW_LANG_Mips_Assembler, which GNU as and LLVM's assembler give to all that they assemble."""

COMPRESSED = 0x800
"""SHF_COMPRESSED: what such a section grows to is not known before."""

WORK = 1 << 28
"""Bytes of abbreviations that are gone through at most; those of a guest are a hundredth of it."""


def assembled(data: bytes) -> list[range]:
    """Where that code lies in a linked file; nothing without debug information, or with too much.

    What is damaged comes out as whatever pyelftools raises over it.
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
