# SPDX-License-Identifier: MIT
"""Builds that cannot be: whose fault it is, what is said, and that nothing is left."""

import os
from pathlib import Path
from typing import Any

import pytest

from harness.config import MachineConfig
from harness.errors import HostError, UsageError
from harness.kbuild import GuestSpec, build_guest, plan_build


@pytest.mark.parametrize(
    ("workload", "expected"),
    [("call", "Did you mean 'calls'"), ("zzz", "The workloads are: calls, sort. ")],
)
def test_an_unknown_workload(config: MachineConfig, workload: str, expected: str) -> None:
    with pytest.raises(UsageError, match="There is no workload") as caught:
        build_guest(GuestSpec.of(config, workload))
    assert expected in caught.value.advice


def test_a_workload_of_this_directory_is_pointed_at(
    config: MachineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.c").write_text("mine\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        build_guest(GuestSpec.of(config, "mine"))
    assert "Write ./mine.c" in caught.value.advice
    assert "mine\n" in build_guest(GuestSpec.of(config, "mine.c")).read_text()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("absent.c", "does not exist"),
        ("directory.c", "is not a file"),
        ("mine.txt", "does not end in .c"),
        ("two words.c", "make cannot take a file called"),
        ("\x1b[2J.c", "does not exist"),
    ],
)
def test_paths_that_are_no_workloads(
    config: MachineConfig, tmp_path: Path, name: str, expected: str
) -> None:
    (tmp_path / "directory.c").mkdir()
    for file in ("mine.txt", "two words.c"):
        (tmp_path / file).write_text("")
    with pytest.raises(UsageError, match=expected) as caught:
        build_guest(GuestSpec.of(config, tmp_path / name))
    assert "\x1b" not in str(caught.value)


def test_a_port_of_another_architecture(config: MachineConfig) -> None:
    with pytest.raises(UsageError, match="The port other is for aarch64, and the config fake"):
        build_guest(GuestSpec.of(config, port="other"))


def test_a_port_without_the_form(sources: Any, config: MachineConfig) -> None:
    sources.write(
        "ports/plain/port.toml",
        'architecture = "mips"\nfeatures = []\nforms = ["patchable-entry"]\n',
    )
    with pytest.raises(UsageError, match="no stub for the form mcount") as caught:
        build_guest(GuestSpec.of(config))
    assert "patchable-entry" in caught.value.advice


@pytest.mark.parametrize("flag", ["-O1 -g", "O1", "", "-D'x'", "$(id)", "-DX=`id`", "-O1\n"])
def test_flags_that_are_none(config: MachineConfig, flag: str) -> None:
    with pytest.raises(UsageError, match="is not a compiler flag"):
        build_guest(GuestSpec.of(config, cflags=[flag]))


def nothing_left(cache: Path) -> bool:
    return not [path for path in cache.iterdir() if path.suffix != ".lock"]


def test_a_workload_that_does_not_compile(
    config: MachineConfig, tmp_path: Path, cache: Path
) -> None:
    workload = tmp_path / "mine.c"
    workload.write_text("bad\n")
    with pytest.raises(UsageError) as caught:
        build_guest(GuestSpec.of(config, workload, cflags=["-O1"]))
    lines = caught.value.message.splitlines()
    assert lines[0] == f"The workload {workload} does not build for fake:"
    assert lines[1] == rf"{workload}:1: error: \x1b[31mbad -O1"
    assert len(lines) == 11
    assert caught.value.advice.endswith(
        plan_build(GuestSpec.of(config, workload, cflags=["-O1"])).command_line
    )
    assert nothing_left(cache)


def test_a_port_that_does_not_compile(sources: Any, config: MachineConfig) -> None:
    port = sources.guests.parent / "mine"
    (sources.guests / "ports/plain").rename(port)
    (port / "ftrace.c").write_text("bad\n")
    with pytest.raises(UsageError, match="The guest does not build for fake"):
        build_guest(GuestSpec.of(config, port=port))


