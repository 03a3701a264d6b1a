# SPDX-License-Identifier: MIT
"""gdb's surroundings in the session: the user's directory and shell, and what gdb cannot do."""

import pytest

from support.command import harness
from support.terminal import Terminal

CONFIGS = ["mips-malta"]

READY = "or help."


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """The user's directory, with a name that is difficult to quote."""
    place = tmp_path / 'my "gdb" dir\'s'
    place.mkdir()
    (place / "my.gdb").write_text("p 6*7\necho of my file\\n\n")
    (place / "below").mkdir()
    monkeypatch.chdir(place)
    return place


def test_gdb_works_in_the_users_directory(config, directory, tmp_path):
    with Terminal("shell", "-c", config, state_home=tmp_path) as terminal:
        terminal.wait(READY)
        terminal.do("source my.gdb", "= 42", "of my file")
        terminal.do("!ls", "\nbelow  my.gdb\n")
        terminal.do("shell echo one; echo two; ls /nosuch", "\none\ntwo\n", "No such file")
        terminal.do("p $_shell_exitcode != 0", "= 1")
        terminal.do("gdb shell echo three", "\nthree\n")
        terminal.do("dump binary memory leaf.bin leaf leaf+4")
        assert (directory / "leaf.bin").stat().st_size == 4
        terminal.do("cd below")
        terminal.do("insmod callbacks", " | ")
        terminal.do("!pwd", "dir's/below\n")
        terminal.do("lsmod", "callbacks  0x")
        # The terminal is the command's own.
        terminal.do("!echo ready; read answer; echo it was $answer", "\nready", ready="")
        terminal.type("yes\r")
        terminal.wait("it was yes")
        # It is cat that is interrupted: a shell may lose a signal between two commands.
        terminal.do("!cat ../my.gdb -", "of my file", ready="")
        terminal.control("c")
        terminal.do("p 6*8", "= 48")


def test_what_gdb_cannot_do_here_is_said(config, tmp_path):
    with Terminal("shell", "-c", config, state_home=tmp_path) as terminal:
        terminal.wait(READY)
        for line in ("tui enable", "layout asm", "lay src", "gdb focus cmd"):
            terminal.do(line, "gdb has no terminal of its own here", "See: list, disasm")
        terminal.do("define twice", "takes more than a line", "source")


def test_a_line_that_gdb_refuses_is_the_scripts_fault(config, tmp_path):
    script = tmp_path / "script"
    for line, message in (
        ("nosuchcommand", "Undefined command"),
        ("source /nosuch.gdb", "No such file"),
        ("p nosuch", 'No symbol "nosuch"'),
        ("layout asm", "gdb has no terminal"),
    ):
        script.write_text(f"!echo first\n{line}\n!echo never\n")
        done = harness("shell", "-c", config, "-x", script)
        assert done.returncode == 2, done.stderr
        assert f"{script}:2: " in done.stderr
        assert message in done.stderr
        assert done.stdout.splitlines()[-1:] == ["first"]
