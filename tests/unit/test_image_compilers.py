# SPDX-License-Identifier: MIT
"""recordmcount and Image on what real compilers and linkers make, judged by a disassembly.

The judge shares nothing with the code it judges: binutils find the functions and their bytes, and
capstone looks at every word in them for a call of ``_mcount``.
"""

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import capstone
import pytest

from harness.image import Image
from harness.image.recordmcount import Records, assembly, recordmcount
from harness.isa import Form, SiteState

FIRST = """
extern int other(int);
void _mcount(void);
void (*pointer)(void) = _mcount;                /* a reference of data */
const void *const constant = (const void *)_mcount;

int leaf(int a) { return a * 3; }
int calls(int a) { return other(a) + 1; }
__attribute__((weak)) int weak(int a) { return other(a) + 2; }  /* overridden: a dead body */
__attribute__((weak)) int weak_alone(int a) { return other(a) + 3; }
__attribute__((section(".init.text"))) int init(int a) { return other(a) + 4; }
__attribute__((cold, noinline)) int cold(int a) { return other(a) + 5; }
__attribute__((no_instrument_function)) void *address_taken(void) { return (void *)_mcount; }
__attribute__((no_instrument_function)) int untraced(int a) { return other(a) + 6; }
int large_frame(int a)
{
	volatile char frame[40000];

	frame[a] = a;
	return other(frame[a]) + 7;
}
int chain(int a)
{
	__attribute__((noipa)) int inner(int b) { return other(a + b); }  /* gets a static chain */

	return inner(3) + 1;
}
double floating(double a, int b) { return a * other(b); }
int many(int n, ...)
{
	__builtin_va_list list;
	int sum = 0;

	__builtin_va_start(list, n);
	while (n--)
		sum += other(__builtin_va_arg(list, int));
	__builtin_va_end(list);
	return sum;
}
static __attribute__((noinline)) int local(int a) { return other(a) + 8; }
int jumps(int a)
{
	switch (a) {                            /* makes $L and .L labels and a table */
	case 0: return local(1);
	case 1: return other(11);
	case 2: return leaf(7) + other(3);
	case 3: return cold(5);
	case 4: return calls(9);
	case 5: return init(2);
	default: return weak(a);
	}
}
"""

SECOND = """
__attribute__((noinline)) int other(int a) { __asm__ volatile(""); return a ^ 5; }
int weak(int a) { return other(a) + 9; }
static __attribute__((noinline)) int local(int a) { return other(a) + 10; }
__attribute__((no_instrument_function, noinline)) void _mcount(void) { __asm__ volatile(""); }
#ifdef __mips__                                 /* elsewhere nothing tells who wrote the call */
__attribute__((no_instrument_function)) int by_hand(void) { _mcount(); return 1; }
#endif
extern int jumps(int);
int start(void) { return jumps(1) + local(2); }
"""

SCRIPT = """
ENTRY(start)
SECTIONS {{
	. = {base};
	_text = .;
	.text : {{ *(.text .text.unlikely .text.*) }}
	.init.text : {{ *(.init.text) }}
	_etext = .;
	.rodata : {{ *(.rodata .rodata.*) }}
	.mcount_loc : {{
		. = ALIGN(8);
		__start_mcount_loc = .;
		KEEP(*(.mcount_loc))
		KEEP(*(__patchable_function_entries))
		__stop_mcount_loc = .;
	}}
	.note.gnu.build-id : {{ *(.note.gnu.build-id) }}
	.data : {{ *(.data .data.*) }}
	.bss : {{ *(.bss .bss.* COMMON) }}
	_end = .;
	/DISCARD/ : {{ *(.MIPS.abiflags .reginfo .MIPS.options .comment .eh_frame .pdr) }}
}}
"""

TRACED = {
    *("leaf", "calls", "weak", "weak_alone", "init", "cold", "large_frame", "floating", "many"),
    *("local", "jumps", "other", "start", "chain", "inner"),
}

COMMON = "-g3 -ffreestanding -fno-pic -fno-asynchronous-unwind-tables -fno-stack-protector"
O32 = "-mabi=32 -march=mips32r2 -mno-abicalls -G0"
N64 = "-mabi=64 -march=mips64r2 -mno-abicalls -msym32 -G0"


@dataclass(frozen=True)
class Toolchain:
    """A cross compiler and where its guests are linked."""

    prefix: str
    flags: str
    base: str
    mode: tuple[int, int]


