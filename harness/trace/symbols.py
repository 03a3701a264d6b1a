# SPDX-License-Identifier: MIT
"""Names by address, from text in the format of /proc/kallsyms; and texts of printk_formats."""

import re
from bisect import bisect_right
from collections.abc import Callable

from harness.units import escape

# Addresses are untrusted, so the cache of names has a limit.
_CACHE_LIMIT = 1 << 16
_NAME_LIMIT = 256

_FORMAT = re.compile(r'(0x[0-9a-f]{1,16}) : "(.*)"', re.IGNORECASE)
_ESCAPED = re.compile(r"\\(.)")
_CHARACTERS = {"n": "\n", "t": "\t"}

# Mapping symbols, with which assemblers mark code and data.
_MAPPING = re.compile(r"\$[adtx](\.|$)")
# A leading dollar sign in our own tables.
_DOLLAR = "\\x24"


class Symbols:
    """A symbol table made of lines ``address type name [module]``.

    Other lines are skipped, and so are absolute and mapping symbols.  A symbol extends to the next
    one.  The last one names nothing, as in trace-cmd: tables end with a terminator such as
    ``_end``.  Names are escaped.  ``printk_formats`` is the file of that name.
    """

    def __init__(self, kallsyms: str = "", printk_formats: str = "") -> None:
        symbols = []
        for line in kallsyms.splitlines():
            parts = line.split(None, 3)
            if len(parts) < 3 or parts[1] in "Aa" or _MAPPING.match(parts[2]):
                continue
            try:
                address = int(parts[0], 16)
            except ValueError:
                continue
            name = parts[2]
            if name.startswith(_DOLLAR):
                name = f"${name.removeprefix(_DOLLAR)}"
            if len(parts) == 4:
                name += f" {parts[3].strip()}"
            symbols.append((address, name))
        symbols.sort(key=lambda symbol: symbol[0])
        self._addresses = [address for address, _ in symbols]
        self._names = [name for _, name in symbols]
        self._shown = _ShownNames(self.lookup)
        self._texts = _parse_formats(printk_formats)

    def __len__(self) -> int:
        return len(self._addresses)

    def lookup(self, address: int) -> tuple[str, int] | None:
        """The symbol that contains ``address`` and the offset in it, or ``None``."""
        index = bisect_right(self._addresses, address)
        if index == 0 or index == len(self._addresses):
            return None
        # Of several names for one address the first in the file is used.
        start = self._addresses[index - 1]
        first = bisect_right(self._addresses, start - 1)
        return escape(self._names[first], _NAME_LIMIT), address - start

    def address(self, name: str) -> int | None:
        """The address of the first symbol with that name, or ``None``.

        A module's symbol is found by its name alone if no other has it.
        """
        for names in (self._names, (shown.partition(" [")[0] for shown in self._names)):
            for address, found in zip(self._addresses, names, strict=True):
                if found == name:
                    return address
        return None

    def irq_entry_text(self) -> range:
        """The addresses of the functions that interrupts enter; empty if they are not known."""
        start, end = (self.address(f"__irqentry_text_{which}") for which in ("start", "end"))
        return range(start, end) if start is not None and end is not None else range(0)

    def name(self, address: int) -> str:
        """The name as printed by ``%ps``: the symbol without offset, or the bare address."""
        return self._shown[address]

    def text(self, address: int) -> str | None:
        """The text of a ``trace_printk()`` at an address, not escaped; ``None`` if unknown."""
        return self._texts.get(address)


def _parse_formats(text: str) -> dict[int, str]:
    """Lines ``address : "text"``; others are skipped."""
    found = {}
    for line in text.splitlines():
        row = _FORMAT.fullmatch(line.strip())
        if row is not None:
            found[int(row[1], 16)] = _ESCAPED.sub(
                lambda one: _CHARACTERS.get(one[1], one[1]), row[2]
            )
    return found


class _ShownNames(dict[int, str]):
    """A cache of names by address: few addresses make up most of a trace."""

    def __init__(self, lookup: Callable[[int], tuple[str, int] | None]) -> None:
        super().__init__()
        self._lookup = lookup

    def __missing__(self, address: int) -> str:
        found = self._lookup(address)
        name = found[0] if found else f"{address:#x}"
        if len(self) >= _CACHE_LIMIT:
            self.clear()
        self[address] = name
        return name
