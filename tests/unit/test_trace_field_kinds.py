# SPDX-License-Identifier: MIT
"""A file declares the fields of its events; one that is not what the event needs is no number."""

import io
from contextlib import suppress
from dataclasses import replace

import pytest

from graph_files import NESTED, graph_trace
from harness.errors import UsageError
from harness.report import VIEWS, report_bytes
from harness.trace import (
    EventFormat,
    TraceDatReader,
    TraceEvent,
    event_formats,
    stat_json,
    stat_text,
    trace_statistics,
)
from harness.trace.formats import Field
from trace_files import FORMATS, function_trace

DECLARATIONS = (
    "__data_loc char[] {}",
    "__data_loc char {}",
    "__rel_loc int[] {}",
    "__rel_loc int {}",
    "__data_location int {}",
    "int {}[1]",
    "char {}",
    "wchar_t {}",
)
FIELDS = [
    *(("function", name) for name in ("ip", "parent_ip")),
    *(("funcgraph_entry", name) for name in ("func", "depth")),
    *(("funcgraph_exit", name) for name in ("func", "depth", "overrun", "calltime", "rettime")),
]


def trace(name, **changes):
    if name == "function":
        return function_trace(FORMATS[0], 3, **changes)
    return graph_trace(FORMATS[0], NESTED, **changes)


def changed(form, name, change):
    """The format with one of its fields replaced by those that ``change`` gives."""
    fields = [
        one for field in form.fields for one in (change(field) if field.name == name else [field])
    ]
    return replace(form, fields=tuple(fields))


def formats(event, name, change):
    return [
        changed(form, name, change) if form.name == event else form for form in event_formats(4)
    ]


def look_at_everything(data):
    for view in VIEWS:
        # A trace without calls has no stacks.
        made = b"".join(report_bytes(TraceDatReader(io.BytesIO(data)), view))
        assert made or view == "flame"
    sums = trace_statistics(TraceDatReader(io.BytesIO(data)))
    assert stat_json(sums)
    assert list(stat_text(sums))


@pytest.mark.parametrize("declaration", DECLARATIONS)
@pytest.mark.parametrize(("event", "name"), FIELDS)
def test_a_field_that_is_declared_as_something_else(event, name, declaration):
    def change(field):
        return [replace(field, declaration=declaration.format(name))]

    look_at_everything(trace(event, events=formats(event, name, change)))


@pytest.mark.parametrize("again", ["int {}[1]", "__data_loc char[] {}", "int {}"])
@pytest.mark.parametrize(("event", "name"), FIELDS)
@pytest.mark.parametrize("first", [True, False])
def test_a_field_that_is_declared_twice(event, name, again, first):
    def change(field):
        other = Field(again.format(name), 0, 4, True)
        return [other, field] if first else [field, other]

    data = trace(event, events=formats(event, name, change))
    look_at_everything(data)
    of_the_kind = [one for one in TraceDatReader(io.BytesIO(data)).events() if one.name == event]
    assert {type(one) for one in of_the_kind} == {TraceEvent}


@pytest.mark.parametrize(("event", "name"), FIELDS)
@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_a_filter_on_it_is_refused_or_holds(event, name, declaration):
    def change(field):
        return [replace(field, declaration=declaration.format(name))]

    data = trace(event, events=formats(event, name, change))
    for comparison in ("== 1", "== 'a'", "< 5", "~ 'a*'", f"== {name}"):
        reader = TraceDatReader(io.BytesIO(data))
        with suppress(UsageError):
            assert b"".join(report_bytes(reader, "csv", [f"{event}:{name} {comparison}"]))


def test_times_that_are_declared_signed_are_not_before_the_beginning_of_time():
    def change(field):
        return [replace(field, signed=True)]

    early = [(*NESTED[-1][:-1], (1 << 64) - 5_000)]
    data = graph_trace(FORMATS[0], early, events=formats("funcgraph_exit", "calltime", change))
    look_at_everything(data)


@pytest.mark.parametrize("size", [0, 3, 5, 16])
@pytest.mark.parametrize(("event", "name"), FIELDS)
def test_a_number_of_a_size_that_no_number_has(event, name, size):
    def change(field):
        return [replace(field, size=size)]

    look_at_everything(trace(event, events=formats(event, name, change)))


LONG = 1 << 18
"""Characters: more than anything could try all the ways to divide."""


@pytest.mark.parametrize(
    ("declaration", "kind", "name", "array"),
    [
        ("unsigned long ip", "unsigned long", "ip", False),
        ("__data_loc char[] what", "__data_loc char[]", "what", False),
        ("char comm[16]", "char", "comm", True),
        ("const char * s", "const char *", "s", False),
        ("const char *s", "const char *", "s", False),
        ("u8 9abc", "u8 9", "abc", False),
        ("int [4]", "", "int", True),
        ("int a[2][3]", "int a[2][3]", "int a[2][3]", True),
        ("x" * LONG + "!", "x" * LONG + "!", "x" * LONG + "!", False),
        ("x " * LONG + "a!", "x " * LONG + "a!", "x " * LONG + "a!", False),
        ("x" + " " * LONG + "!", "x" + " " * LONG + "!", "x" + " " * LONG + "!", False),
        ("[" * LONG, "[" * LONG, "[" * LONG, False),
        ("1" * LONG, "1" * LONG, "1" * LONG, False),
        ("int " + "9a" * LONG, "int 9", ("9a" * LONG)[1:], False),
        ("", "", "", False),
    ],
    ids=range(15),
)
def test_a_declaration_is_divided_into_type_name_and_brackets(declaration, kind, name, array):
    field = Field(declaration, 8, 4, False)
    assert (field.type_name, field.name, field.is_array) == (kind, name, array)


def test_a_file_of_one_long_format():
    lines = "".join(f"\tfield:{'x' * 250}!;\toffset:8;\tsize:4;\tsigned:0;\n" for _ in range(500))
    text = event_formats(8)[0].text.replace("\nprint fmt", f"\n{lines}\nprint fmt", 1)
    assert len(EventFormat.parse(text, "ftrace").fields) > 500
