# SPDX-License-Identifier: MIT
"""Filters, processes, options and the buffer of a Linux kernel; it goes on without a warning."""

import re
from pathlib import Path

import pytest

from harness.errors import GuestError, UsageError
from harness.guest import Guest
from tests.linux.test_function import FILTER, WARNINGS, booted, console, rows


def names(guest: Guest) -> set[str]:
    return {row[2] for row in rows(list(guest.tracer.events()))}


def check_no_warning(guest: Guest) -> None:
    assert not [word for word in WARNINGS if word in console(guest)]


@pytest.mark.parametrize("globs", [FILTER, ()], ids=["filter", "all"])
def test_the_kernel_switches_tracers_while_ours_is_on(
    linux_config: Path, globs: tuple[str, ...]
) -> None:
    with booted(linux_config, "work:1,tracer:nop,tracer:function,work:1,tracer:nop,dump") as guest:
        guest.collector.configure()
        guest.tracer.set_filter(*globs)
        guest.tracer.current = "function"
        guest.run("tracing_set_tracer", timeout=600.0)
        guest.drain()
        ours = len(list(guest.tracer.events()))
        assert ours > 10
        guest.run(timeout=600.0)
        guest.drain()
        assert guest.tracer.current == "nop"
        events = list(guest.tracer.events())
        # The kernel's own tracer has no filter.
        assert "mutex_unlock" in names(guest)
        assert len(events) > ours + 100
        assert guest.collector.counts.lost == 0
        assert not any(event.lost for event in events)
        check_no_warning(guest)


def test_a_tracer_of_the_kernel_is_not_taken_away(linux_config: Path) -> None:
    with booted(linux_config, "tracer:function,work:1,tracer:nop,work:1") as guest:
        guest.run("tracing_set_tracer", timeout=600.0)
        guest.run("vfs_read", timeout=600.0)
        with pytest.raises(GuestError, match="traces functions itself: its tracer is 'function'"):
            guest.tracer.current = "function"
        guest.run("tracing_set_tracer", timeout=600.0)
        guest.run("vfs_read", timeout=600.0)
        guest.tracer.current = "function"
        guest.tracer.current = "nop"
        guest.run(timeout=600.0)
        check_no_warning(guest)


def test_notrace_and_a_changed_filter(linux_config: Path) -> None:
    with booted(linux_config, "work:3,tracer:function,work:1,tracer:nop") as guest:
        guest.collector.configure()
        guest.tracer.set_notrace("*lock*", "*rcu*")
        guest.tracer.current = "function"
        guest.run("vfs_read", timeout=600.0)
        found = names(guest)
        assert "vfs_open" in found
        assert not [name for name in found if "lock" in name or "rcu" in name]
        guest.tracer.set_filter("vfs_*")
        guest.collector.clear()
        guest.run("vfs_open", timeout=600.0)
        guest.run("vfs_open", timeout=600.0)
        found = names(guest)
        assert "vfs_open" in found
        assert all(name.startswith("vfs_") for name in found)
        guest.run(timeout=600.0)
        check_no_warning(guest)


def test_the_functions_and_events_of_one_process(linux_config: Path) -> None:
    with booted(linux_config, "work:2,tracer:function,work:20,tracer:nop") as guest:
        guest.collector.configure()
        guest.run("vfs_read", timeout=600.0)
        guest.tracer.set_filter("schedule", "vfs_*")
        guest.tracer.set_ftrace_pid(1)
        guest.tracer.set_event_pid(1)
        guest.tracer.set_event("sched:sched_switch")
        guest.tracer.current = "function"
        guest.run("tracing_set_tracer", timeout=600.0)
        guest.drain()
        events = list(guest.tracer.events())
        calls = [event for event in events if event.name == "function"]
        assert {event.pid for event in calls} == {1}
        switches = [event for event in events if event.name == "sched_switch"]
        assert switches
        assert all(1 in (one.fields["prev_pid"], one.fields["next_pid"]) for one in switches)
        guest.tracer.current = "nop"
        guest.tracer.set_ftrace_pid()
        guest.tracer.set_event_pid()
        guest.collector.clear()
        guest.run(timeout=600.0)
        guest.drain()
        assert len({event.pid for event in guest.tracer.events()}) > 1
        check_no_warning(guest)


