# SPDX-License-Identifier: MIT
"""The steps of docs/porting.rst: growing ports, and the output of harness conform --next.

Their parts are copied from the reference ports one after the other.  After the first steps only the
clauses of the step are judged, which keeps it short.
"""

import re

import pytest

from harness.config import load_config, load_port
from support.command import harness

SLOT = "ftrace_update_ftrace_func"
GRAPH_SLOT = ("ftrace_enable_ftrace_graph_caller", "ftrace_disable_ftrace_graph_caller")


class Growing:
    """A port that is written step by step, out of the parts of the reference port."""

    def __init__(self, directory, config):
        self.directory = directory
        self.config = config
        self.reference = load_port(load_config(config).port).directory
        done = harness("port", "new", directory, "-c", config)
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
            (self.directory / name).parent.mkdir(exist_ok=True)
            (self.directory / name).write_text((self.reference / name).read_text())

    def ftrace(self, *missing):
        """Copy the reference port's ftrace.c, with these functions empty."""
        text = (self.reference / "ftrace.c").read_text()
        for name in missing:
            text, count = re.subn(
                rf"(\n\w+ {name}\([^)]*\)\n\{{\n).*?\n\}}\n",
                r"\1\treturn 0;\n}\n",
                text,
                flags=re.S,
            )
            assert count == 1, name
        (self.directory / "ftrace.c").write_text(text)

    def write_patching(self, *own):
        """From make_call to the graph tracer's slot; ``own`` are the architecture's clauses."""
        self.ftrace("ftrace_make_call", SLOT, *GRAPH_SLOT)
        assert self.next("C8", "C9", *own) == ("C9b", "make_call", 1)
        self.ftrace(SLOT, *GRAPH_SLOT)
        assert self.next("C2", "C8", "C9b", "C10") == ("C10a", "slot", 1)
        self.ftrace(*GRAPH_SLOT)
        assert self.next("C2", "C8", "C10", "C11") == ("FUNCTION_GRAPH_TRACER", "graph_slot", 0)
        self.claim("FUNCTION_GRAPH_TRACER")
        assert self.next("C10", "C11") == ("C11c", "graph_slot", 1)
        self.ftrace()

    def next(self, *subjects):
        """The output of --next: the clause or the feature, the step, and the exit status."""
        chosen = [word for subject in subjects for word in ("--clause", subject)]
        done = harness(
            "conform", "-c", self.config, "--port", self.directory, *chosen, "--next", timeout=600
        )
        said = re.search(r"^next: (.*?)(?: (?:.*))?\n(?:  step: (\w+):)?", done.stdout, re.M)
        assert said, (done.stdout, done.stderr)
        return said[1].rstrip(",;"), said[2], done.returncode


@pytest.fixture
def grown(tmp_path):
    return lambda config: Growing(tmp_path / "mine", config)


def test_a_port_for_mips_that_grows(grown, thorough):
    if not thorough:
        pytest.skip("the other one shows it (--all-configs runs it)")
    port = grown("mips-malta")
    assert port.next() == ("C3b", "tracer", 1)
    port.take("mcount.S")
    assert port.next("C1a", "C2", "C3", "C8", "C9") == ("DYNAMIC_FTRACE", "make_nop", 0)
    port.claim("DYNAMIC_FTRACE")
    assert port.next("C8", "C9", "M4", "M5") == ("C9a", "make_nop", 1)
    port.take("long_call.c", "long_call.h", "prologue.c", "prologue.h")
    port.write_patching("M4", "M5")
    assert port.next("C4a", "C5a", "C11", "C13") == ("SYSCALL_TRACEPOINTS", "syscalls", 0)
    port.claim("SYSCALL_TRACEPOINTS")
    assert port.next("C13") == ("C13c", "syscalls", 1)
    port.take("syscall.c")
    assert port.next("C13") == ("nothing", None, 0)


def test_a_port_for_aarch64_that_grows(grown):
    port = grown("aarch64-virt")
    assert port.next() == ("C3b", "tracer", 1)
    port.take("include/asm/ftrace.h", "mcount.S", "return_to_handler.S")
    assert port.next("C1a", "C2", "C3", "C8", "C9") == ("DYNAMIC_FTRACE", "make_nop", 0)
    port.claim("DYNAMIC_FTRACE")
    assert port.next("C8", "C9") == ("C9a", "make_nop", 1)
    port.take("graph.c", "signed_return.c", "signed_return.h")
    port.write_patching()
    port.take("module/ftrace_trampoline.S")
    assert port.next("C4a", "C5a", "C7f", "C9p", "C11", "C13") == (
        "SYSCALL_TRACEPOINTS",
        "syscalls",
        0,
    )
    port.claim("SYSCALL_TRACEPOINTS")
    port.take("syscall.c")
    assert port.next("C13") == ("nothing", None, 0)


def test_system_calls_whose_functions_have_other_names(grown):
    port = grown("aarch64-virt")
    port.claim("SYSCALL_TRACEPOINTS")
    assert port.next("C13g") == ("C13g", "syscalls", 1)
    port.take("include/asm/ftrace.h", "syscall.c")
    assert port.next("C13g") == ("nothing", None, 0)
