# SPDX-License-Identifier: MIT
"""The files of tracefs at the prompt say what the guest's memory says, and refuse what it lacks."""

import re

import pytest

from harness import boot
from harness.errors import UsageError
from harness.shell import Session
from harness.shell.line import execute
from support.terminal import Terminal
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt-bti-pac-patchable", *others()]


@pytest.fixture(scope="module", params=CONFIGS)
def session(request):
    started = Session(lambda: boot(request.param))
    yield started
    started.close()


@pytest.fixture
def shown(session, capfd):
    """What a line prints."""

    def show(line):
        execute(session, line)
        return re.sub(r"\x1b\[[0-9;]*m", "", capfd.readouterr().out).splitlines()

    return show


def test_every_file_in_the_tree_can_be_read(session):
    files, read = session.tracefs, 0

    def walk(path):
        nonlocal read
        for name in files.names(path):
            inside = f"{path}/{name}".strip("/")
            if name.endswith("/"):
                walk(inside)
                continue
            file = files.file(inside)
            if file.read is not None:
                assert all("\n" not in line for line in file.read(session.guest)), inside
                read += 1

    walk("")
    assert read > 60


def test_a_filter_with_an_exclamation_mark(session, shown):
    shown("echo leaf do_inner > set_ftrace_filter")
    shown("current_tracer function")
    shown("echo '!leaf' >> /sys/kernel/tracing/set_ftrace_filter")
    assert shown("cat set_ftrace_filter") == ["do_inner"]
    assert shown("enabled_functions") == ["do_inner"]
    shown("echo !do_inner >> set_ftrace_filter")
    assert shown("cat set_ftrace_filter") == ["#### all functions enabled ####"]
    shown("echo leaf > set_ftrace_notrace")
    shown("echo !leaf >> set_ftrace_notrace")
    assert shown("cat set_ftrace_notrace") == ["#### no functions disabled ####"]
    shown("echo leaf do_inner > set_graph_function")
    shown("echo !leaf >> set_graph_function")
    assert shown("cat set_graph_function") == ["do_inner"]
    shown("set_graph_function >")
    shown("current_tracer nop")


def test_events_by_their_directories(session, shown):
    assert shown("cat events/sched/sched_switch/enable") == ["0"]
    shown("echo 1 > events/sched/sched_switch/enable")
    assert shown("cat set_event") == ["sched:sched_switch"]
    assert shown("cat events/sched/enable") == ["1"]
    assert shown("cat events/enable") == ["X"]
    assert shown("cat events/sched/sched_switch/id") == ["32"]
    assert shown("cat events/sched/sched_switch/format")[:2] == ["name: sched_switch", "ID: 32"]
    shown("echo 0 > events/enable")
    assert shown("set_event") == []


def test_pids_are_those_in_the_guest(session, shown):
    assert shown("set_ftrace_pid") == ["no pid"]
    shown("echo 1 > set_ftrace_pid")
    shown("echo 7 >> set_ftrace_pid")
    assert shown("set_ftrace_pid") == ["1", "7"]
    assert session.guest.threads()[0].ftrace_ignore == 0
    shown("echo > set_ftrace_pid")
    shown("echo 9 > set_event_pid")
    assert shown("set_event_pid") == ["9"]
    shown("set_event_pid >")
    assert shown("set_event_pid") == ["no pid"]
    shown("echo 1 8 > set_ftrace_notrace_pid")
    shown("echo 1 > set_event_notrace_pid")
    assert shown("set_ftrace_notrace_pid") == ["1", "8"]
    assert shown("set_ftrace_pid") == shown("set_event_pid") == ["no pid"]
    assert session.guest.threads()[0].ftrace_ignore == 1
    shown("set_ftrace_notrace_pid >")
    shown("set_event_notrace_pid >")
    assert session.guest.threads()[0].ftrace_ignore == 0


def test_touched_functions_stay(session, shown):
    before = set(shown("touched_functions"))
    shown("echo do_nested > set_ftrace_filter")
    shown("current_tracer function")
    session.guest.snapshot("touched")
    shown("echo tail_second > set_ftrace_filter")
    shown("current_tracer nop")
    assert shown("enabled_functions") == []
    assert set(shown("touched_functions")) == before | {"do_nested", "tail_second"}
    session.guest.restore("touched")
    assert set(shown("touched_functions")) == before | {"do_nested"}
    shown("current_tracer nop")
    shown("set_ftrace_filter >")


