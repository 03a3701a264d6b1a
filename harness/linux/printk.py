# SPDX-License-Identifier: MIT
"""printk_formats: the texts that events of trace_printk() name by their address."""

from collections.abc import Iterator

from harness.linux.kernel import Kernel
from harness.units import escape

MAX_FORMATS = 1 << 14

SECTIONS = ("trace_bprintk_fmt", "tracepoint_str")
"""Tables of pointers in the kernel's image, between ``__start___NAME`` and ``__stop___NAME``."""

LIST = "trace_bprintk_fmt_list"
"""Copies of the modules' formats, which stay when a module is unloaded."""


def printk_formats(kernel: Kernel) -> dict[int, str]:
    """The texts by address; GuestError if they cannot be read."""
    return {address: kernel.text(address) for address in _addresses(kernel) if address}


def formats_text(formats: dict[int, str]) -> str:
    """As the file ``printk_formats`` has them."""
    return "".join(f'{address:#x} : "{_quoted(text)}"\n' for address, text in formats.items())


def _quoted(text: str) -> str:
    for plain, shown in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(plain, shown)
    return escape(text, len(text))


def _addresses(kernel: Kernel) -> Iterator[int]:
    symbols, word = kernel.image.symbols, kernel.word
    for name in SECTIONS:
        start, stop = symbols.get(f"__start___{name}", 0), symbols.get(f"__stop___{name}", 0)
        size = min(stop - start, MAX_FORMATS * word)
        data = kernel.memory.dump_memory(start, size) if size > 0 else b""
        for at in range(0, len(data), word):
            yield int.from_bytes(data[at : at + word], kernel.image.byteorder)
    if LIST in symbols and "trace_bprintk_fmt" in kernel.layouts and kernel.pointer(symbols[LIST]):
        fmt = kernel.layouts["trace_bprintk_fmt"].place("fmt")
        for one in kernel.listed(symbols[LIST], "trace_bprintk_fmt", "list.next", MAX_FORMATS):
            # The member is a pointer, and so is what an event has.
            yield kernel.pointer(one + fmt.offset)
