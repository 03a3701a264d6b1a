# SPDX-License-Identifier: MIT
"""Ports with words of [kernel]: correct ones still pass, and the defects of Linux's are found.

FTRACE_LINUX_TREES names trees of Linux 6.1 and 6.12, with colons between them.
"""

import pytest

from harness.config import KernelFile, load_config, load_port
from harness.conformance.reports.report import lines
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import Verdict
from harness.isa import Form
from harness.kbuild.linux_tree import LinuxTree
from tests.support.linux_trees import failed_clauses, on_trees

KERNEL = KernelFile(
    nested_functions=False,
    floating_point=False,
    FRAME_WARN=1024,
    call_target="ftrace_caller",
    tracers="kernel",
    sites_told_by="address",
    KPROBES=True,
    retp="cookie",
)
"""All words that a port may keep to and go beyond."""

STEMS = ("C1", "C5", "C9", "C10", "C12")


@pytest.mark.parametrize("config", ["mips64el-malta-ra", "aarch64-virt"])
def test_a_port_that_does_more_than_its_kernel_asks_for_passes(config):
    port = load_port(load_config(config).port).model_copy(update={"kernel": KERNEL})
    (report,) = conform([suite_spec(config, port)], STEMS)
    assert not report.failed, "\n".join(lines(report, ["harness", "conform"]))
    verdicts = {one.clause: (one.verdict, one.reason) for one in report.results}
    for clause in ("C5b", "C9f", "C9n", "C10d", "C12b"):
        verdict, reason = verdicts[clause]
        assert verdict is Verdict.NOT_CLAIMED
        assert reason.startswith("port.toml: ")
    assert verdicts["C12a"][0] is Verdict.PASS


LEFT = [
    ("6.1", "mips", None, "mips-malta", {"C2a", "C4d", "C4f", "C4i", "C9e"}),
    ("6.1", "mips", None, "mips-malta-ra", {"C2a", "C4d", "C9e"}),
    ("6.1", "mips", None, "mips64el-malta-ra", {"C2a", "C4d", "C9e"}),
    ("6.1", "arm64", None, "aarch64-virt", {"C4b"}),
    ("6.1", "arm64", Form.PATCHABLE_ENTRY, "aarch64-virt-regs", {"C9e"}),
    ("6.1", "arm64", Form.PATCHABLE_ENTRY, "aarch64-virt-bti-pac-patchable", {"C9e"}),
    ("6.12", "arm64", None, "aarch64-virt-call-ops", {"C9e", "C22e"}),
]
"""Version, architecture, form and config, and the clauses that fail."""


@pytest.mark.unsliced
@on_trees
@pytest.mark.parametrize(("version", "arch", "form", "config", "defects"), LEFT)
def test_what_is_left_of_linux_is_its_defects(tree, version, arch, form, config, defects, tmp_path):
    """Each is explained in docs/conform.rst."""
    if LinuxTree(tree).version != version:
        pytest.skip(f"the tree is not Linux {version}")
    assert failed_clauses(tree, arch, form, config, tmp_path / "port") == defects
