# SPDX-License-Identifier: MIT
"""What Image says of small synthetic guests of every kind."""

import pytest

from harness.errors import FormatError, GuestError
from harness.image import Function, Image
from harness.isa import Form
from harness.trace import Symbols
from tests.unit.elf_builder import ALLOC, FILE, LOCAL, MIPS, NOBITS, SECTION, WEAK, ElfBuilder
from tests.unit.guest_drafts import BUILD_ID, KINDS, SIZE, Draft, Kind


@pytest.fixture(params=KINDS, ids=lambda kind: kind.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    return request.param


@pytest.fixture
def draft(kind: Kind) -> Draft:
    return Draft(kind)


def open_image(draft: Draft) -> Image:
    return Image(draft.elf.build(), "vmlinux")


def test_header(draft: Draft) -> None:
    image, kind = open_image(draft), draft.kind
    assert (image.bits, image.byteorder, image.entry) == (kind.bits, kind.byteorder, kind.base)
    assert (image.isa.bits, image.isa.byteorder) == (kind.bits, kind.byteorder)
    assert image.text == range(kind.base, kind.base + 4 * SIZE)


@pytest.mark.parametrize("end", [0x80000000, 0xF0000000])
def test_text_that_cannot_be(end: int) -> None:
    elf = ElfBuilder()
    elf.section(0x80100000, bytes(16))
    elf.symbol("_text", 0x80100000)
    elf.symbol("_etext", end)
    with pytest.raises(GuestError, match=f"cannot reach from 0x80100000 to 0x{end:08x}"):
        Image(elf.build(), "vmlinux").text  # noqa: B018


def test_functions(draft: Draft) -> None:
    image = open_image(draft)
    assert image.functions == [
        Function("_mcount", draft.mcount, SIZE),
        Function("first", draft.first, SIZE),
        Function("second", draft.second, SIZE),
    ]
    for address, expected in (
        (draft.first, "first"),
        (draft.first + 4, "first+0x4"),
        (draft.second - 1, f"first+0x{SIZE - 1:x}"),
        (draft.gap - 1, f"second+0x{SIZE - 1:x}"),
        (draft.gap, f"0x{draft.gap:0{draft.kind.bits // 4}x}"),
        (draft.mcount - 4, f"0x{draft.mcount - 4:0{draft.kind.bits // 4}x}"),
    ):
        assert image.symbolize(address) == expected


def test_sites(draft: Draft) -> None:
    image = open_image(draft)
    assert [(s.address, s.function, s.function_address) for s in image.sites] == [
        (draft.site(draft.first), "first", draft.first),
        (draft.site(draft.second), "second", draft.second),
    ]
    assert {s.form for s in image.sites} == {Form(draft.kind.form)}
    assert image.ignored_sites == []
    for site in image.sites:
        assert site.as_built == image.read(site.address, len(site.as_built))


@pytest.mark.parametrize(("changing", "offset"), [(4, 4), (8, 0), (12, 0), (0xFFFFFFFF, 0)])
def test_the_record_is_where_the_site_changes(kind: Kind, changing: int, offset: int) -> None:
    """MCOUNT_INSN_SIZE of the port: so many bytes change at ``ip``, up to the end of an entry."""
    draft = Draft(kind)
    address = draft.kind.base + 0x3000
    draft.elf.section(address, changing.to_bytes(4, draft.kind.byteorder), flags=ALLOC)
    draft.elf.symbol("mcount_insn_size", address, section=4)
    patchable = Form(kind.form) is Form.PATCHABLE_ENTRY
    for site in open_image(draft).sites:
        assert site.ip - site.address == (offset if patchable else 0)


def test_sites_are_sorted(kind: Kind) -> None:
    plain = Draft(kind)
    entries = [plain.site(plain.second), plain.site(plain.first)]
    assert open_image(Draft(kind, entries)).sites == open_image(plain).sites


def test_empty_table(kind: Kind) -> None:
    assert open_image(Draft(kind, [])).sites == []


@pytest.mark.parametrize(
    ("shift", "what"),
    [(4, "is no call site"), (2, "is no call site"), (0x100000, "is no call site")],
)
def test_entry_that_is_no_call_site(kind: Kind, shift: int, what: str) -> None:
    address = Draft(kind).site(Draft(kind).first) + shift
    with pytest.raises(GuestError, match=rf"vmlinux names 0x0*{address:x}.*{what}"):
        open_image(Draft(kind, [address])).sites  # noqa: B018


def test_bad_entry_is_shown_with_its_code(kind: Kind) -> None:
    draft = Draft(kind)
    address = draft.site(draft.first) + 4
    with pytest.raises(GuestError) as caught:
        open_image(Draft(kind, [address])).sites  # noqa: B018
    where = f"0x{address:0{kind.bits // 4}x}"
    assert f"{where} (first+0x{address - draft.first:x})" in caught.value.message
    assert f"=> {where}: " in caught.value.advice


def test_entry_without_code(kind: Kind) -> None:
    for address in (Draft(kind).site(Draft(kind).first) + 2, kind.base - 0x100):
        with pytest.raises(GuestError, match="There is no code there"):
            open_image(Draft(kind, [address])).sites  # noqa: B018


def test_entry_at_the_end_of_a_segment_of_odd_size(kind: Kind) -> None:
    draft = Draft(kind)
    text = draft.elf.sections[0]
    text.data = text.data[: draft.site(draft.second) - kind.base + 11]
    assert len(open_image(draft).sites) == 2


def test_entry_that_stands_twice(kind: Kind) -> None:
    address = Draft(kind).site(Draft(kind).first)
    with pytest.raises(GuestError, match="stands there twice"):
        open_image(Draft(kind, [address, address])).sites  # noqa: B018


def test_entry_in_no_function(kind: Kind) -> None:
    address = Draft(kind).site(Draft(kind).gap)
    image = open_image(Draft(kind, [address]))
    if kind.form == "patchable-entry":
        # The compiler wrote it for a weak function that lost; nobody filtered it out.
        assert (image.sites, image.ignored_sites) == ([], [range(address, address + 8)])
    else:
        with pytest.raises(GuestError, match="lies in no function"):
            image.sites  # noqa: B018


@pytest.mark.parametrize(
    ("move", "message"),
    [
        pytest.param((2, 2), "is damaged", id="unaligned"),
        pytest.param((0, 2), "is damaged", id="odd size"),
        pytest.param((0, -0x400), "is damaged", id="backwards"),
        pytest.param((0x10000, 0x10000), "holds no", id="outside"),
        pytest.param((0, 0x10000), "holds no", id="too long"),
    ],
)
def test_damaged_table(kind: Kind, move: tuple[int, int], message: str) -> None:
    draft = Draft(kind)
    draft.elf.symbols = [
        (name, address + move[name.startswith("__stop")], *rest)
        if name.endswith("_mcount_loc")
        else (name, address, *rest)
        for name, address, *rest in draft.elf.symbols
    ]
    with pytest.raises(GuestError, match=message):
        open_image(draft).sites  # noqa: B018


def test_guest_without_table() -> None:
    elf = ElfBuilder()
    elf.section(0x80100000, bytes(16))
    elf.symbol("_text", 0x80100000)
    with pytest.raises(GuestError, match="no symbol __start_mcount_loc"):
        Image(elf.build(), "vmlinux").sites  # noqa: B018


def test_build_id(draft: Draft) -> None:
    image = open_image(draft)
    assert image.build_id == BUILD_ID
    assert image.read(image.build_id_address, len(BUILD_ID)) == BUILD_ID


def test_guest_without_build_id() -> None:
    elf = ElfBuilder()
    elf.section(0x80100000, bytes(16))
    with pytest.raises(GuestError, match="--build-id"):
        Image(elf.build(), "vmlinux").build_id  # noqa: B018


def test_note_longer_than_its_section() -> None:
    elf = ElfBuilder()
    elf.build_id(0x80100000, BUILD_ID)
    elf.sections[0].data = elf.sections[0].data[:-4]
    with pytest.raises(FormatError, match="longer than its section"):
        Image(elf.build(), "vmlinux").build_id  # noqa: B018


def test_read(draft: Draft) -> None:
    image = open_image(draft)
    words = image.isa.encode(*draft.words(draft.first))
    assert image.read(draft.first, len(words)) == words
    assert image.read(draft.mcount + 4 * SIZE - 1, 1) == b"\0"
    for address, size in ((draft.mcount + 4 * SIZE - 1, 2), (draft.mcount - 1, 1), (0, 1)):
        with pytest.raises(GuestError, match=f"holds no {size} bytes"):
            image.read(address, size)


def test_sign_extended_addresses_are_taken() -> None:
    image = open_image(Draft(KINDS[0]))
    high = 0xFFFFFFFF << 32
    first = image.symbols["first"]
    assert image.symbolize(high | first) == "first"
    assert image.read(high | first, 8) == image.read(first, 8)


def test_bss_is_not_in_the_file() -> None:
    elf = ElfBuilder()
    elf.section(0x80100000, bytes(64), flags=ALLOC, type=NOBITS)
    with pytest.raises(GuestError, match="holds no 4 bytes"):
        Image(elf.build(), "vmlinux").read(0x80100000, 4)


def test_kallsyms_of_a_module() -> None:
    lines = open_image(Draft(KINDS[0])).kallsyms("net").splitlines()
    assert lines[1] == "80100040 T first\t[net]"
    assert all(line.endswith("\t[net]") for line in lines)


def test_what_a_site_calls() -> None:
    """A module that is too far away has trampolines; any other calls the kernel itself."""
    draft = Draft(KINDS[4])
    draft.elf.symbol("ftrace_caller", draft.gap)
    kernel = open_image(draft)
    assert kernel.site_target(kernel) == draft.gap
    assert kernel.site_target(kernel, "_mcount") == draft.mcount

    near = open_image(Draft(KINDS[4]))
    assert near.site_target(kernel) == draft.gap
    far = Draft(KINDS[4])
    far.elf.symbol("ftrace_trampoline", far.second)
    assert open_image(far).site_target(kernel) == far.second
    with pytest.raises(GuestError, match="no symbol ftrace_caller"):
        near.site_target(near)


def test_kallsyms() -> None:
    assert open_image(Draft(KINDS[0])).kallsyms() == (
        "80100000 T _mcount\n80100040 T first\n80100080 T second\n80104000 T _end\n"
    )
    assert open_image(Draft(KINDS[2])).kallsyms().startswith("ffffffff80100000 T _mcount\n")


@pytest.mark.parametrize("name", ["$x", "$d", "$x.1", "$", "$local"])
def test_a_function_named_as_a_mapping_symbol_is_itself(name: str) -> None:
    """Assemblers write mapping symbols without a type; a function is one whatever its name."""
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    elf.function("before", 0x1000, 16)
    elf.function(name, 0x1010, 16)
    elf.symbol("$x", 0x1020, binding=LOCAL)
    elf.symbol("_end", 0x1040)
    image = Image(elf.build(), "vmlinux")
    assert image.symbolize(0x1014) == f"{name}+0x4"
    assert image.address_of(name) == 0x1010
    # trace-cmd takes what begins with a dollar in such a table for no function.
    assert " $" not in image.kallsyms()
    assert Symbols(image.kallsyms()).lookup(0x1014) == (name, 4)
    assert Symbols(image.kallsyms()).address(name) == 0x1010
    assert Symbols(image.kallsyms("mod")).lookup(0x1014) == (f"{name} [mod]", 4)


@pytest.mark.parametrize("reverse", [False, True])
def test_which_alias_names_a_function(reverse: bool) -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    aliases = [
        ("aaa", LOCAL),
        ("weakest", WEAK),
        ("longer_name", 1),
        ("zulu", 1),
        ("yoke", 1),
        ("a", LOCAL),
    ]
    for name, binding in reversed(aliases) if reverse else aliases:
        elf.function(name, 0x1000, 16, binding=binding)
    image = Image(elf.build(), "vmlinux")
    assert [function.name for function in image.functions] == ["yoke"]


def test_what_is_no_function() -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    elf.section(0x2000, bytes(64), flags=ALLOC)
    elf.function("real", 0x1000, 16)
    elf.function("without_size", 0x1020, 0)
    elf.function("in_data", 0x2000, 16, section=2)
    elf.function("undefined", 0x1030, 16, section=0)
    elf.symbol("label", 0x1030, 4)
    image = Image(elf.build(), "vmlinux")
    assert [function.name for function in image.functions] == ["real"]
    assert image.function_at(0x1020) is None


def test_inner_function_wins() -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(0x100))
    elf.function("outer", 0x1000, 0x80)
    elf.function("inner", 0x1020, 0x10)
    elf.function("overlaps", 0x1070, 0x30)
    elf.function("within", 0x1078, 0x8)
    elf.function("apart", 0x10C0, 0x10)
    image = Image(elf.build(), "vmlinux")
    held = {
        0x1000: "outer",
        0x101F: "outer+0x1f",
        0x1020: "inner",
        0x102F: "inner+0xf",
        0x1030: "outer+0x30",
        0x106F: "outer+0x6f",
        0x1070: "overlaps",
        0x1078: "within",
        0x1080: "overlaps+0x10",
        0x109F: "overlaps+0x2f",
        0x10A0: "0x000010a0",
        0x10C0: "apart",
        0x10D0: "0x000010d0",
    }
    assert {address: image.symbolize(address) for address in held} == held


