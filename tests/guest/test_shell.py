# SPDX-License-Identifier: MIT
"""The session on a real terminal: typing, completion, Ctrl-C, gdb, and processes that die."""

import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from harness.config import load_config
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine
from support.command import children, harness, pytest_arguments
from support.terminal import Terminal
from tests.support.configs import others

CONFIGS = ["mips-malta", "mips64el-malta", "aarch64-virt-bti-pac-patchable", *others()]
"""Of each word size, byte order and architecture; the prompt is the same on all."""

READY = "or help."
FOREVER = str(Path(__file__).parents[1] / "oracle/workloads/forever.c")

PANICS = """
#include <linux/bug.h>
int workload(void);
int workload(void) { panic("no way out"); }
"""

RUNS = """
int workload(void);
__attribute__((noinline)) static void once(void) { __asm__ volatile("" ::: "memory"); }
int workload(void) { once(); for (;;) __asm__ volatile("" ::: "memory"); }
"""


@pytest.fixture
def terminal(config, tmp_path):
    """A session with a guest of each config, stopped before its workload."""
    with Terminal("shell", "-c", config, state_home=tmp_path) as opened:
        opened.wait(READY, "stopped at workload", "tracer nop")
        yield opened


def test_a_stranger_finds_the_way(terminal):
    """Completion, a tracer, a breakpoint of gdb's, the events, and out."""
    terminal.type("current_tr\t")
    terminal.wait("> current_tracer")
    terminal.type(" func\t")
    terminal.wait("function_graph")
    terminal.do("current_tracer function", "tracer function")
    terminal.do("b do_loop", "Breakpoint")
    terminal.do("c", "do_loop", "stopped at do_loop")
    terminal.do("bt 2", "workload")
    terminal.do("trace", "tracer: function", "leaf <-do_nested")
    terminal.type("\x15quit\r")
    assert terminal.end() == 0


def test_completion_of_every_kind(terminal, tmp_path):
    """Commands, functions, sites, configs, files, and what gdb knows."""
    (tmp_path / "recorded.dat").touch()
    for typed, shown in (
        ("set_graph_f", "set_graph_function"),
        ("disasm do_point", "disasm do_pointer"),
        ("cat available_t", "cat available_tracers"),
        ("echo leaf > set_ftrace_n", "echo leaf > set_ftrace_notrace"),
        # The other files of that beginning are only read.
        ("echo 64 > buffer_", "echo 64 > buffer_size_kb"),
        ("record -p function_", "record -p function_graph"),
        ("record -l do_point", "record -l do_pointer"),
        ("record --dur", "record --duration"),
        ("report -", "-F"),
        ("report -f perf", "report -f perfetto"),
        (f"report {tmp_path}/rec", "recorded.dat"),
        ("reboot mips64-m", "reboot mips64-malta"),
        ("trace_options nofuncgraph-ov", "nofuncgraph-over"),
        ("help set_graph_f", "help set_graph_function"),
        ("info breakp", "info breakpoints"),
    ):
        terminal.type(f"\x15{typed}\t")
        terminal.wait(shown)
    site = re.search(r"0*([0-9a-f]+) +nop", terminal.do("sites leaf", "leaf"))[1]
    terminal.type(f"patch 0x{site[:-1]}\t")
    terminal.wait(f"0x{site}")


def test_gdb_says_all_that_it_says_elsewhere(terminal, tmp_path):
    """Warnings, the monitor, output while the guest runs; and Ctrl-C ends a command."""
    terminal.do("monitor info status", "VM status: paused")
    terminal.do("b nosuch", 'Function "nosuch" not defined.')
    terminal.do('dprintf leaf,"in leaf\\n"', "Dprintf")
    shown = terminal.do("run do_pointer", "in leaf", "stopped at do_pointer")
    assert "ring_buffer_watermark" not in shown
    terminal.do("delete", "stay")
    script = tmp_path / "spin.gdb"
    script.write_text("while 1\n  echo spinning\\n\n  shell sleep 0.1\nend\n")
    terminal.screen.reset()
    terminal.type(f"\x15source {script}\r")
    terminal.wait("spinning\nspinning")
    terminal.control("c")
    terminal.wait("(interrupted)", " | ")
    terminal.do("p 6*7", "= 42")
    terminal.do("detach", "reboot starts another guest")
    terminal.do("trace", "tracer: nop", "gone | gdb has left it")
    terminal.do("where", "the guest is gone")
    terminal.do("reboot", "stopped at workload")


