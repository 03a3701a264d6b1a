# SPDX-License-Identifier: MIT
"""The guests' stdlib.h and ctype.h: numbers in text, kinds of characters, rand and abort."""

import ctypes
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.guest_libc import HOST, Guest, needs_compiler

pytestmark = needs_compiler

numbers = st.one_of(
    st.text(alphabet=" \t+-0123456789xXaAfFgGzZ", max_size=24),
    st.integers(-(2**65), 2**65).map(str),
    st.integers(-(2**65), 2**65).map(hex),
)


@given(numbers, st.sampled_from([0, 2, 8, 10, 16, 36]))
@settings(max_examples=300, deadline=None)
def test_strtol_family(guest: Guest, text: str, base: int) -> None:
    string = ctypes.create_string_buffer(text.encode())
    for name in ("strtol", "strtoul", "strtoll", "strtoull"):
        results = []
        for function in (guest.function(name, ctypes.c_longlong), HOST[name]):
            function.restype = ctypes.c_longlong
            end = ctypes.c_void_p()
            value = function(string, ctypes.byref(end), base)
            results.append((value, end.value))
        assert results[0] == results[1], name


@pytest.mark.parametrize("text", ["0x", "0xg", "-0X", "+", " - 1", "08", "0x0x1", ""])
def test_strtol_prefix_without_digits(guest: Guest, text: str) -> None:
    string = ctypes.create_string_buffer(text.encode())
    for base in (0, 16):
        results = []
        for function in (guest.strtol, HOST.strtol):
            end = ctypes.c_void_p()
            results.append((function(string, ctypes.byref(end), base), end.value))
        assert results[0] == results[1]


def test_atoi_and_abs(guest: Guest) -> None:
    assert guest.atoi(b"  -42 bottles") == -42
    assert [guest.abs(value) for value in (-3, 0, 3)] == [3, 0, 3]
    assert guest.function("llabs", ctypes.c_longlong)(ctypes.c_longlong(-(2**40))) == 2**40


@pytest.mark.parametrize(
    "name",
    [
        *("alnum", "alpha", "blank", "cntrl", "digit", "graph"),
        *("lower", "print", "punct", "space", "upper", "xdigit"),
    ],
)
def test_ctype(guest: Guest, name: str) -> None:
    for character in range(-1, 256):
        ours, host = guest.function(f"is{name}"), HOST[f"is{name}"]
        assert bool(ours(character)) == bool(host(character)), character


def test_ctype_case(guest: Guest) -> None:
    for character in range(-1, 256):
        assert guest.tolower(character) == HOST.tolower(character)
        assert guest.toupper(character) == HOST.toupper(character)


def xorshift(state: int) -> Iterator[int]:
    while True:
        state ^= state << 13 & 0xFFFFFFFF
        state ^= state >> 17
        state ^= state << 5 & 0xFFFFFFFF
        yield state & 0x7FFFFFFF


@pytest.mark.parametrize("seed", [0, 1, 20, 0xFFFFFFFF])
def test_rand_is_the_same_everywhere(guest: Guest, seed: int) -> None:
    guest.srand(ctypes.c_uint(seed))
    expected = xorshift(seed or 1)
    assert [guest.rand() for _ in range(20)] == [next(expected) for _ in range(20)]


def test_abort_and_assert_panic(fresh: Guest) -> None:
    fresh.call("abort")
    assert fresh.panic_text.startswith("abort() called from 0x")
    texts = [ctypes.create_string_buffer(text) for text in (b"a < b", b"x.c", b"f")]
    condition, file, function = (ctypes.addressof(text) for text in texts)
    fresh.call("__assert_fail", condition, file, 7, function)
    assert fresh.panic_text == "x.c:7: f: assertion failed: a < b"
