# SPDX-License-Identifier: MIT
"""Recordings of live guests, read by unmodified trace-cmd."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness import boot
from harness.config import list_configs
from support.command import harness
from support.trace_cmd import PLACE_AND_TIME
from tests.support.configs import others

OURS = re.compile(r"\[(\d+)\] \S+ +([\d.]+): (\S+) <-(\S+)$", re.MULTILINE)
THEIRS = re.compile(PLACE_AND_TIME + r"function: +(\S+) <-- (\S+)$", re.MULTILINE)

EVENTS = Path(__file__).parents[1] / "guest" / "workloads"
OURS_NAMED = re.compile(
    r"\[(\d+)\] \S+ +([\d.]+): (sched_switch|sys_enter|sys_exit): (.*)$", re.MULTILINE
)
THEIRS_NAMED = re.compile(
    PLACE_AND_TIME + r"(sched_switch|sys_enter|sys_exit): +(.*)$", re.MULTILINE
)

MARK = re.compile(r"tracing_mark_write: (.*)$", re.MULTILINE)

pytestmark = pytest.mark.skipif(not shutil.which("trace-cmd"), reason="trace-cmd is not installed")


@pytest.mark.parametrize("config", list_configs())
@pytest.mark.parametrize("workload", ["calls", "interpreter"])
def test_trace_cmd_reads_the_same_events_without_a_warning(tmp_path, config, workload):
    file = tmp_path / "trace.dat"
    done = harness("record", "-c", config, "--workload", workload, "-o", file)
    assert done.returncode == 0, done.stderr
    command = ["trace-cmd", "report", "-O", "parent", "-i", str(file)]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True)
    assert theirs.stderr == ""
    ours = OURS.findall(harness("report", file).stdout)
    assert len(ours) > 30
    assert THEIRS.findall(theirs.stdout) == ours


@pytest.mark.parametrize("config", list_configs())
def test_trace_cmd_reads_every_event_without_a_warning(tmp_path, config):
    file = tmp_path / "trace.dat"
    command = ["record", "-c", config, "-p", "nop", "-e", "*", "-O", "stacktrace"]
    done = harness(*command, "--workload", EVENTS / "user.c", "-o", file)
    assert done.returncode == 0, done.stderr
    # Without the plugins, which have forms of their own: what the formats say.
    command = ["trace-cmd", "report", "-N", "-i", str(file)]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True)
    assert theirs.stderr == ""
    ours = harness("report", file).stdout
    assert THEIRS_NAMED.findall(theirs.stdout) == OURS_NAMED.findall(ours)
    assert len(OURS_NAMED.findall(ours)) > 30
    for name in ("sys_enter_write", "sys_exit_write", "kernel_stack"):
        assert f" {name}: " in theirs.stdout
    assert "UNKNOWN" not in theirs.stdout


@pytest.mark.parametrize("config", ["mips-malta", "aarch64-virt", *others()])
def test_trace_cmd_reads_an_irqsoff_trace_without_a_warning(tmp_path, config):
    file = tmp_path / "trace.dat"
    workload = EVENTS / "irqsoff.c"
    done = harness("record", "-c", config, "-p", "irqsoff", "--workload", workload, "-o", file)
    assert done.returncode == 0, done.stderr
    command = ["trace-cmd", "report", "-i", str(file)]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True)
    assert theirs.stderr == ""
    assert "from long_section to long_section" in theirs.stdout
    assert "=> started at: long_section" in harness("report", file).stdout


@pytest.mark.parametrize("config", ["mips-malta", "mips64el-malta", "aarch64-virt-smp", *others()])
@pytest.mark.parametrize("plugins", [[], ["-N"]], ids=["plugins", "formats"])
def test_trace_cmd_shows_the_text_of_a_marker(tmp_path, config, plugins):
    file = tmp_path / "trace.dat"
    with boot(config) as guest:
        guest.tracer.set_filter("leaf")
        guest.tracer.current = "function"
        guest.write_marker("here it begins: 100 % of\tit")
        guest.run()
        guest.write_marker("and ends")
        guest.collector.drain()
        with file.open("w+b") as stream:
            guest.tracer.write(stream)
    command = ["trace-cmd", "report", *plugins, "-i", str(file)]
    theirs = subprocess.run(command, capture_output=True, text=True, check=True)
    assert theirs.stderr == ""
    marks = MARK.findall(theirs.stdout)
    assert [mark.strip() for mark in marks] == ["here it begins: 100 % of\tit", "and ends"]
    assert MARK.findall(harness("report", file).stdout) == marks
