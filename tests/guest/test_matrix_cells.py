# SPDX-License-Identifier: MIT
"""Cells of the matrix on live guests: correct ones pass and repeat, a planted fault is found."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from harness.matrix import expand, load_matrix
from harness.matrix.declared import Declared
from harness.matrix.result import read_findings
from harness.matrix.work import do_cell
from matrix_drafts import AXES

NAMES = [
    "mips-malta/static/gcc-O2-auto/calls",
    "mips64el-malta/graph/gcc-O2-auto/calls",
    "aarch64-virt-patchable/dynamic/gcc-O2-auto/calls",
    "mips-malta/graph/clang-O2-auto/calls",
]
LONG = NAMES[1:3]
ROOT = Path(__file__).parents[2]
PLANTED = ["mips-malta/graph/gcc-O2-auto/returns", "mips-malta/dynamic/gcc-O2-auto/calls"]
WRONG = """
static int __attribute__((noipa)) one(void) { return 2; }
int workload(void) { return one() == 1 ? 0 : 41; }
"""


@cache
def cells():
    return {one.name: one for one in expand(load_matrix()).cells}


def cell(name):
    return cells()[name]


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_passes_and_takes_the_same_instructions_again(tmp_path, name, thorough):
    if name in LONG and not thorough:
        pytest.skip("two of them show it (--all-configs runs it)")
    numbers = set()
    for _ in range(2):
        assert do_cell(cell(name), tmp_path)
        findings = read_findings(tmp_path)
        assert [(one.name, one.verdict) for one in findings.verdicts] == [
            ("answer", "pass"),
            ("events", "pass"),
        ]
        numbers.add(findings.instructions)
    (number,) = numbers
    assert number > 800
    make, qemu = (tmp_path / "guest.txt").read_text().splitlines()
    assert make.startswith("make ")
    assert f"FORM={cell(name).machine.build.form}" in make
    assert f"-cpu {cell(name).machine.qemu.cpu}" in qemu
    assert (tmp_path / "trace.dat").stat().st_size > 0


def test_a_cell_of_another_version(tmp_path):
    """The installed one, by its full name and from its own directory."""
    machine = cell(NAMES[0]).machine
    qemu = Path(shutil.which(machine.qemu.binary)).parent
    prefix = machine.build.cross_compile
    version = subprocess.check_output([f"{prefix}gcc", "-dumpversion"], text=True).split(".")[0]
    gcc = f"gcc-{version.strip()}"
    if shutil.which(prefix + gcc) is None:
        pytest.skip(f"there is no {prefix}{gcc}")
    chosen = {one.name: one for one in Declared(None, None, qemu, (gcc,)).expand().cells}
    assert do_cell(chosen[NAMES[0]], tmp_path)
    make, command = (tmp_path / "guest.txt").read_text().splitlines()
    assert f" COMPILER={gcc} " in make
    assert command.startswith(f"{qemu / machine.qemu.binary} ")


def test_instructions_that_do_not_repeat_are_not_told(tmp_path):
    """The time that one CPU waits for another depends on the host."""
    for work, counted in (("sort", True), ("smp", False)):
        assert do_cell(cell(f"aarch64-virt-smp/dynamic/gcc-O2-auto/{work}"), tmp_path)
        assert (read_findings(tmp_path).instructions is not None) == counted


def test_a_wrong_answer_fails_its_cell(tmp_path):
    (tmp_path / "wrong.c").write_text(WRONG)
    wrong = replace(cell(NAMES[0]), subject=str(tmp_path / "wrong.c"))
    assert not do_cell(wrong, tmp_path)
    answer, events = read_findings(tmp_path).verdicts
    assert answer.message == "the workload returned 41 under the tracer"
    assert events.verdict == "pass"


@pytest.fixture
def project(tmp_path):
    """A small repository with the sources of the guests, and a function that runs in it."""
    clone = tmp_path / "clone"
    for name in ("harness", "guests", "qemu-configs"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", clone)
    git(clone, "init", "-q")
    git(clone, "add", ".")
    git(clone, "commit", "-q", "-m", "a port that is right")
    return clone


def git(clone, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", clone, *who, *arguments], check=True)


def matrix(clone, *arguments):
    """The output of ``harness matrix`` there, and its status."""
    path = os.pathsep.join([str(clone), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", "from harness.cli import main; main()", "matrix", *arguments],
        cwd=clone,
        env={**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr, done.returncode


def night(clone, number, cells):
    """Run cells at what is committed; the report compares with the night before."""
    history = ["--history", str(clone.parent / "history.sqlite")]
    directory = str(clone.parent / f"night{number}")
    said, status = matrix(clone, "run", "-o", directory, *history, *cells)
    assert status in (0, 1), said
    return matrix(clone, "report", *history)


def change(clone, old, new, port="guests/ports/mips"):
    stubs = clone / port / "mcount.S"
    text = stubs.read_text()
    assert text.count(old) == 1
    stubs.write_text(text.replace(old, new))
    git(clone, "commit", "-q", "-a", "-m", "a change of the port")


def test_the_report_finds_planted_regressions_and_nothing_else(project):
    said, status = night(project, 1, PLANTED)
    assert status == 0, said
    assert "2 of 2 cells passed" in said
    # Every return takes a few instructions more.
    change(project, "\tmove\t$ra, $v0\n", "\t.rept 20\n\tnop\n\t.endr\n\tmove\t$ra, $v0\n")
    said, status = night(project, 2, PLANTED)
    assert status == 1, said
    slower, again, summary = said.splitlines()
    assert re.fullmatch(rf"slower: {PLANTED[0]}: \d+ to \d+ guest instructions, \+\d+\.\d%", slower)
    assert again == f"    harness matrix cell {PLANTED[0]}"
    assert "2 of 2 cells passed; 0 broke, 0 mended, 0 flaky, 1 slower" in summary
    # The second register of a return value is lost.
    change(project, "\tLONG_L\t$v1, RETURN_SAVED(1)($sp)\n", "\tnop\n")
    said, status = night(project, 3, PLANTED)
    assert status == 1, said
    broke, again, summary = said.splitlines()
    what = r"check_return_\w+ of the workload failed under the tracer"
    assert re.fullmatch(f"broke: {PLANTED[0]} answer: {what}", broke)
    assert "1 of 2 cells passed; 1 broke, 0 mended, 0 flaky, 0 slower" in summary


OWN = f"""
port = "port"
configs = ["mips-malta"]
modes = ["graph"]
{AXES}calls = {{ kind = "workload", workload = "calls" }}
returns = {{ kind = "workload", workload = "returns" }}
"""


def test_a_port_with_a_repository_of_its_own_has_nights_of_its_own(tmp_path):
    """The fault is in a stub there, and its revisions make the history."""
    mine = tmp_path / "mine"
    shutil.copytree(ROOT / "guests" / "ports" / "mips", mine / "port")
    (mine / "matrix.toml").write_text(OWN)
    git(mine, "init", "-q")
    git(mine, "add", ".")
    git(mine, "commit", "-q", "-m", "a port that is right")
    cells = ["--matrix", "matrix.toml", "*returns"]
    assert "1 of 1 cells passed" in night(mine, 1, cells)[0]
    change(mine, "\tLONG_L\t$v1, RETURN_SAVED(1)($sp)\n", "\tnop\n", "port")
    said, status = night(mine, 2, [*cells, "--changed-since", "HEAD^"])
    assert status == 1, said
    assert said.startswith(f"broke: {PLANTED[0]} answer: check_return_")
    assert f"    harness matrix cell --matrix {mine}/matrix.toml {PLANTED[0]}\n" in said
