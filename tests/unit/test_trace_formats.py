# SPDX-License-Identifier: MIT
"""Event formats: laid out as compilers do, printed as the kernel does, read whoever wrote them."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.trace import FUNCGRAPH_ENTRY, FUNCGRAPH_EXIT, FUNCTION, EventDeclaration, EventFormat

FUNCTION_64 = """\
name: function
ID: 1
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;
\tfield:unsigned long parent_ip;\toffset:16;\tsize:8;\tsigned:0;

print fmt: " %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip
"""

SCHED_SWITCH = FUNCTION_64[: FUNCTION_64.index("\tfield:unsigned long ip")].replace(
    "name: function\nID: 1", "name: sched_switch\nID: 314"
) + (
    "\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:__data_loc char[] what;\toffset:28;\tsize:4;\tsigned:0;\n"
    "\n"
    'print fmt: "prev_comm=%s", REC->prev_comm\n'
)


def offsets(form):
    return {f.name: (f.offset, f.size) for f in form.fields if not f.name.startswith("common_")}


def test_the_function_format_is_the_kernels():
    assert FUNCTION.layout(8).text == FUNCTION_64


def test_layout_follows_the_word_size():
    assert offsets(FUNCTION.layout(4)) == {"ip": (8, 4), "parent_ip": (12, 4)}
    assert offsets(FUNCTION.layout(8)) == {"ip": (8, 8), "parent_ip": (16, 8)}


def test_graph_events_are_packed_as_the_kernel_packs_them():
    assert (FUNCGRAPH_ENTRY.id, FUNCGRAPH_EXIT.id) == (11, 10)
    assert offsets(FUNCGRAPH_ENTRY.layout(4)) == {"func": (8, 4), "depth": (12, 4)}
    assert offsets(FUNCGRAPH_ENTRY.layout(8)) == {"func": (8, 8), "depth": (16, 4)}
    names = ("func", "depth", "overrun", "calltime", "rettime")
    places_32 = ((8, 4), (12, 4), (16, 4), (20, 8), (28, 8))
    places_64 = ((8, 8), (16, 4), (20, 4), (24, 8), (32, 8))
    assert offsets(FUNCGRAPH_EXIT.layout(4)) == dict(zip(names, places_32, strict=True))
    assert offsets(FUNCGRAPH_EXIT.layout(8)) == dict(zip(names, places_64, strict=True))


def test_padding_that_32_bit_kernels_tell_of_is_not_believed():
    right = FUNCGRAPH_EXIT.layout(4)
    told = right.text.replace("calltime;\toffset:20", "calltime;\toffset:24")
    told = told.replace("rettime;\toffset:28", "rettime;\toffset:32")
    assert told != right.text
    assert EventFormat.parse(told, "ftrace") == right
    right = FUNCGRAPH_EXIT.layout(8)
    assert EventFormat.parse(right.text, "ftrace") == right


def test_padding_and_packing():
    fields = ("unsigned long func", "int depth", "unsigned long long calltime", "char comm[16]")
    padded = EventDeclaration("exit", 10, fields, '""')
    packed = EventDeclaration("exit", 10, fields, '""', packed=True)
    assert offsets(padded.layout(4))["calltime"] == (16, 8)
    assert offsets(padded.layout(8))["calltime"] == (24, 8)
    assert offsets(packed.layout(8))["calltime"] == (20, 8)
    assert offsets(packed.layout(8))["comm"] == (28, 16)


def test_signs():
    form = EventDeclaration("exit", 1, ("long ret", "unsigned long id", "int n"), '""').layout(4)
    assert [field.signed for field in form.fields[4:]] == [True, False, True]


def test_a_type_that_has_no_size_is_our_own_mistake():
    with pytest.raises(ValueError, match="struct page page"):
        EventDeclaration("bad", 1, ("struct page page",), '""').layout(4)


@pytest.mark.parametrize("long_size", [4, 8])
def test_reading_what_was_printed(long_size):
    form = FUNCTION.layout(long_size)
    assert EventFormat.parse(form.text, "ftrace") == form


def test_fields_of_real_events():
    form = EventFormat.parse(SCHED_SWITCH, "sched")
    assert (form.name, form.id, form.system) == ("sched_switch", 314, "sched")
    fields = {field.name: field for field in form.fields}
    assert fields["prev_comm"].is_array
    assert fields["prev_comm"].type_name == "char"
    assert fields["what"].type_name == "__data_loc char[]"
    assert form.print_fmt == '"prev_comm=%s", REC->prev_comm'


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("name: function", "nom: function", "no name or no ID"),
        ("ID: 1", "ID: 70000", "no name or no ID"),
        ("ID: 1", "ID: x", "no name or no ID"),
        ("offset:16;", "offset:99999;", "too large at its field 'parent_ip'"),
        ("common_pid", "common_id", "no usable common_pid"),
        ("offset:4;\tsize:4", "offset:4;\tsize:2", "no usable common_pid"),
    ],
)
def test_formats_that_cannot_be(old, new, says):
    with pytest.raises(FormatError, match=says):
        EventFormat.parse(FUNCTION_64.replace(old, new), "ftrace")


def test_names_are_escaped():
    text = FUNCTION_64.replace("name: function", "name: \x1b[31mfunction")
    assert EventFormat.parse(text, "ftrace").name == "\\x1b[31mfunction"


@given(st.integers(0, len(FUNCTION_64)), st.text(max_size=40))
def test_damaged_formats_raise_format_errors_only(where, junk):
    with contextlib.suppress(FormatError):
        EventFormat.parse(FUNCTION_64[:where] + junk + FUNCTION_64[where + len(junk) :], "x")
