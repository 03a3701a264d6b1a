# SPDX-License-Identifier: MIT
"""Paths and texts of tracefs, and lines of the session with a bar or a path."""

import pytest

from harness.errors import UsageError
from harness.shell.output import split_bar
from harness.shell.verb import check, parse
from harness.tracefs import CONTROLS, KNOWN, Directory, File, NoFile, Tracefs, shortened
from harness.tracefs.absent import advice_for
from harness.tracefs.events import _matching
from harness.tracefs.files import switch, word, words
from harness.tracefs.streams import RawPages


@pytest.mark.parametrize(
    ("path", "within"),
    [
        ("trace", "trace"),
        ("/sys/kernel/tracing/trace", "trace"),
        ("/sys/kernel/debug/tracing/events/sched/", "events/sched"),
        ("/sys/kernel/tracing", ""),
        ("./events//enable", "events/enable"),
        ("/sys/kernel/tracing_on", "sys/kernel/tracing_on"),
    ],
)
def test_a_path_within_tracefs(path, within):
    assert shortened(path) == within


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("trace", ("trace", "")),
        ("trace | grep leaf | wc -l", ("trace", "grep leaf | wc -l")),
        ("echo 'a|b' > set_event | cat", ("echo 'a|b' > set_event", "cat")),
        ('"|" | cat', ('"|"', "cat")),
        ("'open | cat", ("'open | cat", "")),
        ("|", ("", "")),
    ],
)
def test_the_part_behind_the_bar(line, parts):
    assert split_bar(line) == parts


@pytest.mark.parametrize(
    ("line", "name", "given", "redirect"),
    [
        ("cat /sys/kernel/tracing/set_event", "set_event", (), ""),
        ("cat events/sched/enable", "events/sched/enable", (), ""),
        ("echo 1 > events/sched/enable", "events/sched/enable", ("1",), ">"),
        ("echo '!leaf' >> set_ftrace_filter", "set_ftrace_filter", ("!leaf",), ">>"),
        ("/sys/kernel/tracing/tracing_on 0", "tracing_on", ("0",), ""),
        ("options/stacktrace 1", "options/stacktrace", ("1",), ""),
        ("cat nosuch", "nosuch", (), ""),
    ],
)
def test_lines_with_paths(line, name, given, redirect):
    verb, arguments = parse(line)
    check(verb, arguments)
    assert (verb.name, arguments.words, arguments.redirect) == (name, given, redirect)


@pytest.mark.parametrize("line", ["/bin/ls", "x/4i $pc", "p a/b", "info line a.c:1", "bt | cat"])
def test_lines_of_gdb(line):
    assert parse(line) is None


def test_texts_that_are_written():
    seen = []
    words(lambda guest, given, append: seen.append((given, append)))(None, " a\tb\n c\n", True)
    assert seen == [(["a", "b", "c"], True)]
    word(lambda guest, text: seen.append(text))(None, "one\n", False)
    assert seen[1] == "one"
    for wrong in ("", "\n", "a b"):
        with pytest.raises(UsageError):
            word(lambda guest, text: seen.append(text))(None, wrong, False)
    held = switch(lambda guest: True, lambda guest, on: seen.append(on), "A switch.")
    assert list(held.read(None)) == ["1"]
    held.write(None, "0\n", False)
    assert seen[2] is False
    with pytest.raises(UsageError):
        held.write(None, "2", False)


def test_a_file_is_either_there_or_known_to_be_absent():
    assert not KNOWN & set(CONTROLS)
    assert all(file.read or file.stream for file in CONTROLS.values())
    assert advice_for("stack_trace")
    assert advice_for("trace_stat/function0")
    assert not advice_for("stack_traces")


def test_names_of_events():
    names = ["sched:sched_switch", "syscalls:sys_enter_write", "raw_syscalls:sys_enter"]
    assert _matching(names, "*:*") == set(names)
    assert _matching(names, "sched:*") == {names[0]}
    assert _matching(names, "raw_syscalls:sys_enter") == {names[2]}


class Guest:
    """A guest of which nothing is asked."""


def tree():
    """A tree of its own, without any guest's files."""

    def refuse(guest, text, append):
        raise UsageError(f"{text!r} is not a tracer")

    def boom(guest, text, append):
        raise AssertionError

    made = Tracefs(Guest())
    made._root = Directory(
        lambda guest: {
            "current_tracer": File("The tracer.", lambda guest: ["nop"], refuse),
            "error_log": File("Errors.", lambda guest: made._error_log(), made._forget_errors),
            "events": Directory(lambda guest: {"enable": File("All.", lambda guest: ["0"])}),
        }
    )
    return made


def test_a_tree_is_walked_and_what_is_not_there_is_said():
    files = tree()
    assert files.names("") == ["current_tracer", "error_log", "events/"]
    assert files.names("events") == ["enable"]
    assert list(files.file("events/enable").read(None)) == ["0"]
    for path, advice in (
        ("curent_tracer", "Did you mean current_tracer?"),
        ("events/enabled", "Did you mean enable?"),
        ("snapshot", "snapshot NAME"),
        ("current_tracer/x", "List the files"),
        ("events", "ls events"),
    ):
        with pytest.raises(NoFile) as caught:
            files.file(path)
        assert advice in caught.value.advice, path


def test_a_refused_write_is_in_the_log():
    files = tree()
    for index in range(10):
        with pytest.raises(UsageError):
            files.write("current_tracer", f"t{index}\n", False)
    log = list(files.file("error_log").read(None))
    assert len(log) == 16
    assert log[0] == "current_tracer: error: 't2\\n' is not a tracer"
    assert log[-1] == "  Command: t9"
    with pytest.raises(UsageError, match="only read"):
        files.write("events/enable", "1", False)
    files.write("error_log", "", False)
    assert not list(files.file("error_log").read(None))


def test_raw_pages_are_given_once(tmp_path):
    class Collector:
        cleared = 0

    from harness.readout import Spool

    collector = Collector()
    collector.spools = [Spool(tmp_path / "cpu0")]
    pages = RawPages(collector, 0)
    collector.spools[0].append(b"A" * 8, b"part")
    assert pages.take(ended=False) == b"A" * 8
    assert pages.take(ended=False) == b""
    collector.spools[0].append(b"B" * 8, b"last")
    assert pages.take(ended=True) == b"B" * 8 + b"last"
    assert pages.take(ended=True) == b""
    collector.spools[0].clear()
    collector.cleared += 1
    collector.spools[0].append(b"C" * 8, b"")
    assert pages.take(ended=False) == b"C" * 8