def test_the_state_names_the_cpu_that_gdb_looks_at(tmp_path):
    # A workload that ends may do so before the terminal has shown that it runs.
    started = ("shell", "-c", "aarch64-virt-smp", "--workload", FOREVER)
    with Terminal(*started, state_home=tmp_path) as terminal:
        terminal.wait(READY)
        terminal.do("run nested", "stopped at nested, CPU 0 ")
        terminal.do("thread 3", "CPU 0, CPU 2 is selected in gdb")
        terminal.do("where", "CPU 3 at")
        terminal.do("p $_thread", "= 3")
        terminal.do("c", "running, tracer nop, 0 events, 0 lost; Ctrl-C", ready="")
        terminal.control("c")
        terminal.wait("stopped at ", " | tracer nop")


def test_another_machine_and_its_modules_in_the_same_session(tmp_path):
    arguments = ("shell", "-c", "mips-malta", "--module", "callbacks", "--workload", "modules")
    with Terminal(*arguments, "--tick", "1000", state_home=tmp_path) as terminal:
        terminal.wait(READY)
        terminal.do("lsmod", "callbacks  0x")
        terminal.do("snapshot with")
        terminal.do("rmmod callbacks")
        terminal.do("snapshot without")
        terminal.do("available_filter_functions *:mod:callbacks", "no loaded module")
        terminal.do("restore with", "stopped at workload")
        terminal.do("lsmod", "callbacks  0x")
        terminal.do("set_ftrace_filter :mod:callbacks")
        terminal.do("set_ftrace_filter", "[callbacks]")
        terminal.do("current_tracer function", "tracer function")
        terminal.do("run", "stopped at workload_done")
        terminal.do("enabled_functions", "[callbacks]")
        terminal.do("restore without", "tracer nop")
        assert "callbacks" not in terminal.do("lsmod").partition("lsmod")[2].partition("\n")[2]
        terminal.do("insmod callbacks")
        terminal.do("lsmod", "callbacks  0x")
        terminal.do("reboot aarch64-virt", "aarch64-virt: stopped at workload")


def test_ctrl_c_stops_the_guest_and_not_the_session(config, tmp_path):
    """Both the session's own run, and commands with which gdb lets the guest run."""
    source = tmp_path / "runs.c"
    source.write_text(RUNS)
    build_guest(GuestSpec.of(config, source))
    with Terminal("shell", "-c", config, "--workload", source, state_home=tmp_path) as terminal:
        terminal.wait(READY)
        for line in ("finish", "c", "run", "continue 2"):
            terminal.do(line, "running", ready="")
            terminal.control("c")
            terminal.wait("stopped at workload+")
        terminal.do("p 6*7", "42")


def test_errors_are_sentences_with_advice(terminal):
    terminal.do("set_ftrace_filter nosuch", "no traceable function matches 'nosuch'", "Did you")
    terminal.do("current_tracer wakeup", "no tracer 'wakeup'", "Tracers: nop, function")
    terminal.do("max_graph_depth -1", "is not possible")
    terminal.do("tracing_on 2", "'2' is neither 0 nor 1")
    terminal.do("trace x", "not a number")
    terminal.do("disasm 0x10", "no function")
    terminal.do("patch", "which call site?")
    terminal.do("ring 7", "no CPU 7")
    terminal.do("report /nonexistent", "cannot be read")
    terminal.do("report -f nosuch", "Invalid value")
    terminal.do("set_ftrace_filter 'open", "cannot be read")
    terminal.do("nonsense", "Undefined command")


def test_breakpoints_and_patches_share_a_word(terminal):
    """A breakpoint on a call site works while the site is patched and restored."""
    terminal.do("disasm leaf", "leaf")
    before = terminal.do("gdb x/3xw leaf", "leaf")
    site = re.search(r"(?:0x)?([0-9a-f]+) +nop", terminal.do("sites leaf", "leaf"))[1]
    terminal.do(f"b *0x{site}", "Breakpoint")
    terminal.do("set_ftrace_filter leaf")
    terminal.do("current_tracer function", "tracer function")
    terminal.do("c", "stopped at leaf", "0 events")
    terminal.do("sites leaf", "call")
    terminal.do("current_tracer nop", "tracer nop")
    terminal.do("delete", "stay")
    after = terminal.do("gdb x/3xw leaf", "leaf")
    words = re.compile(r"<leaf[^>]*>:(.*)")
    assert words.findall(before) == words.findall(after) != []


def test_a_walk_through_a_stub_shows_what_survives(terminal):
    terminal.do("current_tracer function", "tracer function")
    text = terminal.do("stubs", "instructions elsewhere")
    assert "changed" not in text


def test_the_history_outlives_the_session(config, tmp_path):
    for again in (False, True):
        with Terminal("shell", "-c", config, state_home=tmp_path) as terminal:
            terminal.wait(READY)
            terminal.type("\x1b[A")
            if again:
                terminal.wait("> p 40+2")
            terminal.do("p 40+2", "42")
            terminal.type("\x04")
            assert terminal.end() == 0


