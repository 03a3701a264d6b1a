# SPDX-License-Identifier: MIT
"""Find a type by name in debug information without an index of names, as gcc writes it.

The name is searched among the strings, then its offset among the entries' bytes.  Only units with a
possible match are parsed.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterator

from harness.image.dwarf import STRING_INDEX, DebugInfo, Entry, Unit

FIRST_ENTRY = 512
"""Bytes from the start of a unit that contain its name."""


def find_entry(debug: DebugInfo, name: str, tags: frozenset[str]) -> Entry | None:
    """The first definition with this name and one of these tags at the top level of a unit."""
    wanted = name.encode()
    for unit in _units_with(debug, wanted, tags) if wanted else ():
        for entry in debug.children(debug.top(unit)):
            if (
                entry.tag in tags
                and "DW_AT_declaration" not in entry.attributes
                and debug.name(entry) == wanted
            ):
                return entry
    return None


def entries_of(debug: DebugInfo, files: Collection[str]) -> Iterator[Entry]:
    """The top-level definitions in the units of some source files.

    The files are given by the ends of their paths.
    """
    ends = tuple(f"/{file}".encode() for file in files)
    for unit in _units_of(debug, files):
        top = debug.top(unit)
        if (b"/" + debug.name(top)).endswith(ends):
            yield from (
                entry
                for entry in debug.children(top)
                if "DW_AT_declaration" not in entry.attributes
            )


def _units_of(debug: DebugInfo, files: Collection[str]) -> Iterator[Unit]:
    """The units whose first entry may have one of these names.

    To parse the tables of all units of a kernel takes half a minute.
    """
    patterns = []
    for file in files:
        text = file.encode() + b"\0"
        patterns.append(text)
        for strings in (debug.strings, debug.line_strings):
            for place in _places(strings, text):
                start = strings.rfind(b"\0", 0, place) + 1
                patterns += [one.to_bytes(4, debug.byteorder) for one in {start, place}]
    for unit in debug.units:
        end = min(unit.first + FIRST_ENTRY, unit.end)
        if any(debug.info.find(one, unit.first, end) >= 0 for one in patterns):
            yield unit


def _units_with(debug: DebugInfo, name: bytes, tags: frozenset[str]) -> Iterator[Unit]:
    """The units that may define the name, in the file's order."""
    text = name + b"\0"
    # A linker merges suffixes: the name may be the end of a longer string.
    offsets = [place.to_bytes(4, debug.byteorder) for place in _places(debug.strings, text)]
    forms = {"DW_FORM_string": [text], "DW_FORM_strp": offsets}
    patterns = [pattern for form in forms.values() for pattern in form]
    indices = [place for one in offsets for place in _places(debug.string_offsets, one)]
    places = sorted(place for one in patterns for place in _places(debug.info, one))
    for unit in debug.units:
        mentioned = bisect_left(places, unit.first) < bisect_left(places, unit.end)
        if (mentioned or indices) and _may_define(debug, unit, tags, forms, indices):
            yield unit


def _may_define(
    debug: DebugInfo,
    unit: Unit,
    tags: frozenset[str],
    forms: dict[str, list[bytes]],
    indices: list[int],
) -> bool:
    """Whether the unit contains the first bytes of such an entry."""
    for code, abbreviation in debug.table(unit).items():
        attributes = [attribute for attribute, _, _ in abbreviation.attributes]
        if abbreviation.tag not in tags or "DW_AT_declaration" in attributes or not attributes:
            continue
        form = abbreviation.attributes[0][1]
        if attributes[0] != "DW_AT_name" or not (form in forms or form in STRING_INDEX):
            return True
        names = forms[form] if form in forms else _encoded(debug, unit, form, indices)
        if any(debug.info.find(_uleb(code) + one, unit.first, unit.end) >= 0 for one in names):
            return True
    return False


def _encoded(debug: DebugInfo, unit: Unit, form: str, indices: list[int]) -> list[bytes]:
    """The indices of these places of .debug_str_offsets, encoded in a form."""
    base = debug.string_base(unit)
    numbers = [(place - base) // 4 for place in indices if place >= base]
    if form == "DW_FORM_strx":
        return [_uleb(number) for number in numbers]
    size = int(form[-1])
    return [
        number.to_bytes(size, debug.byteorder) for number in numbers if number < 1 << (8 * size)
    ]


def _places(data: bytes, pattern: bytes) -> Iterator[int]:
    """The offsets of a pattern."""
    at = data.find(pattern)
    while at >= 0:
        yield at
        at = data.find(pattern, at + 1)


def _uleb(number: int) -> bytes:
    """A number as an unsigned LEB128."""
    data = bytearray()
    while number > 0x7F:
        data.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*data, number])
