# SPDX-License-Identifier: MIT
"""The session at a real terminal: typing, completion, Ctrl-C, gdb, and everything that can die."""

import os
import re
import signal

import pytest

from command import children, harness
from harness.build import build_guest
from harness.config import load_config
from harness.machine import Machine
from terminal import Terminal

CONFIGS = ["mips-malta", "mips64el-malta", "aarch64-virt-bti-pac-patchable"]
"""One of each word size, byte order and architecture; the prompt is the same on all."""

READY = "or help."

PANICS = """
#include <linux/bug.h>
int workload(void);
int workload(void) { panic("no way out"); }
"""


@pytest.fixture
def terminal(config, tmp_path):
    """A session with a guest of each config, stopped in front of its workload."""
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


def test_gdb_completes_its_own_lines(terminal):
    terminal.type("info breakp\t")
    terminal.wait("info breakpoints")


def test_ctrl_c_stops_the_guest_and_not_the_session(terminal):
    terminal.type("c\r")
    terminal.wait("running")
    terminal.control("c")
    terminal.wait("stopped at")
    terminal.do("p 6*7", "42")


def test_errors_are_sentences_with_advice(terminal):
    terminal.do("set_ftrace_filter nosuch", "no traceable function matches 'nosuch'", "Did you")
    terminal.do("current_tracer wakeup", "no tracer 'wakeup'", "Tracers: nop, function")
    terminal.do("max_graph_depth -1", "is not possible")
    terminal.do("tracing_on 2", "0 or 1")
    terminal.do("trace x", "not a number")
    terminal.do("disasm 0x10", "no function")
    terminal.do("patch", "which call site?")
    terminal.do("ring 7", "no CPU 7")
    terminal.do("report /nonexistent", "cannot be read")
    terminal.do("report -f nosuch", "Invalid value")
    terminal.do("set_ftrace_filter 'open", "cannot be read")
    terminal.do("nonsense", "Undefined command")


def test_breakpoints_and_patches_share_a_word(terminal):
    """A breakpoint on a call site, patched under it and patched back, stops and changes nothing."""
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
    """Whatever dies, the session lives and says what can still be seen."""

    def test_of_the_guest(self, config, tmp_path):
        source = tmp_path / "dies.c"
        source.write_text(PANICS)
        command = ("shell", "-c", config, "--workload", str(source))
        with Terminal(*command, state_home=tmp_path) as terminal:
            terminal.wait(READY)
            terminal.do("current_tracer function", "tracer function")
            terminal.do("c", "the guest panicked", "still be looked at")
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
        terminal.do("sites", "cannot be asked any more")
        terminal.do("reboot", "stopped at workload")
        terminal.do("run", "stopped at workload_done")


class TestScript:
    """The same verbs out of a file."""

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
    """On the stub of a QEMU that somebody else started."""

    @pytest.fixture
    def machine(self, config):
        loaded = load_config(config)
        with Machine(loaded, build_guest(loaded)) as started:
            yield started

    def test_the_guest_is_traced_and_adopted(self, machine):
        arguments = ("attach", "--elf", machine.kernel, "--gdb", machine.gdb_socket)
        begin = "run workload\nset_ftrace_filter leaf\ncurrent_tracer function\nstat\n"
        done = harness(*arguments, input=begin)
        assert done.returncode == 0, done.stderr

    def test_another_build_is_refused(self, machine, config):
        other = build_guest(load_config(config), "sort")
        done = harness("attach", "--elf", other, "--gdb", machine.gdb_socket, input="")
        assert done.returncode == 2
        assert "build id" in done.stderr

    def test_no_stub_is_a_sentence(self, machine, tmp_path):
        for nowhere in (tmp_path / "nothing", "localhost:1"):
            done = harness("attach", "--elf", machine.kernel, "--gdb", nowhere, input="")
            assert done.returncode == 2, done.stderr
            assert "Traceback" not in done.stderr


def test_another_architecture_is_refused():
    mips, aarch64 = load_config("mips-malta"), load_config("aarch64-virt")
    with Machine(mips, build_guest(mips)) as machine:
        elf = build_guest(aarch64)
        done = harness("attach", "--elf", elf, "--gdb", machine.gdb_socket, input="")
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
