# SPDX-License-Identifier: MIT
"""KernelShark's library loads what we write and names everything in it."""

import subprocess

import pytest

from graph_files import NESTED, graph_trace
from harness.ring import PageFormat, mark_lost
from harness.trace import TraceDatReader
from trace_files import FORMATS, address, function_trace, trace_file


@pytest.fixture(params=FORMATS, ids=lambda form: f"{form[0]}-{8 * form[1]}")
def form(request):
    return request.param


@pytest.fixture
def shown(kshark_dump, tmp_path):
    def run(data):
        path = tmp_path / "trace.dat"
        path.write_bytes(data)
        done = subprocess.run([kshark_dump, path], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    return run


def test_every_entry_is_shown(form, shown, tmp_path):
    data = function_trace(form, 1000, 300)
    lines = shown(data)
    with (tmp_path / "trace.dat").open("rb") as stream:
        expected = [
            f"{e.cpu} {e.stamp} {e.pid} {e.comm} ftrace/function {e.function} <-- {e.parent}"
            for e in TraceDatReader(stream).events()
        ]
    # KernelShark orders events of one time stamp in a way of its own.
    assert sorted(lines) == sorted(expected)
    assert len(lines) == 1300


def test_lost_events_are_entries_of_their_own(form, shown):
    data = function_trace(form, 3)
    start = data.rindex(address("start", form[1]).to_bytes(form[1], form[0])) // 4096 * 4096
    page = mark_lost(data[start : start + 4096], PageFormat(*form), 7)
    lines = shown(trace_file(form, [page]))
    assert [line for line in lines if "missed_events=7" in line]
    assert len(lines) == 4


def test_graph_events_are_shown(form, shown):
    lines = shown(graph_trace(form, NESTED))
    assert [line.split()[:5] for line in lines] == [
        [
            "0",
            str(event[1]),
            "1",
            "workload",
            f"ftrace/funcgraph_{'entry' if event[0] == 11 else 'exit'}",
        ]
        for event in NESTED
    ]
    text = [" ".join(line.split()[5:]) for line in lines]
    assert text[0] == "| start() {"
    assert text[2] == "0.633 us | leaf();"
    assert text[-1] == "# 1152.600 us | }"
