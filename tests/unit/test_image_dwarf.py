# SPDX-License-Identifier: MIT
"""Debug information that lies, and much of it: an answer or an error of ours, and soon."""

import time

import pytest

from harness.errors import FormatError
from harness.image.layout import Structure
from harness.image.structures import MAX_DEPTH, MAX_MEMBERS, MAX_SIZE, Structures
from tests.unit.dwarf_builder import (
    ARRAY,
    AT,
    BASE,
    BITS,
    COUNT,
    DATA_BIT,
    ENCODING,
    HEADER,
    MEMBER,
    NAME,
    POINTER,
    SIBLING,
    SIZE,
    STRUCT,
    SUBRANGE,
    TYPE,
    TYPEDEF,
    UNIT,
    DwarfBuilder,
    sample,
    uleb,
)


def opened(sections):
    return Structures(sections, "big", "vmlinux", 32)


def read(draft, name="liar"):
    return opened(draft.sections()).struct(name)


def liar(members, *, size=8, others=()):
    """``struct liar`` of two ints' size with these attributes for its members."""
    draft = DwarfBuilder()
    draft.entry(UNIT, {NAME: "liar.c"}, children=True)
    draft.entry(BASE, {NAME: "int", SIZE: 4, ENCODING: 5}, label="int")
    for tag, attributes, label in others:
        draft.entry(tag, attributes, label=label)
    draft.entry(STRUCT, {NAME: "liar", SIZE: size}, label="liar", children=True)
    for attributes in members:
        draft.entry(MEMBER, attributes)
    draft.end()
    draft.end()
    return draft


def test_what_the_builder_builds():
    types = opened(sample().sections())
    struct = types.struct("sample")
    data = bytes.fromhex("00000001 00000002 fffffffd 80000000 06a40000 00000007")
    assert struct.member("list").numbers(data) == [1, 2, -3]
    assert struct.member("next").type.target == "struct sample"
    assert struct.member("field").number(data) == 0x1A9 - 0x200
    assert struct.member("shade").number(data) == types.enum("color").values["GREEN"]
    assert types.typedef("color_t") == types.enum("color")


@pytest.mark.parametrize(
    ("draft", "message"),
    [
        (liar([{NAME: "a", TYPE: "@liar", AT: 0}]), "contains itself"),
        (liar([{NAME: "a", TYPE: "@int", AT: 6}]), "a lies outside of the structure"),
        (liar([{NAME: "a", TYPE: "@int", AT: 1 << 63}]), "a lies outside of the structure"),
        (liar([{NAME: "a", TYPE: "@int", BITS: 33}]), "33 bits has a type of 4 bytes"),
        (liar([{NAME: "a", TYPE: "@int", BITS: 3, DATA_BIT: 62}]), "a lies outside"),
        (liar([], size=MAX_SIZE + 1), f"has {MAX_SIZE + 1} bytes"),
        (
            liar([{NAME: "a", TYPE: "@i", AT: 0}], others=[(BASE, {SIZE: 5, ENCODING: 5}, "i")]),
            "a number has 5 bytes",
        ),
        (
            liar([{NAME: "a", TYPE: "@t", AT: 0}], others=[(TYPEDEF, {TYPE: "@t"}, "t")]),
            "contains itself",
        ),
        (
            liar([{NAME: "a", TYPE: "@p", AT: 0}], others=[(POINTER, {TYPE: "@p"}, "p")]),
            "a pointer leads to itself",
        ),
        (
            liar([{NAME: f"a{i}", TYPE: "@int", AT: 0} for i in range(MAX_MEMBERS + 1)]),
            f"more than {MAX_MEMBERS} members",
        ),
        (liar([{NAME: "a", TYPE: 5, AT: 0}]), "there is no entry|where no entry|not end in"),
        (liar([{NAME: "a", TYPE: 1 << 62, AT: 0}]), "does not end in|where no entry"),
    ],
)
def test_a_structure_that_cannot_be(draft, message):
    with pytest.raises(FormatError, match="the debug information of vmlinux is damaged") as caught:
        read(draft)
    assert caught.match(message)


