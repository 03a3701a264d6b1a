# SPDX-License-Identifier: MIT
"""Guests by content: what is built, when, and how often."""

import fcntl
import multiprocessing
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.config import MachineConfig, resources
from harness.errors import HostError
from harness.kbuild import GuestSpec, build_guest, plan_build


def test_a_guest_is_built_once(sources: Any, config: MachineConfig, cache: Path) -> None:
    lines: list[str] = []
    image = build_guest(GuestSpec.of(config), progress=lines.append)
    assert image.read_text().startswith("kernel\nmips\nftrace.c\ncalls\n")
    assert image.read_text().endswith(" fake- mcount -mabi=32 \n")
    assert image.name == "vmlinux"
    assert image.parent.parent == cache
    assert lines[0] == plan_build(GuestSpec.of(config)).command_line
    lines.clear()
    assert (
        build_guest(GuestSpec.of(config, "calls", port="plain", cflags=()), progress=lines.append)
        == image
    )
    assert lines == []
    assert sources.builds == 1
    assert not list(cache.glob("*.build"))


def test_the_command_line_works_by_hand(sources: Any, config: MachineConfig) -> None:
    build = plan_build(GuestSpec.of(config, cflags=["-O1", "-DX=1"]))
    image = build.run()
    subprocess.run(["sh", "-c", build.command_line], check=True, cwd="/", capture_output=True)
    out = next(word[2:] for word in shlex.split(build.command_line) if word.startswith("O="))
    assert Path(out, "vmlinux").read_bytes() == image.read_bytes()
    assert sources.builds == 2


OF_THE_KERNEL: dict[str, Callable[[Any], None]] = {
    "kernel": lambda sources: sources.write("kernel/start.c", "other\n"),
    "new kernel file": lambda sources: sources.write("kernel/new.h", ""),
    "Makefile": lambda sources: sources.write(
        "Makefile", f"{(sources.guests / 'Makefile').read_text()}\n# more\n"
    ),
    "architecture": lambda sources: sources.write("arch/mips/head.S", "other\n"),
    "port's headers": lambda sources: sources.write("ports/plain/include/asm/ftrace.h", "other\n"),
    "compiler": lambda sources: sources.install("fake-gcc", "echo version 2"),
    "linker": lambda sources: sources.install("fake-ld", "echo version 2"),
}
OF_THE_GUEST: dict[str, Callable[[Any], None]] = {
    "port's C": lambda sources: sources.write("ports/plain/ftrace.c", "other\n"),
    "port's stubs": lambda sources: sources.write("ports/plain/mcount.S", "other\n"),
    "port's claims": lambda sources: sources.write(
        "ports/plain/port.toml",
        'architecture = "mips"\nfeatures = []\nforms = ["mcount", "mcount-ra-address"]\n',
    ),
    "workload": lambda sources: sources.write("workloads/calls.c", "other\n"),
}


@pytest.mark.parametrize(
    ("change", "kernels"),
    [
        *(pytest.param(change, 2, id=name) for name, change in OF_THE_KERNEL.items()),
        *(pytest.param(change, 1, id=name) for name, change in OF_THE_GUEST.items()),
    ],
)
def test_what_matters_makes_another_guest(
    sources: Any, config: MachineConfig, change: Callable[[Any], None], kernels: int
) -> None:
    """And another kernel, unless guests of one kernel may differ in it."""
    first = build_guest(GuestSpec.of(config))
    change(sources)
    assert build_guest(GuestSpec.of(config)) != first
    assert (sources.builds, sources.kernels) == (2, kernels)


