# SPDX-License-Identifier: MIT
"""``harness conform`` on a terminal: its spinner, its colours, Ctrl-C."""

import os
import re
from pathlib import Path

import pexpect
import pytest

from harness.config import list_configs
from support.command import HARNESS, children
from support.terminal import Terminal

SPINNER = re.compile("[\N{BRAILLE PATTERN BLANK}-\N{BRAILLE PATTERN DOTS-12345678}]")
JUDGE = ("conform", "-c", "mips-malta", "--clause", "C9a")


def test_ctrl_c_ends_it_in_the_session(tmp_path):
    with Terminal("shell", "-c", "mips-malta", state_home=tmp_path) as terminal:
        terminal.wait("or help.")
        terminal.type("conform C9\r")
        # A worker may not have begun when they are counted.
        terminal.wait("1 of 4 builds")
        assert children(terminal.child.pid, "python") != []
        terminal.control("c")
        terminal.wait("(interrupted)", " | ")
        assert "4 of 4 builds" not in terminal.text
        assert children(terminal.child.pid, "python") == []
        terminal.do("p 6*7", "$1 = 42")
        terminal.do("current_tracer function", "tracer function")
        terminal.do("run workload_done", "the workload has returned 0")


def test_verdicts_have_colours_in_the_session(tmp_path):
    with Terminal("shell", "-c", "mips-malta", state_home=tmp_path) as terminal:
        terminal.wait("or help.")
        terminal.do("conform C9a", "port mips: 0 findings", "1 pass")
        row = next(
            number for number, line in enumerate(terminal.screen.display) if "0 findings" in line
        )
        assert terminal.screen.buffer[row][0].fg == "green"
        terminal.do("conform C9a | grep -c finding", "1")


def test_ctrl_c_ends_the_command(tmp_path):
    with Terminal("conform", "-c", "mips-malta", state_home=tmp_path) as terminal:
        terminal.wait("builds")
        workers = children(terminal.child.pid, "python")
        assert workers
        terminal.control("c")
        assert terminal.end() == 130, terminal.text
        assert "harness: interrupted" in terminal.text
        assert not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


@pytest.mark.parametrize("colours", [True, False])
def test_the_spinner_and_the_output_have_lines_of_their_own(tmp_path, colours):
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm", "XDG_STATE_HOME": str(tmp_path)}
    environment |= {} if colours else {"NO_COLOR": "1"}
    child = pexpect.spawn(HARNESS, list(JUDGE), env=environment, timeout=120)
    shown = child.read().decode()
    child.close()
    assert child.exitstatus == 0
    # What a line of the terminal had is erased before anything else is written there.
    for line in shown.split("\n"):
        *_, last = re.split(r"\x1b\[2?K", line)
        assert not (SPINNER.search(last) and re.search("finding|clause", last))
    assert SPINNER.search(shown)
    assert ("\x1b[32mmips-malta, port mips: 0 findings" in shown) == colours


def test_several_configs_are_told_one_after_the_other(tmp_path):
    configs = [name for name in list_configs() if name in ("mips-malta", "mipsel-malta")]
    arguments = [word for name in configs for word in ("-c", name)]
    with Terminal("conform", *arguments, "--clause", "C9a", state_home=tmp_path) as terminal:
        terminal.wait("mips-malta, port mips: 0 findings")
        assert "mipsel-malta, port mips: 0 findings" not in terminal.text
        assert terminal.end() == 0
        assert "mipsel-malta, port mips: 0 findings" in terminal.text
