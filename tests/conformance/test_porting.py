# SPDX-License-Identifier: MIT
"""The steps of docs/porting.rst: a growing port, and the output of harness conform --next.

Its parts are copied from the reference port one after the other.  After the first steps only the
clauses of the step are judged, which keeps it short.
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
        """Uncomment words of port.toml."""
        file = self.directory / "port.toml"
        text = file.read_text()
        for feature in features:
            assert f'# "{feature}"' in text
            text = text.replace(f'# "{feature}"', f'"{feature}"')
        file.write_text(text)

    def take(self, *names):
        """Copy files of the reference port."""
        for name in names:
            (self.directory / name).write_text((REFERENCE / name).read_text())

    def ftrace(self, *missing):
        """Copy the reference port's ftrace.c, with these functions empty."""
        text = (REFERENCE / "ftrace.c").read_text()
        for name in missing:
            text, count = re.subn(
                rf"(\n\w+ {name}\([^)]*\)\n\{{\n).*?\n\}}\n",
                r"\1\treturn 0;\n}\n",
                text,
                flags=re.S,
            )
            assert count == 1, name
        (self.directory / "ftrace.c").write_text(text)

    def next(self, *subjects):
        """The output of --next: the clause or the feature, the step, and the exit status."""
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
    port.take("long_call.c", "long_call.h", "prologue.c", "prologue.h")
    port.ftrace(
        "ftrace_make_call",
        "ftrace_update_ftrace_func",
        "ftrace_enable_ftrace_graph_caller",
        "ftrace_disable_ftrace_graph_caller",
    )
    step("C8", "C9", "M4", "M5")
    port.ftrace(
        "ftrace_update_ftrace_func",
        "ftrace_enable_ftrace_graph_caller",
        "ftrace_disable_ftrace_graph_caller",
    )
    step("C2", "C8", "C9b", "C10")
    port.ftrace("ftrace_enable_ftrace_graph_caller", "ftrace_disable_ftrace_graph_caller")
    step("C2", "C8", "C10", "C11")
    port.claim("FUNCTION_GRAPH_TRACER")
    step("C10", "C11")
    port.ftrace()
    step("C4a", "C5a", "C11", "C13")
    port.claim("SYSCALL_TRACEPOINTS")
    step("C13")
    port.take("syscall.c")
    step("C13")
    assert seen == [
        ("C3b", "tracer", 1),
        ("DYNAMIC_FTRACE", "make_nop", 0),
        ("C9a", "make_nop", 1),
        ("C9b", "make_call", 1),
        ("C10a", "slot", 1),
        ("FUNCTION_GRAPH_TRACER", "graph_slot", 0),
        ("C11c", "graph_slot", 1),
        ("SYSCALL_TRACEPOINTS", "syscalls", 0),
        ("C13c", "syscalls", 1),
        ("nothing", None, 0),
    ]
