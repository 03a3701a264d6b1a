# SPDX-License-Identifier: MIT
"""Images of modules, and the image of a guest that has some."""

from dataclasses import replace

import pytest

from harness.errors import FormatError, GuestError
from harness.image import Image, ModuleImage, RunningImage
from harness.trace import Symbols
from tests.unit import dwarf_builder
from tests.unit.dwarf_builder import (
    AT,
    MEMBER,
    NAME,
    POINTER,
    STRUCT,
    TYPE,
    UNIT,
    DwarfBuilder,
)
from tests.unit.elf_builder import ALLOC
from tests.unit.guest_drafts import BUILD_ID, KINDS, SIZE, Draft, Kind

AWAY = 0x0780_0000
BYTES = dwarf_builder.SIZE
KERNEL_ID = b"\x5a" * 20

pytestmark = pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])


def module_of(kind: Kind, name: bytes = b"net\0", away: int = AWAY, tell: bool = True) -> bytes:
    """A draft that is a module: ``struct module`` (three words of it), its name, its kernel."""
    draft = Draft(replace(kind, base=kind.base + away))
    this = kind.base + away + 0x3000
    long = kind.bits // 8
    data = draft.elf.longs(0, 0, this + 3 * long) + name.ljust(80, b"x") + KERNEL_ID
    section = draft.elf.section(this, data, flags=ALLOC)
    draft.elf.symbol("__this_module", this, section=section)
    if tell:
        draft.elf.symbol("__vmlinux_build_id", this + 3 * long + 80, section=section)
    types = DwarfBuilder(kind.byteorder, kind.bits)
    types.entry(UNIT, {NAME: "net.c"}, children=True)
    types.entry(POINTER, {BYTES: long}, label="pointer")
    types.entry(STRUCT, {NAME: "module", BYTES: 3 * long}, children=True)
    types.entry(MEMBER, {NAME: "name", TYPE: "@pointer", AT: 2 * long})
    types.end()
    types.end()
    for title, content in types.sections().items():
        draft.elf.section(0, content, flags=0, name=title)
    draft.elf.function("send", kind.base + away + 3 * SIZE, 8)
    return draft.elf.build()


def running(kind: Kind) -> RunningImage:
    draft = Draft(kind)
    draft.elf.symbol("ftrace_caller", draft.mcount)
    return RunningImage(draft.elf.build(), "vmlinux")


def test_a_module_says_what_it_is(kind: Kind) -> None:
    module = ModuleImage(module_of(kind), "net.ko")
    assert module.module_name == "net"
    assert module.kernel_build_id == KERNEL_ID
    assert module.build_id == BUILD_ID
    assert module.this_module == (kind.base + AWAY + 0x3000) & module.isa.mask
    assert all(module.read(address, len(data)) == data for address, data in module.segments)
    assert (module.text.start, 4 * SIZE) in [(at, len(data)) for at, data in module.segments]
    assert ModuleImage(module_of(kind, tell=False), "x").kernel_build_id is None


def test_a_kernel_is_no_module(kind: Kind) -> None:
    with pytest.raises(FormatError, match=r"vmlinux is not a module\nBuild it with"):
        ModuleImage(Draft(kind).elf.build(), "vmlinux")


def test_names_of_strangers(kind: Kind) -> None:
    assert ModuleImage(module_of(kind, b"\x1b[2J\0"), "x").module_name == r"\x1b[2J"
    assert len(ModuleImage(module_of(kind, b"y" * 80), "x").module_name) <= 67
    with pytest.raises(GuestError, match="no name of its own"):
        _ = ModuleImage(module_of(kind, b"\0"), "x").module_name


def test_what_is_loaded_is_a_part_of_the_image(kind: Kind) -> None:
    image, module = running(kind), ModuleImage(module_of(kind), "net.ko")
    alone = (image.kallsyms(), image.sites, dict(image.symbols), image.functions)
    send = module.symbols["send"]
    image.add_module("net", module)
    assert dict(image.modules) == {"net": module}
    assert image.sites == sorted([*alone[1], *module.sites], key=lambda site: site.address)
    assert image.symbols["send"] == send
    assert image.symbols["first"] == alone[2]["first"], "the kernel's names win"
    assert image.symbolize(send + 4) == "send+0x4 [net]"
    assert image.symbolize(alone[2]["first"]) == "first"
    assert (image.module_at(send), image.module_at(alone[2]["first"])) == ("net", "")
    assert image.function_at(send) == module.function_at(send) in image.functions
    assert image.read(send, 8) == module.read(send, 8)
    symbols = Symbols(image.kallsyms())
    assert symbols.name(send) == "send [net]"
    assert symbols.name(alone[2]["first"]) == "first"
    assert symbols.lookup(module.symbols["_end"] + 64) is None
    image.remove_module("net")
    assert alone == (image.kallsyms(), image.sites, dict(image.symbols), image.functions)
    assert image.functions is alone[3], "what was computed from them still holds"
    assert image.module_at(send) == ""


def test_what_a_site_calls(kind: Kind) -> None:
    image = running(kind)
    caller = image.symbols["ftrace_caller"]
    data = Draft(replace(kind, base=kind.base + AWAY))
    data.elf.symbol("ftrace_trampoline", kind.base + AWAY + 0x40)
    trampolined, plain = (
        Image(data.elf.build(), "one"),
        Image(module_of(kind, away=2 * AWAY), "two"),
    )
    image.add_module("one", trampolined)
    image.add_module("two", plain)
    first, of_one, of_two = (each.sites[0] for each in (image, trampolined, plain))
    assert image.target_of(first, "ftrace_caller") == caller
    assert image.target_of(of_one, "ftrace_caller") == trampolined.symbols["ftrace_trampoline"]
    assert image.target_of(of_two, "ftrace_caller") == caller