@pytest.mark.parametrize("reverse", [False, True])
def test_symbols_of_one_name(reverse: bool) -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    rows = [("f", 0x1000, LOCAL), ("f", 0x1010, 1), ("f", 0x1020, WEAK)]
    rows += [("g", 0x1014, LOCAL), ("g", 0x1004, LOCAL)]
    for name, address, binding in reversed(rows) if reverse else rows:
        elf.symbol(name, address, binding=binding)
    assert Image(elf.build(), "vmlinux").symbols == {"f": 0x1010, "g": 0x1004}


def test_symbols_of_compilers_and_files_are_left_out() -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    for name in ("$L1", "$x", ".L2", ""):
        elf.symbol(name, 0x1000, binding=LOCAL)
    elf.symbol("main.c", 0, type=FILE, binding=LOCAL, section=0xFFF1)
    elf.symbol(".text", 0x1000, type=SECTION, binding=LOCAL)
    elf.symbol("elsewhere", 0, section=0)
    elf.symbol("absolute", 0x42, section=0xFFF1)
    assert Image(elf.build(), "vmlinux").symbols == {"absolute": 0x42}


def test_names_are_fit_to_print() -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    elf.function("evil\x1b[2J\nname", 0x1000, 16)
    elf.function("na\xefve", 0x1010, 16)
    names = [function.name for function in Image(elf.build(), "vmlinux").functions]
    assert names == [r"evil\x1b[2J\nname", r"na\xc3\xafve"]


