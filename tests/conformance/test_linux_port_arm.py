# SPDX-License-Identifier: MIT
"""Linux 6.1's own files of arm: nothing fails but what docs/conform.rst explains.

FTRACE_LINUX_TREES names trees of Linux 6.1, with colons between them.
"""

import pytest

from tests.support.linux_trees import failed_clauses, on_trees


@pytest.mark.unsliced
@on_trees
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
    assert failed_clauses(tree, "arm", None, config, tmp_path / "port") == defects
