# SPDX-License-Identifier: MIT
"""Source lines in the session, in reports of failures, and in pytest, wherever the files lie."""

import os
import shutil
import subprocess
import sys

import pytest

from harness import boot
from harness.config import load_port
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine
from support.command import harness, pytest_arguments
from support.terminal import Terminal

MINE = """#include "mine.h"
int workload(void);
int workload(void)
{
	return of_header(3);	/* my workload */
}
"""

HEADER = """static __attribute__((noipa)) int of_header(int value)
{
	__asm__ volatile("" ::: "memory");
	return value - 3;	/* my header */
}
"""

MODULE = """#include <linux/module.h>
static int one_init(void)
{
	return 0;	/* module one */
}
module_init(one_init);
"""


@pytest.fixture
def places(tmp_path):
    """A port, a workload and two modules, each in a directory of its own with a difficult name."""
    port = tmp_path / 'a port\'s "dir"'
    shutil.copytree(load_port("mips").directory, port)
    for directory, name, text in (
        ("work x", "mine.c", MINE),
        ("work x", "mine.h", HEADER),
        ("first", "one.c", MODULE),
        ("second", "two.c", MODULE.replace("one", "two")),
    ):
        (tmp_path / directory).mkdir(exist_ok=True)
        (tmp_path / directory / name).write_text(text)
    return port, tmp_path / "work x" / "mine.c", tmp_path / "first/one.c", tmp_path / "second/two.c"


def test_gdb_finds_all_sources(places, tmp_path):
    """Those of the kernel, the port, the workload, its headers and the modules."""
    port, workload, first, second = places
    modules = (first, second)
    build_guest(GuestSpec.of("mips-malta", workload, port=port, modules=modules))
    for file in (workload, port / "mcount.S"):
        # A warning that it is newer would be wrong: the image was built from the same text.
        os.utime(file)
    options = ("--port", port, "--workload", workload, "--module", first)
    with Terminal("shell", "-c", "mips-malta", *options, state_home=tmp_path) as terminal:
        terminal.wait("or help.", timeout=120)
        assert "more recent" not in terminal.do("list of_header", "my header")
        terminal.do("list one_init", "/* module one */")
        terminal.do(f"insmod {second}")
        terminal.do("list two_init", "/* module two */")
        terminal.do("list panic", "void panic(const char *")
        shown = terminal.do("list _mcount", "SYM_FUNC_START(_mcount)")
        assert "more recent" not in shown
        shown = terminal.do("run of_header", "at workload/mine.h:2", "\n2       {")
        terminal.do("where", "in workload at workload/mine.c:5", "return of_header(3);")
        terminal.do("reboot", "stopped at workload")
        terminal.do("current_tracer function", "tracer function")
        shown = terminal.do("stubs", "instructions elsewhere", " | ")
        assert "mcount.S:" in shown
        assert "lbu     $v1, CALL_OPCODE($ra)" in shown


PANICS = """
#include <linux/bug.h>
int workload(void);
int workload(void)
{
	panic("no way out");	/* here */
}
"""

FAILS = """
import pytest

@pytest.mark.guest(config="mips-malta")
def test_fails(guest):
    guest.run(until="do_loop")
    assert guest.tracer.current == "function"
"""


def test_reports_of_failures_show_the_sources(tmp_path):
    source = tmp_path / "panics.c"
    source.write_text(PANICS)
    build_guest(GuestSpec.of("aarch64-virt", source))
    with Terminal(
        *("shell", "-c", "aarch64-virt", "--workload", source), state_home=tmp_path
    ) as terminal:
        terminal.wait("or help.")
        terminal.do("c", "the guest panicked", 'panic("no way out");    /* here */')


def test_a_failed_test_shows_the_sources(tmp_path):
    (tmp_path / "test_port.py").write_text(FAILS)
    done = subprocess.run(
        [sys.executable, *pytest_arguments(tmp_path)], capture_output=True, text=True
    )
    assert "1 failed" in done.stdout
    with boot("mips-malta") as guest:
        guest.run(until="do_loop")
        (frame, *_) = guest.debugger.frames.backtrace()
    text = (load_port("mips").directory.parents[1] / "workloads/calls.c").read_text().splitlines()
    assert f"at {frame.file}:{frame.line}\n         {text[frame.line - 1].strip()}" in done.stdout


def test_an_attached_guest_has_the_sources_of_its_port_and_workload(places):
    port, workload, *_ = places
    spec = GuestSpec.of("mips-malta", workload, port=port)
    with Machine(spec.config, build_guest(spec)) as machine:
        script = "tbreak workload\nc\nlist workload\ninfo source\nlist _mcount\n"
        arguments = ("attach", "--elf", machine.kernel, "--gdb", machine.gdb_socket)
        done = harness(*arguments, input=script)
    assert (done.returncode, done.stderr) == (0, "")
    assert "/* my workload */" in done.stdout
    assert "ftrace_stub" in done.stdout
