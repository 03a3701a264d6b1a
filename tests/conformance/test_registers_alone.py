# SPDX-License-Identifier: MIT
"""Ports with DYNAMIC_FTRACE_WITH_REGS and not DYNAMIC_FTRACE_WITH_ARGS, as arm64 up to 6.1."""

import shutil

from harness.config import load_port
from harness.conformance.reports.report import lines
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import Verdict

CONFIG = "aarch64-virt-patchable"
ARGS = "DYNAMIC_FTRACE_WITH_ARGS"


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
