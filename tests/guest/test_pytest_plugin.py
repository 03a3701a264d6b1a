# SPDX-License-Identifier: MIT
"""The pytest plugin: what a user sees of mistakes and failures."""

import subprocess
import sys

FAILS = """
import pytest

@pytest.mark.guest(config="mips-malta")
def test_fails(guest):
    guest.run(until="do_loop")
    assert guest.tracer.current == "function"
"""

WRONG = """
import pytest

@pytest.mark.guest(config="mips-maltta")
def test_config(guest):
    pass

@pytest.mark.guest(config="mips-malta", workload="nosuch")
def test_workload(guest):
    pass

def test_without(guest):
    pass
"""


def run(directory, *options):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, directory]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_guest_of_a_failed_test_is_in_the_junit_file(tmp_path):
    (tmp_path / "test_port.py").write_text(FAILS)
    done = run(tmp_path, f"--junitxml={tmp_path / 'junit.xml'}")
    assert done.stdout.count("the guest at the failure") == 1
    junit = (tmp_path / "junit.xml").read_text()
    for text in ("the guest at the failure", "in do_loop at guests/workloads/calls.c", "Console:"):
        assert text in done.stdout
        assert text in junit


def test_mistakes_are_sentences(tmp_path):
    (tmp_path / "test_port.py").write_text(WRONG)
    done = run(tmp_path)
    for text in ("mips-maltta", "nosuch", "the fixture `guest` needs a config"):
        assert text in done.stdout
    assert "pytest_plugin.py" not in done.stdout
    assert "3 errors" in done.stdout
    assert len(done.stdout.splitlines()) < 40


def test_the_prompt_is_not_for_processes_of_xdist(tmp_path):
    (tmp_path / "test_port.py").write_text(FAILS)
    done = run(tmp_path, "-n", "2", "--harness-shell")
    assert done.returncode == 4
    assert "--harness-shell needs the terminal" in done.stderr
    assert "Traceback" not in done.stderr
