# SPDX-License-Identifier: MIT
"""Bad input at the prompt: every verb prints one line of error, and changes nothing."""

import hashlib
import os

import pytest

from harness import boot
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.errors import GdbError, HarnessError, UsageError
from harness.shell import Session
from harness.shell.line import execute
from harness.shell.verb import VERBS
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt-bti-pac-patchable", *others()]

ABSURD = ("''", "nosuch", "-1", "'\x1b[2J'", "9" * 40, "x" * 5000, "\N{SNOWMAN}", "'a b'", "--")

# For each verb the words that it has to refuse; ABSURD stands for all of those.
REFUSED = {
    "available_events": ("x", "> x"),
    "available_filter_functions": (*ABSURD, "leaf leaf", "> leaf"),
    "available_tracers": ("nop", "> nop"),
    "back": ("", "1", "-1", "x", "1 2", "> x"),
    "buffer_size_kb": (*ABSURD, "0", "4", "1.5", "1 2", ">", str(1 << 40)),
    "buffer_total_size_kb": ("1", "> 1"),
    "conform": ("", *ABSURD, "C9a nosuch", "> C9a"),
    "console": ("x", "-1", "1.5", "1 2", "''", "> 1"),
    "current_tracer": (*ABSURD, "wakeup", "function nop", ">", ">> ''"),
    "disasm": ("''", "nosuch", "0x10", "9" * 40, "0x", "leaf leaf", "> leaf"),
    "dyn_ftrace_total_info": ("x", "> x"),
    "enabled_functions": ("x", "> x"),
    "function_profile_enabled": (*ABSURD, "2", "yes", "0 1", ">"),
    "gdb": ("", "   "),
    "goto": ("", "leaf", "0", "@1", "1.5", *ABSURD, "leaf leaf", "> x"),
    "help": ("nosuch", "current_tracer trace", "> trace"),
    "insmod": ("", *ABSURD, "/", "/etc/passwd", "/dev/null", "nosuch.ko", "a b", "> callbacks"),
    "ls": (*ABSURD[1:], "events nosuch", "events/nosuch", "> x"),
    "lsmod": ("x", "> x"),
    "mount": ("", "/", "/etc/passwd", "/nosuch/directory", "a b", "> x"),
    "next": ("-F function", "-F", "nosuch", "> x"),
    "previous": ("", "-F function", "-F", "leaf", "> x"),
    "umount": ("", "x", "> x"),
    "max_graph_depth": (*ABSURD, "1.5", "1 2", ">", str(1 << 31)),
    "patch": ("", *ABSURD, "do_*", "0x", "0x10", "leaf leaf", "> leaf"),
    "reboot": (*ABSURD, "/etc/passwd", "mips-malta mips-malta", "> mips-malta"),
    "record": (
        *("", "x", "-p", "-p nosuch", "-p '' ", "-l leaf", "--until leaf", "--duration 1"),
        *("-p function -l nosuch", "-p function -n nosuch", "-p function_graph -g nosuch"),
        *("-p function --until nosuch", "-p function --duration 0", "-p function --duration -1"),
        *("-p function --duration nan", "-p function --duration x", "-p function -o /nosuch/f"),
        *("-o /", "-o", "-o /dev/full", "--nosuch", "> trace.dat"),
    ),
    "report": (
        *("nosuch", "/", "/dev/null", "/dev/zero", "@fifo", "@text", "@cut", "@empty", "''"),
        *("-f", "-f nosuch", "-F", "-F 'x'", "-F '('", "-O x", "-f csv -O funcgraph-tail"),
        *("--nosuch", "a b", "> x"),
    ),
    "restore": ("", *ABSURD, "> x"),
    "ret_stack": ("nosuch", "-1", "99999", "''", "9" * 40, "1 1", "> 1"),
    "ring": ("x", "-1", "99", "''", "9" * 40, "0 x", "0 -1", "0 " + "9" * 40, "0 0 0", "> 0"),
    "rmmod": ("", *ABSURD, "> x"),
    "run": ("''", "nosuch", "-1", "0x", "0x10", "9" * 40, "'a b'", "leaf leaf", "> leaf"),
    "saved_cmdlines": ("x", "> x"),
    "set_event": (*ABSURD, "sched:nosuch", "!nosuch", "sched:sched_switch nosuch"),
    "set_event_notrace_pid": ("nosuch", "''", "-1", "1.5", "9" * 40, "1 x"),
    "set_event_pid": ("nosuch", "''", "-1", "1.5", "9" * 40, "1 x"),
    "set_ftrace_filter": (
        *ABSURD,
        *("leaf nosuch", "leaf > x", "leaf:nosuch", "leaf:traceoff:", "leaf:traceoff:-1"),
        *("leaf:traceoff:x", "nosuch:traceoff", "leaf:traceoff:99999999999", ":mod:nosuch"),
        *("nosuch:mod:nosuch", ">> nosuch", "'open"),
        *("!nosuch", ">> !nosuch"),
    ),
    "set_ftrace_notrace": (*ABSURD, "leaf nosuch", ":mod:nosuch", ">> nosuch"),
    "set_ftrace_notrace_pid": ("nosuch", "''", "-1", "1.5", "9" * 40, "1 x"),
    "set_ftrace_pid": ("nosuch", "''", "-1", "1.5", "9" * 40, "1 x"),
    "set_graph_function": (*ABSURD, "leaf nosuch", ">> nosuch"),
    "set_graph_notrace": (*ABSURD, "leaf nosuch", ">> nosuch"),
    "sites": (*ABSURD, "leaf leaf", "> leaf"),
    "slots": ("x", "> x"),
    "snapshot": ("a b", "x" * 5000, "'\x1b'", "> x"),
    "stack_max_size": (*ABSURD, "1.5", "1 2", ">", str(1 << 31)),
    "stack_trace": ("x", "> x"),
    "stack_trace_filter": (*ABSURD, "leaf nosuch", ">> nosuch"),
    "stack_tracer_enabled": (*ABSURD, "2", "yes", "0 1", ">"),
    "stat": ("nosuch", "/", "/dev/zero", "@fifo", "@text", "@cut", "@empty", "-F x", "a b", "> x"),
    "stubs": (*ABSURD, "leaf leaf", "> leaf"),
    "threads": ("x", "> x"),
    "trace": ("x", "-1", "1.5", "''", "9" * 40, "1 2", "> x"),
    "trace_clock": ("global", "> local"),
    "trace_options": (*ABSURD, "no", "stacktrace nosuch"),
    "trace_pipe": ("x", "> x"),
    "trace_marker": ("",),
    "touched_functions": ("x", "> x"),
    "tracing_cpumask": (*ABSURD, "g", "0x1", "1,,1", "100", "1 1", ">"),
    "tracing_max_latency": (*ABSURD, "1.5", "1 2", ">"),
    "tracing_on": (*ABSURD, "2", "yes", "0 1", ">"),
    "tracing_thresh": (*ABSURD, "1.5", "1 2", ">"),
    "unpatch": ("", *ABSURD, "do_*", "0x", "0x10", "leaf leaf", "> leaf"),
    "when": ("", "x", "> x"),
    "where": ("x", "> x"),
    "who-wrote": ("", "leaf", "0x10", "$sp", *ABSURD, "> x"),
}


