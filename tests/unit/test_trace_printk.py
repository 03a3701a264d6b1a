# SPDX-License-Identifier: MIT
"""The texts of trace_printk(), by the kernel's rules for formats and stored arguments."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.ring import PageFormat
from harness.trace import TraceDatReader
from harness.trace.printk import MAX_TEXT, format_binary
from harness.trace.symbols import Symbols
from printk_files import printk_trace, stored
from trace_files import FORMATS, address, kallsyms


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return request.param


def printed(form, text, *arguments):
    symbols = Symbols(kallsyms(form[1]))
    return format_binary(text, stored(form, arguments), PageFormat(*form), symbols)


def printable(text):
    """Lines and tabs are left to what prints an event in one line."""
    return text.replace("\n", "").replace("\t", "").isprintable()


@pytest.mark.parametrize(
    ("text", "arguments", "expected"),
    [
        ("plain 100%%", (), "plain 100%"),
        ("%d %u %x", ((-1, 4), (-1, 4), (0xBEEF, 4)), "-1 4294967295 beef"),
        ("%#x|%08x|%-6d|%+d", ((16, 4), (16, 4), (5, 4), (5, 4)), "0x10|00000010|5     |+5"),
        ("%hhu %hd %d", ((255, 1), (-2, 2), (7, 4)), "255 -2 7"),
        ("%c%c", ((65, 1), (66, 1)), "AB"),
        ("%lld after", ((-(1 << 40), 8),), "-1099511627776 after"),
        ("%d %llx %d", ((1, 4), (1 << 40, 8), (2, 4)), "1 10000000000 2"),
        ("%s and %s%d", ("one", "three", (3, 4)), "one and three3"),
        ("%-6s|%.2s|", ("ab", "abcdef"), "ab    |ab|"),
        ("%*d|%.*s", ((5, 4), (42, 4), (3, 4), "abcdef"), "   42|abc"),
        ("%pI4 %d", ("10.0.2.15", (1, 4)), "10.0.2.15 1"),
        ("line\n", (), "line"),
        ("two\nlines", (), "two\nlines"),
    ],
)
def test_conversions(form, text, arguments, expected):
    assert printed(form, text, *arguments) == expected


def test_words_and_pointers(form):
    size, ip = form[1], address("leaf", form[1])
    assert printed(form, "%lu %zx", (5, size), (6, size)) == "5 6"
    assert printed(form, "%p.", (0x1000, size)) == "0x1000."
    assert printed(form, "%ps %pS", (ip, size), (ip, size)) == "leaf leaf+0x4"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [("%d", ()), ("%s", ()), ("%n", ()), ("%999999d", ((1, 4),)), ("%*d", ((99999, 4), (1, 4)))],
)
def test_what_cannot_be_printed_stays(form, text, arguments):
    assert printed(form, f"before {text} %d", *arguments) == f"before {text} %d"


@given(text=st.text(), data=st.binary(max_size=64), form=st.sampled_from(FORMATS))
def test_nothing_that_a_guest_stores_is_an_error(text, data, form):
    shown = format_binary(text, data, PageFormat(*form), Symbols())
    assert len(shown) <= MAX_TEXT
    assert printable(shown)


@given(
    text=st.lists(
        st.sampled_from(["%", "d", "s", "p", "*", "l", "h", ".", "9", "0", "#", "S", "c", " "])
    ).map("".join),
    data=st.binary(max_size=64),
    form=st.sampled_from(FORMATS),
)
def test_no_format_is_an_error(text, data, form):
    assert printable(format_binary(text, data, PageFormat(*form), Symbols()))


def test_events_of_a_file(form):
    texts = [("value %d of %s\n", ((7, 4), "leaf")), ('a "quoted" \\ text\n', None)]
    events = list(TraceDatReader(io.BytesIO(printk_trace(form, texts))).events())
    assert [event.message for event in events] == [
        "leaf: value 7 of leaf",
        'leaf: a "quoted" \\ text',
    ]


def test_a_text_that_the_file_does_not_have(form):
    data = printk_trace(form, [("one\n", ()), ("two\n", None)]).replace(b"0xff", b"0xee")
    events = list(TraceDatReader(io.BytesIO(data)).events())
    assert [event.message for event in events] == ["leaf: <0xff00>", "leaf: <0xff10>"]
