# SPDX-License-Identifier: MIT
"""Unmodified programs on a mounted tracefs: shell scripts as for the kernel's, and trace-cmd."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.command import harness, start
from support.terminal import Terminal
from tests.support.configs import others

pytest.importorskip("pyfuse3", reason="harness mount needs pyfuse3")

SCRIPTS = Path(__file__).parent / "tracefs"
NOT_SUPPORTED = 4
CONFIGS = ["mips-malta", "aarch64-virt-smp", *others()]

pytestmark = pytest.mark.skipif(
    not os.access("/dev/fuse", os.R_OK | os.W_OK), reason="this host has no /dev/fuse to use"
)

ENDLESS = """
int workload(void);
int step_one(int turn);
int step_two(int turn);
__attribute__((noinline)) int step_one(int turn)
{
	for (volatile int i = 0; i < 200000; i++)
		;
	return turn;
}
__attribute__((noinline)) int step_two(int turn) { return step_one(turn) + 1; }
int workload(void)
{
	for (volatile int turn = 0; turn >= 0; turn = 0)
		turn = step_two(turn) + step_one(turn);
	return 0;
}
"""


@contextlib.contextmanager
def mounted(config, directory, *arguments):
    """The process of ``harness mount``, from when the directory is mounted until it is not."""
    directory.mkdir(exist_ok=True)
    process = start("mount", "-c", config, *arguments, directory)
    try:
        line = process.stdout.readline()
        assert "tracefs is at" in line, line + process.stderr.read()
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=30)
        assert not is_mounted(directory)


def is_mounted(directory):
    """Whether the host's kernel has it in its list; the file system itself is not asked."""
    return f" {directory} " in Path("/proc/mounts").read_text()


def gone(directory):
    """Wait until the directory is not mounted any more."""
    end = time.monotonic() + 30
    while is_mounted(directory) and time.monotonic() < end:
        time.sleep(0.1)
    assert not is_mounted(directory)


@pytest.fixture(scope="module", params=CONFIGS)
def tracing(request, tmp_path_factory):
    """A tracefs of a guest whose workload never ends."""
    place = tmp_path_factory.mktemp("mount")
    workload = place / "endless.c"
    workload.write_text(ENDLESS)
    with mounted(request.param, place / "tracing", "--workload", str(workload)):
        yield place / "tracing"


