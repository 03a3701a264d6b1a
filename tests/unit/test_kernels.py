# SPDX-License-Identifier: MIT
"""Linux kernels: what is said of them, the archive of their first process, apt's answers."""

import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.config import LinuxConfig, load_any_config
from harness.errors import HostError, UsageError
from harness.kernels import apt, catalogue, cpio
from harness.kernels.build import differing, options
from harness.kernels.catalogue import linux_directory, list_kernels, load_kernel
from harness.kernels.files import KernelFiles, write_config
from harness.kernels.initrd import make_initrd
from harness.kernels.source import find_source
from support.command import harness

BUILT = ["linux-arm64", "linux-mips-malta", "linux-mips64el-malta"]
FETCHED = ["linux-arm64", "linux-mips64el-malta", "linux-mipsel-malta"]
EVERY = sorted({*BUILT, *FETCHED})


def silent(_line: str) -> None:
    pass


def kernel(name: str) -> catalogue.LinuxKernel:
    return load_kernel(name, "build" if name in BUILT else "debian")


def members(archive: bytes) -> Iterator[tuple[str, list[int], bytes]]:
    """Name, the 13 fields, content; as the kernel's init/initramfs.c reads them."""
    at = 0
    while True:
        assert archive[at : at + 6] == b"070701"
        fields = [int(archive[at + 6 + 8 * n : at + 14 + 8 * n], 16) for n in range(13)]
        name, size = fields[11], fields[6]
        text = archive[at + 110 : at + 110 + name]
        assert text.endswith(b"\0")
        at = (at + 110 + name + 3) & ~3
        content, at = archive[at : at + size], (at + size + 3) & ~3
        yield text[:-1].decode(), fields, content
        if text == b"TRAILER!!!\0":
            assert at == len(archive)
            return


def test_an_archive_is_as_the_kernel_reads_it() -> None:
    archive = cpio.archive(
        [
            cpio.directory("dev"),
            cpio.character_device("dev/console", 5, 1),
            cpio.file("init", b"12345", 0o755),
        ]
    )
    (dev, console, init, trailer) = members(archive)
    assert (dev[0], stat.filemode(dev[1][1])) == ("dev", "drwxr-xr-x")
    assert (console[0], stat.filemode(console[1][1])) == ("dev/console", "crw-------")
    assert console[1][9:11] == [5, 1]
    assert (init[0], stat.filemode(init[1][1]), init[2]) == ("init", "-rwxr-xr-x", b"12345")
    assert len({one[1][0] for one in (dev, console, init, trailer)}) == 4