def test_stack_traces_and_options(linux_config: Path) -> None:
    with booted(linux_config, "work:2,tracer:function,work:1,tracer:nop") as guest:
        guest.collector.configure()
        guest.run("vfs_read", timeout=600.0)
        with pytest.raises(UsageError, match="no option 'silly'"):
            guest.tracer.set_option("silly")
        guest.tracer.set_option("func_stack_trace", "sym-offset")
        assert {"func_stack_trace", "sym-offset"} <= set(guest.tracer.trace_options)
        guest.tracer.set_filter("vfs_open")
        guest.tracer.current = "function"
        guest.run("tracing_set_tracer", timeout=600.0)
        guest.tracer.current = "nop"
        guest.drain()
        events = list(guest.tracer.events())
        stacks = [one for one in events if one.name == "kernel_stack"]
        assert len(stacks) == len([one for one in events if one.name == "function"]) > 1
        frames = [re.findall(r" => ([\w.]+)", one.message) for one in stacks]
        # The kernel's unwinder for MIPS does not get beyond the assembler code of its tracer.
        assert all("vfs_open" in one or one[-1] == "ftrace_caller" for one in frames)
        guest.tracer.set_option("nofunc_stack_trace", "nosym-offset")
        guest.tracer.set_event("sched:sched_switch")
        guest.tracer.set_option("stacktrace")
        guest.collector.clear()
        guest.run(timeout=600.0)
        guest.drain()
        events = list(guest.tracer.events())
        # The stacks of functions are off again.
        assert "kernel_stack" in {one.name for one in events}
        check_no_warning(guest)


def test_graph_functions_and_depth(linux_config: Path) -> None:
    with booted(linux_config, "work:3,tracer:function,work:1,tracer:nop") as guest:
        guest.collector.configure()
        guest.run("vfs_read", timeout=600.0)
        guest.tracer.graph.set_graph_function("do_sys_openat2")
        guest.tracer.graph.set_graph_notrace("do_filp_open")
        assert guest.tracer.graph.graph_functions == ["do_sys_openat2"]
        guest.tracer.current = "function_graph"
        guest.run("vfs_read", timeout=600.0)
        guest.run("do_sys_openat2", timeout=600.0)
        guest.tracer.current = "nop"
        entries = [one for one in guest.tracer.events() if one.name == "funcgraph_entry"]
        tops = {one.function for one in entries if one.fields["depth"] == 0}
        assert tops == {"do_sys_openat2"}
        assert len({one.function for one in entries}) > 3
        assert "do_filp_open" not in {one.function for one in entries}
        guest.tracer.graph.set_graph_function()
        guest.tracer.graph.set_graph_notrace()
        guest.tracer.graph.max_graph_depth = 1
        guest.collector.clear()
        guest.tracer.current = "function_graph"
        guest.run("vfs_read", timeout=600.0)
        guest.tracer.current = "nop"
        depths = {o.fields["depth"] for o in guest.tracer.events() if o.name == "funcgraph_entry"}
        assert depths == {0}
        guest.run(timeout=600.0)
        check_no_warning(guest)


def test_another_size_of_the_buffer(linux_config: Path) -> None:
    with booted(linux_config, "work:1,tracer:function,work:1,tracer:nop", 64 << 10) as guest:
        guest.run("vfs_read", timeout=600.0)
        guest.collector.configure(1 << 20)
        room = guest.collector.room  # type: ignore[attr-defined]
        assert room * guest.collector.format.page_size > 900 << 10
        guest.tracer.set_filter("vfs_*")
        guest.tracer.current = "function"
        guest.run(timeout=600.0)
        guest.drain()
        assert "vfs_open" in names(guest)
        assert guest.collector.counts.lost == 0
        check_no_warning(guest)