@pytest.mark.parametrize("script", sorted(path.name for path in SCRIPTS.glob("*.sh")))
def test_a_script(tracing, script, tmp_path):
    environment = dict(os.environ, TRACING=str(tracing), SCRATCH=str(tmp_path), LC_ALL="C")
    done = subprocess.run(
        ["bash", str(SCRIPTS / script)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    wanted = NOT_SUPPORTED if script == "instances.sh" else 0
    assert done.returncode == wanted, done.stdout + done.stderr


@pytest.mark.parametrize("script", ["profile.sh", "stack.sh"])
def test_a_guest_begins_to_run_for(script, tmp_path):
    workload = tmp_path / "endless.c"
    workload.write_text(ENDLESS)
    with mounted("aarch64-virt", tmp_path / "tracing", "--workload", str(workload)):
        test_a_script(tmp_path / "tracing", script, tmp_path)


def test_the_end_of_the_workload_and_of_the_guest(tmp_path):
    directory = tmp_path / "tracing"
    with mounted("mips-malta", directory) as process:
        reader = subprocess.Popen(["cat", directory / "trace_pipe"], stdout=subprocess.PIPE)
        (directory / "set_ftrace_filter").write_text("do_*\n")
        (directory / "current_tracer").write_text("function\n")
        shown, _ = reader.communicate(timeout=60)
        assert reader.returncode == 0
        events = [line for line in (directory / "trace").read_text().splitlines() if "<-" in line]
        assert shown.decode().splitlines() == events
        assert len(events) > 10
        assert (directory / "trace_pipe").read_bytes() == b""
        assert (directory / "per_cpu/cpu0/trace_pipe_raw").read_bytes()
        subprocess.run(["umount", directory], check=True)
        assert process.wait(30) == 0


def test_a_guest_that_panics_ends_the_mount(tmp_path):
    workload = tmp_path / "panics.c"
    workload.write_text(
        '#include <linux/bug.h>\nint workload(void);\nint workload(void) { panic("no way"); }\n'
    )
    directory = tmp_path / "tracing"
    directory.mkdir()
    done = harness("mount", "-c", "mips-malta", "--workload", workload, "--run", directory)
    assert done.returncode == 1
    assert "panic" in done.stderr
    assert not is_mounted(directory)


def test_the_mount_goes_with_the_process(tmp_path):
    with mounted("mips-malta", tmp_path / "tracing") as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        gone(tmp_path / "tracing")


def test_what_cannot_be_mounted_is_said(tmp_path):
    (tmp_path / "file").touch()
    done = harness("mount", "-c", "mips-malta", tmp_path)
    assert done.returncode == 2
    assert "not empty" in done.stderr


PRIVATE = ("unshare", "--mount", "--propagation", "private")
TRACE_CMD = """
set -e
grep -q ' tracefs ' /proc/mounts || mount -t tracefs nodev /sys/kernel/tracing
mount --bind "$1" /sys/kernel/tracing
echo 1 > "$2/enabled"
mount --bind "$2/enabled" /proc/sys/kernel/ftrace_enabled
cd "$2"
trace-cmd list -t
trace-cmd list -e '^sched:'
trace-cmd start -p function -l 'step_*'
sleep 2
echo 'a mark' > /sys/kernel/tracing/trace_marker
sleep 1
trace-cmd stop
trace-cmd show
trace-cmd stat
trace-cmd reset
trace-cmd stat
"""


HIDDEN = [Path("/sys/kernel/tracing"), Path("/proc/sys/kernel/ftrace_enabled")]
"""What of the host trace-cmd would work with."""


@pytest.mark.skipif(
    os.geteuid() != 0 or not all(path.exists() for path in HIDDEN),
    reason="trace-cmd needs root, to hide the tracefs of the host",
)
def test_trace_cmd(tracing, tmp_path):
    done = subprocess.run(
        [*PRIVATE, "sh", "-c", TRACE_CMD, "sh", str(tracing), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("nop function function_graph irqsoff\nsched:sched_switch\n")
    events = [line for line in done.stdout.splitlines() if "<-" in line]
    assert len(events) > 10
    assert "tracing_mark_write: a mark\n" in done.stdout
    assert all("step_" in line.partition(" <-")[0] for line in events)
    assert done.stdout.count("Tracer: function") == 1


def test_mount_in_the_session(tmp_path):
    """Programs of the host and the prompt use one guest, while it is stopped and while it runs."""
    directory = tmp_path / "tracing"
    directory.mkdir()
    workload = tmp_path / "endless.c"
    workload.write_text(ENDLESS)
    arguments = ("shell", "-c", "mips-malta", "--workload", workload)
    with Terminal(*arguments, state_home=tmp_path) as terminal:
        terminal.wait("or help.")
        terminal.do(f"mount {directory}")
        terminal.do("mount /tmp", "mounted at")
        assert (directory / "current_tracer").read_text() == "nop\n"
        (directory / "set_ftrace_filter").write_text("step_one\n")
        (directory / "current_tracer").write_text("function\n")
        terminal.do("set_ftrace_filter", "step_one", "tracer function")
        shown = tmp_path / "shown"
        reader = subprocess.Popen(["cat", directory / "trace_pipe"], stdout=shown.open("wb"))
        terminal.type("c\r")
        end = time.monotonic() + 30
        while "step_one <-" not in shown.read_text() and time.monotonic() < end:
            time.sleep(0.1)
        assert "step_one <-" in shown.read_text()
        assert "step_one <-" in (directory / "trace").read_text()
        (directory / "set_ftrace_filter").write_text("step_two\n")
        terminal.control("c")
        terminal.wait("stopped at ", " | tracer function")
        terminal.do("set_ftrace_filter", "step_two")
        terminal.do(f"trace | diff - {directory}/trace && echo the same", "the same")
        terminal.do("umount")
        gone(directory)
        reader.wait(30)
        assert reader.returncode == 0
        terminal.do(f"mount {directory}")
        terminal.do("reboot", "stopped at workload")
        gone(directory)
        terminal.type("quit\r")
        assert terminal.end() == 0
