# SPDX-License-Identifier: MIT
"""Ports with DYNAMIC_FTRACE_WITH_REGS and not DYNAMIC_FTRACE_WITH_ARGS, as Linux's arm64 up to 6.1.

FTRACE_LINUX_TREES names trees of Linux 6.1, with colons between them.
"""

import os
import re
import shutil
from pathlib import Path

import pytest

from harness.config import load_port
from harness.conformance.report import lines
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import Verdict

CONFIG = "aarch64-virt-patchable"
ARGS = "DYNAMIC_FTRACE_WITH_ARGS"
GUIDE = Path(__file__).parents[2] / "docs" / "modern-forms.rst"
TREES = [Path(tree) for tree in os.environ.get("FTRACE_LINUX_TREES", "").split(":") if tree]


def test_the_kernel_has_struct_ftrace_regs_and_plts(tmp_path):
    """The reference port without its own, as an array of PLTs, in place of its trampolines."""
    port = tmp_path / "port"
    shutil.copytree(load_port("aarch64-regs").directory, port)
    toml, header = port / "port.toml", port / "include/asm/ftrace.h"
    toml.write_text(toml.read_text().replace(f'    "{ARGS}",\n', ""))
    text = header.read_text()
    own = text[text.index("/**\n * struct ftrace_regs") : text.index("/* As built, a site")]
    guard = "#ifndef __ASSEMBLER__\n"
    plts = f"#define NR_FTRACE_PLTS 2\n\n{guard}"
    header.write_text(text.replace(own, "").replace(guard, plts, 1))
    shutil.rmtree(port / "module")
    patching = port / "ftrace.c"
    code = patching.read_text()
    for name, plt in (("ftrace_trampoline", 0), ("ftrace_regs_trampoline", 1)):
        entry = f"(unsigned long)&mod->arch.ftrace_trampolines[{plt}]"
        code = code.replace(f"mod->arch.{name}", entry)
    patching.write_text(code)

    wanted = ("C7", "C18", "C19", "C20", "C21")
    (report,) = conform([suite_spec(CONFIG, load_port(port))], wanted)
    assert not report.failed, "\n".join(lines(report, ["harness", "conform"]))
    verdicts = {one.clause: one.verdict for one in report.results}
    for clause in ("C7f", "C18a", "C20a", "C20b", "C20c", *(f"C21{letter}" for letter in "abcde")):
        assert verdicts[clause] is Verdict.PASS, clause
    for clause in ("C18b", "C18c", "C18d", "C19a", "C19b", "C19c", "C21f"):
        assert verdicts[clause] is Verdict.NOT_CLAIMED, clause


@pytest.mark.skipif(not TREES, reason="FTRACE_LINUX_TREES names no trees of Linux 6.1")
@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.name)
def test_linuxs_own_files_are_judged_unedited(tree, tmp_path):
    """With the port.toml of docs/modern-forms.rst, which says what fails."""
    (tmp_path / "include/asm").mkdir(parents=True)
    for source, name in (
        ("kernel/ftrace.c", "ftrace.c"),
        ("kernel/entry-ftrace.S", "mcount.S"),
        ("include/asm/ftrace.h", "include/asm/ftrace.h"),
    ):
        shutil.copy(tree / "arch/arm64" / source, tmp_path / name)
    (shown,) = re.findall(r'\n    name = "linux.*?\n\nOn ', GUIDE.read_text(), re.DOTALL)
    (tmp_path / "port.toml").write_text(shown.removesuffix("On ").replace("\n    ", "\n"))
    (report,) = conform([suite_spec(CONFIG, load_port(tmp_path))])
    failed = {one.clause for one in report.results if one.verdict is Verdict.FAIL}
    assert failed | {"C21d"} == {"C9e", "C14b", "C21d"}