def test_a_marker_is_an_event_of_the_guest(session, shown):
    shown("echo > trace")
    shown("trace_marker here  it begins")
    shown("echo 'and ends' > /sys/kernel/tracing/trace_marker")
    lines = [line for line in shown("trace") if not line.startswith("#")]
    assert [line.partition(": ")[2] for line in lines] == [
        "tracing_mark_write: here it begins",
        "tracing_mark_write: and ends",
    ]
    assert all(line.split()[0] == "workload-1" for line in lines)
    shown("tracing_on 0")
    with pytest.raises(UsageError, match="ring buffer is off"):
        execute(session, "trace_marker nothing")
    shown("tracing_on 1")
    with pytest.raises(UsageError, match="only written"):
        execute(session, "cat trace_marker")
    shown("echo > trace")
    shown("echo > error_log")


def test_options_and_the_size_of_the_buffer(session, shown):
    assert shown("options/stacktrace") == ["0"]
    shown("echo 1 > options/stacktrace")
    assert "stacktrace" in session.guest.tracer.trace_options
    shown("options/stacktrace 0")
    shown("echo 64 > buffer_size_kb")
    cpus = len(session.guest.collector.header().cpus)
    assert {cpu.nr_pages for cpu in session.guest.collector.header().cpus} == {16}
    assert shown("buffer_size_kb") == shown("cat per_cpu/cpu0/buffer_size_kb") == ["64"]
    assert shown("buffer_total_size_kb") == [str(64 * cpus)]
    for wrong in ("0", "-4", "x", "999999999"):
        with pytest.raises(UsageError):
            execute(session, f"buffer_size_kb {wrong}")
    assert shown("buffer_size_kb") == ["64"]
    assert "buffer_size_kb: error: " in shown("cat error_log")[0]


def test_events_go_to_the_shell_of_the_host(session, shown):
    session.guest.snapshot("here")
    shown("echo leaf > set_ftrace_filter")
    shown("current_tracer function")
    shown("run")
    events = [line for line in shown("trace") if " leaf <-" in line]
    assert shown("trace | grep -c 'leaf <-'") == [str(len(events))]
    assert shown("cat per_cpu/cpu0/trace | tail -n 1")[0].split()[-2:] == events[-1].split()[-2:]
    assert shown("trace | head -n 2 | tail -n 1") == ["#"]
    assert (
        shown("available_filter_functions | head -n 1") == shown("available_filter_functions")[:1]
    )
    assert shown("cat per_cpu/cpu0/stats")[0] == f"entries: {len(events)}"
    assert any(line.endswith(" workload") for line in shown("saved_cmdlines"))
    shown("echo > trace")
    assert not [line for line in shown("trace") if "leaf" in line]
    session.guest.restore("here")


@pytest.mark.parametrize(
    ("line", "message", "advice"),
    [
        ("cat kprobe_events", "has no file kprobe_events", "breakpoint"),
        ("cat trace_stat/function9", "trace_stat of this guest's tracefs has no", "function"),
        ("tracing_cpumask 100", "there is no CPU", "all CPUs"),
        ("cat set_ftrace_filer", "has no file set_ftrace_filer", "set_ftrace_filter"),
        ("curent_tracer", "Undefined command", "current_tracer"),
        ("cat events/sched/sched_swich/id", "has no sched_swich", "sched_switch"),
        ("cat events", "is a directory", "ls events"),
        ("echo 1 > trace_clock", "trace_clock takes nothing", ""),
        ("echo 1 > events/sched/sched_switch/id", "only read", ""),
        ("echo 2 > events/enable", "neither 0 nor 1", ""),
    ],
)
def test_what_is_not_there_is_said(session, line, message, advice):
    with pytest.raises(Exception, match=message) as caught:
        execute(session, line)
    assert advice in caught.value.advice


def test_completion_and_a_pager(tmp_path):
    pager = "sed 's/^/paged: /'"
    with Terminal("shell", "-c", "mips-malta", state_home=tmp_path, pager=pager) as terminal:
        terminal.wait("or help.")
        assert "paged" not in terminal.do("cat trace_clock", "[local]")
        terminal.do("available_filter_functions", "paged: leaf")
        terminal.type("\x15cat events/sched/sched_sw\t")
        terminal.wait("cat events/sched/sched_switch/")