def test_a_workload_that_lacks_its_function(config: MachineConfig, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("lacks\n")
    with pytest.raises(UsageError, match=r"mine.c does not define workload\(\)"):
        build_guest(GuestSpec.of(config, tmp_path / "mine.c"))


def test_paths_in_errors_are_the_users(config: MachineConfig, tmp_path: Path) -> None:
    (tmp_path / "my works").mkdir()
    (tmp_path / "my works/mine.c").write_text("bad\n")
    with pytest.raises(UsageError, match=f"\n{tmp_path}/my works/mine.c:1: error"):
        build_guest(GuestSpec.of(config, tmp_path / "my works/mine.c"))


def test_a_config_of_the_users_that_does_not_build(
    sources: Any, config: MachineConfig, cache: Path
) -> None:
    sources.write("workloads/calls.c", "bad\n")
    build = config.build.model_copy(update={"cflags": ("-mabi=64",)})
    with pytest.raises(UsageError, match="The guest does not build for fake"):
        build_guest(GuestSpec.of(config.model_copy(update={"build": build})))


def test_sources_that_change_during_the_build(
    sources: Any, config: MachineConfig, cache: Path
) -> None:
    def progress(line: str) -> None:
        if line.startswith("mkdir"):
            sources.write("kernel/start.c", "other\n")

    with pytest.raises(UsageError, match="changed while they were compiled"):
        build_guest(GuestSpec.of(config), progress=progress)
    assert nothing_left(cache)


def test_our_own_sources_are_not_the_users_fault(sources: Any, config: MachineConfig) -> None:
    sources.write("workloads/calls.c", "bad\n")
    with pytest.raises(HostError, match="The guest does not build for fake"):
        build_guest(GuestSpec.of(config))


def test_a_full_disk_is_the_hosts_fault(config: MachineConfig, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("full\n")
    with pytest.raises(HostError, match="No space left on device") as caught:
        build_guest(GuestSpec.of(config, tmp_path / "mine.c"))
    assert "Make room" in caught.value.advice


def test_make_that_makes_nothing(sources: Any, config: MachineConfig, cache: Path) -> None:
    sources.write("workloads/calls.c", "nothing\n")
    with pytest.raises(HostError, match="The guest does not build"):
        build_guest(GuestSpec.of(config))
    assert nothing_left(cache)


def test_an_interrupted_build_leaves_nothing(
    sources: Any, config: MachineConfig, cache: Path
) -> None:
    def progress(line: str) -> None:
        if line.startswith("mkdir"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        build_guest(GuestSpec.of(config), progress=progress)
    assert nothing_left(cache)
    assert build_guest(GuestSpec.of(config)).is_file()


def test_a_build_that_hangs_is_ended(
    config: MachineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path
) -> None:
    monkeypatch.setattr("harness.kbuild.make.run_make.__defaults__", (0.2,))
    (tmp_path / "mine.c").write_text("hang\n")
    with pytest.raises(HostError, match="did not end within"):
        build_guest(GuestSpec.of(config, tmp_path / "mine.c"))
    assert nothing_left(cache)


def test_no_compiler(sources: Any, config: MachineConfig) -> None:
    (sources.programs / "fake-ld").unlink()
    with pytest.raises(HostError, match="fake-ld is not installed") as caught:
        build_guest(GuestSpec.of(config))
    assert "apt-get install gcc-fake" in caught.value.advice


def test_a_compiler_that_does_not_run(sources: Any, config: MachineConfig) -> None:
    sources.install("fake-gcc", "echo cc1 is gone; exit 4")
    with pytest.raises(HostError, match="ended with status 4: cc1 is gone"):
        build_guest(GuestSpec.of(config))


def test_no_make(sources: Any, config: MachineConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(sources.programs))
    with pytest.raises(HostError, match="make is not installed"):
        build_guest(GuestSpec.of(config))


def test_variables_of_the_caller_do_not_reach_the_build(
    config: MachineConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = build_guest(GuestSpec.of(config)).read_text()
    monkeypatch.setenv("MAKEFLAGS", "n")
    monkeypatch.setenv("CC", "evil")
    monkeypatch.setenv("XDG_CACHE_HOME", f"{os.environ['XDG_CACHE_HOME']}-2")
    assert build_guest(GuestSpec.of(config)).read_text() == first


def test_a_cache_that_is_no_directory(
    config: MachineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(HostError, match=r"cannot be kept in .*: Not a directory") as caught:
        build_guest(GuestSpec.of(config))
    assert "XDG_CACHE_HOME" in caught.value.advice


def test_a_cache_whose_path_make_cannot_take(
    config: MachineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two words"))
    with pytest.raises(UsageError, match="make cannot work in") as caught:
        build_guest(GuestSpec.of(config))
    assert "XDG_CACHE_HOME" in caught.value.advice


def test_a_relative_cache_is_ignored(
    config: MachineConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert build_guest(GuestSpec.of(config)).is_relative_to(
        tmp_path / ".cache/ftrace-harness/guests"
    )
