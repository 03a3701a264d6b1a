# SPDX-License-Identifier: MIT
"""The guest's array of threads, as it must be and as a stranger may have it."""

import struct
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.image import Structure, ThreadArray
from harness.image.layout import Array, Integer, Member

ENTRY = 96
ADDRESS = 0x80200000
PLACES = {
    **{"cpu": 0, "pid": 4, "flags": 12, "curr_ret_stack": 16, "ftrace_ignore": 20},
    **{"ret_stack": 24, "stack_end": 28, "comm": 40, "state": 56, "interrupted_pc": 60},
    "thread": 64,
}


def array(byteorder="big", room=3 * ENTRY, size=ENTRY, without=""):
    """The threads of an image with room for three, as they are read from its memory."""
    char, signed, word = (
        Integer("char", 1, False),
        Integer("int", 4, True),
        Integer("u32", 4, False),
    )
    kinds = dict.fromkeys(("cpu", "pid", "curr_ret_stack"), signed) | {"comm": Array(char, 16)}
    pair = {one: Member(one, 4 * i, word, byteorder) for i, one in enumerate(("pc", "sp"))}
    kinds["thread"] = Structure("thread_struct", 8, pair)
    members = {
        name: Member(name, at, kinds.get(name, word), byteorder)
        for name, at in PLACES.items()
        if name != without
    }
    types = {"thread_info": Structure("thread_info", size, members)}
    return ThreadArray(
        SimpleNamespace(
            name="vmlinux",
            structures=SimpleNamespace(struct=types.__getitem__),
            address_of={"threads": ADDRESS}.__getitem__,
            size_of={"threads": room}.__getitem__,
        )
    )


def entry(pid, comm, state=0, interrupted=0, order=">", stack_end=0x80500000):
    raw = bytearray(ENTRY)
    struct.pack_into(f"{order}iiIIi", raw, 0, 1, pid, 0, 2, -1)
    struct.pack_into(f"{order}II", raw, 24, 0x80300000, stack_end)
    raw[40:56] = comm
    struct.pack_into(f"{order}IIII", raw, 56, state, interrupted, 0x80001000, 0x80400000)
    return bytes(raw)


@pytest.mark.parametrize(("order", "byteorder"), [(">", "big"), ("<", "little")])
def test_threads(order, byteorder):
    read = array(byteorder)
    assert (read.address, read.size, read.count) == (ADDRESS, 3 * ENTRY, 3)
    entries = [
        entry(0, b"swapper/0".ljust(16, b"\0"), order=order),
        entry(5, b"free".ljust(16, b"\0"), state=0x1000, order=order),
        entry(-1, b"worker\x1b[31m\0rest", interrupted=0x80005554, order=order),
    ]
    first, second = read.threads(b"".join(entries))
    assert (first.slot, first.address, first.pid, first.cpu) == (0, ADDRESS, 0, 1)
    assert (first.comm, first.curr_ret_stack, first.ret_stack) == ("swapper/0", -1, 0x80300000)
    assert (second.slot, second.address, str(second)) == (
        2,
        ADDRESS + 2 * ENTRY,
        "worker\\x1b[31m--1",
    )
    assert (second.interrupted_pc, second.saved_pc) == (0x80005554, 0x80001000)
    assert read.names(b"".join(entries)) == {5: "free"}


def test_before_the_guest_has_any_there_are_none():
    assert array().threads(bytes(3 * ENTRY)) == []
    assert array().names(bytes(3 * ENTRY)) == {}


def test_a_name_with_an_end_of_line_stays_on_one():
    read = array(room=ENTRY)
    (thread,) = read.threads(entry(7, b"a\n1 FORGED\0rest1"))
    assert thread.comm == "a\\n1 FORGED"
    assert read.names(entry(7, b"a\n1 FORGED\0rest1")) == {7: "a\\n1 FORGED"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"room": 3 * ENTRY - 1}, "has 287 bytes of threads of 96 bytes"),
        ({"room": ENTRY << 20}, "bytes of threads"),
        ({"size": 0}, "of 0 bytes"),
        ({"without": "stack_end"}, "struct thread_info of the guest has no member stack_end"),
    ],
)
def test_an_image_that_cannot_be_right(change, message):
    with pytest.raises(FormatError, match=message):
        array(**change)


def test_entries_cut_short():
    with pytest.raises(FormatError, match="behind the 96 bytes"):
        array().threads(bytes(ENTRY))


@given(st.binary(min_size=3 * ENTRY, max_size=3 * ENTRY))
def test_any_entries_can_be_shown(entries):
    for thread in array().threads(entries):
        assert str(thread).isprintable() or "\t" in str(thread)
