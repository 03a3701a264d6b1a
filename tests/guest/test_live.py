# SPDX-License-Identifier: MIT
"""Output while a guest runs: ``record --live`` and ``harness top``."""

import re

import pytest

from harness import boot
from support.command import harness
from support.terminal import Terminal
from tests.support.configs import others

CONFIGS = ["mips-malta", "mips64el-malta", "aarch64-virt-patchable", *others()]

BUSY = """
static volatile int sink;
__attribute__((noinline)) int leaf(int x) { return sink += x; }
__attribute__((noinline)) int twice(int x) { return leaf(x) + leaf(x + 1); }
int workload(void);
int workload(void) { for (int i = 0; i < 100000; i++) twice(i); return 0; }
"""


@pytest.fixture
def busy(tmp_path):
    source = tmp_path / "busy.c"
    source.write_text(BUSY)
    return source


def test_events_are_printed_as_they_come_and_recorded_all_the_same(config, tmp_path):
    done = harness("record", "-c", config, "--live", "-o", tmp_path / "trace.dat")
    report = harness("report", tmp_path / "trace.dat").stdout.splitlines()
    lines = [line for line in done.stdout.splitlines() if " <-" in line]
    assert lines == [line for line in report if " <-" in line]


FORGER = """
#include <linux/ftrace.h>
#include <linux/thread.h>
#include <linux/trace_events.h>
static int run(void *unused)
{
	trace_printk("hello\\n  workload-1       [000] .....     9.999999: forged <-event\\n");
	return 0;
}
int workload(void)
{
	kthread_join(kthread_run(run, 0, "a\\n1 forged"));
	return 0;
}
"""


def test_what_a_guest_says_begins_no_line_of_its_own(config, tmp_path):
    source, trace = tmp_path / "forger.c", tmp_path / "trace.dat"
    source.write_text(FORGER)
    done = harness("record", "-c", config, "--live", "--workload", source, "-o", trace)
    assert done.returncode == 0, done.stderr
    report = harness("report", trace).stdout.splitlines()
    for lines in (done.stdout.splitlines(), report):
        forged = [line for line in lines if "forged" in line]
        assert forged
        assert not [line for line in forged if line.startswith(("  workload-1", "1 forged"))]
        assert [line for line in forged if "a\\n1 forged-" in line]


def test_as_many_events_are_printed_as_are_recorded(config, busy, tmp_path):
    trace = tmp_path / "trace.dat"
    wanted = ("--workload", busy, "--events", "5000", "-o", trace)
    done = harness("record", "-c", config, "--live", *wanted)
    shown = sum(" <-" in line for line in done.stdout.splitlines())
    left_out = sum(map(int, re.findall(r"^\[(\d+) EVENTS NOT SHOWN\]$", done.stdout, re.MULTILINE)))
    assert shown + left_out == 5000


def test_what_is_too_much_to_print_is_counted(config, busy, tmp_path):
    trace = tmp_path / "trace.dat"
    done = harness("record", "-c", config, "--live", "--workload", busy, "-o", trace)
    shown = sum(" <-" in line for line in done.stdout.splitlines())
    left_out = sum(map(int, re.findall(r"^\[(\d+) EVENTS NOT SHOWN\]$", done.stdout, re.MULTILINE)))
    (events,) = re.findall(r"(\d+) events, 0 lost", done.stdout)
    assert shown + left_out == int(events) > 300_000


def test_the_pipe_gives_each_event_once(config):
    """However often it is read, and wherever the reader stops."""
    with boot(config) as guest:
        guest.tracer.current = "function"
        pipe = guest.tracer.pipe()
        seen = []
        for place in ("do_loop", "do_pointer", "workload_done"):
            guest.run(until=place)
            guest.drain()
            for number, event in enumerate(pipe.events()):
                if number == 3:
                    break
                seen.append(event)
        seen += pipe.events()
        assert [str(event) for event in seen] == [str(event) for event in guest.tracer.events()]
        guest.tracer.clear()
        assert list(pipe.events()) == []


def test_top_counts_every_call(config, busy):
    done = harness("top", "-c", config, "--workload", busy, "--interval", "0.3")
    assert done.returncode == 0, done.stderr
    calls = re.findall(r"^ *\d+ +(\d+) +leaf$", done.stdout, re.MULTILINE)
    assert sum(map(int, calls)) == 200_000


def test_top_is_one_picture_on_a_terminal_and_ends_with_ctrl_c(config, tmp_path):
    forever = tmp_path / "forever.c"
    forever.write_text(BUSY.replace("i < 100000;", ";"))
    command = ("top", "-c", config, "--workload", forever, "--interval", "0.2")
    with Terminal(*command, state_home=tmp_path) as terminal:
        terminal.wait("twice", "leaf", "0 lost")
        terminal.control("c")
        assert terminal.end() == 0
