# SPDX-License-Identifier: MIT
"""What gcc calls by itself in a guest: arithmetic of 64 bits, compared with Python."""

import ctypes
import functools

from hypothesis import given, settings
from hypothesis import strategies as st

from support.guest_libc import Guest, needs_compiler, sign

pytestmark = needs_compiler

SIGNED, UNSIGNED, WORD = ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint32
longs = st.one_of(
    st.integers(0, 2**64 - 1), st.integers(0, 2**32), st.integers(0, 63).map(lambda bit: 1 << bit)
)


def signed(value: int) -> int:
    return SIGNED(value).value


@given(longs, longs.filter(bool))
@settings(max_examples=300, deadline=None)
def test_libgcc_division(guest: Guest, dividend: int, divisor: int) -> None:
    call = functools.partial(guest.function, restype=UNSIGNED)
    assert call("__udivdi3")(UNSIGNED(dividend), UNSIGNED(divisor)) == dividend // divisor
    assert call("__umoddi3")(UNSIGNED(dividend), UNSIGNED(divisor)) == dividend % divisor
    a, b = signed(dividend), signed(divisor)
    if (a, b) != (-(2**63), -1):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        call = functools.partial(guest.function, restype=SIGNED)
        assert call("__divdi3")(SIGNED(a), SIGNED(b)) == quotient
        assert call("__moddi3")(SIGNED(a), SIGNED(b)) == a - quotient * b


@given(longs, st.integers(0, 63))
@settings(max_examples=300, deadline=None)
def test_libgcc_shifts(guest: Guest, value: int, count: int) -> None:
    call = functools.partial(guest.function, restype=UNSIGNED)
    assert call("__ashldi3")(UNSIGNED(value), count) == value << count & 2**64 - 1
    assert call("__lshrdi3")(UNSIGNED(value), count) == value >> count
    assert guest.function("__ashrdi3", SIGNED)(SIGNED(value), count) == signed(value) >> count


@given(longs, longs)
@settings(max_examples=300, deadline=None)
def test_libgcc_comparison(guest: Guest, left: int, right: int) -> None:
    assert guest.function("__ucmpdi2")(UNSIGNED(left), UNSIGNED(right)) == 1 + sign(left - right)
    expected = 1 + sign(signed(left) - signed(right))
    assert guest.function("__cmpdi2")(SIGNED(left), SIGNED(right)) == expected


@given(longs)
@settings(max_examples=300, deadline=None)
def test_libgcc_bits(guest: Guest, value: int) -> None:
    word = value & 0xFFFFFFFF
    assert guest.function("__popcountdi2")(UNSIGNED(value)) == value.bit_count()
    assert guest.function("__popcountsi2")(WORD(word)) == word.bit_count()
    trailing = (value & -value).bit_length()
    assert guest.function("__ffsdi2")(UNSIGNED(value)) == trailing
    if value:
        assert guest.function("__clzdi2")(UNSIGNED(value)) == 64 - value.bit_length()
        assert guest.function("__ctzdi2")(UNSIGNED(value)) == trailing - 1
    swapped = int.from_bytes(value.to_bytes(8, "little"))
    assert guest.function("__bswapdi2", UNSIGNED)(UNSIGNED(value)) == swapped
    assert guest.function("__bswapsi2", WORD)(WORD(word)) == int.from_bytes(
        word.to_bytes(4, "little")
    )
