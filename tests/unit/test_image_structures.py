# SPDX-License-Identifier: MIT
"""Structures out of debug information, judged by the compilers that wrote it.

Each program has a table of what the compiler itself says of sizes and offsets, and a structure
with known values in it.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.errors import FormatError
from harness.image import Image
from harness.image.layout import Array, Enumeration, Integer, Pointer, Structure
from tests.unit.test_image_compilers import TOOLCHAINS

SOURCE = r"""
#include <stddef.h>

enum color { RED = -3, GREEN = 7, BLUE = 1000 };
enum big { NONE, ALL = 0xffffffff };
typedef const volatile struct point { short x; int y; } point_t;
typedef int (*callback_t)(struct point *);
union word { unsigned int all; unsigned char each[4]; };
struct forward;
struct sample {
	char c;
	signed char negative;
	long word;
	unsigned long long wide;
	struct forward *opaque;
	const struct sample *const *next;
	callback_t call;
	point_t at;
	struct point path[3];
	int grid[2][3];
	char name[12];
	union {
		unsigned int either;
		struct { unsigned short one, other; };
	};
	struct { int deep; struct { long deeper; } in; } named;
	union word word_bytes;
	enum color color;
	enum big big;
	_Bool flag;
	double real;
	unsigned int low : 3;
	int mid : 7;
	unsigned int high : 22;
	unsigned char small : 1;
	unsigned char rest : 7;
	unsigned long long far : 40;
	int odd;
	unsigned int none[0];
	unsigned int tail[];
};

const struct sample sample = {
	.c = 'x', .negative = -5, .word = -77777, .wide = 0x0123456789abcdefull,
	.at = { .x = -2, .y = 123456 }, .path = { { 1, 2 }, { 3, 4 }, { -5, -6 } },
	.grid = { { 1, 2, 3 }, { 4, 5, -6 } }, .name = "hello", .one = 0x1234, .other = 0x5678,
	.named = { .deep = 9, .in = { .deeper = -10 } }, .word_bytes = { .all = 0xa1b2c3d4 },
	.color = RED, .big = ALL, .flag = 1, .real = 1.5,
	.low = 5, .mid = -33, .high = 0x2abcde, .small = 1, .rest = 0x55,
	.far = 0x9876543210ull, .odd = -1,
};

struct cut { int first; };
typedef struct { unsigned char a; long b; } unnamed_t;
unnamed_t unnamed;

