# SPDX-License-Identifier: MIT
"""Linux 6.1's own files of arm: nothing fails but what docs/conform.rst explains.

FTRACE_LINUX_TREES names trees of Linux 6.1, with colons between them.
"""

import os
from pathlib import Path

import pytest

from harness.config import load_port
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.kbuild.linux_port import import_port

TREES = [Path(tree) for tree in os.environ.get("FTRACE_LINUX_TREES", "").split(":") if tree]


@pytest.mark.unsliced
@pytest.mark.skipif(not TREES, reason="FTRACE_LINUX_TREES names no trees of Linux 6.1")
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
@pytest.mark.parametrize(
    ("config", "defects"),
    [
        ("arm-virt", {"C4a"}),
        ("arm-virt-smp", {"C4a"}),
        ("arm-virt-thumb", {"C4a", "C9j", "C14b"}),
        ("arm-virt-thumb-smp", {"C4a", "C9j", "C14b"}),
    ],
)
def test_what_is_left_of_linux_is_its_defects(tree, config, defects, tmp_path):
    import_port(tree, "arm", tmp_path / "port")
    (report,) = conform([suite_spec(config, load_port(tmp_path / "port"))])
    assert {one.clause for one in report.failed} == defects