class TestDeath:
    """Whatever dies, the session survives and says what is still available."""

    def test_of_the_guest(self, config, tmp_path):
        source = tmp_path / "dies.c"
        source.write_text(PANICS)
        build_guest(GuestSpec.of(config, str(source)))
        command = ("shell", "-c", config, "--workload", str(source))
        with Terminal(*command, state_home=tmp_path) as terminal:
            terminal.wait(READY)
            terminal.do("current_tracer function", "tracer function")
            terminal.do("c", "the guest panicked", "can be inspected")
            terminal.do("console", "no way out")
            terminal.do("trace", "workload <-")
            terminal.do("bt 1", "#0")

    @pytest.mark.parametrize("victim", ["qemu-system", "gdb"])
    def test_of_what_the_session_runs_on(self, terminal, victim):
        terminal.do("current_tracer function", "tracer function")
        terminal.do("run", "stopped at workload_done")
        terminal.do("trace 1", "workload-1")
        (process,) = children(terminal.child.pid, victim)
        os.kill(process, signal.SIGKILL)
        terminal.do("p 1", "gone", "SIGKILL")
        assert "workload-1" in terminal.do("trace 1", "workload-1")
        terminal.do("sites", "the guest is gone")
        terminal.do("reboot", "stopped at workload")
        terminal.do("run", "stopped at workload_done")

    @pytest.mark.parametrize("victim", ["qemu-system", "gdb"])
    @pytest.mark.parametrize("line", ["c", "finish"])
    def test_while_the_guest_runs(self, config, tmp_path, victim, line):
        source = tmp_path / "runs.c"
        source.write_text(RUNS)
        build_guest(GuestSpec.of(config, str(source)))
        command = ("shell", "-c", config, "--workload", str(source))
        with Terminal(*command, state_home=tmp_path) as terminal:
            terminal.wait(READY)
            terminal.do("set_ftrace_filter once", " | ")
            terminal.do("current_tracer function", "tracer function")
            terminal.do(line, "running", ready="")
            (process,) = children(terminal.child.pid, victim)
            os.kill(process, signal.SIGKILL)
            terminal.wait("SIGKILL", "reboot starts another guest", "gone | ")
            terminal.do("console", "call sites")
            terminal.do("reboot", "stopped at workload")


FAILS = """
import pytest

@pytest.mark.guest(config="{config}")
def test_fails(guest):
    guest.tracer.current = "function"
    guest.run(until="do_loop")
    assert guest.tracer.current == "nop"

def test_passes():
    pass
"""


def test_a_failing_test_opens_the_prompt_where_it_failed(tmp_path):
    """The rest of the run continues after the prompt."""
    (tmp_path / "test_port.py").write_text(FAILS.format(config="mips-malta"))
    command = pytest_arguments(tmp_path, "--harness-shell")
    with Terminal(*command, state_home=tmp_path, program=sys.executable) as terminal:
        terminal.wait("test_fails failed; this is its guest", READY)
        terminal.do("trace", "leaf <-do_nested", "stopped at do_loop", "tracer function")
        terminal.do("bt 1", "do_loop")
        terminal.do("reboot", "the test has booted this guest")
        terminal.type("\x15quit\r")
        terminal.wait("1 failed, 1 passed")


class TestScript:
    """The same verbs from a file."""

    def test_ends_at_the_first_error_and_says_its_line(self, config, tmp_path):
        script = tmp_path / "script"
        script.write_text("# first\ncurrent_tracer function\nrun\n\ncurrent_tracer nosuch\nstat\n")
        done = harness("shell", "-c", config, "-x", script)
        assert done.returncode == 2
        assert f"{script}:5: this guest has no tracer 'nosuch'" in done.stderr
        assert "events/s" not in done.stdout

    def test_comes_from_standard_input_too(self, config):
        done = harness("shell", "-c", config, input="current_tracer function\nrun\ntrace 1\nquit\n")
        assert done.returncode == 0, done.stderr
        assert "workload-1" in done.stdout

    def test_writes_a_trace_that_report_reads(self, config, tmp_path):
        trace = tmp_path / "mine.dat"
        script = f"record -p function -l leaf -o {trace}\n"
        assert harness("shell", "-c", config, input=script).returncode == 0
        done = harness("report", trace)
        assert "leaf <-" in done.stdout
        assert "do_loop <-workload" not in done.stdout

    def test_prints_events_as_they_come(self, config):
        done = harness("shell", "-c", config, input="current_tracer function\ntrace_pipe\nstat\n")
        lines = [line for line in done.stdout.splitlines() if " <-" in line]
        assert f"{len(lines)} events in" in done.stdout


