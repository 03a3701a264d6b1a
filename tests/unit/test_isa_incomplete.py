# SPDX-License-Identifier: MIT
"""An architecture that is being written: what it lacks is said, and the others work."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness.config import list_configs

ROOT = Path(__file__).parents[2]
"""The repository; the harness under test may be an installed one."""

ARCHITECTURE = """\
from harness.isa.abi import Abi
from harness.isa.asm_syntax import AsmSyntax
from harness.isa.base import Isa
from harness.isa.cpu import Cpu
from harness.isa.sites import Sites

class NewSites(Sites):
    pass

class NewAbi(Abi):
    pass

class NewAsmSyntax(AsmSyntax):
    pass

class NewCpu(Cpu):
    pass

class New(Isa):
    name = "new"
    elf_machine = 258
    sites_type, abi_type = NewSites, NewAbi
    asm_syntax_type, cpu_type = NewAsmSyntax, NewCpu
"""


@pytest.fixture
def done_by(tmp_path):
    """Writes a package for an architecture and a config; what a command does then.

    ``without`` is a line that the config does not have.
    """

    def run(text, *arguments, without=""):
        copy = tmp_path / "harness"
        source = Path(harness.__file__).parent
        shutil.copytree(source, copy, ignore=shutil.ignore_patterns("data", "__pycache__"))
        for name in ("guests", "qemu-configs"):
            shutil.copytree(ROOT / name, copy / "data" / name)
        (copy / "isa" / "new").mkdir()
        (copy / "isa" / "new" / "__init__.py").write_text(text)
        (copy / "data" / "guests" / "arch" / "new").mkdir()
        configs = copy / "data" / "qemu-configs"
        old = (configs / "mips-malta.toml").read_text()
        new = old.replace('architecture = "mips"', 'architecture = "new"')
        (configs / "new-virt.toml").write_text(new.replace(without, ""))
        command = "from harness.cli import main; main()"
        return subprocess.run(
            [sys.executable, "-P", "-c", command, *arguments],
            env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("raise ImportError('half of it')", "cannot be imported: ImportError('half of it')"),
        ("", "has 0 subclasses of Isa, and not one"),
        (ARCHITECTURE, "New._capstone, New.direct_call, NewSites.call_relocations"),
        (ARCHITECTURE, "NewCpu.fatal_entry, NewCpu.fault"),
        (ARCHITECTURE.replace('    name = "new"\n', ""), "New.name"),
    ],
)
def test_what_is_missing_is_said_and_the_others_are_listed(text, said, done_by):
    done = done_by(text, "list", "configs")
    assert done.returncode == 2, done.stderr
    assert "harness.isa.new" in done.stderr
    assert said in done.stderr
    assert "docs/adding-an-architecture.rst" in done.stderr
    rows = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert rows == list_configs()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "harness.isa.new has 0 subclasses of Isa"),
        (ARCHITECTURE, "harness.isa.new is incomplete; it has no New._capstone"),
    ],
)
def test_the_doctor_looks_at_the_tools_all_the_same(text, said, done_by):
    done = done_by(text, "doctor", "-c", "new-virt", without='inject = "software-interrupt"\n')
    lines = [line for line in done.stdout.splitlines() if "new-virt: " in line]
    names = [re.search("new-virt: (\\w+)", line)[1] for line in lines]
    assert names == ["machine", "compiler", "architecture"], done.stderr
    assert lines[2].startswith("MISSING")
    assert said in lines[2]
