# SPDX-License-Identifier: MIT
"""The build of a Linux kernel around make: what is asked of it, kept, refused and told.

The trees here are of one Makefile, which answers as Linux's does; tests/linux builds real ones.
"""

from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.kernels.build import KERNELS, build_kernel
from harness.kernels.catalogue import load_kernel
from harness.kernels.files import KernelFiles
from harness.kernels.source import find_source

NAME = "linux-arm64"
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 1
allnoconfig:
	{allnoconfig}
Image:
	@echo '  LD      vmlinux'
	{image}
modules:
	mkdir -p $(O)/samples && echo module >$(O)/samples/one.ko
"""
CONFIG = "cp $(KCONFIG_ALLCONFIG) $(O)/.config"
IMAGE = "mkdir -p $(O)/init $(O)/arch/$(ARCH)/boot && echo $(CROSS_COMPILE) >$(O)/vmlinux && "
IMAGE += "echo image >$(O)/arch/$(ARCH)/boot/Image && echo run >>$(CURDIR)/../runs"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/ftrace-harness/linux-kernels"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    directory = tmp_path / "tree"
    directory.mkdir()
    (directory / "Kconfig").write_text("mainmenu\n")
    write(directory)
    return directory


def write(tree: Path, allnoconfig: str = CONFIG, image: str = IMAGE) -> None:
    (tree / "Makefile").write_text(MAKEFILE.format(allnoconfig=allnoconfig, image=image))


def built(tree: Path, lines: list[str] | None = None) -> KernelFiles:
    report = (lines if lines is not None else []).append
    return build_kernel(NAME, load_kernel(NAME, "build"), find_source(tree, report), report)


def test_a_kernel_is_built_once(tree: Path, cache: Path) -> None:
    lines: list[str] = []
    files = built(tree, lines)
    assert files.vmlinux.read_text() == "aarch64-linux-gnu-\n"
    assert files.image.read_text() == "image\n"
    assert b"one.ko\0" in files.initrd.read_bytes()
    assert "  LD      vmlinux" in lines
    assert not list(cache.glob("*.log"))
    lines.clear()
    assert built(tree, lines) == files
    assert lines == []
    assert (tree.parent / "runs").read_text() == "run\n"


def test_a_changed_tree_is_built_again(tree: Path) -> None:
    before = built(tree)
    (tree / "Kconfig").write_text("mainmenu \n")
    assert built(tree) != before


def test_an_option_that_tracing_needs_is_not_taken(tree: Path) -> None:
    write(tree, "grep -v -e FUNCTION_TRACER -e TTY $(KCONFIG_ALLCONFIG) >$(O)/.config")
    lines: list[str] = []
    with pytest.raises(UsageError, match="no kernel for linux-arm64 with CONFIG_FUNCTION_TRACER"):
        built(tree, lines)
    assert "not in these sources: CONFIG_TTY" in lines
    assert KERNELS.directory.is_dir()
    assert not list(KERNELS.directory.rglob("vmlinux"))


def test_what_the_compiler_says_is_shown_and_kept(tree: Path, cache: Path) -> None:
    write(tree, image="@echo 'fork.c:7:1: error: no such thing' >&2; exit 1")
    with pytest.raises(UsageError, match="linux-arm64 does not build:") as caught:
        built(tree)
    assert "fork.c:7:1: error: no such thing" in caught.value.message
    log = cache / "linux-arm64.log"
    assert caught.value.advice == f"All that make said is in {log}."
    assert "  LD      vmlinux\n" in log.read_text()
    write(tree)
    built(tree)
    assert not log.exists()
