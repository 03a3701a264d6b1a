# SPDX-License-Identifier: MIT
"""The files that an image was compiled from, and its assembler code, by its debug information."""

import io
from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

ASSEMBLER = 0x8001
"""DW_LANG_Mips_Assembler, used by GNU as and LLVM for every architecture."""

COMPRESSED = 0x800
"""SHF_COMPRESSED: the size of such a section is not known in advance."""

WORK = 1 << 28
"""Bytes of abbreviations to read at most; a guest has a hundredth of it."""


@dataclass(frozen=True, slots=True)
class CompileUnit:
    """A compilation unit: the source file as the compiler was given it, and DW_AT_language."""

    file: str
    language: int | None


class CompileUnits:
    """The compilation units of a linked file by address (DWARF 2 to 5, sections 3.1.1 and 6.1.2).

    There are none without debug information, or if it has no table of addresses, is compressed, or
    is too much.  For a damaged file pyelftools raises any exception.
    """

    def __init__(self, data: bytes) -> None:
        from elftools.elf.elffile import ELFFile

        self._units: list[tuple[range, CompileUnit]] = []
        file: Any = ELFFile(io.BytesIO(data))
        debug = [s for s in file.iter_sections() if s.name.startswith((".debug_", ".zdebug_"))]
        sizes = {section.name: section["sh_size"] for section in debug}
        compressed = any(section["sh_flags"] & COMPRESSED for section in debug)
        if compressed or ".debug_aranges" not in sizes:
            return
        dwarf = file.get_dwarf_info(relocate_dwarf_sections=False)
        entries = dwarf.get_aranges().entries
        offsets = {entry.info_offset for entry in entries}
        if len(offsets) * sizes.get(".debug_abbrev", 0) > WORK:
            return
        units = {offset: _unit(dwarf, offset) for offset in offsets}
        self._units = sorted(
            (
                (range(one.begin_addr, one.begin_addr + one.length), units[one.info_offset])
                for one in entries
            ),
            key=lambda found: found[0].start,
        )
        self._starts = [code.start for code, _ in self._units]

    def at(self, address: int) -> CompileUnit | None:
        """The unit of the code at an address."""
        index = bisect_right(self._starts, address) - 1 if self._units else -1
        return self._units[index][1] if index >= 0 and address in self._units[index][0] else None


def _unit(dwarf: Any, offset: int) -> CompileUnit:
    attributes = dwarf.get_CU_at(offset).get_top_DIE().attributes
    name, language = attributes.get("DW_AT_name"), attributes.get("DW_AT_language")
    return CompileUnit(
        name.value.decode(errors="replace") if name else "",
        None if language is None else int(language.value),
    )
