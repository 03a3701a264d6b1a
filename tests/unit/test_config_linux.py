# SPDX-License-Identifier: MIT
"""Machine configs of a Linux kernel: the table ``[linux]``."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.config import LinuxConfig, MachineConfig, load_any_config, load_config
from harness.errors import UsageError
from harness.kbuild import GuestSpec
from support.command import harness

TEXT = """\
description = "a Linux kernel"
architecture = "aarch64"
[qemu]
binary = "qemu-system-aarch64"
machine = "virt"
cpu = "cortex-a57"
[linux]
vmlinux = "out/vmlinux"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    for name in ("vmlinux", "Image", "initrd.cpio"):
        (tmp_path / "out" / name).touch()
    file = tmp_path / "linux.toml"
    file.write_text(TEXT)
    return file


def loaded(file: Path, more: str = "") -> LinuxConfig:
    file.write_text(TEXT + more)
    config = load_any_config(file)
    assert isinstance(config, LinuxConfig)
    return config


def refused(file: Path, text: str) -> str:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_any_config(file)
    assert str(file) in caught.value.message
    assert caught.value.advice
    return caught.value.message


def test_vmlinux_is_enough(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    config = loaded(file)
    assert (config.name, config.architecture) == ("linux", "aarch64")
    assert config.linux.vmlinux == file.parent / "out/vmlinux"
    assert config.linux.boot_file == config.linux.vmlinux
    assert config.linux.initrd is None
    assert (config.linux.append, config.linux.until) == ("", "free_initmem")
    assert config.qemu.memory == "128M"
    assert config.injection is None


def test_every_key(file: Path) -> None:
    elsewhere = file.parent / "out/Image"
    config = loaded(
        file,
        f'image = "{elsewhere}"\ninitrd = "./out/../out/initrd.cpio"\n'
        'append = "console=ttyAMA0 nokaslr a=\'b c\'"\nuntil = "start_kernel"\n',
    )
    assert config.linux.boot_file == elsewhere
    assert config.linux.initrd == file.parent / "out/initrd.cpio"
    assert config.linux.append == "console=ttyAMA0 nokaslr a='b c'"
    assert config.linux.until == "start_kernel"


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ('initrd = "out/initramfs"', "linux.initrd: there is no file "),
        ('image = "out"', "linux.image: there is no file "),
        ('image = ""', 'linux.image: found ""; allowed: the path of a file'),
        ("image = 1", "linux.image: found 1; allowed: the path of a file that QEMU boots"),
        ('initrd = "a\\u0000b"', "linux.initrd: found "),
        ('append = "a\\nb"', "linux.append: found "),
        (f'append = "{"a" * 2001}"', "linux.append: found "),
        ('until = "two words"', 'linux.until: found "two words"; allowed: the name of a function'),
        ('vmlinx = "x"', 'linux.vmlinx: there is no such key, did you mean "vmlinux"?'),
        ('[build]\nform = "mcount"', "there is both a table [build] and a table [linux]."),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(file: Path, more: str, expected: str) -> None:
    message = refused(file, TEXT + more + "\n")
    assert expected in message
    assert "\n" not in message


def test_a_kernel_has_no_port(file: Path) -> None:
    found = refused(file, 'port = "aarch64"\n' + TEXT)
    assert "port: there is no such key" in found
    assert "linux" in found


def test_a_vmlinux_that_is_not_there(file: Path) -> None:
    (file.parent / "out/vmlinux").unlink()
    found = refused(file, TEXT)
    assert f"linux.vmlinux: there is no file {file.parent / 'out/vmlinux'}." in found


def test_another_config_is_as_before() -> None:
    assert isinstance(load_any_config("mips-malta"), MachineConfig)
    assert load_any_config("mips-malta") == load_config("mips-malta")


def test_no_guest_is_built_for_a_linux_config(file: Path) -> None:
    for use in (load_config, GuestSpec.of):
        with pytest.raises(UsageError, match="config linux is of a Linux kernel"):
            use(file)


@pytest.mark.parametrize(
    "command",
    [
        ("build", "{}"),
        ("conform", "-c", "{}"),
        ("list", "functions", "-c", "{}", "--as-built"),
        ("list", "clauses", "-c", "{}"),
        ("port", "new", "{}.port", "-c", "{}"),
    ],
)
def test_commands_for_a_built_guest_refuse_it(file: Path, command: Sequence[str]) -> None:
    done = harness(*(word.format(file) for word in command))
    assert done.returncode == 2
    assert done.stderr.startswith("harness: The config linux is of a Linux kernel, and this needs")


def test_a_linux_kernel_is_not_recorded_for_a_replay(file: Path) -> None:
    trace = file.with_name("x.dat")
    done = harness("record", "-c", file, "--replayable", "-o", trace)
    assert done.returncode == 2
    assert "only guests of the harness are replayed" in done.stderr
    assert not trace.exists()
    assert not list(file.parent.glob("*.replay"))
