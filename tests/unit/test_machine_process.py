# SPDX-License-Identifier: MIT
"""Children: how they end, what is told of it, and that they do not outlive us."""

import os
import select
import signal
import subprocess
import sys

import pytest

from harness.errors import HostError
from harness.process import Child, with_pdeathsig

STUBBORN = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('on', flush=True); time.sleep(600)"
)
FAILING = (
    "import sys; print('said'); "
    "print('\\x1b[2J' + 'x' * 9999 + 'end', file=sys.stderr); sys.exit(3)"
)


def ended(process_fd, seconds=30):
    return bool(select.select([process_fd], [], [], seconds)[0])


def test_missing_program_names_its_package():
    with pytest.raises(HostError, match="qemu-nowhere is not installed") as caught:
        Child(["qemu-nowhere"], package="qemu-system-x")
    assert "apt-get install qemu-system-x" in caught.value.advice


def test_report_of_a_failure(tmp_path):
    with Child([sys.executable, "-c", FAILING, "a b"], directory=tmp_path) as child:
        assert child.wait(30)
        assert not child.alive
        report = child.report()
    assert "ended with exit status 3" in report
    assert "'a b'" in report
    assert "end" in report
    assert "\x1b" not in report
    assert len(report) < 6000


def test_report_of_a_signal():
    with Child([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        assert child.alive
        assert "is running" in child.report()
        assert not child.wait(0)
        os.kill(child.pid, signal.SIGKILL)
        assert ended(child.process_fd)
        assert "was killed by SIGKILL" in child.ending()


def test_stubborn_child_is_killed():
    with Child([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"on\n"
        child.end(timeout=0.05)
        assert "was killed by SIGKILL" in child.ending()
    child.close()
    assert child.process_fd == -1


def test_child_does_not_get_the_terminals_ctrl_c():
    with Child([sys.executable, "-c", "import time; time.sleep(600)"]) as child:
        assert os.getsid(child.pid) == child.pid != os.getsid(0)


def test_child_dies_with_us_when_we_are_killed():
    parent = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time\n"
            "from harness.process import Child\n"
            f"child = Child([sys.executable, '-c', {STUBBORN!r}], stdout=-1)\n"
            "child.stdout.readline()\n"
            "print(child.pid, flush=True)\n"
            "time.sleep(600)\n",
        ],
        stdout=subprocess.PIPE,
    )
    try:
        process_fd = os.pidfd_open(int(parent.stdout.readline()))
        try:
            assert not ended(process_fd, 0)
            parent.kill()
            assert ended(process_fd)
        finally:
            os.close(process_fd)
    finally:
        parent.kill()
        parent.wait()
        parent.stdout.close()


def test_a_child_of_a_parent_that_is_gone_does_not_begin(tmp_path):
    """Its parent is another one by then; here it is one from the beginning."""
    made = tmp_path / "made"
    stranger = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
    command = [*with_pdeathsig(), "touch", str(made)]
    assert subprocess.run([sys.executable, "-c", stranger, *command]).returncode != 0
    assert not made.exists()
    assert subprocess.run(command).returncode == 0
    assert made.exists()
