# SPDX-License-Identifier: MIT
"""Files that are wrong: the error names file, key, what was found and what is allowed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.config import load_config, load_port, resources
from harness.errors import HostError, UsageError

GOOD = """\
description = "a machine"
architecture = "mips"
port = "mips"
[qemu]
binary = "qemu-system-mips"
machine = "malta"
cpu = "24Kf"
[build]
cross_compile = "mips-linux-gnu-"
cflags = ["-mabi=32"]
form = "mcount"
"""


@pytest.fixture(autouse=True)
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small installation, so that these tests stand on no real config or port."""
    root = tmp_path / "installation"
    (root / "guests/arch/mips").mkdir(parents=True)
    (root / "guests/arch/unheard-of").mkdir()
    (root / "guests/ports").mkdir()
    (root / "qemu-configs").mkdir()
    monkeypatch.setattr(resources, "root", lambda: root)
    return root


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "mine.toml"


def refused(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_config(path)
    assert str(path) in caught.value.message
    assert caught.value.advice
    return caught.value.message


def test_a_good_file_anywhere_loads(file: Path) -> None:
    file.write_text(GOOD)
    loaded = load_config(str(file))
    assert loaded.name == "mine"
    assert loaded.qemu.memory == "128M"
    with pytest.raises(ValueError, match="frozen"):
        loaded.port = "other"  # type: ignore[misc]


def test_a_path_needs_no_suffix_when_it_has_a_slash(tmp_path: Path) -> None:
    assert "cannot be read: No such file or directory" in refused(tmp_path / "absent")


def test_a_relative_file_name_is_a_path(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_text(GOOD)
    monkeypatch.chdir(tmp_path)
    assert load_config("mine.toml").name == "mine"


def test_a_port_with_a_slash_is_meant_from_the_file(file: Path, tmp_path: Path) -> None:
    file.write_text(GOOD.replace('port = "mips"', 'port = "./my-port"'))
    assert load_config(file).port == str(tmp_path / "my-port")


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            'form = "mcount"',
            'form = "mcuont"',
            'build.form: found "mcuont"; allowed: "mcount", "mcount-ra-address", "patchable-entry"',
        ),
        ('form = "mcount"', 'form = "long-call"', 'build.form: found "long-call"; allowed: "mc'),
        ('form = "mcount"', "", "build.form: the key is missing; allowed: "),
        (
            'machine = "malta"',
            'machin = "malta"',
            'qemu.machin: there is no such key, did you mean "machine"? allowed here: binary, ',
        ),
        ("[qemu]", 'name = "x"\n[qemu]', "name: there is no such key"),
        (
            '"mips"\nport',
            '"sparc"\nport',
            'architecture: found "sparc"; allowed: "mips"',
        ),
        (
            '"mips"\nport',
            '"unheard-of"\nport',  # in guests/arch, but the harness cannot decode it
            'architecture: found "unheard-of"; allowed: "mips"',
        ),
        ("cpu =", 'smp = "two"\ncpu =', 'qemu.smp: found "two"; allowed: a number from 1 to 8'),
        ("cpu =", "smp = true\ncpu =", "qemu.smp: found true; allowed: a number"),
        ("cpu =", "smp = 0\ncpu =", "qemu.smp: found 0; allowed: a number"),
        ("cpu =", "smp = 9\ncpu =", "qemu.smp: found 9; allowed: a number from 1 to 8"),
        (
            "cpu =",
            'inject = "key"\ncpu =',
            'qemu.inject: found "key"; allowed: "software-interrupt"',
        ),
        ("cpu =", "inject = 1\ncpu =", "qemu.inject: found 1; allowed: one of the architecture"),
        ("cpu =", 'memory = "128"\ncpu =', 'qemu.memory: found "128"; allowed: a size in M or G'),
        ("cpu =", "memory = 128\ncpu =", "qemu.memory: found 128; allowed: a size in M or G"),
        ("cpu =", 'arguments = "-s"\ncpu =', 'qemu.arguments: found "-s"; allowed: '),
        ('"malta"', '"-S"', 'qemu.machine: found "-S"; allowed: a machine of QEMU'),
        ('"malta"', '""', 'qemu.machine: found ""; allowed: a machine of QEMU'),
        ('"-mabi=32"', '"-mabi=32 -G0"', 'build.cflags[0]: found "-mabi=32 -G0"; allowed: '),
        ('"-mabi=32"', '"-O1", "$(shell id)"', 'build.cflags[1]: found "$(shell id)"; allowed: '),
        ('"-mabi=32"', "5", "build.cflags[0]: found 5; allowed: "),
        ('"mips-linux-gnu-"', '"x;id;"', 'build.cross_compile: found "x;id;"; allowed: '),
        ("[qemu]", "[[qemu]]", "qemu: found [{"),
        ('"a machine"', r'"a\u001b[31m"', r'description: found "a\u001b[31m"; allowed: one line'),
        ('"a machine"', "1979-05-27", 'description: found "1979-05-27"; allowed: one line'),
    ],
)
def test_a_wrong_value_is_named(file: Path, old: str, new: str, expected: str) -> None:
    assert old in GOOD
    file.write_text(GOOD.replace(old, new))
    assert f"{file}: {expected}" in refused(file)


