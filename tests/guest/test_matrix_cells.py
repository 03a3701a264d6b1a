# SPDX-License-Identifier: MIT
"""Cells of the matrix on live guests: right ones pass and repeat, a planted fault is found."""

from dataclasses import replace

import pytest

from harness.matrix import expand, load_matrix
from harness.matrix.result import read_findings
from harness.matrix.work import do_cell

NAMES = [
    "mips-malta/static/gcc-O2-auto/calls",
    "mips64el-malta/graph/gcc-O2-auto/calls",
    "aarch64-virt-patchable/dynamic/gcc-O2-auto/calls",
]
WRONG = """
static int __attribute__((noipa)) one(void) { return 2; }
int workload(void) { return one() == 1 ? 0 : 41; }
"""


def cell(name):
    return next(one for one in expand(load_matrix()).cells if one.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_a_cell_passes_and_takes_the_same_instructions_again(tmp_path, name):
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
    assert (tmp_path / "trace.dat").stat().st_size > 0


def test_a_wrong_answer_fails_its_cell(tmp_path):
    (tmp_path / "wrong.c").write_text(WRONG)
    wrong = replace(cell(NAMES[0]), subject=str(tmp_path / "wrong.c"))
    assert not do_cell(wrong, tmp_path)
    answer, events = read_findings(tmp_path).verdicts
    assert answer.message == "check 41 of the workload is wrong under the tracer"
    assert events.verdict == "pass"