@pytest.mark.parametrize("name", EVERY)
def test_the_first_process_compiles_without_a_warning(name: str, tmp_path: Path) -> None:
    toolchain = kernel(name).toolchain
    strict = toolchain.model_copy(
        update={"cflags": (*toolchain.cflags, "-Wall", "-Wextra", "-Werror")}
    )
    module = tmp_path / "one.ko"
    module.write_bytes(b"module")
    initrd = make_initrd(strict, tmp_path / "initrd.cpio", [module])
    found = {name: (fields, content) for name, fields, content in members(initrd.read_bytes())}
    assert list(found) == ["dev", "proc", "sys", "dev/console", "init", "one.ko", "TRAILER!!!"]
    assert found["init"][1].startswith(b"\x7fELF")
    assert found["init"][0][1] == stat.S_IFREG | 0o755
    # It needs no library and no interpreter.
    headers = subprocess.run(
        [f"{toolchain.cross_compile}readelf", "-lW", str(tmp_path / "init")],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert "INTERP" not in headers
    assert "DYNAMIC" not in headers


def test_which_kernels_there_are() -> None:
    assert list_kernels("build") == BUILT
    assert list_kernels("debian") == FETCHED


@pytest.mark.parametrize(("command", "names"), [("build", BUILT), ("fetch", FETCHED)])
def test_help_names_them(command: str, names: list[str]) -> None:
    text = " ".join(harness("linux", command, "--help").stdout.split())
    assert f"CONFIG is {names[0]}, {names[1]} or {names[2]}." in text


@pytest.mark.parametrize("command", ["build", "fetch"])
def test_an_unknown_kernel_suggests_the_near_name(command: str, tmp_path: Path) -> None:
    done = harness("linux", command, "linux-arm46", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("harness: There is no kernel 'linux-arm46'")
    assert "Did you mean 'linux-arm64'" in done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", BUILT)
def test_every_options_file_is_there_and_says_something(name: str) -> None:
    build = kernel(name).build
    assert build is not None
    wanted: dict[str, str] = {}
    for one in build.options:
        found = options((linux_directory() / "options" / f"{one}.config").read_text())
        assert found
        assert not wanted.keys() & found.keys()
        wanted |= found
    assert wanted["CONFIG_DYNAMIC_FTRACE"] == "y"
    assert wanted["CONFIG_DEBUG_INFO_REDUCED"] == "n"


def test_options_that_the_sources_did_not_take() -> None:
    made = options("CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\n# comment\nCONFIG_E=4\n")
    assert made == {"CONFIG_A": "y", "CONFIG_B": "n", "CONFIG_C": "m", "CONFIG_E": "4"}
    wanted = {"CONFIG_A": "y", "CONFIG_B": "y", "CONFIG_C": "n", "CONFIG_D": "n", "CONFIG_E": "4"}
    assert differing(wanted, made) == ["CONFIG_B", "CONFIG_C"]


@pytest.fixture
def files(tmp_path: Path) -> KernelFiles:
    for name in ("vmlinux", "image", "initrd.cpio"):
        (tmp_path / name).touch()
    return KernelFiles.beside(tmp_path / "vmlinux")


@pytest.mark.parametrize("name", EVERY)
def test_the_config_of_a_kernel_loads(name: str, files: KernelFiles, tmp_path: Path) -> None:
    path = tmp_path / f"{name}.toml"
    write_config(path, kernel(name), files, "somewhere")
    assert path.read_text().startswith("# Written by harness linux: somewhere.\n")
    config = load_any_config(path)
    assert isinstance(config, LinuxConfig)
    assert config.linux.vmlinux == files.vmlinux
    assert config.linux.boot_file == files.image
    assert config.linux.initrd == files.initrd
    assert config.qemu == kernel(name).qemu
    assert "nokaslr" in config.linux.append


def test_vmlinux_is_booted_where_there_is_no_image(files: KernelFiles, tmp_path: Path) -> None:
    files.image.unlink()
    path = tmp_path / "linux.toml"
    write_config(path, kernel("linux-mips-malta"), KernelFiles.beside(files.vmlinux), "x")
    assert "image" not in path.read_text()
    assert load_any_config(path).linux.boot_file == files.vmlinux  # type: ignore[union-attr]


def test_only_our_own_configs_are_written_over(files: KernelFiles, tmp_path: Path) -> None:
    path = tmp_path / "linux.toml"
    write_config(path, kernel("linux-arm64"), files, "one")
    write_config(path, kernel("linux-arm64"), files, "two")
    assert "two" in path.read_text()
    path.write_text("mine\n")
    with pytest.raises(UsageError, match="is there, and harness linux has not written it"):
        write_config(path, kernel("linux-arm64"), files, "three")
    assert path.read_text() == "mine\n"


def test_a_source_that_is_no_linux_tree(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no Linux tree"):
        find_source(tmp_path, silent)


def test_a_tree_is_known_by_its_files(tmp_path: Path) -> None:
    (tmp_path / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 1\n")
    (tmp_path / "Kconfig").write_text("mainmenu\n")
    source = find_source(tmp_path, silent)
    assert source.origin == f"Linux 6.1 in {tmp_path}"
    before = source.key()
    assert source.key() == before
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").touch()
    assert source.key() == before
    (tmp_path / "Kconfig").write_text("mainmenu \n")
    assert source.key() != before


def fake_apt(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    for program in ("apt-get", "apt-cache", "dpkg-deb"):
        path = directory / program
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{directory}:/usr/bin:/bin")


def test_what_apt_says_of_a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = "Package: linux-image-arm64\\nVersion: 6.1.1-2\\nSize: 1484\\n"
    said += "Depends: base (>= 1) | other, linux-image-6.1.0-5-arm64 (= 6.1.1-2)\\n"
    fake_apt(tmp_path, monkeypatch, f"printf '{said}'")
    package = apt.Apt().show("linux-image-arm64")
    assert (package.version, package.size) == ("6.1.1-2", 1484)
    assert package.dependency(r"linux-image-\d[\w.+-]*") == "linux-image-6.1.0-5-arm64"
    assert package.dependency("linux-source-.*") is None


def test_a_package_that_apt_does_not_know(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_apt(tmp_path, monkeypatch, "exit 100")
    with pytest.raises(HostError, match="apt knows no package linux-source") as caught:
        apt.Apt().show("linux-source")
    assert "apt-get update" in caught.value.advice


def test_a_download_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_apt(tmp_path, monkeypatch, "echo 'E: no network'; exit 100")
    package = apt.DebianPackage("one", "1", 1000, "")
    with pytest.raises(HostError, match=r"ended with status 100:\nE: no network"):
        apt.Apt().download([package], tmp_path, silent)


def test_no_room_for_a_download(tmp_path: Path) -> None:
    package = apt.DebianPackage("one", "1", 1 << 60, "")
    with pytest.raises(HostError, match="There is no room for"):
        apt.Apt().download([package], tmp_path, silent)
