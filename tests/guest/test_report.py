# SPDX-License-Identifier: MIT
"""``harness report``: every view of what a guest recorded with function_graph."""

import csv
import json
import re
import shutil
import subprocess

import pytest

from support.command import harness
from test_trace_chrome import check, tracks

CALL = re.compile(r" 0\) .{14}\|  ( *)(?:(\w+)\(\)( \{|;)|\} /\* (\w+) \*/)")
SUMMARY = re.compile(r"(\d+) events, 0 lost, ended by workload_done")


@pytest.fixture
def recorded(config, tmp_path):
    """A trace of the workload ``calls``, and the number of its events.  Without ticks: the views
    are compared line by line, and interrupts have marks of their own.
    """
    file = tmp_path / "graph.dat"
    done = harness("record", "-c", config, "-p", "function_graph", "--tick", "0", "-o", file)
    assert done.returncode == 0, done.stderr
    return file, int(SUMMARY.search(done.stdout)[1])


def show(file, *arguments):
    done = harness("report", file, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_view(recorded):
    file, count = recorded
    calls = check_graph(show(file, "-O", "funcgraph-tail"))
    assert calls == count // 2
    check_chrome(show(file, "-f", "chrome"), calls)
    rows = list(csv.DictReader(show(file, "-f", "csv").splitlines()))
    events = json.loads(show(file, "-f", "json"))["events"]
    assert len(rows) == len(events) == count
    assert [row["function"] for row in rows] == [event["symbols"]["func"] for event in events]
    check_flame(show(file, "-f", "flame"), events)
    leafs = show(file, "-f", "csv", "-F", "funcgraph_exit: func == leaf && duration > 0")
    assert len(leafs.splitlines()) - 1 == [r["function"] for r in rows].count("leaf") // 2 > 1
    check_trace_cmd(file, show(file, "-f", "graph"))


def check_graph(text):
    """Calls and returns nest and are indented as they nest; the number of calls."""
    assert text.startswith("# tracer: function_graph\n")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    open_calls, calls = [], 0
    for line in lines:
        indentation, called, kind, returned = CALL.fullmatch(line).groups()
        if returned:
            assert open_calls.pop() == returned
        assert indentation == "  " * len(open_calls)
        calls += called is not None
        if kind == " {":
            open_calls.append(called)
    assert open_calls == []
    return calls


def check_chrome(text, calls):
    found = tracks(check(json.loads(text)))
    assert found.pop("CPU 0") == found.pop("workload-1")
    assert found == {}
    assert text.count('"ph": "B"') == 2 * calls


def check_flame(text, events):
    """Self times add up to the time of the outermost calls."""
    total = sum(int(line.rpartition(" ")[2]) for line in text.splitlines())
    outermost = [e["duration"] for e in events if e["fields"]["depth"] == 0 and "duration" in e]
    assert total == sum(outermost) > 0


def check_trace_cmd(file, text):
    if shutil.which("trace-cmd") is None:
        return
    command = ["trace-cmd", "report", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    theirs = [line.rpartition("|  ")[2] for line in done.stdout.splitlines() if "|" in line]
    ours = [line.rpartition("|  ")[2] for line in text.splitlines() if not line.startswith("#")]
    assert theirs == ours
