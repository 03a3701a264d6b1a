# SPDX-License-Identifier: MIT
"""The variables of a guest: their addresses, and the source files that define them."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence

from harness.image.dwarf import DebugInfo, Entry, Unit, read_uleb
from harness.image.elf import Elf
from harness.image.symbol_table import Symbol

_ADDR, _ADDRX = 0x03, 0xA1  # DW_OP_addr, DW_OP_addrx


def objects_of(elf: Elf) -> list[Symbol]:
    """The objects that have a size, by address."""
    found = [one for one in elf.symbols if one.type == "STT_OBJECT" and one.size]
    return sorted(found, key=lambda one: one.address)


def object_at(objects: Sequence[Symbol], address: int) -> Symbol | None:
    """The object that contains ``address``."""
    at = bisect_right(objects, address, key=lambda one: one.address)
    found = objects[at - 1] if at else None
    return found if found is not None and address < found.address + found.size else None


def variables_in(debug: DebugInfo, wanted: Callable[[str], bool]) -> set[int]:
    """The addresses of the variables that are defined in some source files, also in functions."""
    found: set[int] = set()
    for unit in debug.units:
        top = debug.top(unit)
        if wanted(debug.name(top).decode("utf-8", "replace")):
            found.update(_addresses(debug, top))
    return found


def _addresses(debug: DebugInfo, parent: Entry) -> Iterator[int]:
    for entry in debug.children(parent):
        place = entry.attributes.get("DW_AT_location")
        if entry.tag == "DW_TAG_variable" and isinstance(place, bytes):
            yield from _address(debug, entry.unit, place)
        elif entry.tag in ("DW_TAG_subprogram", "DW_TAG_lexical_block"):
            yield from _addresses(debug, entry)


def _address(debug: DebugInfo, unit: Unit, place: bytes) -> Iterator[int]:
    """The address that is all of a location; none for other locations."""
    if place[:1] == bytes([_ADDR]) and len(place) == 1 + unit.address_size:
        yield int.from_bytes(place[1:], debug.byteorder)
    elif place[:1] == bytes([_ADDRX]):
        index, end = read_uleb(place, 1)
        if end == len(place):
            yield debug.address(unit, index)
