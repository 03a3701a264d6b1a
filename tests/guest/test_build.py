# SPDX-License-Identifier: MIT
"""Guests built with the real compilers: every config, once, and by hand."""

import os
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from harness.config import list_configs, list_workloads, load_config, resources
from harness.errors import UsageError
from harness.image import Image
from harness.kbuild import GuestSpec, plan_build
from support.command import harness
from tests.support.configs import others


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/ftrace-harness/guests"


@pytest.mark.parametrize("name", list_configs())
def test_a_config_builds_once(name: str, empty_cache: Path) -> None:
    config = load_config(name)
    build = plan_build(GuestSpec.of(config, "calls"))
    lines: list[str] = []
    path = build.run(lines.append)
    assert lines[0] == build.command_line
    image = Image(path.read_bytes(), name)
    assert image.isa.name == config.architecture
    assert {site.form for site in image.sites} == {config.build.form}
    assert image.build_id

    lines.clear()
    again = plan_build(GuestSpec.of(config, "calls"))
    assert again.cached
    assert again.run(lines.append) == path
    assert lines == []


@pytest.mark.parametrize("workload", list_workloads())
@pytest.mark.parametrize("name", ["mips64el-malta", "aarch64-virt", *others()])
def test_every_workload_builds_without_a_warning(name: str, workload: str) -> None:
    lines: list[str] = []
    plan_build(GuestSpec.of(name, workload)).run(lines.append)
    assert not [line for line in lines if "warning" in line]


@pytest.mark.parametrize("name", ["mips-malta", "aarch64-virt-patchable", *others()])
def test_the_line_works_by_hand_on_a_read_only_tree(
    name: str, empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plan_build(GuestSpec.of(name)).run().read_bytes()
    shutil.rmtree(empty_cache)

    # A copy as the wheel has it: what the harness's Python needs is installed, not beside it.
    copy = tmp_path / "copy"
    shutil.copytree(resources.guests_directory(), copy / "guests")
    shutil.copytree(resources.configs_directory(), copy / "qemu-configs")
    monkeypatch.setattr(resources, "root", lambda: copy)
    before = _snapshot(copy)
    _forbid_writing(copy)
    try:
        build = plan_build(GuestSpec.of(name))
        environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(resources.PACKAGE.parent)}
        subprocess.run(
            ["sh", "-c", build.command_line], check=True, cwd="/", env=environment, timeout=300
        )
        words = shlex.split(build.command_line)
        out = next(word[2:] for word in words if word.startswith("O="))
        assert Path(out, "vmlinux").read_bytes() == expected
        assert _snapshot(copy) == before
    finally:
        _allow_writing(copy)


def test_make_takes_the_python_of_the_source_tree(tmp_path: Path) -> None:
    copy = tmp_path / "guests"
    shutil.copytree(resources.guests_directory(), copy)
    command = ["make", "-C", str(copy), "-n", "ARCH=mips", "O=" + str(tmp_path / "out")]

    def recording() -> str:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
        return next(line for line in done.stdout.splitlines() if "recordmcount" in line)

    assert recording().split()[0] == "python3"
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch()
    assert python.samefile(recording().split()[0])


