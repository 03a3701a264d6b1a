# SPDX-License-Identifier: MIT
"""Reference ports rewritten as Linux writes its own: what these rely on in a kernel is there."""

import re
import shutil

import pytest

from harness import boot
from harness.config import load_port
from harness.conformance.reports.report import lines
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import Verdict

RECORD = "add\tx29, sp, #FRAME_FREGS + FREGS_FP\n"
OPS = "struct ftrace_ops *ops = ftrace_find_unique_ops(rec);"


def changed(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def without_tables(port):
    """No unwind information, a record of the traced function at the end of the stub's frame, and a
    call of ftrace_stub in the slot.
    """
    file = port / "mcount.S"
    text = re.sub(r"(?m)^\t\.cfi_.*\n", "", file.read_text())
    size = "(FRAME_FREGS + FREGS_SIZE"
    above = "stp\tx29, x9, [sp, #FRAME_SIZE - 16]\n\tadd\tx29, sp, #FRAME_SIZE - 16\n"
    text = changed(
        text, (f"{size})", f"{size} + 16)"), (RECORD, above), ("\tnop\n", "\tbl\tftrace_stub\n")
    )
    file.write_text(text)


def with_opaque_registers(port):
    """struct ftrace_regs is incomplete, one accessor is missing, and a flag says whether a site has
    one tracer.
    """
    header, graph, code = (port / name for name in ("include/asm/ftrace.h", "graph.c", "ftrace.c"))
    opaque = (
        "struct ftrace_regs;\n#define HAVE_ARCH_FTRACE_REGS\n"
        "#define arch_ftrace_regs(fregs) ((struct __arch_ftrace_regs *)(fregs))\n"
        "struct __arch_ftrace_regs {"
    )
    member = ("fregs->", "arch_ftrace_regs(fregs)->")
    accessor = ("ftrace_regs_get_return_address", "get_return_address")
    header.write_text(
        changed(header.read_text(), ("struct ftrace_regs {", opaque), member, accessor)
    )
    graph.write_text(changed(graph.read_text(), member))
    asks = changed(OPS, ("= ", "= !(rec->flags & FTRACE_FL_CALL_OPS_EN) ? NULL :\n\t\t"))
    registers = ("(struct ftrace_regs", "(struct __arch_ftrace_regs")
    code.write_text(
        changed(
            code.read_text(), (OPS.replace("struct", "const struct"), f"const {asks}"), registers
        )
    )


def with_probes(port):
    """A kprobe may be in front of rec->ip, so nothing there is looked at."""
    file = port / "ftrace.c"
    file.write_text(changed(file.read_text(), (" || READ_ONCE(insn[-1]) != INSN_MOV_X9_X30", "")))
    with (port / "port.toml").open("a") as toml:
        toml.write("\n[kernel]\nKPROBES = true\n")


CASES = [
    ("aarch64-args", without_tables, ("C10a", "C14b", "C20a")),
    ("aarch64-regs", with_probes, ("C9e", "C21d")),
    ("aarch64-call-ops", with_opaque_registers, ("C18c", "C22c", "C24a")),
]


@pytest.fixture(params=CASES, ids=lambda case: case[1].__name__)
def case(request, tmp_path):
    name, change, stems = request.param
    shutil.copytree(load_port(name).directory, tmp_path / "port")
    change(tmp_path / "port")
    return name.replace("aarch64", "aarch64-virt"), tmp_path / "port", stems


def test_the_clauses_pass_on_it(case):
    config, port, stems = case
    (report,) = conform([suite_spec(config, load_port(port))], stems)
    assert not report.failed, "\n".join(lines(report, ["harness", "conform"]))
    assert report.count(Verdict.PASS) == len(stems)


def test_the_debugger_switches_its_tracers(case):
    config, port, _ = case
    with boot(config, port=port) as guest:
        before = guest.tracer.slots()
        guest.tracer.set_filter("do_*")
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        assert {event.name for event in guest.tracer.events()} == {"function"}
        guest.tracer.current = "nop"
        assert guest.tracer.slots() == before
