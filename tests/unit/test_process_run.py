# SPDX-License-Identifier: MIT
"""Programs that run to their end: with all that they start, also where we are killed."""

import os
import subprocess
import sys
import uuid

import pytest

from harness.process import NotRun, TimedOut, run, stream
from support.processes import MARK, all_gone, marked

HANGS = "sleep 600 & sh -c 'sleep 600; true' & echo on; wait"
COMMAND = f"from harness.process import stream; stream(['sh', '-c', {HANGS!r}], 600, print)"


def test_what_it_prints_and_how_it_ends():
    done = run(["sh", "-c", "cat; echo no >&2; exit 3"], 30, given=b"in")
    assert (done.stdout, done.stderr, done.returncode) == (b"in", b"no\n", 3)
    lines = []
    assert stream(["sh", "-c", "echo 1; echo 2 >&2; exit 3"], 30, lines.append) == 3
    assert lines == ["1", "2"]


def test_what_is_not_there_or_does_not_end():
    with pytest.raises(NotRun, match="nowhere is not installed"):
        run(["nowhere"], 30)
    with pytest.raises(TimedOut):
        run(["sh", "-c", HANGS], 0.1)
    with pytest.raises(TimedOut):
        stream(["sh", "-c", HANGS], 0.1, lambda line: None)


def test_what_it_leaves_running_ends_with_it():
    mark = uuid.uuid4().hex
    command = ["sh", "-c", "sleep 600 >/dev/null 2>&1 & true"]
    assert stream(command, 30, lambda line: None, environment={**os.environ, MARK: mark}) == 0
    assert all_gone(mark)


def test_a_descriptor_that_is_passed_stays_with_the_last_of_them(tmp_path):
    reader, writer = os.pipe()
    stream(
        ["sh", "-c", f"echo x >/proc/self/fd/{writer}"], 30, lambda line: None, pass_fds=[writer]
    )
    os.close(writer)
    assert os.read(reader, 9) == b"x\n"
    assert os.read(reader, 9) == b""
    os.close(reader)


@pytest.mark.parametrize("born", [1, 2, 3, 4, 5, 6])
def test_all_of_it_ends_with_us_when_we_are_killed(born):
    """Killed when so many processes are there; the last of them starts the others."""
    mark = uuid.uuid4().hex
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND], env={**os.environ, MARK: mark}, stdout=subprocess.DEVNULL
    )
    while len(marked(mark)) < born and command.poll() is None:
        pass
    command.kill()
    command.wait()
    assert all_gone(mark)
