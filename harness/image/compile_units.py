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
    is too much.  A unit is read on first use.  For a damaged file pyelftools may then raise any
    exception.
    """

    def __init__(self, data: bytes) -> None:
        from elftools.elf.elffile import ELFFile

        self._ranges: list[tuple[range, int]] = []
        self._units: dict[int, CompileUnit] = {}
        file: Any = ELFFile(io.BytesIO(data))
        debug = [s for s in file.iter_sections() if s.name.startswith((".debug_", ".zdebug_"))]
        sizes = {section.name: section["sh_size"] for section in debug}
        compressed = any(section["sh_flags"] & COMPRESSED for section in debug)
        if compressed or ".debug_aranges" not in sizes:
            return
        self._dwarf: Any = file.get_dwarf_info(relocate_dwarf_sections=False)
        entries = self._dwarf.get_aranges().entries
        offsets = {entry.info_offset for entry in entries}
        if len(offsets) * sizes.get(".debug_abbrev", 0) > WORK:
            return
        self._ranges = sorted(
            (
                (range(one.begin_addr, one.begin_addr + one.length), one.info_offset)
                for one in entries
            ),
            key=lambda found: found[0].start,
        )
        self._starts = [code.start for code, _ in self._ranges]

    def at(self, address: int) -> CompileUnit | None:
        """The unit of the code at an address."""
        index = bisect_right(self._starts, address) - 1 if self._ranges else -1
        if index < 0 or address not in self._ranges[index][0]:
            return None
        offset = self._ranges[index][1]
        if offset not in self._units:
            self._units[offset] = _unit(self._dwarf, offset)
        return self._units[offset]


def _unit(dwarf: Any, offset: int) -> CompileUnit:
    attributes = dwarf.get_CU_at(offset).get_top_DIE().attributes
    name, language = attributes.get("DW_AT_name"), attributes.get("DW_AT_language")
    return CompileUnit(
        name.value.decode(errors="replace") if name else "",
        None if language is None else int(language.value),
    )
