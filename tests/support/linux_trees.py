# SPDX-License-Identifier: MIT
"""The trees of Linux that FTRACE_LINUX_TREES names, with colons between them, and their ports."""

import os
from pathlib import Path

import pytest

from harness.config import load_port
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.isa import Form
from harness.kbuild.linux_port import import_port

TREES = [Path(tree) for tree in os.environ.get("FTRACE_LINUX_TREES", "").split(":") if tree]


def on_trees(test):
    """A test with the parameter ``tree``: once for each of them, and skipped without any."""
    each = pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
    none = pytest.mark.skipif(not TREES, reason="FTRACE_LINUX_TREES names no trees of Linux")
    return none(each(test))


def failed_clauses(tree: Path, arch: str, form: Form | None, config: str, port: Path) -> set[str]:
    """The required clauses that the tree's own files fail; ``port`` is the directory to make."""
    import_port(tree, arch, port, form)
    (report,) = conform([suite_spec(config, load_port(port))])
    return {one.clause for one in report.failed}
