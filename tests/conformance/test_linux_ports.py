# SPDX-License-Identifier: MIT
"""Linux 6.1's own files of MIPS and arm64: nothing fails but what docs/conform.rst explains.

FTRACE_LINUX_TREES names trees of Linux 6.1, with colons between them.
"""

import os
from pathlib import Path

import pytest

from harness.config import load_config, load_port
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.isa import Form
from harness.kbuild.linux_port import import_port

TREES = [Path(tree) for tree in os.environ.get("FTRACE_LINUX_TREES", "").split(":") if tree]


@pytest.mark.unsliced
@pytest.mark.skipif(not TREES, reason="FTRACE_LINUX_TREES names no trees of Linux 6.1")
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
@pytest.mark.parametrize(
    ("arch", "config", "defects"),
    [
        ("mips", "mips-malta", {"C2a", "C4d", "C4f", "C4i", "C9e"}),
        ("mips", "mips-malta-ra", {"C2a", "C4d", "C9e"}),
        ("mips", "mips64el-malta-ra", {"C2a", "C4d", "C9e"}),
        ("arm64", "aarch64-virt", {"C4b"}),
        ("arm64", "aarch64-virt-regs", {"C9e"}),
        ("arm64", "aarch64-virt-bti-pac-patchable", {"C9e"}),
    ],
)
def test_what_is_left_of_linux_is_its_defects(tree, arch, config, defects, tmp_path):
    patchable = load_config(config).build.form is Form.PATCHABLE_ENTRY
    form = Form.PATCHABLE_ENTRY if patchable else Form.MCOUNT
    import_port(tree, arch, tmp_path / "port", form)
    (report,) = conform([suite_spec(config, load_port(tmp_path / "port"))])
    assert {one.clause for one in report.failed} == defects
