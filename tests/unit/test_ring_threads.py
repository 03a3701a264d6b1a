# SPDX-License-Identifier: MIT
"""The guest's table of threads, as it must be and as a stranger may have it."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.ring import TABLE_SIZE, ThreadTable

ENTRY = 96
ADDRESS = 0x80200000


def table(order=">", **changes):
    fields = {
        **{"magic": 0x54485244, "version": 1, "nr_threads": 3, "entry_size": ENTRY},
        **{"long_size": 4, "ret_stack_size": 32, "comm_size": 16},
        **{"comm": 40, "pid": 4, "cpu": 0, "flags": 12, "state": 56, "curr_ret_stack": 16},
        **{"ret_stack": 24, "interrupted_pc": 60, "saved_pc": 64, "saved_sp": 68},
        **{"reserved": 0, "threads": ADDRESS},
        **changes,
    }
    return struct.pack(f"{order}18IQ", *fields.values())


def entry(pid, comm, state=0, interrupted=0, order=">"):
    raw = bytearray(ENTRY)
    struct.pack_into(f"{order}iiIIi", raw, 0, 1, pid, 0, 2, -1)
    struct.pack_into(f"{order}I", raw, 24, 0x80300000)
    raw[40:56] = comm
    struct.pack_into(f"{order}IIII", raw, 56, state, interrupted, 0x80001000, 0x80400000)
    return bytes(raw)


@pytest.mark.parametrize(("order", "byteorder"), [(">", "big"), ("<", "little")])
def test_threads(order, byteorder):
    read = ThreadTable.parse(table(order), byteorder)
    assert (read.size, read.ret_stack_size) == (3 * ENTRY, 32)
    entries = [
        entry(0, b"swapper/0".ljust(16, b"\0"), order=order),
        entry(5, b"free".ljust(16, b"\0"), state=0x1000, order=order),
        entry(-1, b"worker\x1b[31m\0rest", interrupted=0x80005554, order=order),
    ]
    first, second = read.threads(b"".join(entries), ADDRESS)
    assert (first.slot, first.address, first.pid, first.cpu) == (0, ADDRESS, 0, 1)
    assert (first.comm, first.curr_ret_stack, first.ret_stack) == ("swapper/0", -1, 0x80300000)
    assert (second.slot, second.address, str(second)) == (
        2,
        ADDRESS + 2 * ENTRY,
        "worker\\x1b[31m--1",
    )
    assert (second.interrupted_pc, second.saved_pc) == (0x80005554, 0x80001000)


def test_a_name_with_an_end_of_line_stays_on_one():
    read = ThreadTable.parse(table(), "big")
    (thread,) = read.threads(entry(7, b"a\n1 FORGED\0rest1"), ADDRESS)
    assert thread.comm == "a\\n1 FORGED"
    assert read.names(entry(7, b"a\n1 FORGED\0rest1")) == {7: "a\\n1 FORGED"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"magic": 0}, "not started yet"),
        ({"version": 2}, "version 2"),
        ({"nr_threads": 0}, "cannot be right"),
        ({"nr_threads": 1 << 20}, "cannot be right"),
        ({"long_size": 2}, "cannot be right"),
        ({"comm_size": 1000}, "cannot be right"),
        ({"comm": ENTRY - 15}, "cannot be right"),
        ({"saved_sp": ENTRY}, "cannot be right"),
        ({"entry_size": 40}, "cannot be right"),
    ],
)
def test_a_table_that_cannot_be_right(change, message):
    with pytest.raises(FormatError) as caught:
        ThreadTable.parse(table(**change), "big")
    assert message in f"{caught.value.message} {caught.value.advice}"


def test_a_table_of_more_than_there_is_room_for():
    assert ThreadTable.parse(table(), "big", 3 * ENTRY).nr_threads == 3
    with pytest.raises(FormatError, match="3 entries of 96 bytes, and there are 287 bytes"):
        ThreadTable.parse(table(), "big", 3 * ENTRY - 1)


def test_a_table_cut_short():
    with pytest.raises(FormatError, match=f"has {TABLE_SIZE} bytes"):
        ThreadTable.parse(table()[:-1], "big")


@given(st.binary(min_size=3 * ENTRY, max_size=3 * ENTRY))
def test_any_entries_can_be_shown(entries):
    for thread in ThreadTable.parse(table(), "big").threads(entries, ADDRESS):
        assert str(thread).isprintable() or "\t" in str(thread) or "\n" in str(thread)
