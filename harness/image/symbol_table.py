# SPDX-License-Identifier: MIT
"""The symbol table of an ELF file.

Read here, as pyelftools takes half a minute for the symbols of a Linux kernel.  The numbers are
those of the System V ABI.
"""

import struct
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from harness.units import ByteOrder

LIMIT = 4096
"""Bytes of a name."""

_TYPES = dict(enumerate(("NOTYPE", "OBJECT", "FUNC", "SECTION", "FILE", "COMMON", "TLS")))
_BINDINGS = {0: "STB_LOCAL", 1: "STB_GLOBAL", 2: "STB_WEAK"}
_SECTIONS = {0: "SHN_UNDEF", 0xFFF1: "SHN_ABS", 0xFFF2: "SHN_COMMON"}


class Symbol(NamedTuple):
    """One entry of the symbol table.

    ``type``, ``binding`` and ``section`` are names of ELF constants (``STT_FUNC``, ``STB_WEAK``,
    ``SHN_ABS``) or numbers; an existing section is always a number.
    """

    name: str
    address: int
    size: int
    type: str | int
    binding: str | int
    section: str | int


def read_symbols(
    table: bytes, names: bytes, *, entry_size: int, bits: int, byteorder: ByteOrder
) -> Iterator[Symbol]:
    """The symbols of a table, whose names are in ``names``.

    ValueError if a name is not there, or the table does not consist of symbols.
    """
    order = ">" if byteorder == "big" else "<"
    entry = struct.Struct(order + ("IIIBBH" if bits == 32 else "IBBHQQ"))
    if entry_size != entry.size or len(table) % entry.size:
        raise ValueError(f"its {len(table)} bytes are not symbols of {entry.size} bytes")
    types = {number: f"STT_{name}" for number, name in _TYPES.items()}
    # Names are shared; the work is limited by their total size.
    known = _plain_names(names)
    left = len(table) + 4 * len(names) + 64 * LIMIT
    for fields in entry.iter_unpack(table):
        if bits == 32:
            at, address, size, info, _, section = fields
        else:
            at, info, _, section, address, size = fields
        name = known.get(at)
        if name is None:
            name = known[at] = _name(names, at)
            left -= len(name)
            if left < 0:
                raise ValueError("it takes more work than its size can explain")
        yield Symbol(
            name,
            address,
            size,
            types.get(info & 15, info & 15),
            _BINDINGS.get(info >> 4, info >> 4),
            _SECTIONS.get(section, section),
        )


def _plain_names(names: bytes) -> dict[int, str]:
    """The names by their places, if nothing in the table needs escaping.

    A symbol may also name the end of a longer name.
    """
    if not names.isascii():
        return {}
    found = names.decode("ascii").split("\0")
    if not "".join(found).isprintable() or max(map(len, found)) >= LIMIT:
        return {}
    starts = accumulate((len(one) + 1 for one in found), initial=0)
    # What follows the last NUL is no name.
    return dict(zip(starts, found[:-1], strict=False))


def _name(names: bytes, at: int) -> str:
    end = names.find(b"\0", at, at + LIMIT)
    if end < 0:
        raise ValueError("a symbol's name is not in the string table")
    found = names[at:end]
    if found.isascii():
        text = found.decode("ascii")
    else:
        text = found.decode("utf-8", "replace").encode().decode("ascii", "backslashreplace")
    return text if text.isprintable() else text.encode("unicode_escape").decode()
