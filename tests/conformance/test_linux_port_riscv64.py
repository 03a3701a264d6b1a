# SPDX-License-Identifier: MIT
"""Linux 6.1's own files of RISC-V: nothing fails but what docs/conform.rst explains.

FTRACE_LINUX_TREES names trees of Linux 6.1, with colons between them.
"""

import pytest

from harness.isa import Form
from tests.support.linux_trees import failed_clauses, on_trees

OF_MCOUNT = {"C2a", "C3b", "C4e", "C5a"}
OF_PATCHABLE = {"C1j", "C5a", "C5g", "C9e", "C14b", "C21a", "C21b"}


@pytest.mark.unsliced
@on_trees
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
    assert failed_clauses(tree, "riscv", form, config, tmp_path / "port") == defects
