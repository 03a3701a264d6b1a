# SPDX-License-Identifier: MIT
"""The pytest plugin: what a user sees of mistakes and failures."""

import re
import subprocess
import sys
from html import unescape
from xml.etree import ElementTree

import pytest

from harness.files import trace_file
from support.command import harness, pytest_arguments

FAILS = """
import pytest

@pytest.mark.guest(config="mips-malta")
def test_fails(guest):
    guest.run(until="do_loop")
    assert guest.tracer.current == "function"
"""

TRACED = """
import pytest

@pytest.mark.guest(config="mips-malta")
def test_fails(guest):
    guest.tracer.current = "function"
    guest.run(until="do_loop")
    assert not guest.workload_over and False
"""

LIVE = """
import pytest

@pytest.mark.guest(config="{config}", workload="{workload}")
def test_fails(guest):
    guest.tracer.current = "function"
    {run}
    assert guest is None
"""

DAMAGE = "guest.debugger.write_memory(guest.address_of('ring_buffer'), bytes(range(64)))"

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
    command = [sys.executable, *pytest_arguments(directory, *options)]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_guest_of_a_failed_test_is_in_the_junit_file(tmp_path):
    (tmp_path / "test_port.py").write_text(FAILS)
    done = run(tmp_path, f"--junitxml={tmp_path / 'junit.xml'}")
    assert done.stdout.count("the guest at the failure") == 1
    junit = (tmp_path / "junit.xml").read_text()
    for text in ("the guest at the failure", "in do_loop at guests/workloads/calls.c", "Console:"):
        assert text in done.stdout
        assert text in junit


def test_the_last_events_and_the_trace_are_kept(tmp_path):
    (tmp_path / "test_port.py").write_text(TRACED)
    base = tmp_path / "base"
    done = run(tmp_path, f"--junitxml={tmp_path / 'junit.xml'}")
    kept = base / "guest0" / "trace.dat"
    for report in (done.stdout, (tmp_path / "junit.xml").read_text()):
        assert "The last events:" in report
        assert re.search(r"do_nested <-workload", unescape(report))
        assert str(kept) in report
    shown = harness("report", kept)
    assert shown.returncode == 0
    assert "do_nested <-workload" in shown.stdout
    properties = ElementTree.parse(tmp_path / "junit.xml").findall(".//property")
    assert [(one.get("name"), one.get("value")) for one in properties] == [("trace.dat", str(kept))]


@pytest.mark.parametrize(
    ("machine", "workload", "end", "said"),
    [
        ("mips64-malta", "calls", "guest.run()", ""),
        # Another CPU may have stopped within an event, which is in the trace alone.
        ("aarch64-virt-smp", "smp", "guest.run(); guest.settle()", ""),
        (
            "mips-malta",
            "calls",
            "guest.run(); guest.drain(); guest.machine.child.end()",
            "may be missing: ",
        ),
        ("mips-malta", "calls", f"guest.run(); guest.drain(); {DAMAGE}", "may be missing: "),
    ],
    ids=["mips64", "smp", "dead", "damaged"],
)
def test_the_last_events_are_those_of_the_trace(tmp_path, machine, workload, end, said):
    """Also where there are many, and where those read before are all that there is."""
    source = LIVE.format(config=machine, workload=workload, run=end)
    (tmp_path / "test_port.py").write_text(source)
    base = tmp_path / "base"
    done = run(tmp_path, f"--junitxml={tmp_path / 'junit.xml'}")
    with trace_file(base / "guest0" / "trace.dat") as reader:
        events = [event.function for event in reader.events()]
    assert len(events) > 40
    for report in (done.stdout, unescape((tmp_path / "junit.xml").read_text())):
        last = report.partition("The last events:\n")[2].partition("\n\n")[0].splitlines()
        shown = [re.search(r": (\w+) <-", line)[1] for line in last]
        assert shown == events[-10:]
        assert said in report
        assert ("may be missing" in report) == bool(said)


def test_without_tracing_no_trace_is_kept(tmp_path):
    (tmp_path / "test_port.py").write_text(FAILS.replace(".tracer.current", ".workload_over"))
    base = tmp_path / "base"
    done = run(tmp_path)
    assert "the guest at the failure" in done.stdout
    assert not list(base.rglob("trace.dat"))


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
