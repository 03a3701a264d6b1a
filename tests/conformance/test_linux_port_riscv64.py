# SPDX-License-Identifier: MIT
"""Linux 6.1's own files of RISC-V: nothing fails but what docs/conform.rst explains.

FTRACE_LINUX_TREES names trees of Linux 6.1, with colons between them.
"""

import os
from pathlib import Path

import pytest

from harness.config import load_port
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.isa import Form
from harness.kbuild.linux_port import import_port

TREES = [Path(tree) for tree in os.environ.get("FTRACE_LINUX_TREES", "").split(":") if tree]
OF_MCOUNT = {"C2a", "C3b", "C4e", "C5a"}
OF_PATCHABLE = {"C1j", "C5a", "C5g", "C9e", "C14b", "C21a", "C21b"}


@pytest.mark.unsliced
@pytest.mark.skipif(not TREES, reason="FTRACE_LINUX_TREES names no trees of Linux 6.1")
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
@pytest.mark.parametrize(
    ("config", "form", "defects"),
    [
        ("riscv64-virt", Form.MCOUNT, OF_MCOUNT),
        ("riscv64-virt-smp", Form.MCOUNT, OF_MCOUNT),
        ("riscv64-virt-compressed", Form.MCOUNT, OF_MCOUNT),
        ("riscv64-virt-patchable", Form.PATCHABLE_ENTRY, OF_PATCHABLE),
        ("riscv64-virt-compressed-patchable", Form.PATCHABLE_ENTRY, {*OF_PATCHABLE, "C9j"}),
    ],
)
def test_what_is_left_of_linux_is_its_defects(tree, config, form, defects, tmp_path):
    import_port(tree, "riscv", tmp_path / "port", form)
    (report,) = conform([suite_spec(config, load_port(tmp_path / "port"))])
    assert {one.clause for one in report.failed} == defects
