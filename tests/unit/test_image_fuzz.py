# SPDX-License-Identifier: MIT
"""Damaged ELF files: an error of ours or an answer, never anything else, and never for long."""

from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from harness.errors import FormatError, HarnessError
from harness.image import Image
from harness.image.recordmcount import assembly, recordmcount
from tests.unit.elf_builder import ALLOC, NOTE, SYMTAB, ElfBuilder
from tests.unit.guest_drafts import KINDS, Draft


def draft_file(index: int) -> bytes:
    draft = Draft(KINDS[index])
    if KINDS[index].form == "mcount":
        draft.relocate(draft.first, draft.second, draft.gap)
    return draft.elf.build()


FILES = [draft_file(index) for index in range(len(KINDS))]

# The extremes of fields are where offsets and counts go wrong.
values = st.one_of(
    st.integers(0, 255).map(lambda value: bytes([value])),
    st.sampled_from([b"\xff" * 4, b"\xff" * 8, b"\x7f" + b"\xff" * 7, bytes(4), bytes(8)]),
    st.binary(min_size=1, max_size=16),
)
places = st.one_of(
    st.integers(0, 64),  # the header
    st.integers(-600, -1),  # the section headers
    st.integers(0, 2000),
)
mutations = st.lists(st.tuples(places, values), min_size=1, max_size=8)
often = settings(max_examples=300)


def damage(data: bytes, changes: list[tuple[int, bytes]]) -> bytes:
    """``data`` with some bytes overwritten; a negative place counts from the end."""
    damaged = bytearray(data)
    for place, value in changes:
        start = place % len(data)
        damaged[start : start + len(value)] = value
    return bytes(damaged[: len(data)])


def complaint(look: Callable[[], object]) -> str:
    """What ``look`` says in an error of ours; nothing when it raises none."""
    try:
        look()
    except HarnessError as error:
        return str(error)
    return ""


def look_at_everything(data: bytes) -> None:
    """Use all of an image; each answer may be an error of ours."""
    try:
        image = Image(data, "vmlinux")
    except FormatError:
        return
    for look in (
        lambda: image.sites,
        lambda: image.build_id,
        lambda: image.build_id_address,
        lambda: len(image.text),
        lambda: image.read(image.entry, 64),
    ):
        assert all(line.isprintable() for line in complaint(look).splitlines())
    for line in image.kallsyms().splitlines():
        assert line.isprintable()
    for function in image.functions:
        assert image.isa.mask >= function.address >= 0
        assert image.symbolize(function.address).isprintable()


@often
@given(st.sampled_from(FILES), mutations)
def test_damaged_guest(data: bytes, changes: list[tuple[int, bytes]]) -> None:
    look_at_everything(damage(data, changes))


@often
@given(st.sampled_from(FILES), mutations)
def test_damaged_link(data: bytes, changes: list[tuple[int, bytes]]) -> None:
    try:
        records = recordmcount(damage(data, changes), "vmlinux")
    except HarnessError:
        return
    assert records.sites == sorted(set(records.sites))
    assert assembly(records, "vmlinux").isascii()


@often
@given(st.binary(max_size=400), st.sampled_from([b"", b"\x7fELF", b"\x7fELF\x01\x02\x01"]))
@example(b"\0" * 100, b"\x7fELF\x02\x01")
def test_noise(noise: bytes, start: bytes) -> None:
    look_at_everything(start + noise)


def test_many_headers_of_one_table_do_not_multiply_the_work() -> None:
    draft = Draft(KINDS[0])
    draft.relocate(*[draft.first] * 2000)
    data = draft.elf.build()
    header = data[-40:]
    count = 20_000
    table = len(data)
    wide = bytearray(data + data[-40 * 7 :] + header * count)
    wide[32:36] = table.to_bytes(4, "big")
    wide[48:50] = count.to_bytes(2, "big")
    with pytest.raises(FormatError, match="relocations are larger than the file"):
        recordmcount(bytes(wide), "vmlinux")


def test_symbols_that_overlap_do_not_multiply_the_work() -> None:
    elf = ElfBuilder()
    elf.section(0, bytes(50_000), flags=0, type=SYMTAB)
    elf.sections[0].link = 3
    elf.sections[0].entry_size = 1
    with pytest.raises(FormatError, match=r"its symbol table is damaged .*are not symbols of"):
        Image(elf.build(), "vmlinux")


def test_note_of_absurd_size_is_not_read() -> None:
    elf = ElfBuilder()
    elf.section(0, elf.words(0x7FFFFFF0, 0, 3, 0), flags=ALLOC, type=NOTE)
    with pytest.raises(FormatError, match=r"a note is damaged .*part of 2147483632 bytes"):
        Image(elf.build(), "vmlinux").build_id  # noqa: B018
