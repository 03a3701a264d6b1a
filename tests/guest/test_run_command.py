# SPDX-License-Identifier: MIT
"""``harness run``, and sessions attached to guests that others have started."""

import os
import re
import shlex
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from support.command import children, harness, start
from support.terminal import Terminal
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt", *others()]
DOCUMENT = Path(__file__).parents[2] / "docs" / "harness.rst"

READING = (
    *("cat trace", "cat trace_pipe", "cat per_cpu/cpu0/stats", "cat set_ftrace_filter"),
    *("cat enabled_functions", "report", "stat", "sites leaf", "slots"),
    *("record -o x.dat", "echo function > current_tracer"),
)

TRACE = """
tbreak workload
c
echo function > current_tracer
run
cat trace | grep -c leaf
"""


@contextmanager
def run(config, *options):
    """A guest of `harness run`: the process, and the arguments for `harness` to attach to it."""
    process = start("run", "-c", config, *options)
    try:
        where = process.stdout.readline()
        assert f"{config}: QEMU is process" in where
        attach = shlex.split(process.stdout.readline())
        assert attach[0] == "harness"
        assert process.stdout.readline().split()[0] == "gdb-multiarch"
        yield process, attach[1:]
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        process.wait(30)


def test_a_guest_runs_until_ctrl_c(config):
    with run(config) as (process, _):
        (qemu,) = children(process.pid, "qemu")
        for line in process.stdout:
            if "workload: returned 0" in line:
                break
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert not Path(f"/proc/{qemu}").exists()


def test_a_guest_that_ends_ends_the_command():
    with run("mips-malta") as (process, _):
        (qemu,) = children(process.pid, "qemu")
        while "workload: returned 0" not in process.stdout.readline():
            pass
        os.kill(qemu, signal.SIGTERM)
        assert "QEMU has ended" in process.stdout.read()
        assert process.wait(30) == 0


def test_verbs_say_that_a_guest_has_not_begun(config, tmp_path):
    with (
        run(config, "-S") as (_, attach),
        Terminal(*attach, state_home=tmp_path) as terminal,
    ):
        terminal.wait("or help.")
        for verb in READING:
            terminal.do(verb, "the guest has not begun", "Let it run first")
        terminal.do("threads", "the guest has no threads yet")
        terminal.do("tbreak workload")
        terminal.do("c", "stopped at workload")
        terminal.do("cat enabled_functions | wc -l", "0")
        terminal.do("threads", "workload")


def test_a_guest_that_waits_is_traced_from_its_beginning(config):
    with run(config, "-S") as (_, attach):
        done = harness(*attach, input=TRACE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8" in done.stdout.split()


def test_the_commands_of_the_document(tmp_path):
    """QEMU started by hand, as docs/harness.rst has it."""
    text = DOCUMENT.read_text().partition("QEMU started by hand")[2]
    block = re.search(r"::\n\n((?:    .*\n)+)", text)[1]
    by_hand, attach = re.sub(r"(?m)^    ", "", block).split("&\n")
    built = harness("build", "mips-malta").stdout.strip()
    words, others = (
        shlex.split(line.replace("$(harness build mips-malta)", built))
        for line in (by_hand, attach)
    )
    qemu = subprocess.Popen([word for word in words if word.strip()], cwd=tmp_path)
    try:
        while not (tmp_path / "stub").exists():
            assert qemu.poll() is None
            time.sleep(0.05)
        done = harness(*others[1:], input=TRACE, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert "8" in done.stdout.split()
    finally:
        qemu.terminate()
        qemu.wait()