@pytest.mark.parametrize("file", ["image/elf.py", "image/recordmcount/__init__.py"])
def test_what_finds_the_call_sites_matters(
    sources: Any,
    config: MachineConfig,
    file: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    package = tmp_path / "package"
    for room in ("image", "isa"):
        shutil.copytree(resources.PACKAGE / room, package / room)
    monkeypatch.setattr(resources, "PACKAGE", package)
    first = build_guest(GuestSpec.of(config))
    with (package / file).open("a") as changed:
        changed.write("# more\n")
    assert build_guest(GuestSpec.of(config)) != first
    assert sources.builds == 2


def test_what_does_not_matter_changes_nothing(sources: Any, config: MachineConfig) -> None:
    first = build_guest(GuestSpec.of(config))
    sources.write("arch/aarch64/head.S", "other\n")
    sources.write("ports/other/ftrace.c", "other\n")
    sources.write("workloads/sort.c", "other\n")
    os.utime(sources.guests / "kernel/start.c", (0, 0))
    assert build_guest(GuestSpec.of(config)) == first
    assert sources.builds == 1


def test_flags_and_form_make_other_guests(sources: Any, config: MachineConfig) -> None:
    def variant(**change: object) -> MachineConfig:
        return config.model_copy(update={"build": config.build.model_copy(update=change)})

    images = {
        build_guest(GuestSpec.of(config)),
        build_guest(GuestSpec.of(config, cflags=["-O1"])),
        build_guest(GuestSpec.of(config, cflags=["-mabi=32"])),
        build_guest(GuestSpec.of(variant(cflags=()))),
        build_guest(GuestSpec.of(variant(cflags=("-mabi=32", "-mabi=32")))),
    }
    assert len(images) == sources.builds == 5


def test_a_moved_workload_finds_its_guest(
    sources: Any, config: MachineConfig, tmp_path: Path
) -> None:
    for directory in ("a", "b"):
        (tmp_path / directory).mkdir()
        (tmp_path / directory / "mine.c").write_text("mine\n")
    first = build_guest(GuestSpec.of(config, tmp_path / "a/mine.c"))
    assert build_guest(GuestSpec.of(config, tmp_path / "b/mine.c")) == first
    assert sources.builds == 1


def test_what_a_workload_includes_matters(
    sources: Any, config: MachineConfig, tmp_path: Path
) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include/deep.h").write_text('  #  include "../deeper.h"\n')
    (tmp_path / "deeper.h").write_text("1\n")
    (tmp_path / "flag.h").write_text("1\n")
    workload = tmp_path / "mine.c"
    workload.write_text('#include <string.h>\n#include "include/deep.h"\n#include <flag.h>\n')
    images = [build_guest(GuestSpec.of(config, workload, cflags=[f"-I{tmp_path}"]))]
    for header in ("deeper.h", "flag.h"):
        (tmp_path / header).write_text("2\n")
        images.append(build_guest(GuestSpec.of(config, workload, cflags=[f"-I{tmp_path}"])))
    assert len(set(images)) == 3
    build_guest(GuestSpec.of(config, "sort"))
    sources.write("workloads/sort.h", "other\n")
    build_guest(GuestSpec.of(config, "sort"))
    assert sources.builds == 5


def test_an_include_that_cannot_be_followed_is_built_each_time(
    sources: Any, config: MachineConfig, tmp_path: Path
) -> None:
    workload = tmp_path / "mine.c"
    workload.write_text("#include WHATEVER\n")
    assert build_guest(GuestSpec.of(config, workload)) != build_guest(
        GuestSpec.of(config, workload)
    )


def test_headers_that_include_each_other_end(
    sources: Any, config: MachineConfig, tmp_path: Path
) -> None:
    (tmp_path / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "b.h").write_text('#include "a.h"\n')
    (tmp_path / "mine.c").write_text('#include "a.h"\n#include "mine.c"\n')
    assert build_guest(GuestSpec.of(config, tmp_path / "mine.c")).is_file()


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "vmlinux").write_bytes(b""),
        lambda entry: (entry / "vmlinux").unlink(),
        lambda entry: (entry / "vmlinux.sha256").unlink(),
        lambda entry: (entry / "vmlinux.sha256").write_bytes(b"\xff\n"),
        lambda entry: (entry / "vmlinux.sha256").write_bytes(b""),
    ],
    ids=["emptied", "no image", "no digest", "wrong digest", "empty digest"],
)
def test_a_damaged_entry_is_built_again(
    sources: Any, config: MachineConfig, damage: Callable[[Path], object]
) -> None:
    image = build_guest(GuestSpec.of(config))
    content = image.read_bytes()
    image.chmod(0o644)
    damage(image.parent)
    assert build_guest(GuestSpec.of(config)) == image
    assert image.read_bytes() == content
    assert sources.builds == 2


def test_work_that_a_killed_builder_left_is_not_used(
    sources: Any, config: MachineConfig, cache: Path
) -> None:
    sources.write("workloads/calls.c", "nothing\n")  # make ends well and leaves no image
    left = cache / f"{plan_build(GuestSpec.of(config)).key}.build/out"
    left.mkdir(parents=True)
    (left / "vmlinux").write_text("half")
    with pytest.raises(HostError):
        build_guest(GuestSpec.of(config))
    assert not left.exists()


def _build(start: "multiprocessing.synchronize.Barrier") -> None:
    start.wait(30)
    build_guest(GuestSpec.of("fake"))


def test_two_builders_build_once(sources: Any, config: MachineConfig) -> None:
    context = multiprocessing.get_context("fork")
    start = context.Barrier(4)
    processes = [context.Process(target=_build, args=(start,)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
    assert [process.exitcode for process in processes] == [0] * 4
    assert sources.builds == 1


def test_who_waits_for_another_builder_says_so(
    sources: Any, config: MachineConfig, cache: Path
) -> None:
    build = plan_build(GuestSpec.of(config))
    cache.mkdir(parents=True)
    lock = os.open(cache / f"{build.key}.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(lock, fcntl.LOCK_EX)
    lines: list[str] = []

    def progress(line: str) -> None:
        lines.append(line)
        if "waiting" in line:
            os.close(lock)

    build.run(progress)
    assert lines[:2] == ["waiting for another build of the same guest", build.command_line]


def test_paths_with_blanks_work(
    install: Callable[[str], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = install("my $(id) installation")
    python = tmp_path / "my python/bin/python3"
    python.parent.mkdir(parents=True)
    python.symlink_to("/bin/sh")
    monkeypatch.setattr("sys.executable", str(python))
    workload = tmp_path / "my works/mine.c"
    workload.parent.mkdir()
    workload.write_text("mine\n")
    port = tmp_path / "it's #1: a port"
    (sources.guests / "ports/plain").rename(port)
    build = plan_build(GuestSpec.of("fake", workload, port=port))
    image = build.run()
    assert image.read_text().startswith("kernel\nmips\nftrace.c\nmine\n")
    subprocess.run(["sh", "-c", build.command_line], check=True, cwd="/", capture_output=True)
    assert sources.builds == 2
