# SPDX-License-Identifier: MIT
"""Layouts of kernel structures, judged by the compiler that wrote the debug information."""

from pathlib import Path

import pytest

from harness.errors import FormatError, UsageError
from harness.guest.linux_start import check_kernel
from harness.linux import Layouts, LinuxImage, load_layouts, open_image
from harness.linux.image import check_debug_info
from tests.unit.test_image_compilers import TOOLCHAINS, gcc, installed

SOURCE = r"""
struct list_head { struct list_head *next, *prev; };
typedef struct { long counter; } atomic_long_t;
typedef struct { atomic_long_t a; } local_t;
struct buffer_page {
	struct list_head list;
	local_t write;
	unsigned int read;
	local_t entries;
	void *page;
};
struct dyn_ftrace { unsigned long ip, flags; };
struct ring_buffer_per_cpu { int cpu; local_t entries; };
const char linux_banner[] = "Linux version 6.1.0 (made up)";
struct buffer_page page = { .read = 7 };
struct dyn_ftrace record;
struct ring_buffer_per_cpu cpu;
void _text(void) { }
"""


def build(name: str, directory: Path, debug: str = "-gdwarf-4", source: str = SOURCE) -> Path:
    toolchain = installed(name)
    file = directory / "kernel" / "trace" / "ring_buffer.c"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(source)
    options = [debug, "-nostdlib", "-static", "-no-pie", f"-Wl,-Ttext={toolchain.base}"]
    options += ["-Wl,--build-id=sha1", "-Wl,-e,_text", "-fno-pic"]
    gcc(toolchain, *options, "kernel/trace/ring_buffer.c", "-o", "vmlinux", cwd=directory)
    return directory / "vmlinux"


@pytest.fixture(params=TOOLCHAINS)
def vmlinux(request: pytest.FixtureRequest, tmp_path: Path) -> LinuxImage:
    return opened(build(request.param, tmp_path))


def opened(file: Path) -> LinuxImage:
    image = open_image(file.read_bytes(), file.name)
    assert isinstance(image, LinuxImage)
    return image


def test_members_are_where_the_compiler_put_them(vmlinux: LinuxImage) -> None:
    word = vmlinux.isa.word_size
    page = Layouts.of(vmlinux)["buffer_page"]
    assert [page.place(path).offset for path in ("list.next", "write", "read", "page")] == [
        0,
        2 * word,
        3 * word,
        page.size - word,
    ]
    value = vmlinux.read(vmlinux.symbols["page"], page.size)
    assert page.place("read").number(value, vmlinux.byteorder) == 7


def test_a_structure_with_one_member_stands_for_it(vmlinux: LinuxImage) -> None:
    layouts = Layouts.of(vmlinux)
    write = layouts["buffer_page"].place("write")
    assert (write.size, write.signed) == (vmlinux.isa.word_size, True)


@pytest.mark.parametrize("debug", ["-gdwarf-3", "-gdwarf-5"])
def test_other_versions_of_dwarf(debug: str, tmp_path: Path) -> None:
    layouts = Layouts.of(opened(build("aarch64", tmp_path, debug)))
    assert layouts["dyn_ftrace"].place("flags").offset == 8


def test_missing_names_are_errors_with_the_option_that_they_need(tmp_path: Path) -> None:
    layouts = Layouts.of(opened(build("mips", tmp_path)))
    with pytest.raises(FormatError, match="ring_buffer_per_cpu of vmlinux has no member overrun"):
        layouts["ring_buffer_per_cpu"].place("overrun")
    with pytest.raises(FormatError, match="no struct ftrace_page") as failed:
        layouts["ftrace_page"]
    assert "CONFIG_DYNAMIC_FTRACE" in failed.value.advice


def test_layouts_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    image = opened(build("mips64el", tmp_path))
    first = load_layouts(image)
    again = opened(tmp_path / "vmlinux")
    monkeypatch.setattr(Layouts, "of", None)
    second = load_layouts(again)
    assert first.dumped() == second.dumped()
    (kept,) = (tmp_path / "cache").rglob("*.json")
    assert image.build_id.hex() in kept.name


def test_a_damaged_cache_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    image = opened(build("aarch64", tmp_path))
    first = load_layouts(image).dumped()
    (kept,) = (tmp_path / "cache").rglob("*.json")
    for damage in ("", "[]", '{"module": {"size": 1}}', '{"module": {"size": 1, "places": [1]}}'):
        kept.write_text(damage)
        assert load_layouts(image).dumped() == first


def test_a_kernel_without_dwarf_is_refused_with_the_option(tmp_path: Path) -> None:
    image = opened(build("aarch64", tmp_path, "-g0"))
    with pytest.raises(FormatError, match="has no debug information") as failed:
        check_debug_info(image)
    assert "CONFIG_DEBUG_INFO_DWARF5" in failed.value.advice
    assert "BTF" in failed.value.advice


@pytest.mark.parametrize(
    ("variables", "option"),
    [("", "CONFIG_TRACING"), ("int global_trace = 1;", "CONFIG_FUNCTION_TRACER")],
)
def test_a_kernel_without_the_tracer_is_refused_with_the_option(
    variables: str, option: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=option):
        check_kernel(opened(build("aarch64", tmp_path, source=SOURCE + variables)))
