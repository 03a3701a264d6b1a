# SPDX-License-Identifier: MIT
"""A port directory of RISC-V out of a Linux tree, where only static kernels call _mcount."""

from pathlib import Path

import pytest

from harness.config import load_port
from harness.isa import Form
from harness.kbuild.linux_port import import_port
from support.source_trees import write_tree

TREE = {
    "Makefile": "VERSION = 4\nPATCHLEVEL = 20\n",
    "Kconfig": "mainmenu\n",
    "arch/riscv/Kconfig": (
        "config RISCV\n\tdefault y\n\nconfig ARCH_RV64I\n\tselect HAVE_DYNAMIC_FTRACE\n"
        "\tselect HAVE_DYNAMIC_FTRACE_WITH_REGS if HAVE_DYNAMIC_FTRACE\n"
        "\tselect HAVE_FUNCTION_TRACER\n"
    ),
    "arch/riscv/Makefile": (
        "ifeq ($(CONFIG_DYNAMIC_FTRACE),y)\n\tCC_FLAGS_FTRACE := -fpatchable-function-entry=2\n"
        "endif\nKBUILD_CFLAGS += -march=$(subst fd,,$(march))\n"
    ),
    "arch/riscv/kernel/mcount.S": "/* stubs */\n",
    "arch/riscv/kernel/mcount-dyn.S": "/* more stubs */\n",
    "arch/riscv/kernel/ftrace.c": "/* graph */\n",
    "arch/riscv/include/asm/ftrace.h": "#define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "linux", TREE)


def test_calls_of_mcount_are_static(tree: Path, tmp_path: Path) -> None:
    import_port(tree, "riscv", tmp_path / "port")
    port = load_port(tmp_path / "port")
    assert (port.architecture, port.forms) == ("riscv64", ("mcount",))
    assert port.features == ("FUNCTION_TRACER", "FUNCTION_GRAPH_RET_ADDR_PTR")
    assert not port.kernel.floating_point
    text = (tmp_path / "port/port.toml").read_text()
    place = "arch/riscv/Makefile:2"
    assert f"# Patchable call sites need a port.toml of their own: {place}\n" in text
    assert not (tmp_path / "port/mcount-dyn.S").exists()


def test_patchable_entries_are_dynamic_and_have_another_stub(tree: Path, tmp_path: Path) -> None:
    import_port(tree, "riscv", tmp_path / "port", Form.PATCHABLE_ENTRY)
    port = load_port(tmp_path / "port")
    assert port.forms == ("patchable-entry",)
    assert {"DYNAMIC_FTRACE", "DYNAMIC_FTRACE_WITH_REGS"} <= set(port.features)
    assert (tmp_path / "port/mcount-dyn.S").read_text() == "/* more stubs */\n"


def test_where_all_call_sites_call_mcount_it_is_dynamic(tree: Path, tmp_path: Path) -> None:
    (tree / "arch/riscv/Makefile").write_text("CC_FLAGS_FTRACE := -pg\n")
    import_port(tree, "riscv", tmp_path / "port")
    port = load_port(tmp_path / "port")
    assert "DYNAMIC_FTRACE" in port.features
    assert port.kernel.floating_point
