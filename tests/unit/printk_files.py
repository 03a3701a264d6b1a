# SPDX-License-Identifier: MIT
"""A trace.dat with texts of trace_printk(), stored as vbin_printf() of Linux stores them."""

import struct

from harness.trace import event_formats
from harness.trace.formats import EventDeclaration
from ring_encoder import PageEncoder
from trace_files import address, trace_file

FORMAT = 0xFF00
BPRINT = EventDeclaration(
    "bprint",
    6,
    ("unsigned long ip", "const char * fmt", "u32 buf[]"),
    '"%ps: %s", (void *)REC->ip, REC->fmt',
)
BPUTS = EventDeclaration(
    "bputs",
    14,
    ("unsigned long ip", "const char * str"),
    '"%ps: %s", (void *)REC->ip, REC->str',
)


def stored(form, arguments):
    """Arguments as bytes: a str with its NUL, or a pair of a number and its size."""
    order = ">" if form[0] == "big" else "<"
    data = b""
    for one in arguments:
        if isinstance(one, str):
            data += one.encode() + b"\0"
            continue
        number, size = one
        data += bytes(-len(data) % min(size, 4))
        code = {1: "B", 2: "H", 4: "I", 8: "Q"}[size]
        data += struct.pack(order + code, number & (1 << 8 * size) - 1)
    return data


def payload(form, number, *words, rest=b""):
    byteorder, long_size = form
    order = ">" if byteorder == "big" else "<"
    head = struct.pack(f"{order}HBBi", number, 0, 0, 1)
    data = head + b"".join(word.to_bytes(long_size, byteorder) for word in words) + rest
    return data + bytes(-len(data) % 4)


def printk_trace(form, texts):
    """``texts``: pairs of a format and its arguments; with None instead, a trace_puts()."""
    page = PageEncoder(*form, stamp=1_000_000)
    formats = ""
    ip = address("leaf", form[1])
    for number, (text, arguments) in enumerate(texts):
        at = FORMAT + 16 * number
        escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        formats += f'{at:#x} : "{escaped}"\n'
        if arguments is None:
            page.event(1000, payload(form, BPUTS.id, ip, at))
        else:
            data = stored(form, arguments)
            page.event(1000, payload(form, BPRINT.id, ip, at, rest=data))
    events = [*event_formats(form[1]), BPRINT.layout(form[1]), BPUTS.layout(form[1])]
    return trace_file(form, [page.page()], events=events, printk_formats=formats)
