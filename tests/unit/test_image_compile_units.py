# SPDX-License-Identifier: MIT
"""From which file code comes: as real tools say it, and as a damaged file says it."""

import subprocess
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import FormatError
from harness.image import Image
from harness.image.elf import Elf
from harness.oracle import find_sites
from tests.unit.test_image_compilers import TOOLCHAINS, build, gcc, installed, link

STUB = """
	.text
	.globl	stub
	.type	stub, %function
stub:	nop
	nop
	ret
	.size	stub, . - stub
"""


def linked(toolchain, directory, *options):
    build(toolchain, directory, "-fpatchable-function-entry=2")
    (directory / "stub.S").write_text(STUB)
    gcc(toolchain, *options, "-c", "stub.S", cwd=directory)
    return link(toolchain, directory, "first.o", "second.o", "stub.o", *options)


@pytest.fixture(scope="module")
def guest(tmp_path_factory):
    return linked(installed("aarch64"), tmp_path_factory.mktemp("guest"))


def test_a_stub_that_begins_with_nops_is_no_call_site(guest):
    image = Image(guest, "vmlinux")
    assert image.is_assembled(image.address_of("stub") + 8)
    assert not image.is_assembled(image.address_of("stub") + 12)
    assert not image.is_assembled(image.address_of("leaf"))
    sites = [site.address for site in image.sites]
    assert image.address_of("leaf") in sites
    assert find_sites(image) == sites


@pytest.mark.parametrize("options", [["-g0"], ["-gz=zlib"]])
def test_where_nobody_says_what_it_is_its_shape_decides(tmp_path, options):
    image = Image(linked(installed("aarch64"), tmp_path, *options), "vmlinux")
    stub = image.address_of("stub")
    assert not image.is_assembled(stub)
    assert set(find_sites(image)) - {site.address for site in image.sites} == {stub}


@pytest.mark.parametrize("name", TOOLCHAINS)
def test_every_compiler_tells(tmp_path, name):
    toolchain = installed(name)
    (tmp_path / "two.c").write_text("int c(void) { return 1; }\n")
    (tmp_path / "stub.S").write_text(STUB.replace("ret", "nop"))
    gcc(toolchain, "-c", "two.c", "stub.S", cwd=tmp_path)
    options = ["-nostdlib", "-static", "-Wl,-e,c", "-Wl,--build-id=sha1", "two.o", "stub.o"]
    gcc(toolchain, *options, "-o", "out", cwd=tmp_path)
    image = Image((tmp_path / "out").read_bytes(), "out")
    assert image.is_assembled(image.address_of("stub"))
    assert not image.is_assembled(image.address_of("c"))
    assert image.source_file(image.address_of("stub")) == "stub.S"
    assert image.source_file(image.address_of("c")) == "two.c"
    line = image.source_line(image.address_of("c"))
    assert line is not None
    assert (line.file.rpartition("/")[2], line.line) == ("two.c", 1)


INLINE = """
static inline __attribute__((always_inline)) void store(int *at, int value)
{
	*at = value;
}
static inline __attribute__((always_inline)) int fill(int *at, int value)
{
	if (*at == value)
		return 1;
	store(at, value + 1);
	store(at + 4, value);
	return 0;
}
extern void none(void);
int both(int *at)
{
	if (fill(at, 3))
		return fill(at + 8, at[1]);
	none();
	return 0;
}
void none(void) { __asm__ volatile("nop"); }
"""


@pytest.mark.parametrize("version", ["-gdwarf-4", "-gdwarf-5"])
@pytest.mark.parametrize("name", TOOLCHAINS)
def test_addr2line_finds_the_same_calls_of_inline_functions(tmp_path, name, version):
    toolchain = installed(name)
    (tmp_path / "inline.c").write_text(INLINE)
    gcc(toolchain, version, "-O2", "-c", "inline.c", cwd=tmp_path)
    options = ["-nostdlib", "-static", "-Wl,-e,both", "-Wl,--build-id=sha1"]
    gcc(toolchain, *options, "inline.o", "-o", "out", cwd=tmp_path)
    image = Image((tmp_path / "out").read_bytes(), "out")
    functions = (image.function_at(image.address_of(one)) for one in ("both", "none"))
    code = [at for one in functions for at in range(one.address, one.address + one.size, 4)]
    judge = [f"{toolchain.prefix}addr2line", "-i", "-a", "-e", str(tmp_path / "out")]
    asked = subprocess.run(
        [*judge, *map(hex, code)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    expected: dict[int, list[str]] = {}
    for line in asked:
        if line.startswith("0x"):
            expected[int(line, 16)] = []
        else:
            lines = list(expected.values())[-1]
            lines.append(line.rpartition("/")[2].partition(" (")[0])
    found = {
        at: [
            f"{one.file.rpartition('/')[2]}:{one.line}"
            for one in (image.source_line(at), *image.inlined_calls(at))
        ]
        for at in code
    }
    assert found == expected
    assert max(map(len, found.values())) == 3


places = st.floats(0, 1, exclude_max=True)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(places, st.binary(min_size=1, max_size=8)), min_size=1))
def test_a_damaged_file_gives_an_answer_or_an_error_of_ours(guest, changes):
    damaged = bytearray(guest)
    for place, value in changes:
        at = int(place * len(guest))
        damaged[at : at + len(value)] = value
    code = Image(guest, "vmlinux").address_of("stub")
    with suppress(FormatError):
        unit = Elf(bytes(damaged), "vmlinux").unit(code)
        assert unit is None or isinstance(unit.file, str)
    with suppress(FormatError):
        assert isinstance(Elf(bytes(damaged), "vmlinux").inlined_calls(code), list)


def test_a_damaged_file_is_said_to_be_one(guest):
    message = "vmlinux is a damaged ELF file: its debug information is damaged"
    with pytest.raises(FormatError, match=message):
        Elf(guest[: len(guest) // 2], "vmlinux").unit(0)