def test_every_wrong_key_is_told_at_once(file: Path) -> None:
    file.write_text(GOOD.replace('"malta"', "1").replace('"mcount"', "2"))
    message = refused(file)
    assert "qemu.machine: found 1" in message
    assert "build.form: found 2" in message


def test_malformed_toml_tells_line_and_column(file: Path) -> None:
    file.write_text(GOOD.replace('cpu = "24Kf"', "cpu = 24Kf"))
    assert "is not TOML: " in refused(file)
    assert "line 7, column" in refused(file)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "there is neither a table [build] nor a table [linux]."),
        (b"[build]", "architecture: the key is missing"),
        (b"[linux]\n[build]", "there is both a table [build] and a table [linux]."),
        (b"[linux]", "linux.vmlinux: the key is missing; allowed: the path of a vmlinux"),
        (b"# one\n\xff = 1\n", "line 2 is not UTF-8"),
        (b"#" * 100_000, "longer than 65536 bytes"),
        (b"a = " + b"[" * 20_000, "is not TOML"),
        (b"a = " + b"9" * 5_000, "is not TOML"),
        (b"\0", "is not TOML"),
        (b'"\\u001b[2J\\u009b" = 1\n[build]', r"\u001b[2J"),
    ],
)
def test_files_that_are_no_configs(file: Path, content: bytes, expected: str) -> None:
    file.write_bytes(content)
    message = refused(file)
    assert expected in message
    assert message.replace("\n", "").isprintable()


def test_things_that_are_no_files(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo.toml"
    os.mkfifo(fifo)
    assert "is not a regular file" in refused(fifo)
    directory = tmp_path / "directory.toml"
    directory.mkdir()
    assert "directory.toml" in refused(directory)
    assert "is not a regular file" in refused(Path("/dev/zero"))


def test_a_name_that_cannot_be_a_name(tmp_path: Path) -> None:
    file = tmp_path / "a,debug-threads=on.toml"
    file.write_text(GOOD)
    assert "characters that a name cannot have" in refused(file)


@pytest.mark.parametrize("name", ["", "x\0.toml", "\x1b[2J", "../" * 2000 + "x.toml"])
def test_strange_names_are_refused_and_escaped(name: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_config(name)
    assert "\x1b" not in str(caught.value)


def port_directory(path: Path, toml: str) -> Path:
    (path / "include/asm").mkdir(parents=True)
    for name in ("mcount.S", "ftrace.c", "include/asm/ftrace.h"):
        (path / name).write_text("")
    (path / "port.toml").write_text(toml)
    return path


def test_a_port_directory_loads(tmp_path: Path) -> None:
    toml = 'architecture = "mips"\nfeatures = ["FUNCTION_TRACER", "DYNAMIC_FTRACE"]\n'
    port = load_port(port_directory(tmp_path / "port", toml))
    assert port.name == "port"
    assert port.architecture == "mips"
    assert port.features == ("FUNCTION_TRACER", "DYNAMIC_FTRACE")


def test_a_port_without_a_required_file(tmp_path: Path) -> None:
    directory = port_directory(tmp_path / "port", "")
    (directory / "mcount.S").unlink()
    with pytest.raises(UsageError, match=r"not a port directory: mcount.S is missing"):
        load_port(str(directory))


def test_a_feature_that_is_none(tmp_path: Path) -> None:
    toml = 'architecture = "mips"\nfeatures = ["FUNCTION_TRACE"]\n'
    directory = port_directory(tmp_path / "port", toml)
    with pytest.raises(UsageError) as caught:
        load_port(directory)
    assert f"{directory}/port.toml: features[0]: found" in caught.value.message
    assert '"FUNCTION_TRACER", "FUNCTION_GRAPH_TRACER"' in caught.value.message


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("nested_function = false", 'no such key, did you mean "nested_functions"?'),
        ("nested_functions = 0", "kernel.nested_functions: found 0; allowed: true, or false"),
        ("FRAME_WARN = 100", "kernel.FRAME_WARN: found 100; allowed: 0, or from 512 to 8192"),
        ("FRAME_WARN = 9000", "kernel.FRAME_WARN: found 9000; allowed: the bytes of"),
        ('retp = "pointer"', 'kernel.retp: found "pointer"; allowed: "place" or "cookie"'),
        ("mips_sites = 2010", "kernel.mips_sites: found 2010; allowed: 2009 or 2013"),
    ],
)
def test_a_word_about_the_kernel_that_nobody_knows(
    tmp_path: Path, line: str, expected: str
) -> None:
    toml = f'architecture = "mips"\nfeatures = ["FUNCTION_TRACER"]\n[kernel]\n{line}\n'
    directory = port_directory(tmp_path / "port", toml)
    with pytest.raises(UsageError) as caught:
        load_port(directory)
    assert expected in caught.value.message
    assert len(caught.value.message.splitlines()) == 1


