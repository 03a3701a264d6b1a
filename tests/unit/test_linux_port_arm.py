# SPDX-License-Identifier: MIT
"""A port directory of arm out of a Linux tree: it has more files than three."""

from pathlib import Path

import pytest

from harness.config import load_port
from harness.config.loading import PORT_FILES
from harness.errors import UsageError
from harness.kbuild.linux_port import import_port
from support.source_trees import write_tree

TREE = {
    "Makefile": "VERSION = 4\nPATCHLEVEL = 20\n",
    "Kconfig": "mainmenu\n",
    "arch/arm/Kconfig": (
        "config ARM\n\tselect HAVE_DYNAMIC_FTRACE if X && Y\n\tselect HAVE_FUNCTION_TRACER\n"
        "\tselect HAVE_DYNAMIC_FTRACE_WITH_REGS\n"
    ),
    "arch/arm/Makefile": "KBUILD_CFLAGS += -msoft-float\n",
    "arch/arm/kernel/entry-ftrace.S": "/* stubs */\n",
    "arch/arm/kernel/ftrace.c": "/* patching */\n",
    "arch/arm/kernel/insn.c": "/* branches */\n",
    "arch/arm/include/asm/ftrace.h": "#define HAVE_FUNCTION_GRAPH_FP_TEST\n",
    "arch/arm/include/asm/insn.h": "/* nops */\n",
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "linux", TREE)


def test_what_the_tree_says(tree: Path, tmp_path: Path) -> None:
    import_port(tree, "arm", tmp_path / "port")
    port = load_port(tmp_path / "port")
    assert (port.name, port.architecture, port.forms) == ("linux-4.20-arm", "arm", ("mcount",))
    assert port.features == ("FUNCTION_TRACER", "DYNAMIC_FTRACE", "FUNCTION_GRAPH_FP_TEST")
    assert not port.kernel.floating_point


def test_the_files_that_others_need_come_along(tree: Path, tmp_path: Path) -> None:
    import_port(tree, "arm", tmp_path / "port")
    found = {
        str(path.relative_to(tmp_path / "port")): path.read_text()
        for path in (tmp_path / "port").rglob("*")
        if path.is_file()
    }
    assert set(found) == {*PORT_FILES, "insn.c", "include/asm/insn.h"}
    assert found["insn.c"] == "/* branches */\n"
    assert found["include/asm/insn.h"] == "/* nops */\n"


def test_without_one_of_them_there_is_no_port(tree: Path, tmp_path: Path) -> None:
    (tree / "arch/arm/kernel/insn.c").unlink()
    with pytest.raises(UsageError, match=r"arch/arm/kernel/insn\.c is missing"):
        import_port(tree, "arm", tmp_path / "port")
