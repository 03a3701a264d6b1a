# SPDX-License-Identifier: MIT
"""The texts of a kernel's trace_printk(), of which events have only the address and the arguments.

Arguments lie behind each other as vbin_printf() of lib/vsprintf.c stores them: numbers at multiples
of their size, of 8 bytes at those of 4; strings with their NUL.
"""

import re

from harness.ring import PageFormat
from harness.trace.symbols import Symbols
from harness.units import escape

MAX_TEXT = 4096
MAX_WIDTH = 256

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0]*)(?P<width>\*|\d*)(?:\.(?P<precision>\*|\d*))?"
    r"(?P<size>hh|h|ll|l|L|z|t|j)?(?P<kind>[a-zA-Z%])"
)
_POINTER_KINDS = re.compile(r"[A-Za-z0-9]+")

_SIZES = {"hh": 1, "h": 2, "": 4, "ll": 8, "L": 8, "j": 8}
"""Bytes of a number; of the others, those of a word."""

_STORED_POINTERS = frozenset("SsxKe")
"""Behind %p: the pointer itself is stored.  For other letters the kernel stores the text."""


def format_binary(text: str, data: bytes, form: PageFormat, symbols: Symbols) -> str:
    """The text that a kernel prints of a format and its stored arguments.

    A conversion that is not known, or has no argument in ``data``, and all behind it stay as they
    are.
    """
    shown, at, arguments = "", 0, _Arguments(data, form)
    for one in _CONVERSION.finditer(text):
        if one.start() < at:
            continue
        shown += text[at : one.start()]
        at = one.start()
        try:
            piece, end = _converted(one, text, arguments, symbols)
        except (ValueError, OverflowError):
            break
        shown, at = shown + piece, end
        if len(shown) > MAX_TEXT:
            break
    return escape((shown + text[at:]).removesuffix("\n"), MAX_TEXT)


def _converted(
    one: re.Match[str], text: str, arguments: "_Arguments", symbols: Symbols
) -> tuple[str, int]:
    """The output of a conversion, and the index at which the text continues."""
    kind, end = one["kind"], one.end()
    if kind == "%":
        return "%", end
    width, precision = (arguments.width(one[name]) for name in ("width", "precision"))
    layout = "%" + one["flags"] + width + ("" if one["precision"] is None else f".{precision}")
    if kind == "s":
        return (layout + "s") % arguments.string(), end
    if kind == "c":
        return (layout + "c") % (arguments.number(1, signed=False)), end
    if kind == "p":
        letters = _POINTER_KINDS.match(text, end)
        if letters is not None and letters[0][0] not in _STORED_POINTERS:
            return arguments.string(), letters.end()
        address = arguments.word()
        if letters is None or letters[0][0] not in "Ss":
            return f"{address:#x}", letters.end() if letters else end
        return _symbol(address, symbols, letters[0][0] == "S"), letters.end()
    if kind not in "diuxXo":
        raise ValueError(kind)
    size = _SIZES.get(one["size"] or "", arguments.form.long_size)
    number = arguments.number(size, signed=kind in "di")
    return (layout + ("d" if kind in "iu" else kind)) % number, end


def _symbol(address: int, symbols: Symbols, offset: bool) -> str:
    found = symbols.lookup(address)
    return symbols.name(address) if found is None or not offset else f"{found[0]}+{found[1]:#x}"


class _Arguments:
    """The arguments one by one; ValueError behind the last."""

    def __init__(self, data: bytes, form: PageFormat) -> None:
        self.form = form
        self._data = data
        self._at = 0

    def number(self, size: int, *, signed: bool) -> int:
        step = min(size, 4)
        start = -(-self._at // step) * step
        self._at = start + size
        if self._at > len(self._data):
            raise ValueError("an argument is missing")
        return int.from_bytes(self._data[start : self._at], self.form.byteorder, signed=signed)

    def word(self) -> int:
        return self.number(self.form.long_size, signed=False)

    def string(self) -> str:
        end = self._data.find(b"\0", self._at)
        if end < 0:
            raise ValueError("a string does not end")
        text = self._data[self._at : end].decode("utf-8", "backslashreplace")
        self._at = end + 1
        return text

    def width(self, given: str | None) -> str:
        """A width or precision, which may be an argument."""
        number = self.number(4, signed=True) if given == "*" else int(given or 0)
        if not -MAX_WIDTH <= number <= MAX_WIDTH:
            raise ValueError("a width is too large")
        return str(number) if given else ""