@pytest.fixture(scope="module", params=CONFIGS)
def session(request, tmp_path_factory):
    """One guest for all lines: none of them may change it."""
    place = tmp_path_factory.mktemp("files")
    os.mkfifo(place / "fifo")
    (place / "text").write_text("not a trace\n" * 1000)
    (place / "empty").write_bytes(b"")
    started = Session(lambda: boot(request.param), restart=boot, judge=judge)
    started.place = place
    for line in (
        *("set_ftrace_filter do_* leaf", "set_ftrace_notrace do_tail", "current_tracer function"),
        *("set_event sched:sched_switch", "set_graph_function leaf", "run do_loop"),
        *(f"record -o {place}/whole.dat", "snapshot here"),
    ):
        execute(started, line)
    (place / "cut").write_bytes((place / "whole.dat").read_bytes()[:3000])
    yield started
    started.close()


def judge(spec, clauses, show):
    """As the judge of the command's own session."""
    list(conform([suite_spec(spec.config)], clauses))


def state(session):
    """All of the guest that a verb can change."""
    guest, tracer = session.guest, session.guest.tracer
    text = guest.image.text
    return (
        tracer.current,
        tracer.filter_functions,
        tracer.notrace_functions,
        [str(one) for one in tracer.triggers],
        tracer.trace_options,
        tracer.enabled_events,
        tracer.graph.graph_functions,
        tracer.graph.graph_notrace,
        tracer.graph.max_graph_depth,
        tracer.graph.tracing_thresh,
        tracer.tracing_max_latency,
        (tracer.profiler.enabled, tracer.stack.enabled, tracer.stack.max_size),
        (tracer.stack.filter_functions, guest.collector.cpumask),
        tracer.on,
        [thread.ftrace_ignore for thread in guest.threads()],
        guest.collector.header().cpus[0].entries,
        sorted(guest.debugger.breakpoints.addresses().values()),
        guest.debugger.registers(),
        hashlib.sha256(guest.debugger.dump_memory(text.start, len(text))).digest(),
    )


def refusal(session, line):
    """The error that a line ends with, if it does."""
    try:
        execute(session, line)
    except HarnessError as error:
        return error
    return None


def test_every_verb_has_its_lines():
    assert set(REFUSED) == set(VERBS)


@pytest.mark.parametrize("verb", sorted(REFUSED))
def test_bad_words_are_refused_in_one_line_and_change_nothing(session, verb, capsys):
    guest, before = session.guest, state(session)
    for words in REFUSED[verb]:
        line = f"{verb} {words}".replace("@", f"{session.place}/")
        error = refusal(session, line)
        assert isinstance(error, UsageError | GdbError), line
        assert error.message, line
        assert "\n" not in error.message, line
        assert len(error.message) < 8000, line
        session.complain(error)
        assert "\x1b[2J" not in capsys.readouterr().err, line
    assert session.guest is guest
    assert not session.gone
    assert state(session) == before


@pytest.mark.parametrize(
    "line",
    [
        *("cat", "cat nosuch", "cat trace trace", "echo x > nosuch", "echo > nosuch"),
        *(
            "echo 'open > trace",
            "nonsense",
            "\x1b[2J",
            "b nosuch_at_all:99999999",
            "x/4i (",
            "p 1/0",
        ),
        *("commands", "python", "define x", "while 1", "layout asm", "frame 999", "thread 99"),
        *("x/1i", "source nosuch", "'", '"', "\\", "%s%s%n", "-exec-continue", "a" * 100_000),
    ],
)
def test_lines_that_nobody_understands(session, line, capsys):
    before = state(session)
    error = refusal(session, line)
    assert error is None or (isinstance(error, UsageError | GdbError) and error.message)
    printed = capsys.readouterr()
    assert "\x1b[2J" not in printed.out + printed.err
    assert not session.gone
    assert state(session) == before
