# SPDX-License-Identifier: MIT
"""The first steps of README.rst, followed to the letter."""

import re
import subprocess
from pathlib import Path

import pytest

from support.command import HARNESS

README = Path(__file__).parents[2] / "README.rst"
BLOCK = r"::\n\n((?:    .*\n|\n)+)"

OTHERS = ("path/to/your/port", "harness port new", "./my-port")
"""Of a port that the reader has; docs/porting.rst has a test of its own for a new one."""


@pytest.fixture(scope="module")
def steps():
    """The text of my_program.c, and the commands."""
    section = README.read_text().partition("\nFirst steps\n")[2].partition("\n``harness shell``")[0]
    program, commands = (re.sub(r"(?m)^    ", "", one) for one in re.findall(BLOCK, section))
    lines = [line for line in commands.splitlines() if line]
    return program, [line for line in lines if not any(word in line for word in OTHERS)]


def test_the_first_steps(steps, tmp_path):
    program, commands = steps
    (tmp_path / "my_program.c").write_text(program)
    assert len(commands) > 9
    printed = {}
    for command in commands:
        line = command.replace(".venv/bin/harness", HARNESS)
        done = subprocess.run(
            line, shell=True, cwd=tmp_path, capture_output=True, text=True, input="", timeout=120
        )
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), f"{command}\n{done}"
        printed[command] = done.stdout
    top = next(text for command, text in printed.items() if " top " in command)
    assert "compare_ascending" in top
    own = next(text for command, text in printed.items() if "my_program.c" in command)
    assert re.search(r"[1-9]\d* events, 0 lost, ended by workload_done", own)
    assert (tmp_path / "trace.html").stat().st_size > 10_000
