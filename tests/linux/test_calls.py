# SPDX-License-Identifier: MIT
"""Calls of the kernel's own functions: the graph tracer, and events."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.errors import UsageError
from tests.linux.test_function import WARNINGS, booted, console, run_to_dump

CALL = re.compile(r"\| +(\w[\w.]*)\(\)(?:;| \{)")


def test_graph_equals_the_kernels_own_view_and_leaves_no_trace(linux_config: Path) -> None:
    # Work for longer than the host takes to read the console: then the kernel is called.
    steps = "work:1,dump,work:5000,tracer:function,work:1,tracer:nop"
    with booted(linux_config, steps) as guest:
        guest.collector.configure()
        guest.tracer.set_filter("vfs_*", "*getname*")
        guest.tracer.current = "function_graph"
        kernel = CALL.findall(run_to_dump(guest))
        guest.drain()
        own = [one.function for one in guest.tracer.events() if one.name == "funcgraph_entry"]
        assert len(kernel) > 10
        assert own[: len(kernel)] == kernel
        guest.tracer.current = "nop"
        assert guest.tracer.enabled_functions == []
        guest.run(timeout=600.0)
        text = console(guest)
        assert not [word for word in WARNINGS if word in text]


def test_events_by_glob_with_every_field_for_trace_cmd(linux_config: Path, tmp_path: Path) -> None:
    with booted(linux_config, "work:1") as guest:
        guest.collector.configure()
        assert "sched:sched_switch" in guest.tracer.available_events
        with pytest.raises(UsageError, match="no event 'sched:nothing'"):
            guest.tracer.set_event("sched:nothing")
        guest.tracer.set_event("sched:sched_s*", "!sched:sched_stat*")
        assert "sched:sched_switch" in guest.tracer.enabled_events
        assert not any("sched_stat" in one for one in guest.tracer.enabled_events)
        guest.run(timeout=600.0)
        guest.tracer.set_event()
        assert guest.tracer.enabled_events == []
        switches = [one for one in guest.tracer.events() if one.name == "sched_switch"]
        assert len(switches) > 3
        with (tmp_path / "x.dat").open("wb") as stream:
            guest.tracer.write(stream)
    if shutil.which("trace-cmd") is None:
        pytest.skip("trace-cmd is not installed")
    command = ["trace-cmd", "report", str(tmp_path / "x.dat")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stdout.splitlines() if "sched_switch" in line]
    assert len(lines) == len(switches)
    for event, line in zip(switches, lines, strict=True):
        assert f"{event.fields['next_comm']}:{event.fields['next_pid']}" in line
    assert "UNKNOWN" not in done.stdout + done.stderr
