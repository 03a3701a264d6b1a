# SPDX-License-Identifier: MIT
"""The doctor, on programs that are shell scripts."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.doctor import doctor
from harness.config import MachineConfig, load_config, resources
from harness.doctor import Diagnosis, check_all, checks, mend_command, programs
from harness.doctor.versions import TESTED

Install = Callable[[str, str], None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a program on a search path that has nothing else."""
    directory = tmp_path / "bin"
    directory.mkdir()
    monkeypatch.setenv("PATH", str(directory))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def put(name: str, script: str) -> None:
        (directory / name).write_text(f"#!/bin/sh\n{script}\n")
        (directory / name).chmod(0o755)

    return put


@pytest.fixture
def config() -> MachineConfig:
    return MachineConfig.model_validate(
        {
            "name": "mine",
            "description": "a machine",
            "architecture": "mips",
            "port": "mips",
            "qemu": {
                "binary": "qemu-fake",
                "package": "qemu-package",
                "machine": "malta",
                "cpu": "24Kf",
                "arguments": ["-global", "x"],
            },
            "build": {
                "cross_compile": "fake-",
                "package": "gcc-package",
                "cflags": ["-mabi=32"],
                "form": "mcount",
            },
        }
    )


def test_an_empty_host_is_told_all_that_is_missing(
    install: Install, config: MachineConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = check_all([config])
    missing = {check.name: check for check in found if not check.ok}
    assert list(missing) == [
        "gdb-multiarch",
        "qemu-img",
        "make",
        "setpriv",
        "gcc",
        "trace-cmd",
        "mine: machine",
        "mine: compiler",
    ]
    assert missing["mine: machine"].detail == "qemu-fake is not installed"
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert mend_command(found) == (
        "sudo apt-get install --yes gcc gcc-package gdb-multiarch make qemu-package qemu-utils"
        " trace-cmd util-linux"
    )
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert mend_command(found).startswith("apt-get install")


def test_a_host_with_everything_needs_nothing(install: Install, config: MachineConfig) -> None:
    for program in ("gdb-multiarch", "qemu-img", "make", "setpriv", "gcc"):
        install(program, f"echo; echo {program} 1.0; echo more")
    install("trace-cmd", 'test "$1" = list || { echo; echo trace-cmd 1.0; echo usage; exit 255; }')
    install("qemu-fake", "echo QEMU 1.0")
    install("fake-gcc", "echo gcc 1.0")
    found = check_all([config])
    assert all(check.ok for check in found)
    assert mend_command(found) == ""
    details = {check.name: check.detail for check in found}
    assert details["trace-cmd"] == "trace-cmd 1.0"
    assert details["mine: machine"] == "QEMU 1.0"


def test_the_machine_is_really_started(
    install: Install, config: MachineConfig, tmp_path: Path
) -> None:
    install("qemu-fake", f'echo "$@" >>{tmp_path}/said; while read line; do echo "$line"; done')
    assert checks.check_machine(config).ok
    said = (tmp_path / "said").read_text()
    assert "-machine malta -cpu 24Kf -m 128M -smp 1 -global x\n" in said
    assert "-nodefaults" in said


def test_a_machine_that_qemu_refuses(install: Install, config: MachineConfig) -> None:
    install("qemu-fake", "echo 'qemu-fake: unsupported machine \033[31mtype' >&2; exit 1")
    check = checks.check_machine(config)
    assert not check.ok
    assert check.detail == (
        r"qemu-fake ended with status 1: qemu-fake: unsupported machine \x1b[31mtype"
    )
    assert mend_command([check]) == ""  # it is installed: no package would help


def test_what_was_not_tried_is_a_note_and_no_failure(
    install: Install, config: MachineConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    for program in ("qemu-img", "make", "setpriv", "gcc"):
        install(program, f"echo '{program} (Debian 13.1-3) 13.2.0'")
    install("gdb-multiarch", "echo 'GNU gdb (Debian 12.1-4) 12.1'")
    install("trace-cmd", 'test "$1" = list || { echo; echo trace-cmd version 3.4; exit 255; }')
    install("qemu-fake", "echo 'QEMU emulator version 11.0.50 (Debian 1:10.0.2+ds-2)'")
    install("fake-gcc", "echo fake-gcc-11 11.4.0")
    monkeypatch.setattr("sys.version_info", (3, 14, 1, "final", 0))
    found = check_all([config])
    assert all(check.ok for check in found)
    assert {check.name: check.note for check in found if check.note} == {
        "Python": "Python 3.14.1 is newer than 3.13, the newest that was tested:"
        " all of the harness may not work",
        "gdb-multiarch": "gdb 12.1 is older than 13, the oldest that was tested:"
        " running guests may not work",
        "trace-cmd": "trace-cmd 3.4 is newer than 3.3, the newest that was tested:"
        " reading recordings with trace-cmd may not work",
        "mine: machine": "QEMU 11.0.50 is newer than 10.0, the newest that was tested:"
        " running guests, and the plugin of conform and matrix, may not work",
        "mine: compiler": "gcc 11.4.0 is older than 12, the oldest that was tested:"
        " building guests may not work",
    }


@pytest.mark.parametrize(
    ("program", "printed"),
    [
        ("QEMU", "QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"),
        ("QEMU", "QEMU emulator version 10.0.13 (Debian 1:10.0.13+ds-0+deb13u1)"),
        ("gdb", "GNU gdb (Debian 13.1-3) 13.1"),
        ("gdb", "GNU gdb (GDB) Fedora Linux 16.3-1.fc42"),
        ("gcc", "mips64-linux-gnuabi64-gcc (Debian 12.2.0-14) 12.2.0"),
        ("gcc", "aarch64-linux-gnu-gcc-14 (Debian 14.2.0-19) 14.2.0"),
        ("trace-cmd", "trace-cmd version 3.1.6 (not-a-git-repo)"),
        ("trace-cmd", "trace-cmd, built by somebody"),
    ],
)
def test_what_was_tried_needs_no_note(program: str, printed: str) -> None:
    assert TESTED[program].note(program, printed) == ""


def test_a_python_that_is_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.version_info", (3, 10, 4, "final", 0))
    check = checks.check_python()
    assert not check.ok
    assert check.detail == "3.10.4 is too old: 3.11 or newer is needed"


def test_a_qemu_without_plugins(install: Install, config: MachineConfig) -> None:
    refusal = '{"error": {"class": "GenericError", "desc": "invalid option name: plugin"}}'
    install("qemu-fake", f"test $1 = --version && echo QEMU 8.0 || echo '{refusal}'")
    check = checks.check_machine(config)
    assert check.ok
    assert check.note == "qemu-fake is built without TCG plugins: conform and matrix cannot run"


def test_this_qemu_says_whether_it_has_plugins() -> None:
    """The question is understood: an option that is not there is refused, this one is not."""
    config = load_config("mips-malta")
    if shutil.which(config.qemu.binary) is None:
        pytest.skip("needs QEMU")
    check = checks.check_machine(config)
    assert check.ok
    assert "plugins" not in check.note


def test_the_command_says_each_note_once(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [
        Diagnosis("a", True, "QEMU 11.0", note="new"),
        Diagnosis("b", True, "QEMU 11.0", note="new"),
    ]
    monkeypatch.setattr("harness.doctor.check_all", lambda configs: found)
    result = CliRunner().invoke(doctor)
    assert result.exit_code == 0
    assert result.output.splitlines() == [
        "ok      a  QEMU 11.0",
        "ok      b  QEMU 11.0",
        "note    new",
    ]


def test_a_compiler_that_refuses_the_flags(install: Install, config: MachineConfig) -> None:
    install("fake-gcc", 'test "$1" = -mabi=32 && exit 4')
    check = checks.check_compiler(config)
    assert check == Diagnosis(
        "mine: compiler", False, "fake-gcc ended with status 4: it says nothing"
    )


def test_a_program_that_hangs(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "DEADLINE", 0.1)
    install("hangs", "while :; do :; done")
    assert "did not end within" in programs.check_program("x", ["hangs"], "y").detail


def test_a_program_that_is_damaged(install: Install, tmp_path: Path) -> None:
    (tmp_path / "bin/damaged").write_bytes(b"\x7fELF")
    (tmp_path / "bin/damaged").chmod(0o755)
    assert "damaged cannot be run: " in programs.check_program("x", ["damaged"], "y").detail


def test_a_cache_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    check = checks.check_cache()
    assert not check.ok
    assert "set XDG_CACHE_HOME" in check.detail


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (["click>=8.1", "no-such-thing"], "no-such-thing is missing; pip install"),
        (["click>=99", "rich"], r"click>=99 is needed, not \d+\.\d+"),
        (None, r"^\d+ found"),
        (["click", "no-such-thing; extra == 'some'"], "^1 found"),
    ],
)
def test_python_packages_are_the_declared_ones(
    monkeypatch: pytest.MonkeyPatch, declared: list[str] | None, said: str
) -> None:
    if declared is not None:
        monkeypatch.setattr("importlib.metadata.requires", lambda name: declared)
    check = checks.check_python_packages()
    assert re.search(said, check.detail)
    assert check.ok == ("found" in said)


def test_a_harness_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "DISTRIBUTION", "no-such-thing")
    assert "itself is not installed" in checks.check_python_packages().detail


def test_a_config_that_is_wrong_is_one_failed_check(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "qemu-configs").mkdir()
    (tmp_path / "qemu-configs/bad.toml").write_text("[\n")
    monkeypatch.setattr(resources, "root", lambda: tmp_path)
    check = check_all()[-1]
    assert check.name == "bad: config"
    assert "is not TOML" in check.detail
    shutil.rmtree(tmp_path / "qemu-configs")
    assert "installation is incomplete" in check_all()[-1].detail