class TestAttach:
    """On the stub of a QEMU started by another process."""

    @pytest.fixture
    def machine(self, config):
        loaded = load_config(config)
        with Machine(loaded, build_guest(GuestSpec.of(loaded))) as started:
            yield started

    def test_the_guest_is_traced_and_adopted(self, machine):
        arguments = ("attach", "--elf", machine.kernel, "--gdb", machine.gdb_socket)
        begin = "run workload\nset_ftrace_filter leaf\ncurrent_tracer function\nstat\n"
        done = harness(*arguments, input=begin)
        assert done.returncode == 0, done.stderr

    def test_triggers_and_events_are_taken_over(self, machine):
        """The next session sees, changes and removes what a session has set."""
        arguments = ("attach", "--elf", machine.kernel, "--gdb", machine.gdb_socket)
        armed = "set_ftrace_filter do_* leaf:traceoff do_loop:stacktrace\n"
        begin = f"run workload\n{armed}set_event sched_switch\ncurrent_tracer function\n"
        done = harness(*arguments, input=begin)
        assert done.returncode == 0, done.stderr
        again = "set_ftrace_filter\nset_event\ncurrent_tracer\nenabled_functions\n"
        done = harness(*arguments, input=again)
        lines = done.stdout.split()
        assert {"leaf:traceoff:unlimited", "do_loop:stacktrace:unlimited"} <= set(lines)
        assert {"do_loop", "function", "sched:sched_switch", "leaf"} <= set(lines), done.stderr
        filtered = lines[: lines.index("leaf:traceoff:unlimited")]
        assert "do_loop" in filtered
        assert "leaf" not in filtered
        end = "set_ftrace_filter !leaf:traceoff !do_loop:stacktrace\nenabled_functions\n"
        done = harness(*arguments, input=end + "current_tracer nop\nset_event >\nsites\n")
        assert done.returncode == 0, done.stderr
        assert not re.search(r"^leaf$", done.stdout, re.MULTILINE)
        assert not re.search(r"  call  ", done.stdout)

    def test_another_build_is_refused(self, machine, config):
        other = build_guest(GuestSpec.of(config, "sort"))
        done = harness("attach", "--elf", other, "--gdb", machine.gdb_socket, input="")
        assert done.returncode == 2
        assert "build id" in done.stderr

    def test_no_stub_is_a_sentence(self, machine, tmp_path):
        for nowhere in (tmp_path / "nothing", "localhost:1"):
            done = harness("attach", "--elf", machine.kernel, "--gdb", nowhere, input="")
            assert done.returncode == 2, done.stderr
            assert "Traceback" not in done.stderr


def silent(peer):
    """A stub that sends nothing."""
    while peer.recv(4096):
        pass


def garbage(peer):
    """A stub that repeatedly sends garbage."""
    with contextlib.suppress(OSError):
        while True:
            peer.sendall(b"\xff\x00HTTP/1.1 400 Bad Request$#zz+++$E01" * 100)


def polite(peer):
    """A stub that answers every packet with an empty one."""
    with contextlib.suppress(OSError):
        while data := peer.recv(4096):
            peer.sendall(b"+$#00" * data.count(b"#"))


def absent(peer):
    """A stub that closes the connection."""


@pytest.mark.parametrize("behaviour", [silent, garbage, polite, absent])
def test_what_is_no_stub_is_refused(behaviour, tmp_path):
    elf = build_guest(GuestSpec.of("mips-malta"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(tmp_path / "peer"))
    listener.listen()

    def serve():
        with contextlib.suppress(OSError):
            while True:
                peer, _ = listener.accept()
                with peer:
                    behaviour(peer)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    done = harness("attach", "--elf", elf, "--gdb", tmp_path / "peer", input="")
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()
    assert done.returncode == 2, done.stderr
    assert str(tmp_path / "peer") in done.stderr
    assert "Traceback" not in done.stderr
    assert all(line.isprintable() for line in done.stderr.splitlines())


def test_an_image_without_debug_information_is_refused(tmp_path):
    config = load_config("mips-malta")
    command = [f"{config.build.cross_compile}strip", "-g", "-o", tmp_path / "vmlinux"]
    subprocess.run([*command, build_guest(GuestSpec.of(config))], check=True)
    done = harness("attach", "--elf", tmp_path / "vmlinux", "--gdb", "nowhere", input="")
    assert done.returncode == 2
    assert "vmlinux has no debug information" in done.stderr
    assert "Compile all of it with -g" in done.stderr


def test_another_architecture_is_refused():
    mips, aarch64 = load_config("mips-malta"), load_config("aarch64-virt")
    with Machine(mips, build_guest(GuestSpec.of(mips))) as machine:
        elf = build_guest(GuestSpec.of(aarch64))
        done = harness("attach", "--elf", elf, "--gdb", machine.gdb_socket, input="")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