def test_a_port_in_this_directory_is_pointed_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port_directory(tmp_path / "mine", "")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as caught:
        load_port("mine")
    assert "Write ./mine" in caught.value.advice


def test_an_installation_without_guests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "root", lambda: tmp_path)
    with pytest.raises(HostError, match=r"installation is incomplete: .*qemu-configs is missing"):
        load_config("mips-malta")


@pytest.mark.parametrize(
    "line",
    [
        f"more = {'1' * 5000}",
        f"more = 0x{'f' * 5000}",
        f"smp = 0x{'f' * 5000}",
        f"{'a.' * 100}a = 1",
        f"{'a.' * 989}a = 1",
        f"{'a.' * 30_000}a = 1",
        f"more = {'{a=' * 990}1{'}' * 990}",
        f"more = {'[' * 30_000}",
        f"[{'a.' * 30_000}a]",
    ],
    ids=lambda line: f"{line[:12]}...{len(line)}",
)
def test_numbers_and_keys_beyond_all_measure(file: Path, line: str) -> None:
    file.write_text(GOOD.replace('cpu = "24Kf"', f'cpu = "24Kf"\n{line}'))
    assert len(refused(file)) < 1000


@pytest.mark.parametrize("given", ["./~nobody-of-that-name.toml", "~nobody-of-that-name.toml"])
def test_a_tilde_that_is_no_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="cannot be read"):
        load_config(given)
    Path("~nobody-of-that-name.toml").write_text(GOOD)
    with pytest.raises(UsageError, match="the file's name is the config's name"):
        load_config(given)


def test_a_tilde_in_the_path_of_a_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="is not a port directory"):
        load_port("./~nobody-of-that-name")
    Path("loop").symlink_to("loop")
    with pytest.raises(UsageError, match="is not a port directory"):
        load_port("./loop")


BASES = [
    ("XDG_CACHE_HOME", resources.cache_directory, ".cache"),
    ("XDG_STATE_HOME", resources.state_directory, ".local/state"),
]


@pytest.mark.parametrize(("variable", "directory", "_default"), BASES)
def test_a_user_without_a_home(
    monkeypatch: pytest.MonkeyPatch, variable: str, directory: Callable[[], Path], _default: str
) -> None:
    monkeypatch.delenv(variable, raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 123456)
    with pytest.raises(HostError, match="no home directory"):
        directory()


@pytest.mark.parametrize(("variable", "directory", "default"), BASES)
def test_the_base_directories(
    monkeypatch: pytest.MonkeyPatch, variable: str, directory: Callable[[], Path], default: str
) -> None:
    """Relative paths are ignored, as the specification of them says."""
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv(variable, "/elsewhere")
    assert directory() == Path("/elsewhere/ftrace-harness")
    for relative in ("", "x", "./x", "~/x"):
        monkeypatch.setenv(variable, relative)
        assert directory() == Path("/home/me", default, "ftrace-harness")
