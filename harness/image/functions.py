# SPDX-License-Identifier: MIT
"""The functions of a guest by address, according to its symbol table."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from harness.image.elf import Elf
from harness.image.symbol_table import Symbol

# The preferred symbol of an address: the most visible one.
_RANK: dict[str | int, int] = {"STB_GLOBAL": 0, "STB_WEAK": 1, "STB_LOCAL": 2}


_UNNAMED = ("STT_FILE", "STT_SECTION")
_LABELS = ("$", ".L")


@dataclass(frozen=True, slots=True)
class Function:
    """A function: ``size`` bytes from ``address`` on."""

    name: str
    address: int
    size: int


def functions_of(elf: Elf, code_bit: int = 0) -> "FunctionTable":
    """The functions of ``elf``: symbols of type FUNC with a size in executable sections.

    Of several names for an address a global one is preferred to a weak or local one, then the
    shortest, then the first in alphabetical order.  ``code_bit`` is no part of their addresses.
    """
    best: dict[int, Symbol] = {}
    for symbol in _symbols(elf, code_bit):
        if symbol.type == "STT_FUNC" and symbol.size and symbol.section in elf.executable:
            held = best.get(symbol.address)
            if held is None or _preference(symbol) < _preference(held):
                best[symbol.address] = symbol
    return FunctionTable(Function(s.name, s.address, s.size) for s in best.values())


def symbols_of(elf: Elf, code_bit: int = 0) -> dict[str, Symbol]:
    """The symbols by name; of several with one name the most visible, then the lowest.

    Labels of compilers and assemblers (``$...``, ``.L...``, if no functions) and names of files and
    sections are left out.  ``code_bit`` is no part of the address of a function.
    """
    best: dict[str, Symbol] = {}
    for symbol in _symbols(elf, code_bit):
        name, _, _, kind, _, section = symbol
        if (
            section == "SHN_UNDEF"
            or not name
            or kind in _UNNAMED
            or (kind != "STT_FUNC" and name.startswith(_LABELS))
        ):
            continue
        held = best.get(name)
        if held is None or (_rank(symbol), symbol.address) < (_rank(held), held.address):
            best[name] = symbol
    return best


def _symbols(elf: Elf, code_bit: int) -> Iterator[Symbol]:
    """The symbols, functions without the bit."""
    if not code_bit:
        yield from elf.symbols
        return
    for symbol in elf.symbols:
        if symbol.type == "STT_FUNC":
            yield symbol._replace(address=symbol.address & ~code_bit)
        else:
            yield symbol


class FunctionTable:
    """Functions by address; of nested functions the innermost contains an address."""

    def __init__(self, functions: Iterable[Function]) -> None:
        self.all = sorted(functions, key=lambda f: (f.address, -f.size, f.name))
        self._starts: list[int] = []
        self._holders: list[Function | None] = []
        self._sweep()

    def at(self, address: int) -> Function | None:
        """The function that contains ``address``; None in a gap."""
        index = bisect_right(self._starts, address) - 1
        return self._holders[index] if index >= 0 else None

    def _sweep(self) -> None:
        """Divide the address space into ranges, each in one function or in none."""
        around: list[Function] = []
        for function in self.all:
            self._close(around, function.address)
            self._starts.append(function.address)
            self._holders.append(function)
            around.append(function)
        self._close(around, None)

    def _close(self, around: list[Function], limit: int | None) -> None:
        """Pop the functions that end at or before ``limit``."""
        while around:
            end = around[-1].address + around[-1].size
            if limit is not None and end > limit:
                return
            around.pop()
            # An outer function may end before its inner one.
            while around and around[-1].address + around[-1].size <= end:
                around.pop()
            self._starts.append(end)
            self._holders.append(around[-1] if around else None)


def _rank(symbol: Symbol) -> int:
    return _RANK.get(symbol.binding, len(_RANK))


def _preference(symbol: Symbol) -> tuple[int, int, str]:
    return _rank(symbol), len(symbol.name), symbol.name
