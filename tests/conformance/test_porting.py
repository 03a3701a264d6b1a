# SPDX-License-Identifier: MIT
"""The beginning of docs/porting.rst: a port that grows, and what harness conform --next says.

Its parts are the reference port's.  Behind the first step only some clauses are looked at, which
keeps it short.
"""

import re

import pytest

from harness.config import load_port
from support.command import harness

CONFIG = "mips-malta"
REFERENCE = load_port("mips").directory


class Growing:
    """A port that is written step by step."""

    def __init__(self, directory):
        self.directory = directory
        done = harness("port", "new", directory, "-c", CONFIG)
        assert done.returncode == 0, done.stderr

    def claim(self, *features):
        """Take the # away from words of port.toml."""
        file = self.directory / "port.toml"
        text = file.read_text()
        for feature in features:
            assert f'# "{feature}"' in text
            text = text.replace(f'# "{feature}"', f'"{feature}"')
        file.write_text(text)

    def take(self, *names):
        """Files of the reference port."""
        for name in names:
            (self.directory / name).write_text((REFERENCE / name).read_text())

    def next(self, *subjects):
        """What --next says: the clause or the feature, the step, and the exit status."""
        chosen = [word for subject in subjects for word in ("--clause", subject)]
        done = harness(
            "conform", "-c", CONFIG, "--port", self.directory, *chosen, "--next", timeout=600
        )
        said = re.search(r"^next: (.*?)(?: (?:.*))?\n(?:  step: (\w+):)?", done.stdout, re.M)
        assert said, (done.stdout, done.stderr)
        return said[1].rstrip(",;"), said[2], done.returncode


@pytest.fixture
def port(tmp_path):
    return Growing(tmp_path / "mine")


def test_a_port_that_grows(port):
    seen = []

    def step(*subjects):
        seen.append(port.next(*subjects))

    step()
    port.take("mcount.S")
    step("C1a", "C2", "C3", "C8", "C9")
    port.claim("DYNAMIC_FTRACE")
    step("C8", "C9", "M4", "M5")
    assert seen == [
        ("C3b", "tracer", 1),
        ("DYNAMIC_FTRACE", "make_nop", 0),
        ("C9a", "make_nop", 1),
    ]
