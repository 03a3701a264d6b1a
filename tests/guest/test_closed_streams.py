# SPDX-License-Identifier: MIT
"""Live commands with closed standard input or output, or output without a reader."""

import json
import subprocess

import pytest

from support.command import HARNESS

BUSY = """
static volatile int sink;
__attribute__((noinline)) int leaf(int x) { return sink += x; }
int workload(void);
int workload(void) { for (int i = 0; i < 20000; i++) leaf(i); return 0; }
"""


def bash(script, directory):
    return subprocess.run(
        ["bash", "-c", script, "bash", HARNESS],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=directory,
        check=False,
    )


def events(directory):
    done = bash('"$1" stat --json', directory)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("taken", ["| head -1", ">&-", ">/dev/full"])
def test_a_recording_goes_on_when_nobody_takes_what_it_prints(tmp_path, taken):
    (tmp_path / "busy.c").write_text(BUSY)
    record = '"$1" record -c mips-malta --workload busy.c'
    done = bash(f'{record} --live {taken}; echo "${{PIPESTATUS[0]}}"', tmp_path)
    assert done.stdout.splitlines()[-1] == ("3" if "full" in taken else "0"), done.stderr
    whole = events(tmp_path)
    assert bash(record, tmp_path).returncode == 0
    assert calls(whole) == calls(events(tmp_path)) == 20000


def calls(statistics):
    functions = json.loads(statistics)["functions"]
    return next(one["calls"] for one in functions if one["function"] == "leaf")


@pytest.mark.parametrize("command", ["shell", "top"])
@pytest.mark.parametrize("closed", ["<&-", ">&-", "<&- >&- 2>&-"])
def test_a_session_with_closed_streams_ends_well(tmp_path, command, closed):
    done = bash(f'"$1" {command} -c mips-malta {closed}', tmp_path)
    assert done.returncode == 0, done.stderr
    assert "fault" not in done.stderr