MIPS, ARM = capstone.CS_ARCH_MIPS, capstone.CS_ARCH_ARM64
BIG, LITTLE = capstone.CS_MODE_BIG_ENDIAN, capstone.CS_MODE_LITTLE_ENDIAN
MIPS32, MIPS64 = capstone.CS_MODE_MIPS32, capstone.CS_MODE_MIPS64
TOOLCHAINS = {
    "mips": Toolchain("mips-linux-gnu-", O32, "0x80100000", (MIPS, MIPS32 | BIG)),
    "mipsel": Toolchain("mipsel-linux-gnu-", O32, "0x80100000", (MIPS, MIPS32 | LITTLE)),
    "mips64": Toolchain("mips64-linux-gnuabi64-", N64, "0xffffffff80100000", (MIPS, MIPS64 | BIG)),
    "mips64el": Toolchain(
        "mips64el-linux-gnuabi64-", N64, "0xffffffff80100000", (MIPS, MIPS64 | LITTLE)
    ),
    "aarch64": Toolchain("aarch64-linux-gnu-", "", "0x40200000", (ARM, LITTLE)),
}
FORMS = {
    "-pg": Form.MCOUNT,
    "-pg -mlong-calls": Form.LONG_CALL,
    "-pg -mlong-calls -mmcount-ra-address": Form.LONG_CALL,
    "-pg -mlong-calls -mno-sym32": Form.LONG_CALL,
    "-pg -mlong-calls -mno-sym32 -mmcount-ra-address": Form.LONG_CALL,
    "-pg -mmcount-ra-address": Form.MCOUNT_RA_ADDRESS,
    "-fpatchable-function-entry=2": Form.PATCHABLE_ENTRY,
}
MCOUNT_CASES = [
    *((name, "-pg", level) for name in TOOLCHAINS for level in ("-O0", "-O2")),
    ("mips", "-pg", "-Os"),
    *((name, "-pg -mmcount-ra-address", "-O2") for name in ("mips", "mips64", "mips64el")),
    ("mipsel", "-pg -mmcount-ra-address", "-O0"),
    *((name, "-pg -mlong-calls", "-O2") for name in ("mips", "mips64el")),
    ("mips64", "-pg -mlong-calls", "-O0"),
    ("mips", "-pg -mlong-calls -mmcount-ra-address", "-O0"),
    ("mips64el", "-pg -mlong-calls -mmcount-ra-address", "-O2"),
    ("mips64", "-pg -mlong-calls -mno-sym32", "-O2"),
    ("mips64el", "-pg -mlong-calls -mno-sym32", "-O0"),
    ("mips64", "-pg -mlong-calls -mno-sym32 -mmcount-ra-address", "-O2"),
]


def installed(name: str) -> Toolchain:
    chosen = TOOLCHAINS[name]
    if shutil.which(f"{chosen.prefix}gcc") is None:
        pytest.skip(f"{chosen.prefix}gcc is not installed")
    return chosen


def gcc(toolchain: Toolchain, *arguments: str, cwd: Path) -> None:
    command = [f"{toolchain.prefix}gcc", *toolchain.flags.split(), *COMMON.split(), *arguments]
    subprocess.run(command, cwd=cwd, check=True, timeout=120)


def build(toolchain: Toolchain, directory: Path, flags: str) -> bytes:
    """Link the two sources without a table, as the first of the two links of a guest."""
    (directory / "first.c").write_text(FIRST)
    (directory / "second.c").write_text(SECOND)
    (directory / "guest.lds").write_text(SCRIPT.format(base=toolchain.base))
    gcc(toolchain, *flags.split(), "-c", "first.c", "second.c", cwd=directory)
    return link(toolchain, directory, "first.o", "second.o", "-Wl,--emit-relocs")


def link(toolchain: Toolchain, directory: Path, *inputs: str) -> bytes:
    options = ["-nostdlib", "-static", "-no-pie", "-Wl,-T,guest.lds", "-Wl,--build-id=sha1"]
    gcc(toolchain, *options, "-Wl,--no-warn-rwx-segments", *inputs, "-o", "out", cwd=directory)
    return (directory / "out").read_bytes()


def link_with(toolchain: Toolchain, directory: Path, records: Records) -> Image:
    (directory / "table.S").write_text(assembly(records, "out"))
    gcc(toolchain, "-c", "table.S", cwd=directory)
    return Image(link(toolchain, directory, "first.o", "second.o", "table.o"), "vmlinux")


def traced(name: str) -> bool:
    """Whether a function is one of ours, or a clone that the compiler made of it."""
    return name.split(".")[0] in TRACED


def functions_in(toolchain: Toolchain, directory: Path) -> list[tuple[str, int, int]]:
    """Name, address and size of each function that was linked, as readelf says."""
    command = [f"{toolchain.prefix}readelf", "--syms", "--wide", "out"]
    done = subprocess.run(command, cwd=directory, check=True, capture_output=True, text=True)
    rows = [line.split() for line in done.stdout.splitlines()]
    return [(row[7], int(row[1], 16), int(row[2], 0)) for row in rows if row[3:4] == ["FUNC"]]


