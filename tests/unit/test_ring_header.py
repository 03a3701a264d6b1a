# SPDX-License-Identifier: MIT
"""The header a guest exports: decoded where it is right, refused where it is absurd."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.ring import FIXED_SIZE, RingHeader, header_length

GOOD = {
    "magic": 0x46545242,
    "version": 3,
    "header_size": 48,
    "cpu_size": 64,
    "nr_cpus": 2,
    "long_size": 4,
    "page_size": 4096,
    "flags": 1,
    "clock_hz": 10**9,
    "record_disabled": 0,
    "reserved": 0,
}
CPU = {
    "pages": 0x80400000,
    "first_entry": 0x80300000,
    "max_pages": 4096,
    "nr_pages": 1024,
    "head": 5,
    "tail": 7,
    "entries": 300,
    "overrun": 1,
    "dropped": 2,
    "writing": 1,
    "record_disabled": 3,
    "last_stamp": 123456789012,
    "tail_page": 0x80407000,
}
WIDE = dict.fromkeys(("clock_hz", "pages", "first_entry", "last_stamp", "tail_page"), 8)
CPU_SIZES = WIDE | {"writing": 2, "record_disabled": 2}


def encode(byteorder, header=(), cpus=({}, {})):
    """The header as a C compiler would lay it out, field by field."""
    fields = GOOD | dict(header)
    data = b"".join(value.to_bytes(WIDE.get(name, 4), byteorder) for name, value in fields.items())
    for changes in cpus:
        part = b"".join(
            value.to_bytes(CPU_SIZES.get(name, 4), byteorder)
            for name, value in (CPU | changes).items()
        )
        data += part.ljust(64, b"\xee")
    return data


@pytest.mark.parametrize("byteorder", ["big", "little"])
def test_all_fields(byteorder):
    data = encode(byteorder, cpus=({}, {"head": 1, "tail": 1, "pages": 0x80800000}))
    assert header_length(data[:FIXED_SIZE], byteorder) == len(data)
    header = RingHeader.parse(data + b"more", byteorder)
    form = header.page_format
    assert (form.byteorder, form.long_size, form.page_size) == (byteorder, 4, 4096)
    assert header.overwrite
    assert header.clock_hz == 10**9
    assert {name: getattr(header.cpus[0], name) for name in CPU} == CPU
    assert header.cpus[1].pages == 0x80800000


@pytest.mark.parametrize("byteorder", ["big", "little"])
def test_offsets_lead_back_to_the_fields(byteorder):
    data = encode(byteorder)
    header = RingHeader.parse(data, byteorder)
    for cpu in header.cpus:
        for name in CPU:
            offset, size = cpu.field_offset(name), CPU_SIZES.get(name, 4)
            assert int.from_bytes(data[offset : offset + size], byteorder) == CPU[name]
    for name in ("flags", "record_disabled"):
        offset = header.field_offset(name)
        assert int.from_bytes(data[offset : offset + 4], byteorder) == GOOD[name]


def cpu_with(**changes):
    return RingHeader.parse(encode("little", cpus=(changes, {})), "little").cpus[0]


def test_unread_pages():
    assert cpu_with().unread_pages == [5, 6, 7]
    assert cpu_with().complete_pages == [5, 6]
    assert cpu_with(head=0, tail=0).unread_pages == [0]
    assert cpu_with(head=0, tail=1023).unread_pages == list(range(1024))


def test_nothing_is_unread_when_head_is_behind_tail():
    assert cpu_with(head=8, tail=7).unread_pages == []
    assert cpu_with(head=8, tail=7).complete_pages == []


def test_sequence_numbers_wrap():
    assert cpu_with(head=2**32 - 2, tail=0).unread_pages == [2**32 - 2, 2**32 - 1, 0]


def test_addresses():
    cpu = cpu_with()
    assert cpu.page_address(1023) == 0x80400000 + 1023 * 4096
    assert cpu.page_address(1024 + 3) == 0x80400000 + 3 * 4096
    assert cpu.first_entry_address(1025) == 0x80300000 + 4


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("magic", 0x42525446),
        ("version", 2),
        ("header_size", 40),
        ("header_size", 49),
        ("header_size", 1 << 20),
        ("cpu_size", 48),
        ("cpu_size", 0xFFFFFFF8),
        ("nr_cpus", 0),
        ("nr_cpus", 257),
        ("long_size", 6),
        ("long_size", 16),
        ("page_size", 2048),
        ("page_size", 5000),
        ("page_size", 0x80000000),
        ("clock_hz", 0),
    ],
)
def test_headers_that_cannot_be(field, value):
    with pytest.raises(FormatError) as caught:
        RingHeader.parse(encode("big", {field: value}), "big")
    assert field in str(caught.value) or field == "magic"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pages", 0),
        ("pages", 0x80400002),
        ("pages", 0xFFFFF000),
        ("pages", 2**64 - 4096),
        ("first_entry", 0),
        ("first_entry", 0x80300001),
        ("max_pages", 1),
        ("max_pages", 1 << 30),
        ("nr_pages", 1),
        ("nr_pages", 4097),
        ("head", 9),
        ("tail", 5 + 1024),
    ],
)
def test_cpus_that_cannot_be(field, value):
    with pytest.raises(FormatError, match=r"cpu\[1\]\.") as caught:
        RingHeader.parse(encode("big", cpus=({}, {field: value})), "big")
    assert field in str(caught.value)


def test_the_wrong_byte_order_is_noticed():
    with pytest.raises(FormatError, match="begins with"):
        RingHeader.parse(encode("little"), "big")


def test_short_reads_are_noticed():
    for length in (0, FIXED_SIZE - 1):
        with pytest.raises(FormatError, match="at least 48"):
            header_length(encode("big")[:length], "big")
    with pytest.raises(FormatError, match="176 bytes long, but only 175"):
        RingHeader.parse(encode("big")[:175], "big")


@given(st.binary(min_size=8, max_size=300), st.sampled_from(["big", "little"]))
def test_garbage_behind_the_magic_is_refused(garbage, byteorder):
    start = (0x46545242).to_bytes(4, byteorder) + (3).to_bytes(4, byteorder)
    try:
        header = RingHeader.parse(start + garbage, byteorder)
    except FormatError:
        return
    assert all(len(cpu.unread_pages) <= cpu.nr_pages for cpu in header.cpus)


MEMORY = range(0x80200000, 0x82000000)


@pytest.mark.parametrize("cpus", [({}, {}), ({"head": 8}, {"tail": 900})])
def test_pages_within_memory(cpus):
    RingHeader.parse(encode("big", cpus=cpus), "big").check_within(MEMORY)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"pages": 0x10000000}, "pages 0x10000000 to 0x11000000; the guest has only 0x80200000 to"),
        ({"pages": MEMORY.stop - 4096}, "pages 0x81fff000"),
        ({"max_pages": 1 << 18}, "pages 0x80400000 to 0xc0400000"),
        ({"first_entry": 8}, "first_entry 0x8 to 0x4008"),
        ({"first_entry": MEMORY.stop - 4}, "first_entry 0x81fffffc"),
    ],
)
def test_pages_outside_of_memory(changes, says):
    header = RingHeader.parse(encode("big", cpus=({}, changes)), "big")
    with pytest.raises(FormatError, match=rf"cpu\[1\]\.{says}"):
        header.check_within(MEMORY)


def test_more_unread_pages_than_there_is_memory():
    full = {"nr_pages": 4096, "head": 0, "tail": 4095}
    header = RingHeader.parse(encode("big", cpus=(full, full)), "big")
    with pytest.raises(FormatError, match="33554432 bytes of unread pages in 31457280 bytes"):
        header.check_within(MEMORY)
