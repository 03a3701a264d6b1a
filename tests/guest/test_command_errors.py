# SPDX-License-Identifier: MIT
"""``harness record`` when programs of the host are missing, and when it is interrupted."""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from harness import boot
from harness.config import load_config, resources
from harness.errors import GuestError
from support.command import HARNESS, harness, start

CONFIG = "mips-malta"
ARM = "aarch64-virt"
HANGS = 'int workload(void) { for (;;) __asm__ volatile(""); }\n'
DAMAGES = """\
#include <string.h>
extern char ring_buffer[];
int workload(void) { memset(ring_buffer, 0xff, 64); return 0; }
"""
DAMAGES_A_PAGE = """\
#include <stdint.h>
#include <string.h>
extern uint32_t ring_buffer[];
__attribute__((noipa)) int step(int x) { return x + 1; }
int workload(void)
{
        int x = 0;
        for (int i = 0; i < 1000; i++)
                x = step(x);
        uint64_t *pages = (uint64_t *)((char *)ring_buffer + ring_buffer[2]);
        memset((char *)(uintptr_t)*pages + 4096, 0xff, 64);
        return 0;
}
"""
PRINTS = """\
#include <stdio.h>
int workload(void)
{
        for (int i = 0; i < 20000; i++)
                printf("\\033[2Jmuch ");
        printf("the last words");
        int *volatile nowhere = (int *)8;
        return *nowhere;
}
"""


@pytest.fixture
def workload(tmp_path):
    def write(source):
        path = tmp_path / "mine.c"
        path.write_text(source)
        return path

    return write


@pytest.fixture
def short():
    """A directory whose path leaves room for the names of sockets."""
    with tempfile.TemporaryDirectory() as directory:
        yield directory


@pytest.fixture(scope="module", autouse=True)
def built():
    assert harness("build", CONFIG).returncode == 0


def path_without(program, directory):
    """A search path with all programs except one."""
    directory.mkdir()
    for place in map(Path, reversed(os.get_exec_path())):
        for entry in place.iterdir() if place.is_dir() else ():
            link = directory / entry.name
            link.unlink(missing_ok=True)
            link.symlink_to(entry)
    (directory / program).unlink()
    return str(directory)


@pytest.mark.parametrize(
    ("program", "package"),
    [
        (load_config(CONFIG).qemu.binary, load_config(CONFIG).qemu.package),
        (f"{load_config(CONFIG).build.cross_compile}gcc", load_config(CONFIG).build.package),
        ("gdb-multiarch", "gdb-multiarch"),
        ("setpriv", "util-linux"),
        ("make", "make"),
    ],
)
def test_a_missing_program_is_the_hosts_fault(tmp_path, program, package):
    file = tmp_path / "x.dat"
    env = {**os.environ, "PATH": path_without(program, tmp_path / "bin")}
    done = harness("record", "-c", CONFIG, "-o", file, env=env)
    assert done.returncode == 3
    said = done.stderr.splitlines()
    assert said == [
        f"harness: {program} is not installed",
        f"Install it: apt-get install {package}",
    ]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["bin"]


@pytest.mark.parametrize(
    ("replace", "by", "said"),
    [
        ("[qemu]", "[qemu", "is not TOML: Expected ']' at the end of a table declaration (at line"),
        ('"mcount"', '"mcuont"', 'build.form: found "mcuont"; allowed: "mcount", '),
        ("machine =", "machin =", 'qemu.machin: there is no such key, did you mean "machine"?'),
        ("[build]", "[qemu]", "is not TOML"),
        ('memory = "128M"', 'arguments = ["-daemonize"]', "qemu.arguments[0]: found"),
    ],
)
def test_a_config_of_ones_own_that_is_wrong(tmp_path, replace, by, said):
    shipped = (resources.configs_directory() / f"{CONFIG}.toml").read_text()
    assert replace in shipped
    file = tmp_path / "board.toml"
    file.write_text(shipped.replace(replace, by))
    done = harness("record", "-c", "board.toml", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("harness: board.toml")
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("name", "memory", "module", "what"),
    [
        (CONFIG, "1M", [], "the guest"),
        (CONFIG, "16M", [], "the guest"),
        (CONFIG, "59M", ["--module", "callbacks"], "modules"),
        (ARM, "4M", [], "the guest"),
        (ARM, "60M", ["--module", "callbacks"], "modules"),
    ],
)
def test_a_machine_with_too_little_memory(tmp_path, name, memory, module, what):
    shipped = (resources.configs_directory() / f"{name}.toml").read_text()
    (tmp_path / "board.toml").write_text(shipped.replace("128M", memory))
    done = harness("record", "-c", "board.toml", *module, cwd=tmp_path)
    assert done.returncode == 2
    assert f"harness: {memory} is too little memory for {what}" in done.stderr
    assert "Raise memory in the table [qemu] of the config board" in done.stderr


