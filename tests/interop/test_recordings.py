# SPDX-License-Identifier: MIT
"""Recordings of live guests, read by unmodified trace-cmd."""

import re
import shutil
import subprocess

import pytest

from command import harness
from harness.config import list_configs

OURS = re.compile(r"\[000\] \S+ +([\d.]+): (\S+) <-(\S+)$", re.MULTILINE)
THEIRS = re.compile(r"\[000\] +([\d.]+): function: +(\S+) <-- (\S+)$", re.MULTILINE)

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