#define O(member) offsetof(struct sample, member)
const unsigned long long facts[] = {
	sizeof(struct sample), O(c), O(negative), O(word), O(wide), O(opaque), O(next), O(call), O(at),
	O(path), O(grid), O(name), O(either), O(one), O(other), O(named), O(named.deep),
	O(named.in.deeper), O(word_bytes), O(color), O(big), O(flag), O(real), O(odd), O(none), O(tail),
	O(at.y), sizeof(union word), sizeof(unnamed_t), offsetof(unnamed_t, b),
};
int start(struct cut *one) { return one->first; }
"""
PATHS = (
    *("c", "negative", "word", "wide", "opaque", "next", "call", "at", "path", "grid", "name"),
    *("either", "one", "other", "named", "named.deep", "named.in.deeper", "word_bytes", "color"),
    *("big", "flag", "real", "odd", "none", "tail", "at.y"),
)
NUMBERS = {
    **{"negative": -5, "word": -77777, "wide": 0x0123456789ABCDEF, "next": 0, "at.x": -2},
    **{"at.y": 123456, "one": 0x1234, "other": 0x5678, "named.deep": 9, "named.in.deeper": -10},
    **{"word_bytes.all": 0xA1B2C3D4, "color": -3, "big": 0xFFFFFFFF, "flag": 1, "low": 5},
    **{"mid": -33, "high": 0x2ABCDE, "small": 1, "rest": 0x55, "far": 0x9876543210, "odd": -1},
}
# A bare -g is each compiler's own version.
CASES = [
    *((name, "gcc", "-g") for name in TOOLCHAINS),
    *((name, "gcc", f"-gdwarf-{version}") for name in ("mips", "mipsel") for version in (2, 3, 4)),
    ("mips64", "gcc", "-gdwarf-5 -fdebug-types-section"),
    ("aarch64", "clang", "-gdwarf-4"),
    ("aarch64", "clang", "-gdwarf-5"),
    ("mips", "clang", "-gdwarf-5"),
    ("mips64el", "clang", "-gdwarf-5"),
]


def compiled(name: str, compiler: str, flags: str, directory: Path, source: str = SOURCE) -> Image:
    toolchain = TOOLCHAINS[name]
    command = [f"{toolchain.prefix}gcc"]
    options = toolchain.flags.split()
    if compiler == "clang":
        command = ["clang", f"--target={toolchain.prefix.rstrip('-')}", "-Wno-everything"]
        options = [option for option in options if option != "-msym32"]
    if shutil.which(command[0]) is None or shutil.which(f"{toolchain.prefix}gcc") is None:
        pytest.skip(f"{command[0]} is not installed")
    (directory / "first.c").write_text("struct cut *nowhere; struct sample *declared_only;")
    (directory / "second.c").write_text(source)
    for file in ("first", "second"):
        done = [*command, *options, "-ffreestanding", "-fno-pic", *flags.split(), "-c", f"{file}.c"]
        subprocess.run(done, cwd=directory, check=True, timeout=120)
    link = [f"{toolchain.prefix}gcc", *toolchain.flags.split(), "-nostdlib", "-static"]
    link += ["-no-pie", "-Wl,-e,start", "first.o", "second.o", "-o", "out"]
    subprocess.run(link, cwd=directory, check=True, timeout=120)
    return Image((directory / "out").read_bytes(), "vmlinux")


@pytest.mark.parametrize(("name", "compiler", "flags"), CASES)
def test_layout_is_the_compilers(name, compiler, flags, tmp_path):
    image = compiled(name, compiler, flags, tmp_path)
    raw = image.read(image.address_of("facts"), image.size_of("facts"))
    facts = [int.from_bytes(raw[at : at + 8], image.byteorder) for at in range(0, len(raw), 8)]
    types = image.structures
    sample = types.struct("sample")
    unnamed = types.typedef("unnamed_t")
    assert isinstance(unnamed, Structure)
    found = [sample.size, *(sample.member(path).offset for path in PATHS)]
    found += [types.struct("word").size, unnamed.size, unnamed.member("b").offset]
    assert found == facts

    data = b"\xa5" + image.read(image.address_of("sample"), sample.size)
    assert {path: sample.member(path).number(data, 1) for path in NUMBERS} == NUMBERS
    assert sample.member("name").text(data, 1) == b"hello"
    assert sample.member("word_bytes.each").numbers(data, 1) == list(
        (0xA1B2C3D4).to_bytes(4, image.byteorder)
    )

    def kind(path):
        return sample.member(path).type

    assert types.enum("color").values == {"RED": -3, "GREEN": 7, "BLUE": 1000}
    assert isinstance(kind("color"), Enumeration)
    assert (kind("opaque").target, kind("next").target) == ("struct forward", "struct sample *")
    assert isinstance(kind("call"), Pointer)
    path, grid = kind("path"), kind("grid")
    assert isinstance(path, Array)
    assert path.element == types.struct("point") == types.typedef("point_t")
    assert (path.count, grid.count, grid.element.count) == (3, 2, 3)
    assert isinstance(grid.element.element, Integer)
    assert (kind("none").size, kind("tail").size) == (0, 0)
    assert sample.members["odd"].count == 1
    assert types.struct("cut").size == 4


OF_TWO_FILES = """
static int hidden[3];
int shown = 1;
extern int elsewhere;

