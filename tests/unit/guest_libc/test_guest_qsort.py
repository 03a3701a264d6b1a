# SPDX-License-Identifier: MIT
"""The guests' qsort and bsearch, compared with Python, and against an adversary."""

import ctypes
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.guest_libc import Guest, needs_compiler, sign

pytestmark = needs_compiler

Compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))


def sort_integers(
    guest: Guest, values: list[int], compare: Callable[[int, int], int]
) -> tuple[list[int], int]:
    """Return the sorted array and how many comparisons it took."""
    array = (ctypes.c_int * (len(values) or 1))(*values)
    count = 0

    @Compare
    def callback(left: Any, right: Any) -> int:
        nonlocal count
        count += 1
        return compare(left[0], right[0])

    guest.qsort(array, ctypes.c_size_t(len(values)), ctypes.c_size_t(4), callback)
    return list(array)[: len(values)], count


@given(st.lists(st.one_of(st.integers(0, 3), st.integers(-(2**31), 2**31 - 1)), max_size=80))
@settings(max_examples=200, deadline=None)
def test_qsort(guest: Guest, values: list[int]) -> None:
    assert sort_integers(guest, values, lambda a, b: sign(a - b))[0] == sorted(values)


def test_qsort_against_an_adversary(guest: Guest) -> None:
    """McIlroy's adversary decides the values late, so that any quicksort becomes quadratic."""
    size = 500
    undecided = size
    values = [undecided] * size
    decided = 0
    candidate = 0

    def freeze(item: int) -> None:
        nonlocal decided
        values[item] = decided
        decided += 1

    def compare(left: int, right: int) -> int:
        nonlocal candidate
        if values[left] == values[right] == undecided:
            freeze(left if left == candidate else right)
        if values[left] == undecided:
            candidate = left
        elif values[right] == undecided:
            candidate = right
        return sign(values[left] - values[right])

    result, count = sort_integers(guest, list(range(size)), compare)
    assert [values[item] for item in result] == sorted(values)
    assert count <= 2 * size * math.log2(size)


@pytest.mark.parametrize("element", [1, 3, 8, 24])
def test_qsort_element_sizes(guest: Guest, element: int) -> None:
    items = [bytes([i * 37 % 101]) * element for i in range(101)]
    array = ctypes.create_string_buffer(b"".join(items), 101 * element)
    byte = ctypes.POINTER(ctypes.c_ubyte)
    callback = ctypes.CFUNCTYPE(ctypes.c_int, byte, byte)(lambda a, b: sign(a[0] - b[0]))
    guest.qsort(array, ctypes.c_size_t(101), ctypes.c_size_t(element), callback)
    assert array.raw == b"".join(sorted(items))


@given(st.lists(st.integers(-50, 50), max_size=30, unique=True), st.integers(-50, 50))
@settings(max_examples=200, deadline=None)
def test_bsearch(guest: Guest, values: list[int], wanted: int) -> None:
    values.sort()
    array = (ctypes.c_int * (len(values) or 1))(*values)
    key = ctypes.c_int(wanted)
    callback = Compare(lambda a, b: sign(a[0] - b[0]))
    found = guest.function("bsearch", ctypes.c_void_p)(
        ctypes.byref(key), array, ctypes.c_size_t(len(values)), ctypes.c_size_t(4), callback
    )
    expected = ctypes.addressof(array) + 4 * values.index(wanted) if wanted in values else None
    assert found == expected
