# SPDX-License-Identifier: MIT
"""The guests' malloc: areas keep their bytes, the heap stays whole, and mistakes panic."""

import ctypes
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.guest_libc import HEAP_SIZE, Guest, needs_compiler

pytestmark = needs_compiler

operations = st.lists(
    st.tuples(
        st.sampled_from(["malloc", "malloc", "calloc", "realloc", "free"]),
        st.one_of(st.integers(0, 100), st.integers(0, 20000)),
        st.integers(0, 1000),
    ),
    max_size=60,
)


def fill(area: int, size: int, number: int) -> bytes:
    content = bytes((number + i) & 0xFF for i in range(size))
    ctypes.memmove(area, content, size)
    return content


@given(operations)
@settings(max_examples=100, deadline=None)
def test_malloc_random(guest: Guest, steps: list[tuple[str, int, int]]) -> None:
    """Areas are aligned, apart and keep their bytes; when all are freed the heap is whole again."""
    areas: dict[int, bytes] = {}
    for number, (operation, size, pick) in enumerate(steps):
        victim = sorted(areas)[pick % len(areas)] if areas else 0
        if operation == "free":
            guest.free(victim)
            areas.pop(victim, None)
            area = 0
        elif operation == "realloc":
            area = guest.call("realloc", victim, size)
            if area:
                old = areas.pop(victim, b"")
                common = min(size, len(old))
                assert ctypes.string_at(area, common) == old[:common]
        elif operation == "calloc":
            area = guest.call("calloc", size, 1)
            assert not area or ctypes.string_at(area, size) == bytes(size)
        else:
            area = guest.malloc(size)
        assert guest.panic_text == ""
        if area:
            assert area % 16 == 0
            areas[area] = fill(area, size, number)
        assert guest.function("malloc_check", ctypes.c_size_t)() == sum(map(len, areas.values()))
        for start, content in areas.items():
            assert ctypes.string_at(start, len(content)) == content
    for area in areas:
        guest.free(area)
    whole = guest.malloc(HEAP_SIZE - 2 * 32 - 1)
    assert whole
    guest.free(whole)


def test_malloc_limits(fresh: Guest) -> None:
    huge = ctypes.c_long(-1).value
    assert fresh.malloc(HEAP_SIZE) == 0
    assert fresh.malloc(huge) == 0
    assert fresh.malloc(2**63 - 8) == 0
    assert fresh.call("calloc", 2**33, 2**33) == 0
    area = fresh.malloc(10)
    assert fresh.call("realloc", area, huge) == 0
    assert fresh.malloc_check() == 10
    assert fresh.malloc(0) != fresh.malloc(0)
    fresh.free(0)
    assert fresh.panic_text == ""


def test_realloc_grows_in_place(fresh: Guest) -> None:
    area = fresh.malloc(100)
    assert fresh.call("realloc", area, 5000) == area
    assert fresh.call("realloc", area, 10) == area
    assert fresh.malloc(4000) - area < 100


def poke(address: int, value: int = 0x41) -> None:
    ctypes.c_ubyte.from_address(address).value = value


def double_free(guest: Guest, area: int) -> None:
    guest.free(area)
    guest.free(area)


def double_free_joined(guest: Guest, area: int) -> None:
    """The second block disappears into the first and is freed again."""
    second = guest.malloc(50)
    guest.free(area)
    guest.free(second)
    guest.free(second)


def free_inside(guest: Guest, area: int) -> None:
    guest.free(area + 16)


def free_unaligned(guest: Guest, area: int) -> None:
    guest.free(area + 1)


def free_stack(guest: Guest, area: int) -> None:
    guest.free(ctypes.addressof(ctypes.create_string_buffer(16)))


def write_behind(guest: Guest, area: int) -> None:
    poke(area + 40)
    guest.free(area)


def write_far_behind(guest: Guest, area: int) -> None:
    for offset in range(48, 64):
        poke(area + offset)
    guest.free(area)


def write_before(guest: Guest, area: int) -> None:
    for offset in range(1, 33):
        poke(area - offset)
    guest.free(area)


def write_after_free(guest: Guest, area: int) -> None:
    guest.free(area)
    for offset in range(16):
        poke(area + offset)
    guest.malloc(40)


def realloc_freed(guest: Guest, area: int) -> None:
    guest.free(area)
    guest.call("realloc", area, 80)


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        (double_free, "double free of 0x"),
        (double_free_joined, "double free of 0x"),
        (free_inside, "did not come from malloc"),
        (free_unaligned, "did not come from malloc"),
        (free_stack, "did not come from malloc"),
        (write_behind, "written behind the 40 bytes at 0x"),
        (write_far_behind, "block behind it was overwritten"),
        (write_before, "header was overwritten"),
        (write_after_free, "was written to"),
        (realloc_freed, "double free of 0x"),
    ],
)
def test_malloc_mistakes_panic(
    fresh: Guest, mistake: Callable[[Guest, int], None], text: str
) -> None:
    area = fresh.malloc(40)
    mistake(fresh, area)
    assert fresh.panic_text.startswith("malloc: ")
    assert text in fresh.panic_text


def test_malloc_check_finds_damage(fresh: Guest) -> None:
    area = fresh.malloc(40)
    poke(area + 41)
    fresh.call("malloc_check")
    assert "written behind" in fresh.panic_text