void start(void)
{
	static long counter;

	{
		static char inner[5];

		hidden[0] = inner[0] = counter++;
	}
	shown += elsewhere;
}
int elsewhere;
"""


@pytest.mark.parametrize(("name", "compiler", "flags"), CASES)
def test_the_variables_of_a_source_file(name, compiler, flags, tmp_path):
    image = compiled(name, compiler, flags, tmp_path, OF_TWO_FILES)
    found = image.variables_in(lambda file: file.endswith("second.c"))
    # Compilers name variables of functions counter.0, or start.counter.
    names = [image.object_at(one.start).removeprefix("start.").partition(".")[0] for one in found]
    sizes = dict(zip(names, map(len, found), strict=True))
    assert sizes == {
        "hidden": 12,
        "shown": 4,
        "counter": image.bits // 8,
        "inner": 5,
        "elsewhere": 4,
    }
    end = found[-1].stop
    assert image.object_at(end - 1)
    assert not image.object_at(end)
    assert {one.start for one in image.variables_in(lambda file: file.endswith("first.c"))} == {
        image.address_of("nowhere"),
        image.address_of("declared_only"),
    }


def test_what_is_written_is_what_is_read(tmp_path):
    sample = compiled("mips", "gcc", "-g", tmp_path).structures.struct("sample")
    data = sample.packed(word=-1, wide=7, color=-3)
    assert len(data) == sample.size
    assert [sample.member(path).number(data) for path in ("word", "wide", "color")] == [-1, 7, -3]
    assert sample.member("tail").packed(1, 2) == bytes([0, 0, 0, 1, 0, 0, 0, 2])


def test_what_is_not_there(tmp_path):
    image = compiled("aarch64", "gcc", "-g", tmp_path)
    for name in ("forward", "", "ample", "sample "):
        with pytest.raises(
            FormatError, match=f"the debug information of vmlinux has no struct {name}"
        ):
            image.structures.struct(name)
    with pytest.raises(FormatError, match="has no enum sample"):
        image.structures.enum("sample")
    with pytest.raises(FormatError, match="struct sample of the guest has no member nothing"):
        image.structures.struct("sample").member("nothing")
    with pytest.raises(FormatError, match="grid does not consist of numbers"):
        image.structures.struct("sample").member("grid").numbers(bytes(1000))
    with pytest.raises(FormatError, match="name lies behind the 3 bytes"):
        image.structures.struct("sample").member("name").raw(bytes(3))


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("strip -g out", "vmlinux has no debug information, which says how its structures are"),
        ("objcopy --compress-debug-sections out", "debug information of vmlinux is compressed"),
    ],
)
def test_a_file_without_it_is_said_to_be_one(tmp_path, command, message):
    compiled("mips", "gcc", "-g", tmp_path)
    prefix = TOOLCHAINS["mips"].prefix
    subprocess.run([*f"{prefix}{command}".split()], cwd=tmp_path, check=True)
    image = Image((tmp_path / "out").read_bytes(), "vmlinux")
    with pytest.raises(FormatError, match=message) as caught:
        image.structures  # noqa: B018
    assert "-g" in caught.value.advice


@pytest.mark.parametrize("name", ["mips", "mips64", "mips64el", "aarch64"])
def test_the_ring_buffer_describes_itself_as_it_is(tmp_path, name):
    """Its header is read without debug information; what Python knows of it is what C says."""
    from harness.config import resources
    from harness.ring import FIXED_SIZE, RingHeader
    from harness.ring.header import RingCpu

    kernel = resources.guests_directory()
    arch = "aarch64" if name == "aarch64" else "mips"
    source = "#include <linux/ring_buffer.h>\nstruct ring_buffer ring_buffer;\nint start(void) {}"
    flags = f"-g -DNR_CPUS=2 -I{kernel}/kernel/include -I{kernel}/arch/{arch}/include"
    types = compiled(name, "gcc", flags, tmp_path, source).structures
    header, cpu = types.struct("ring_buffer_header"), types.struct("ring_buffer_per_cpu")
    assert header.size == FIXED_SIZE
    begins = types.struct("ring_buffer").member("cpu").offset
    for field in ("flags", "clock_hz", "record_disabled"):
        assert RingHeader.field_offset(field) == header.member(field).offset
    values = {one: number for number, one in enumerate(cpu.members, 1)}
    values |= {"pages": 0x10000, "first_entry": 0x2000, "max_pages": 9, "nr_pages": 8}
    fixed = {"magic": 0x46545242, "version": 3, "header_size": begins, "cpu_size": cpu.size}
    fixed |= {"nr_cpus": 1, "long_size": 8, "page_size": 4096, "flags": 1, "clock_hz": 5}
    data = header.packed(**fixed, record_disabled=6).ljust(begins, b"\0") + cpu.packed(**values)
    order = header.member("magic").byteorder
    read = RingHeader.parse(data, order)
    assert (read.flags, read.clock_hz, read.record_disabled) == (1, 5, 6)
    (one,) = read.cpus
    assert isinstance(one, RingCpu)
    for field in set(cpu.members) - {"last_count"}:
        assert getattr(one, field) == values[field], field
        assert one.field_offset(field) == begins + cpu.member(field).offset