def test_a_config_of_ones_own_records(tmp_path):
    shipped = (resources.configs_directory() / f"{CONFIG}.toml").read_text()
    (tmp_path / "board.toml").write_text(shipped)
    done = harness("record", "-c", "board.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "trace.dat").exists()


@pytest.mark.parametrize("kind", ["workload", "module"])
def test_a_section_that_no_linker_script_names(config, kind, workload):
    function = {"workload": "workload", "module": "init_module"}[kind]
    mine = 'int mine __attribute__((section(".mine"))) = 1;\n'
    source = workload(f"{mine}int {function}(void) {{ return 0; }}\n")
    done = harness("build", config, f"--{kind}", source)
    assert done.returncode == 2
    assert "unplaced orphan section `.mine' from" in done.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_build_ends_it_at_once_and_leaves_nothing(tmp_path, workload, number):
    directory = tmp_path / "here"
    directory.mkdir()
    env = {**os.environ, "XDG_CACHE_HOME": str(directory / "cache"), "TMPDIR": str(directory)}
    # Many functions, so that the compiler is still at work when the signal comes.
    functions = (f"int f{i}(int x) {{ return x * {i} + x / {i + 2}; }}\n" for i in range(5000))
    source = workload("".join(functions) + "int workload(void) { return 0; }\n")
    output = directory / "x.dat"
    process = start("record", "-c", CONFIG, "--workload", source, "-o", output, env=env)
    assert process.stderr.readline().startswith("make ")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert (out, err.strip()) == ("", "harness: interrupted")
    assert [entry.name for entry in directory.iterdir()] == ["cache"]
    kept = [path for path in (directory / "cache").rglob("*") if path.is_file()]
    # The guest's, and that of what guests share if the build came so far.
    assert {path.suffix for path in kept} == {".lock"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_closes_the_trace(tmp_path, workload, number):
    file = tmp_path / "x.dat"
    process = start("record", "-c", CONFIG, "--workload", workload(HANGS), "-o", file)
    while not process.stderr.readline().startswith("recording"):
        assert process.poll() is None
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "ended by stopped" in out
    assert harness("report", file).returncode == 0


def test_a_recording_does_not_need_its_standard_error(tmp_path, workload):
    """Also if it is closed meanwhile."""
    file = tmp_path / "x.dat"
    cache = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    process = start("record", "-c", CONFIG, "-o", file, env=cache)
    process.stderr.close()
    out = process.stdout.read()
    assert process.wait(timeout=60) == 0
    assert "ended by workload_done" in out
    assert file.exists()


def test_a_damaged_ring_buffer_is_shown_with_the_place_of_the_guest(tmp_path, workload):
    file = tmp_path / "x.dat"
    done = harness("record", "-c", CONFIG, "--workload", workload(DAMAGES), "-o", file)
    assert done.returncode == 1
    assert "the guest's ring buffer is damaged" in done.stderr
    assert "CPU 0 at " in done.stderr
    assert "Console:\n" in done.stderr


def test_the_events_before_a_damaged_page_are_kept(config, tmp_path, workload):
    file = tmp_path / "x.dat"
    damages = workload(DAMAGES_A_PAGE)
    done = harness("record", "-c", config, "--workload", damages, "-l", "step", "-o", file)
    assert done.returncode == 1
    assert "the guest's ring buffer is damaged: page 1 of CPU 0" in done.stderr
    events = int(re.search(r"The (\d+) events before the damage are in", done.stderr)[1])
    assert events > 100
    assert harness("report", file).stdout.count("step <-workload") == events


def test_events_on_a_damaged_page_are_the_guests_fault(workload):
    with boot(CONFIG, workload=workload(DAMAGES_A_PAGE)) as guest:
        guest.tracer.set_filter("step")
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        with pytest.raises(GuestError, match=r"ring buffer is damaged: .*page 1 of CPU 0"):
            list(guest.tracer.events())


def test_the_last_words_of_a_guest_that_prints_much_are_shown(tmp_path, workload):
    file = tmp_path / "x.dat"
    done = harness("record", "-c", CONFIG, "--workload", workload(PRINTS), "-n", "*", "-o", file)
    assert done.returncode == 1
    assert "the last words" in done.stderr
    assert "Kernel panic - not syncing" in done.stderr
    assert "\x1b" not in done.stderr
    assert len(done.stderr) < 64 * 1024


@pytest.fixture
def record_with_temporary_directory(tmp_path, short):
    """`harness record -o x.dat` with a temporary directory of its own, of this size."""
    # The compiler needs the directory too, so the guest is built while there is room.
    assert harness("build", CONFIG, "--workload", "sort").returncode == 0
    record = [HARNESS, "record", "-c", CONFIG, "--workload", "sort", "-o", "x.dat"]

    def run(size, *options):
        script = f'mount -t tmpfs -o size={size} none "$TMPDIR" && exec "$@"'
        done = subprocess.run(
            ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", *record, *options],
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(short), "XDG_RUNTIME_DIR": str(short)},
        )
        if "unshare" in done.stderr or "mount" in done.stderr:
            pytest.skip(f"no file system of one's own here: {done.stderr.strip()}")
        assert done.returncode == 3
        assert str(short) in done.stderr
        assert "ake room" in done.stderr
        return done

    return run


@pytest.mark.parametrize("lane", ["stub", "auto"])
def test_a_full_temporary_directory_is_named_and_the_events_are_kept(
    record_with_temporary_directory, tmp_path, lane
):
    done = record_with_temporary_directory("540k", "--lane", lane)
    assert "recorded up to then are in x.dat" in done.stderr
    assert harness("report", tmp_path / "x.dat").returncode == 0


def test_a_temporary_directory_without_room_for_the_symbols_is_named(
    record_with_temporary_directory,
):
    assert "vmlinux cannot be copied to" in record_with_temporary_directory("64k").stderr
