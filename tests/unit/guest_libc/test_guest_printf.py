# SPDX-License-Identifier: MIT
"""The guests' printf prints what the host's prints, and has a few rules of its own."""

import ctypes
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.guest_libc import HOST, Guest, needs_compiler

pytestmark = needs_compiler


def printed(function: Any, size: int, form: bytes, *arguments: Any) -> tuple[int, bytes]:
    """Return what snprintf returned and all bytes of a buffer that is larger than size."""
    buffer = ctypes.create_string_buffer(b"\xee" * (size + 8))
    result = function(buffer, ctypes.c_size_t(size), form, *arguments)
    return result, buffer.raw


LENGTHS = {
    b"": ctypes.c_int,
    b"hh": ctypes.c_int,
    b"h": ctypes.c_int,
    b"l": ctypes.c_long,
    b"ll": ctypes.c_longlong,
    b"j": ctypes.c_longlong,
    b"z": ctypes.c_ssize_t,
    b"t": ctypes.c_ssize_t,
}

flags = st.lists(st.sampled_from(b"-+ #0"), max_size=3).map(bytes)
widths = st.one_of(st.just(b""), st.integers(0, 40).map(lambda width: b"%d" % width))
precisions = st.one_of(
    st.just(b""), st.just(b"."), st.integers(0, 40).map(lambda precision: b".%d" % precision)
)
INTERESTING = [0, 1, -1, 7, 8, 127, 128, -128, 255, 2**15, 2**31 - 1, 2**31, 2**63 - 1, -(2**63)]
integers = st.one_of(st.sampled_from(INTERESTING), st.integers(-(2**63), 2**63 - 1))


@st.composite
def integer_directives(draw: st.DrawFn) -> tuple[bytes, Any]:
    length = draw(st.sampled_from(sorted(LENGTHS)))
    conversion = draw(st.sampled_from([b"d", b"i", b"u", b"o", b"x", b"X"]))
    form = b"%" + draw(flags) + draw(widths) + draw(precisions) + length + conversion
    return form, LENGTHS[length](draw(integers))


@pytest.mark.parametrize("length", sorted(LENGTHS))
def test_snprintf_lengths(guest: Guest, length: bytes) -> None:
    for value in INTERESTING:
        argument = LENGTHS[length](value)
        for conversion in (b"d", b"i", b"u", b"o", b"x", b"X"):
            arguments = (40, b"%#" + length + conversion, argument)
            assert printed(guest.snprintf, *arguments) == printed(HOST.snprintf, *arguments)


@given(integer_directives(), st.integers(0, 60))
@settings(max_examples=300, deadline=None)
def test_snprintf_integers(guest: Guest, directive: tuple[bytes, Any], size: int) -> None:
    form, value = directive
    text = b"<" + form + b">"
    assert printed(guest.snprintf, size, text, value) == printed(HOST.snprintf, size, text, value)


@given(st.sampled_from([b"", b"-"]), widths, precisions, st.binary(max_size=50), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_snprintf_strings(
    guest: Guest, flag: bytes, width: bytes, precision: bytes, text: bytes, size: int
) -> None:
    form = b"%" + flag + width + precision + b"s|%c%%"
    text = text.replace(b"\0", b"")
    arguments = (size, form, text, ctypes.c_int(0x141))
    assert printed(guest.snprintf, *arguments) == printed(HOST.snprintf, *arguments)


@given(st.integers(-40, 40), st.integers(-3, 40), integers)
@settings(max_examples=200, deadline=None)
def test_snprintf_stars(guest: Guest, width: int, precision: int, value: int) -> None:
    arguments = (100, b"%*.*ld", ctypes.c_int(width), ctypes.c_int(precision), ctypes.c_long(value))
    assert printed(guest.snprintf, *arguments) == printed(HOST.snprintf, *arguments)


@pytest.mark.parametrize(
    ("form", "arguments", "expected"),
    [
        (b"", (), b""),
        (b"%", (), b"%"),
        (b"%%%5%", (), b"%%"),
        (b"%p", (ctypes.c_void_p(0),), b"0x0"),
        (b"%14p|%-8p|", (ctypes.c_void_p(0x1F40), ctypes.c_void_p(1)), b"        0x1f40|0x1     |"),
        (b"%s %.3s", (ctypes.c_char_p(None), ctypes.c_char_p(None)), b"(null) (nu"),
        # What is not known is printed and takes nothing.
        (b"%n%d", (ctypes.c_int(5),), b"%n5"),
        (b"%5.1f %d", (ctypes.c_int(5),), b"%5.1f 5"),
        (b"%-", (), b"%-"),
        (b"%l", (), b"%l"),
        # Arguments beyond those in registers.
        (b"%d" * 9, tuple(ctypes.c_int(i) for i in range(9)), b"012345678"),
    ],
)
def test_snprintf_own_rules(
    guest: Guest, form: bytes, arguments: tuple[Any, ...], expected: bytes
) -> None:
    result, buffer = printed(guest.snprintf, 64, form, *arguments)
    assert (result, buffer[: result + 1]) == (len(expected), expected + b"\0")


def test_snprintf_only_counts_without_a_buffer(guest: Guest) -> None:
    assert guest.snprintf(None, ctypes.c_size_t(0), b"%d bottles", 99) == 10


def test_snprintf_enormous_width(guest: Guest) -> None:
    """A length that an int cannot hold is an error, and the buffer holds what fits."""
    result, buffer = printed(guest.snprintf, 8, b"%2147483647d%d", 1, 1)
    assert (result, buffer[:8]) == (-1, b" " * 7 + b"\0")
    assert guest.snprintf(None, ctypes.c_size_t(0), b"%99999999999999999999d", 1) > 0
    assert guest.snprintf(None, ctypes.c_size_t(0), b"%*d", ctypes.c_int(-(2**31)), 1) == 2**31 - 1


def test_sprintf(guest: Guest) -> None:
    buffer = ctypes.create_string_buffer(20)
    assert guest.sprintf(buffer, b"%s-%d", b"left", 3) == 6
    assert buffer.value == b"left-3"


@given(st.lists(st.binary(max_size=300), max_size=4))
@settings(max_examples=100, deadline=None)
def test_printf_writes_everything_in_bounded_pieces(guest: Guest, texts: list[bytes]) -> None:
    texts = [text.replace(b"\0", b"") for text in texts]
    for text in texts:
        assert guest.printf(b"[%s]", text) == len(text) + 2
    assert guest.console() == b"".join(b"[%s]" % text for text in texts)
    assert guest.variable("console_largest_write").value <= 128


def test_puts_and_putchar(guest: Guest) -> None:
    guest.puts(b"line")
    assert guest.putchar(ord("x")) == ord("x")
    assert guest.console() == b"line\nx"
