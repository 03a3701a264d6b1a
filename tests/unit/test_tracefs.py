# SPDX-License-Identifier: MIT
"""Paths and texts of tracefs, and lines of the session with a bar or a path."""

import errno

import pytest

from harness.errors import GuestError, HostError, UsageError
from harness.mount import check_directory
from harness.mount.handles import Handle, errno_of
from harness.readout import Spool
from harness.ring import PageFormat, decode_page
from harness.shell.output import split_bar
from harness.shell.verb import check, parse
from harness.tracefs import CONTROLS, KNOWN, UNLIMITED, Directory, File, NoFile, Tracefs, shortened
from harness.tracefs.absent import advice_for
from harness.tracefs.events import _matching
from harness.tracefs.files import switch, word, words
from harness.tracefs.streams import RawPages
from ring_encoder import PageEncoder, function_payload

FORM = PageFormat("big", 4, 4096)


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
    assert all(file.read or file.stream or file.write for file in CONTROLS.values())
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


def numbers(pages):
    """The parents of the events in some pages."""
    size = FORM.page_size
    return [
        int.from_bytes(record.payload[-4:], FORM.byteorder)
        for at in range(0, len(pages), size)
        for record in decode_page(pages[at : at + size], FORM)
    ]


class Collector:
    """As much of a collector as a stream of pages looks at."""

    format = FORM
    cleared = 0

    def __init__(self, directory):
        self.spools = [Spool(directory / "cpu0")]


def page_of(count):
    """A page with events numbered from 0."""
    page = PageEncoder(FORM.byteorder, FORM.long_size)
    for number in range(count):
        page.event(1, function_payload(FORM.byteorder, FORM.long_size, 1, number))
    return page.page()


def test_each_event_is_in_one_raw_page(tmp_path):
    collector = Collector(tmp_path)
    pages = RawPages(collector, 0)
    spool = collector.spools[0]
    spool.append(page_of(5), page_of(2))
    assert numbers(pages.take(False)) == [0, 1, 2, 3, 4]
    assert pages.take(False) == b""
    assert numbers(pages.take(True)) == [0, 1]
    assert pages.take(True) == b""
    spool.append(page_of(4), page_of(1))
    assert numbers(pages.take(False)) == [2, 3]
    assert numbers(pages.take(True)) == [0]
    spool.clear()
    collector.cleared += 1
    spool.append(page_of(1), b"")
    assert numbers(pages.take(False)) == [0]


class Tree:
    """What is written to a file, in order."""

    def __init__(self):
        self.written = []

    def write(self, path, text, append):
        if "wrong" in text:
            raise UsageError("a wrong word")
        self.written.append((text.split(), append))


def opened(takes="[> | >>] [GLOB...]", most=UNLIMITED, **how):
    file = File("A file.", lambda guest: ["one", "two"], lambda *given: None, takes, most)
    return Handle("file", file, 1, **how)


def test_words_that_are_written_in_pieces():
    tree, handle = Tree(), opened(replaces=True)
    for piece in (b"le", b"af do_", b"inner\nx"):
        handle.write(tree, piece)
    handle.flush(tree)
    handle.release(tree)
    assert tree.written == [(["leaf"], False), (["do_inner"], True), (["x"], True)]


def test_what_an_empty_write_clears():
    for takes, cleared in (("[> | >>] [GLOB...]", [([], False)]), ("[TRACER]", [])):
        tree, handle = Tree(), opened(takes, replaces=True)
        handle.flush(tree)
        assert tree.written == []
        handle.release(tree)
        assert tree.written == cleared
    tree, handle = Tree(), opened()
    handle.write(tree, b"\n")
    handle.release(tree)
    assert tree.written == [([], True)]


def test_a_refused_word_does_not_come_back():
    tree, handle = Tree(), opened()
    with pytest.raises(UsageError):
        handle.write(tree, b"wrong\n")
    handle.write(tree, b"right\n")
    assert tree.written == [(["right"], True)]
    one = opened("[0 | 1]", most=1, replaces=True)
    one.write(tree, b"1")
    assert tree.written[1:] == [(["1"], False)]


def test_a_text_is_made_when_its_reading_begins():
    class Files:
        guest = None

    handle = opened()
    assert handle.read(Files, 0, 5) == b"one\nt"
    assert handle.read(Files, 5, 100) == b"wo\n"
    assert handle.read(Files, 8, 100) == b""


@pytest.mark.parametrize(
    ("error", "number"),
    [
        (NoFile("x"), errno.ENOENT),
        (UsageError("x"), errno.EINVAL),
        (GuestError("x"), errno.EIO),
        (HostError("x"), errno.ENODEV),
    ],
)
def test_the_errno_of_an_error(error, number):
    assert errno_of(error) == number


def test_a_directory_to_mount_on(tmp_path):
    check_directory(tmp_path)
    (tmp_path / "file").touch()
    for wrong in (tmp_path, tmp_path / "file", tmp_path / "nosuch"):
        with pytest.raises(UsageError):
            check_directory(wrong)