def test_name_without_end() -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    elf.function("f" * 5000, 0x1000, 16)
    with pytest.raises(FormatError, match="name is not in the string table"):
        Image(elf.build(), "vmlinux")


def test_name_outside_the_string_table() -> None:
    elf = ElfBuilder()
    elf.section(0x1000, bytes(64))
    elf.function("f", 0x1000, 16)
    honest, lying = (elf.pack("3I", name, 0x1000, 16) for name in (1, 4))
    with pytest.raises(FormatError, match="name is not in the string table"):
        Image(elf.build().replace(honest, lying), "vmlinux")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not an ELF file"),
        (b"#!/bin/sh\n", "not an ELF file"),
        (b"\x7fELF", "its header is damaged"),
        (b"\x7fELF\x03\x01" + bytes(60), "its header is damaged"),
        (b"\x7fELF\x01\x00" + bytes(60), "its header is damaged"),
        (ElfBuilder(machine=22, bits=64).build(), "ELF machine 22 is not supported"),
        (ElfBuilder(flags=0x20).build(), "n32 ABI"),
        (ElfBuilder(type=1).build(), "not a linked guest"),
        (ElfBuilder(type=3).build(), "not a linked guest"),
        (ElfBuilder().build()[:52] + bytes(100), "damaged"),
    ],
)
def test_what_is_no_guest(data: bytes, message: str) -> None:
    with pytest.raises(FormatError, match=f"^vmlinux.*{message}"):
        Image(data, "vmlinux")


def test_stripped_guest() -> None:
    data = bytearray(ElfBuilder(machine=MIPS).build())
    data[48:50] = bytes(2)  # e_shnum
    with pytest.raises(FormatError, match="no symbol table"):
        Image(bytes(data), "vmlinux")


def test_truncated_guest(draft: Draft) -> None:
    data = draft.elf.build()
    for size in range(0, len(data), 7):
        with pytest.raises(FormatError):
            Image(data[:size], "vmlinux")