@pytest.mark.parametrize("count", [MAX_SIZE, (1 << 64) - 1])
def test_an_array_that_is_larger_than_memory(count):
    draft = DwarfBuilder()
    draft.entry(UNIT, {NAME: "liar.c"}, children=True)
    draft.entry(BASE, {NAME: "int", SIZE: 4, ENCODING: 5}, label="int")
    draft.entry(ARRAY, {TYPE: "@int"}, label="array", children=True)
    draft.entry(SUBRANGE, {COUNT: count})
    draft.end()
    draft.entry(TYPEDEF, {NAME: "wide_t", TYPE: "@array"})
    draft.end()
    with pytest.raises(FormatError, match=f"an array has {count} elements of 4 bytes"):
        opened(draft.sections()).typedef("wide_t")


def test_types_deep_inside_one_another():
    others = [(TYPEDEF, {TYPE: f"@t{i + 1}"}, f"t{i}") for i in range(MAX_DEPTH)]
    others.append((TYPEDEF, {TYPE: "@int"}, f"t{MAX_DEPTH}"))
    with pytest.raises(FormatError, match="contains itself"):
        read(liar([{NAME: "a", TYPE: "@t0", AT: 0}], others=others))


def test_siblings_that_go_round():
    draft = DwarfBuilder()
    draft.entry(UNIT, {NAME: "liar.c"}, children=True)
    draft.entry(STRUCT, {NAME: "a", SIZE: 0, SIBLING: "@b"}, label="a", children=True)
    draft.end()
    draft.entry(STRUCT, {NAME: "b", SIZE: 0, SIBLING: "@a"}, label="b", children=True)
    draft.end()
    draft.entry(STRUCT, {NAME: "liar", SIZE: 0}, label="liar")
    draft.end()
    with pytest.raises(FormatError, match="lies before it"):
        read(draft)


def test_tables_of_abbreviations_that_overlap():
    """Each unit begins its table one abbreviation behind the one before."""
    table = b"".join(uleb(code) + b"\x13\x00\x03\x08\x00\x00" for code in range(1, 120)) + b"\0"
    unit = bytes([1]) + b"liar\0"
    info = b"".join(
        (len(unit) + HEADER - 4).to_bytes(4, "big") + b"\0\4" + at.to_bytes(4, "big") + b"\4" + unit
        for at in range(0, 7 * 100, 7)
    )
    with pytest.raises(FormatError, match="the tables of abbreviations overlap"):
        opened({".debug_info": info, ".debug_abbrev": table}).struct("liar")


@pytest.mark.parametrize(
    "change",
    [
        lambda s: {**s, ".debug_info": s[".debug_info"][:-9]},
        lambda s: {**s, ".debug_info": s[".debug_info"] + b"\0\0"},
        lambda s: {**s, ".debug_info": b"\xff\xff\xff\xff" + s[".debug_info"][4:]},
        lambda s: {**s, ".debug_info": s[".debug_info"].replace(b"\0\4", b"\0\7", 1)},
        lambda s: {**s, ".debug_abbrev": s[".debug_abbrev"][:-40]},
    ],
)
def test_sections_cut_short(change):
    with pytest.raises(FormatError, match="the debug information of vmlinux is damaged"):
        opened(change(sample().sections())).struct("sample")


def test_a_name_among_as_many_units_as_a_kernel_has():
    """Units that only speak of it are not gone through."""
    few = sample().sections()
    many = 20_000
    draft = liar([{NAME: "only", TYPE: "@int", AT: 4}])
    for section in (".debug_abbrev", ".debug_str"):
        assert not few[section].startswith(b"liar")
    info = bytearray(few[".debug_info"] * many)
    last = bytearray(draft.sections()[".debug_info"])
    last[6:10] = len(few[".debug_abbrev"]).to_bytes(4, "big")
    strings = few[".debug_str"] + draft.strings
    for name in (b"liar.c", b"liar", b"only"):
        old = draft.strings.index(b"\0" + name + b"\0") + 1
        new = len(few[".debug_str"]) + old
        last = last.replace(old.to_bytes(4, "big"), new.to_bytes(4, "big"))
    began = time.process_time()
    types = opened(
        {
            ".debug_info": bytes(info + last),
            ".debug_abbrev": few[".debug_abbrev"] + draft.sections()[".debug_abbrev"],
            ".debug_str": strings,
        }
    )
    found = types.struct("liar")
    assert isinstance(found, Structure)
    assert found.member("only").offset == 4
    assert time.process_time() - began < 2
