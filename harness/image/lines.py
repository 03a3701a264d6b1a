# SPDX-License-Identifier: MIT
"""The source file and line of an instruction, from the debug information."""

import io
import posixpath
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

INLINED = "DW_TAG_inlined_subroutine"
SCOPES = ("DW_TAG_subprogram", "DW_TAG_lexical_block", INLINED)
"""Entries that have code, and entries of functions in it."""

MOST_CHILDREN = 1 << 16
"""The most entries of one list that are looked at: the list of a damaged file may be endless."""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of a file.  The name is as the compiler was given it, with its directory."""

    file: str
    line: int


class SourceLines:
    """The line tables of a linked file (DWARF 2 to 5, section 6.2), by address.

    A file without debug information has no lines.  A unit's table is read on first use.  For a
    damaged file pyelftools may then raise any exception.
    """

    def __init__(self, data: bytes) -> None:
        from elftools.elf.elffile import ELFFile

        file: Any = ELFFile(io.BytesIO(data))
        known = file.get_section_by_name(".debug_line") is not None and file.has_dwarf_info()
        self._dwarf: Any = file.get_dwarf_info(relocate_dwarf_sections=False) if known else None
        # Not every compiler makes it.
        self._ranges: Any = self._dwarf.get_aranges() if self._dwarf is not None else None
        self._tables: dict[int | None, _Table] = {}

    def at(self, address: int) -> SourceLine | None:
        """The line of the instruction at ``address``, which may be inside it."""
        if self._dwarf is None:
            return None
        unit = self._ranges.cu_offset_at_addr(address) if self._ranges else None
        if unit not in self._tables:
            self._tables[unit] = self._read(unit)
        return self._tables[unit].at(address)

    def calls(self, address: int) -> list[SourceLine]:
        """Where the inline functions are called that the instruction is in, innermost first."""
        unit = self._ranges.cu_offset_at_addr(address) if self._ranges else None
        if unit is None:
            return []
        top = self._dwarf.get_CU_at(unit).get_top_DIE()
        program = self._dwarf.line_program_for_CU(top.cu)
        names = {} if program is None else _file_names(program.header)
        return [
            SourceLine(
                names.get(call.attributes["DW_AT_call_file"].value, "?"),
                call.attributes["DW_AT_call_line"].value,
            )
            for call in self._inlined(top, address)
            if {"DW_AT_call_file", "DW_AT_call_line"} <= call.attributes.keys()
        ][::-1]

    def _inlined(self, parent: Any, address: int) -> Iterator[Any]:
        """The entries of the inline functions around an address, outermost first."""
        for entry in islice(parent.iter_children(), MOST_CHILDREN):
            if entry.tag in SCOPES and any(address in code for code in self._code(entry)):
                if entry.tag == INLINED:
                    yield entry
                yield from self._inlined(entry, address)
                return

    def _code(self, entry: Any) -> Iterator[range]:
        """The addresses of a function or a block (DWARF 5, section 2.17)."""
        low, high = (entry.attributes.get(f"DW_AT_{end}_pc") for end in ("low", "high"))
        if low is not None and high is not None:
            is_address = high.form == "DW_FORM_addr"
            yield range(low.value, high.value if is_address else low.value + high.value)
        elif "DW_AT_ranges" in entry.attributes:
            top = entry.cu.get_top_DIE().attributes
            base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
            at, lists = entry.attributes["DW_AT_ranges"].value, self._dwarf.range_lists()
            for one in lists.get_range_list_at_offset(at, entry.cu):
                if hasattr(one, "base_address"):
                    base = one.base_address
                else:
                    start = 0 if one.is_absolute else base
                    yield range(start + one.begin_offset, start + one.end_offset)

    def _read(self, unit: int | None) -> "_Table":
        """The table of one unit, or of all whose addresses are not known."""
        if unit is None:
            known = {entry.info_offset for entry in self._ranges.entries} if self._ranges else ()
            units = [one for one in self._dwarf.iter_CUs() if one.cu_offset not in known]
        else:
            units = [self._dwarf.get_CU_at(unit)]
        rows: dict[int, SourceLine | None] = {}
        for one in units:
            program = self._dwarf.line_program_for_CU(one)
            if program is not None:
                _add_rows(program, rows)
        return _Table(rows)


class _Table:
    """Rows by address; one of None ends a sequence."""

    def __init__(self, rows: dict[int, SourceLine | None]) -> None:
        self._starts = sorted(rows)
        self._lines = [rows[start] for start in self._starts]

    def at(self, address: int) -> SourceLine | None:
        index = bisect_right(self._starts, address) - 1
        return self._lines[index] if index >= 0 else None


def _add_rows(program: Any, rows: dict[int, SourceLine | None]) -> None:
    names = _file_names(program.header)
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        if state.end_sequence:
            rows.setdefault(state.address, None)
        else:
            rows[state.address] = SourceLine(names.get(state.file, "?"), state.line)


def _file_names(header: Any) -> dict[int, str]:
    """Names by their numbers, which begin at 1 before DWARF 5."""
    first = 0 if header["version"] >= 5 else 1
    directories = [_text(one) for one in header["include_directory"]]
    names = {}
    for number, entry in enumerate(header["file_entry"], first):
        # Directory 0 was the one of the compilation before DWARF 5, and was not listed.
        index = entry["dir_index"] - first
        directory = directories[index] if 0 <= index < len(directories) else ""
        names[number] = posixpath.join(directory, _text(entry["name"]))
    return names


def _text(name: Any) -> str:
    return name.decode(errors="replace") if isinstance(name, bytes) else str(name)
