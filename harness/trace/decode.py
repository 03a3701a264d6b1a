# SPDX-License-Identifier: MIT
"""Decodes the payload of a ring buffer record to a `TraceEvent`, by the event's format."""

import struct
from collections.abc import Callable, Mapping

from harness.errors import FormatError
from harness.ring import PageFormat
from harness.trace.events import FieldValue, TraceEvent
from harness.trace.formats import EventFormat, Field, c_type_size
from harness.trace.kernel_events import BinaryPrintEvent, event_class
from harness.trace.printk import format_binary
from harness.trace.symbols import Symbols
from harness.units import escape

_CODES = {1: "b", 2: "h", 4: "i", 8: "q"}
_TEXT_LIMIT = 4096
_COMMONS = ("common_flags", "common_preempt_count", "common_pid")

Decoder = Callable[[int, int, bytes, int, int, int], TraceEvent]
"""(stamp, cpu, page, offset of the payload, bytes of payload, lost) -> event."""

FieldReader = Callable[[bytes], FieldValue]


def task_name(pid: int, cmdlines: Mapping[int, str]) -> str:
    """A task's name as printed by the kernel."""
    if pid == 0:
        return "<idle>"
    return cmdlines.get(pid, "<...>" if pid > 0 else "<XXX>")


def event_decoder(
    form: EventFormat, page_format: PageFormat, symbols: Symbols, cmdlines: Mapping[int, str]
) -> Decoder:
    """A function that decodes events of one format."""
    whole = sorted((f for f in form.fields if f.is_integer), key=lambda field: field.offset)
    # Overlapping fields (a union) cannot share one struct.
    scalars: list[Field] = []
    for field in whole:
        if not scalars or field.offset >= scalars[-1].end:
            scalars.append(field)
    readers = {
        field.name: _field_reader(field, page_format)
        for field in form.fields
        if field not in scalars and not field.name.startswith("common_")
    }
    made = event_class(form)
    if made is BinaryPrintEvent:
        readers["buf"] = _printed(form, page_format, symbols)
    unpack_from, needed = _scalar_struct(scalars, page_format)
    names = [field.name for field in scalars]
    if not set(_COMMONS) <= set(names):
        raise FormatError(f"the format of the event {form.name!r} has overlapping common fields")
    flags_at, preempt_at, pid_at = (names.index(name) for name in _COMMONS)
    common = {name for name in names if name.startswith("common_")}
    own = [(name, index) for index, name in enumerate(names) if name not in common]
    # An optimisation for function events, which have two fields.
    two = len(own) == 2
    (first_name, first_at), (second_name, second_at) = own if two else (("", 0), ("", 0))
    if scalars != whole:
        made = TraceEvent
    title = form.name
    smallest = max(needed, 8)
    new = tuple.__new__

    def decode(stamp: int, cpu: int, page: bytes, offset: int, size: int, lost: int) -> TraceEvent:
        if size < smallest:
            raise FormatError(
                f"an event {title!r} at byte {offset:#x} of a page of CPU {cpu} has {size} bytes; "
                f"its format needs {smallest}"
            )
        values = unpack_from(page, offset)
        fields: dict[str, FieldValue]
        if two:
            fields = {first_name: values[first_at], second_name: values[second_at]}
        else:
            fields = {name: values[index] for name, index in own}
        if readers:
            payload = page[offset : offset + size]
            for name, reader in readers.items():
                fields[name] = reader(payload)
        pid = values[pid_at]
        comm = cmdlines[pid] if pid in cmdlines else task_name(pid, cmdlines)
        flags, preempt_count = values[flags_at], values[preempt_at]
        # As TraceEvent(...), without a second call.
        return new(
            made, (stamp, cpu, title, pid, comm, flags, preempt_count, fields, lost, symbols)
        )

    return decode


def unknown_decoder(number: int, symbols: Symbols) -> Decoder:
    """A decoder for events without a format in the file: shown as raw bytes."""

    def decode(stamp: int, cpu: int, page: bytes, offset: int, size: int, lost: int) -> TraceEvent:
        fields: dict[str, FieldValue] = {
            "common_type": number,
            "data": page[offset : offset + size],
        }
        return TraceEvent(stamp, cpu, "unknown", -1, "<...>", 0, 0, fields, lost, symbols)

    return decode


def _code(field: Field) -> str:
    """The `struct` code of an integer field."""
    code = _CODES[field.size]
    return code if field.signed else code.upper()


def _scalar_struct(
    scalars: list[Field], form: PageFormat
) -> tuple[Callable[[bytes, int], tuple[int, ...]], int]:
    layout, position = form.order, 0
    for field in scalars:
        layout += f"{field.offset - position}x{_code(field)}"
        position = field.end
    return struct.Struct(layout).unpack_from, position


def _field_reader(field: Field, form: PageFormat) -> FieldReader:
    """A function that reads a field other than an integer; empty if outside of the payload."""
    kind, _, element = field.type_name.partition(" ")
    if field.is_located and field.size == 4:
        convert = _converter(element.removesuffix("[]").strip(), field.signed, form)
        base = field.offset + 4 if kind == "__rel_loc" else 0

        def read_located(payload: bytes) -> FieldValue:
            word = int.from_bytes(payload[field.offset : field.offset + 4], form.byteorder)
            start = base + (word & 0xFFFF)
            return convert(payload[start : start + (word >> 16)])

        return read_located

    convert = _converter(field.type_name, field.signed, form)
    end = field.end if field.size else None
    return lambda payload: convert(payload[field.offset : end])


def _printed(event: EventFormat, form: PageFormat, symbols: Symbols) -> FieldReader:
    """A function that prints a ``trace_printk()``."""
    fields = {field.name: field for field in event.fields}
    at, stored = fields["fmt"], fields["buf"].offset

    def printed(payload: bytes) -> str:
        address = int.from_bytes(payload[at.offset : at.end], form.byteorder)
        text = symbols.text(address)
        if text is None:
            return f"<{address:#x}>"
        return format_binary(text, payload[stored:], form, symbols)

    return printed


def _converter(type_name: str, signed: bool, form: PageFormat) -> FieldReader:
    if type_name in ("char", "const char"):
        return _text
    size = c_type_size(type_name, form.long_size)
    if size is None:
        return lambda data: data
    code = _CODES[size] if signed else _CODES[size].upper()

    def integers(data: bytes) -> tuple[int, ...]:
        count = len(data) // size
        return struct.unpack_from(f"{form.order}{count}{code}", data)

    return integers


def _text(data: bytes) -> str:
    return escape(data.split(b"\0", 1)[0].decode("utf-8", "backslashreplace"), _TEXT_LIMIT)