def judge(toolchain: Toolchain, directory: Path) -> dict[int, str]:
    """Every call of ``_mcount`` in a traced function, and the function's name."""
    functions = functions_in(toolchain, directory)
    (mcount,) = {address for name, address, _ in functions if name == "_mcount"}
    base = int(toolchain.base, 16)
    command = [f"{toolchain.prefix}objcopy", "-O", "binary", "out", "out.bin"]
    subprocess.run(command, cwd=directory, check=True)
    memory = (directory / "out.bin").read_bytes()
    engine = capstone.Cs(*toolchain.mode)
    engine.detail = True
    engine.skipdata = True
    calls = {}
    for name, address, size in functions:
        if not traced(name):
            continue
        code = memory[address - base :][:size]
        assert len(code) == size
        # Of long calls the judge knows no more than that each function begins with one.
        loads: list[int] = []
        for at in engine.disasm(code, address):
            if at.mnemonic in ("jal", "bl") and at.operands[0].imm % (1 << 64) == mcount:
                calls[at.address] = name
            if at.mnemonic == "lui" and at.op_str.startswith("$v1,"):
                loads.append(at.address)
            if (at.mnemonic, at.op_str) == ("jalr", "$v1") and loads:
                calls[loads[-1]] = name
                break
    return calls


def check_long_calls(image: Image, toolchain: Toolchain) -> None:
    """Switched off, a site goes on behind all that the profiler wrote (M1b)."""
    engine = capstone.Cs(*toolchain.mode)
    engine.detail = True
    for site in image.sites:
        off = image.isa.sites.code_for(site, SiteState.NOP, 0)
        (branch,) = engine.disasm(off, site.address)
        assert branch.mnemonic == "b"
        length = (branch.operands[0].imm - site.address) % (1 << 64) // 4
        code = image.read(site.address, 4 * length)
        texts = [f"{at.mnemonic} {at.op_str}" for at in engine.disasm(code, site.address)]
        (call,) = (index for index, text in enumerate(texts) if text == "jalr $v1")
        # Nothing but the static chain, which would be lost with its copy, follows the delay slot.
        assert [text.split()[1:] for text in texts[call + 2 :]] in (
            [],
            [["$t7,", "$v0"]],
            [["$t3,", "$v0"]],
        )
        assert bool(texts[call + 2 :]) == site.function.startswith("inner")


@pytest.mark.parametrize(("name", "form", "level"), MCOUNT_CASES)
def test_table_is_what_a_disassembly_finds(
    name: str, form: str, level: str, tmp_path: Path
) -> None:
    toolchain = installed(name)
    data = build(toolchain, tmp_path, f"{form} {level}")
    expected = judge(toolchain, tmp_path)
    records = recordmcount(data, "out")
    assert records.sites == sorted(expected)
    assert {function.split(".")[0] for function in expected.values()} == TRACED
    assert any("weak" in reason for _, reason in records.ignored)
    by_hand = toolchain.mode[0] == MIPS and "-mlong-calls" not in form
    assert len(records.suspicious) == by_hand

    image = link_with(toolchain, tmp_path, records)
    assert {site.address: site.function for site in image.sites} == expected
    assert {site.form for site in image.sites} == {FORMS[form]}
    if FORMS[form] is Form.LONG_CALL:
        check_long_calls(image, toolchain)
    assert len(image.build_id) == 20
    # The table has moved nothing.
    empty = Image(data, "out")
    assert empty.sites == []
    assert (empty.functions, empty.text) == (image.functions, image.text)


@pytest.mark.parametrize(("protection", "level"), [("none", "-O2"), ("standard", "-O0")])
def test_patchable_entries(protection: str, level: str, tmp_path: Path) -> None:
    toolchain = installed("aarch64")
    form = "-fpatchable-function-entry=2"
    build(toolchain, tmp_path, f"{form} {level} -mbranch-protection={protection}")
    image = Image(link(toolchain, tmp_path, "first.o", "second.o"), "vmlinux")
    # The attribute against -pg does not keep a function from these.
    names = TRACED | {"address_taken", "untraced", "_mcount"}
    assert {site.function.split(".")[0] for site in image.sites} == names
    assert {site.form for site in image.sites} == {FORMS[form]}
    offsets = {site.address - site.function_address for site in image.sites}
    assert offsets <= {0, 4} if protection == "standard" else offsets == {0}
    assert len(image.ignored_sites) == 1