def test_guests_without_the_harness_say_so(tmp_path: Path) -> None:
    copy = tmp_path / "guests"
    shutil.copytree(resources.guests_directory(), copy)
    # -I: a Python that has what is installed for it, which is nothing of ours.
    python = tmp_path / "python"
    python.write_text('#!/bin/sh\nexec /usr/bin/python3 -I "$@"\n')
    python.chmod(0o755)
    words = ["ARCH=mips", f"O={tmp_path / 'out'}", f"PYTHON={python}"]
    done = subprocess.run(
        ["make", "-C", str(copy), *words], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode != 0
    said = f"{python} does not have the package ftrace-harness, which finds the call sites; install"
    assert said in done.stderr
    assert "No module named" not in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["MODULES=numbers"], "builds no modules: its long calls of _mcount do not keep ra"),
        (["CFLAGS_ABI=-mabi=64 -march=mips64r2"], "has no -msym32 and builds no guests of n64"),
        (["FORM=mcount-ra-address"], "has no -mmcount-ra-address"),
    ],
)
def test_what_clang_cannot_do_on_mips_is_said(words: list[str], said: str, tmp_path: Path) -> None:
    make = ["make", "-C", str(resources.guests_directory()), "ARCH=mips", "COMPILER=clang"]
    done = subprocess.run(
        [*make, f"O={tmp_path}/out", *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode != 0
    assert f"COMPILER=clang {said}" in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_repository_in_a_directory_with_blanks(
    empty_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = plan_build(GuestSpec.of("mips-malta")).run().read_bytes()
    shutil.rmtree(empty_cache)
    copy = tmp_path / "my repository"
    shutil.copytree(resources.guests_directory(), copy / "guests")
    shutil.copytree(resources.configs_directory(), copy / "qemu-configs")
    monkeypatch.setattr(resources, "root", lambda: copy)
    assert plan_build(GuestSpec.of("mips-malta")).run().read_bytes() == expected


@pytest.mark.parametrize(
    ("name", "source", "said"),
    [
        ("mips-malta", "int workload(void) { return 1 }\n", "mine.c:1:30: error: expected"),
        (
            "mips64-malta",
            "int f(int);\nint workload(void) { return f(1); }\n",
            "undefined reference to `f'",
        ),
        ("aarch64-virt", "int other(void) { return 1; }\n", "does not define workload()"),
        ("aarch64-virt-patchable", '#include "absent.h"\n', "absent.h: No such file"),
        # gcc 14 refuses these; older compilers would warn.
        ("mips-malta", "int workload(void) { return f(1); }\n", "implicit-function-declaration]"),
        ("mips-malta", "int *workload(void) { return 1; }\n", "int-conversion]"),
        (
            "mips-malta",
            "char at;\nint workload(void) { int *here = &at; return *here; }\n",
            "incompatible-pointer-types]",
        ),
        ("mips-malta", "workload(void) { return 0; }\n", "implicit-int]"),
    ],
)
def test_a_workload_that_does_not_build(
    name: str, source: str, said: str, tmp_path: Path, empty_cache: Path
) -> None:
    workload = tmp_path / "mine.c"
    workload.write_text(source)
    with pytest.raises(UsageError) as caught:
        plan_build(GuestSpec.of(name, workload)).run()
    assert caught.value.message.startswith(f"The workload {workload} does not ")
    assert said in caught.value.message
    assert {path.suffix for path in empty_cache.iterdir()} == {".lock"}


def test_what_the_compiler_says_is_said_once(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.c", tmp_path / "bad.c"
    good.write_text("int workload(void) { int unused; return 0; }\n")
    bad.write_text("int workload(void) { int unused; return 1 }\n")
    for workload, status, said in ((good, 0, "warning: unused"), (bad, 2, "error: expected ';'")):
        done = harness("build", "mips-malta", "--workload", workload, env=fresh(tmp_path))
        assert done.returncode == status
        assert done.stderr.count(said) == 1


def fresh(cache: Path) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(cache)}


def test_flags_reach_the_workload(tmp_path: Path) -> None:
    workload = tmp_path / "mine.c"
    workload.write_text(
        '#include "mine.h"\n#include <stdio.h>\n'
        "int workload(void) { return printf(TEXT) + FLAG; }\n"
    )
    (tmp_path / "mine.h").write_text('#define TEXT "a text that is found"\n')
    image = plan_build(GuestSpec.of("mipsel-malta", workload, cflags=["-DFLAG=3", "-O0"])).run()
    assert b"a text that is found" in image.read_bytes()


def _snapshot(directory: Path) -> dict[str, int]:
    return {
        str(path.relative_to(directory)): path.stat().st_mtime_ns for path in directory.rglob("*")
    }


def _forbid_writing(directory: Path) -> None:
    for path in [directory, *directory.rglob("*")]:
        path.chmod(stat.S_IMODE(path.stat().st_mode) & ~0o222)


def _allow_writing(directory: Path) -> None:
    for path in [directory, *directory.rglob("*")]:
        path.chmod(stat.S_IMODE(path.stat().st_mode) | 0o200)


def test_inline_assembly_is_the_same_in_every_copy(empty_cache: Path) -> None:
    spec = GuestSpec.of("aarch64-virt-call-ops")
    ftrace = (spec.port.directory / "ftrace.c").read_text()
    own, same = plan_build(spec).compile_port([{}, {"ftrace.c": f"{ftrace}/* the end */\n"}])
    assert "dmb ishst" in own["ftrace.c"]
    assert same == {"ftrace.c": own["ftrace.c"]}


def test_the_ports_files_are_compiled_with_other_contents(empty_cache: Path) -> None:
    spec = GuestSpec.of("mips-malta")
    port = spec.port.directory
    syscall, header = ((port / name).read_text() for name in ("syscall.c", "long_call.h"))
    comment = {"syscall.c": syscall.replace("begin at another base", "begin elsewhere")}
    fault = {"syscall.c": syscall.replace("nr >= NR_syscalls", "nr > NR_syscalls")}
    in_header = {"long_call.h": header.replace("0x3c030000u", "0x3c040000u")}
    own, same, other, of_all, none = plan_build(spec).compile_port(
        [{}, comment, fault, in_header, {"syscall.c": "this is no C"}]
    )
    assert own.keys() == {path.name for path in port.glob("*.c")}
    assert comment["syscall.c"] != syscall
    assert same == {"syscall.c": own["syscall.c"]}
    assert other.keys() == {"syscall.c"}
    assert other != same
    assert {name for name in own if own[name] != of_all[name]} == {
        "ftrace.c",
        "prologue.c",
        "long_call.c",
    }
    assert none == {}
