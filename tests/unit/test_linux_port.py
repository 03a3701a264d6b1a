# SPDX-License-Identifier: MIT
"""A port directory out of a Linux tree: a small tree of our own, and a real one where one is named.

FTRACE_LINUX_TREES names real trees, with colons between them.
"""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.command import harness
from harness.config import load_port
from harness.config.loading import PORT_FILES
from harness.errors import UsageError
from harness.isa import Form, linux_files_of
from harness.kbuild.linux_port import FORMS, import_port
from harness.kbuild.linux_tree import LARGEST
from support.linux_trees import on_trees
from support.source_trees import write_tree

ARCHES = {"mips": linux_files_of("mips"), "arm64": linux_files_of("aarch64")}

KCONFIG = """\
config {entry}
	bool
	default y
	select HAVE_DYNAMIC_FTRACE
	select HAVE_FTRACE_MCOUNT_RECORD
	select HAVE_FUNCTION_GRAPH_TRACER
	select HAVE_FUNCTION_TRACER
	select HAVE_SYSCALL_TRACEPOINTS

config OTHER
	select HAVE_SOMETHING
"""

TREE = {
    "Makefile": "# SPDX\nVERSION = 4\nPATCHLEVEL = 20\nifneq ($(LLVM),)\nCC = clang\nendif\n",
    "Kconfig": "mainmenu\n",
    "lib/Kconfig.debug": (
        "config FRAME_WARN\n\tint\n\tdefault 1024 if !64BIT\n\tdefault 2048 if 64BIT\n\thelp\n"
        "config OTHER\n\tdefault 4096\n"
    ),
    "kernel/trace/ftrace.c": (
        "\tif (ops->flags & FTRACE_OPS_FL_DYNAMIC)\n\t\treturn (unsigned long)FTRACE_ADDR;\n"
    ),
    "kernel/kprobes.c": "\tif (ftrace_location(addr) == addr)\n",
    "kernel/trace/trace_syscalls.c": "\tfor (i = 0; i < NR_syscalls; i++) {\n",
    "arch/mips/Kconfig": KCONFIG.format(entry="MIPS"),
    "arch/mips/Makefile": "cflags-y += -mmcount-ra-address\ncflags-y += -msoft-float\n",
    "arch/mips/kernel/mcount.S": "/* stubs */\n",
    "arch/mips/kernel/ftrace.c": (
        "new = core_kernel_text(ip) ? A : B;\nftrace_modify_code(MCOUNT_ADDR, INSN_NOP);\n"
    ),
    "arch/mips/include/asm/ftrace.h": "#define MCOUNT_INSN_SIZE 4\n",
    "arch/arm64/Kconfig": KCONFIG.format(entry="ARM64"),
    "arch/arm64/Makefile": "KBUILD_CFLAGS += -mgeneral-regs-only\n",
    "arch/arm64/kernel/entry-ftrace.S": "/* stubs */\n",
    "arch/arm64/kernel/ftrace.c": "\tfunction_graph_enter(old, ip, fp, (void *)frame_pointer))\n",
    "arch/arm64/include/asm/ftrace.h": (
        "#define HAVE_FUNCTION_GRAPH_FP_TEST\n# define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR\n"
    ),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return write_tree(tmp_path / "linux", TREE)


def change(tree: Path, name: str, old: str, new: str) -> None:
    text = (tree / name).read_text()
    assert old in text
    (tree / name).write_text(text.replace(old, new))


@pytest.mark.parametrize("arch", list(ARCHES))
def test_the_files_are_the_trees_own(tree: Path, tmp_path: Path, arch: str) -> None:
    linux = import_port(tree, arch, tmp_path / "new/port")
    assert linux.version == "4.20"
    for name, source in zip(PORT_FILES[1:], ARCHES[arch].sources, strict=True):
        assert (tmp_path / "new/port" / name).read_text() == TREE[f"arch/{arch}/{source}"]


def test_a_port_of_mips(tree: Path, tmp_path: Path) -> None:
    import_port(tree, "mips", tmp_path / "port")
    port = load_port(tmp_path / "port")
    assert port.name == "linux-4.20-mips"
    assert port.architecture == "mips"
    assert port.forms == ("mcount-ra-address", "mcount")
    assert set(port.features) == {
        "FUNCTION_TRACER",
        "FTRACE_MCOUNT_RECORD",
        "DYNAMIC_FTRACE",
        "FUNCTION_GRAPH_TRACER",
    }
    assert port.kernel.model_dump() == {
        "nested_functions": False,
        "floating_point": False,
        "FRAME_WARN": 2048,
        "DYNAMIC_FTRACE": False,
        "PREEMPTION": True,
        "call_target": "ftrace_caller",
        "tracers": "kernel",
        "sites_told_by": "address",
        "KPROBES": False,
        "retp": "place",
        "graph_tracer": "ops",
        "syscall_numbers": "table",
        "mips_sites": 2013,
    }


def test_a_port_of_arm64(tree: Path, tmp_path: Path) -> None:
    import_port(tree, "arm64", tmp_path / "port")
    port = load_port(tmp_path / "port")
    assert port.architecture == "aarch64"
    assert port.forms == ("mcount",)
    assert {"FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"} <= set(port.features)
    kernel = port.kernel
    assert (kernel.retp, kernel.sites_told_by, kernel.mips_sites) == ("cookie", "words", 2009)


@pytest.mark.parametrize("arch", list(ARCHES))
def test_every_word_names_the_line_that_it_was_read_in(
    tree: Path, tmp_path: Path, arch: str
) -> None:
    judge_places(tree, tmp_path / "port", arch)


def judge_places(tree: Path, port: Path, arch: str, form: Form | None = None) -> None:
    import_port(tree, arch, port, form)
    text = (port / "port.toml").read_text()
    words = text.partition("features = [\n")[2].splitlines()
    named = [re.search(r"# (\S+):(\d+)$", line) for line in words if line.startswith((" ", "F"))]
    named += [
        re.search(r"# (\S+):(\d+)$", line) for line in text.partition("[kernel]\n")[2].splitlines()
    ]
    assert len(named) > 7
    for place in named:
        assert place
        assert (tree / place[1]).read_text().splitlines()[int(place[2]) - 1].strip()


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("Makefile", "CC = clang", "nested_functions", True),
        ("arch/mips/Makefile", "-msoft-float", "floating_point", True),
        ("lib/Kconfig.debug", "config FRAME_WARN", "FRAME_WARN", 0),
        ("kernel/trace/ftrace.c", "FTRACE_ADDR", "call_target", "any"),
        ("kernel/trace/ftrace.c", "FTRACE_OPS_FL_DYNAMIC", "tracers", "any"),
        ("arch/mips/kernel/ftrace.c", "core_kernel_text", "sites_told_by", "words"),
        ("arch/mips/kernel/ftrace.c", "MCOUNT_ADDR", "mips_sites", 2009),
    ],
)
def test_what_the_tree_does_not_say_is_not_said(
    tree: Path, tmp_path: Path, name: str, text: str, key: str, value: object
) -> None:
    change(tree, name, text, "something else")
    import_port(tree, "mips", tmp_path / "port")
    kernel = load_port(tmp_path / "port").kernel
    assert getattr(kernel, key) == value


def test_without_the_option_there_is_one_form(tree: Path, tmp_path: Path) -> None:
    change(tree, "arch/mips/Makefile", "-mmcount-ra-address", "-other")
    import_port(tree, "mips", tmp_path / "port")
    assert load_port(tmp_path / "port").forms == ("mcount",)


def test_a_kernel_that_is_always_dynamic(tree: Path, tmp_path: Path) -> None:
    change(tree, "arch/mips/Kconfig", "default y", "select DYNAMIC_FTRACE if FUNCTION_TRACER")
    import_port(tree, "mips", tmp_path / "port")
    assert load_port(tmp_path / "port").kernel.DYNAMIC_FTRACE


def both_forms(tree: Path) -> None:
    """As arm64 before 6.12: another entry selects what the compiler has to support."""
    change(
        tree,
        "arch/arm64/Kconfig",
        "default y",
        "select FTRACE_MCOUNT_USE_PATCHABLE_FUNCTION_ENTRY \\\n\t\tif DYNAMIC_FTRACE_WITH_REGS",
    )
    with (tree / "arch/arm64/Kconfig").open("a") as kconfig:
        kconfig.write("\nconfig COMPILER\n\tselect HAVE_DYNAMIC_FTRACE_WITH_REGS\n")


def only_patchable(tree: Path) -> None:
    """As arm64 from 6.12 on."""
    change(
        tree,
        "arch/arm64/Kconfig",
        "default y",
        "select DYNAMIC_FTRACE if FUNCTION_TRACER\n"
        "\tselect HAVE_DYNAMIC_FTRACE_WITH_ARGS \\\n\t\tif COMPILER\n"
        "\tselect HAVE_DYNAMIC_FTRACE_WITH_CALL_OPS \\\n\t\tif COMPILER\n"
        "\tselect HAVE_DYNAMIC_FTRACE_WITH_DIRECT_CALLS\n"
        "\tselect HAVE_FUNCTION_GRAPH_FREGS\n"
        "\tselect FTRACE_MCOUNT_USE_PATCHABLE_FUNCTION_ENTRY if X",
    )
    change(tree, "arch/arm64/include/asm/ftrace.h", "# define HAVE_FUNCTION_GRAPH_RET_ADDR_PTR", "")
    (tree / "kernel/trace/Kconfig").write_text(
        "config FUNCTION_GRAPH_RETVAL\n\tdepends on HAVE_FUNCTION_GRAPH_FREGS\n"
    )


OLD = {"FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", "DYNAMIC_FTRACE", "FUNCTION_GRAPH_TRACER"}
OF_GRAPH = {"FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR"}


@pytest.mark.parametrize(
    ("form", "features"), [(None, set()), (Form.PATCHABLE_ENTRY, {"DYNAMIC_FTRACE_WITH_REGS"})]
)
def test_one_of_two_forms_is_imported(
    tree: Path, tmp_path: Path, form: Form | None, features: set[str]
) -> None:
    both_forms(tree)
    import_port(tree, "arm64", tmp_path / "port", form)
    port = load_port(tmp_path / "port")
    assert port.forms == (form or Form.MCOUNT,)
    assert set(port.features) == OLD | OF_GRAPH | features
    assert not port.kernel.DYNAMIC_FTRACE
    assert port.kernel.KPROBES is (form is Form.PATCHABLE_ENTRY)
    judge_places(tree, tmp_path / "again", "arm64", form)


def test_the_only_form_needs_no_word(tree: Path, tmp_path: Path) -> None:
    only_patchable(tree)
    import_port(tree, "arm64", tmp_path / "port")
    port = load_port(tmp_path / "port")
    assert port.forms == (Form.PATCHABLE_ENTRY,)
    assert set(port.features) == OLD | OF_GRAPH | {
        "DYNAMIC_FTRACE_WITH_ARGS",
        "DYNAMIC_FTRACE_WITH_CALL_OPS",
        "DYNAMIC_FTRACE_WITH_DIRECT_CALLS",
        "FUNCTION_GRAPH_FREGS",
        "FUNCTION_GRAPH_RETVAL",
    }
    assert port.kernel.DYNAMIC_FTRACE
    judge_places(tree, tmp_path / "again", "arm64")


def test_results_in_another_form_are_not_claimed(tree: Path, tmp_path: Path) -> None:
    only_patchable(tree)
    change(tree, "arch/arm64/Kconfig", "HAVE_FUNCTION_GRAPH_FREGS", "HAVE_FUNCTION_GRAPH_RETVAL")
    import_port(tree, "arm64", tmp_path / "port")
    features = load_port(tmp_path / "port").features
    assert not {"FUNCTION_GRAPH_FREGS", "FUNCTION_GRAPH_RETVAL"} & set(features)


def no_tracer(tree: Path) -> None:
    change(tree, "arch/arm64/Kconfig", "select HAVE_FUNCTION_TRACER", "")


def no_version(tree: Path) -> None:
    change(tree, "Makefile", "VERSION = 4", "")


def too_long(tree: Path) -> None:
    (tree / "arch/arm64/kernel/ftrace.c").write_text("x" * (LARGEST + 1))


@pytest.mark.parametrize(
    ("damage", "arch", "says"),
    [
        (no_tracer, "arm64", "has no function tracer on arm64"),
        (no_version, "arm64", "is no Linux tree"),
        (lambda tree: (tree / "Kconfig").unlink(), "mips", "is no Linux tree"),
        (lambda tree: (tree / "arch/mips/kernel/mcount.S").unlink(), "mips", "mcount.S is missing"),
        (too_long, "arm64", "kernel/ftrace.c is missing"),
        (lambda _tree: None, "sparc", "'sparc'"),
    ],
)
def test_a_tree_that_cannot_be_imported_is_told_in_a_sentence(
    tree: Path, tmp_path: Path, damage, arch: str, says: str
) -> None:
    damage(tree)
    command = ["port", "import", str(tree), "--arch", arch, "-o", str(tmp_path / "port")]
    with pytest.raises(UsageError) as caught:
        CliRunner().invoke(harness, command, catch_exceptions=False, standalone_mode=False)
    assert says in caught.value.message
    assert len(caught.value.message.splitlines()) == 1
    assert not (tmp_path / "port").exists()


def test_a_part_of_a_tree_is_told(tree: Path, tmp_path: Path) -> None:
    (tree / "kernel/trace/ftrace.c").unlink()
    command = ["port", "import", str(tree), "--arch", "mips", "-o", str(tmp_path / "port")]
    told = CliRunner().invoke(harness, command, catch_exceptions=False).stderr
    assert "it lacks kernel/trace/ftrace.c" in told
    assert "What kernel/trace/ftrace.c rules out" in (tmp_path / "port/port.toml").read_text()
    assert load_port(tmp_path / "port").kernel.call_target == "any"


def test_of_a_whole_tree_nothing_is_told(tree: Path, tmp_path: Path) -> None:
    command = ["port", "import", str(tree), "--arch", "mips", "-o", str(tmp_path / "port")]
    assert CliRunner().invoke(harness, command, catch_exceptions=False).stderr == ""


@pytest.mark.parametrize(
    ("arch", "form", "has"),
    [("mips", "patchable-entry", "mcount"), ("arm64", "mcount", "patchable-entry")],
)
def test_a_form_that_a_tree_does_not_have(
    tree: Path, tmp_path: Path, arch: str, form: str, has: str
) -> None:
    only_patchable(tree)
    command = ["port", "import", str(tree), "--arch", arch, "--form", form]
    command += ["-o", str(tmp_path / "port")]
    with pytest.raises(UsageError, match=f"no call sites of the form {form}") as caught:
        CliRunner().invoke(harness, command, catch_exceptions=False, standalone_mode=False)
    assert caught.value.advice == f"It has {has}."
    assert not (tmp_path / "port").exists()


def test_a_directory_that_is_not_empty_is_left_alone(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("mine")
    for place in (tmp_path, tmp_path / "mine"):
        with pytest.raises(UsageError, match="is there already"):
            import_port(tree, "mips", place)
    assert (tmp_path / "mine").read_text() == "mine"


def test_the_command_says_what_comes_next(tree: Path, tmp_path: Path) -> None:
    port = tmp_path / "port"
    result = CliRunner().invoke(
        harness, ["port", "import", str(tree), "--arch", "mips", "-o", str(port)]
    )
    assert result.exit_code == 0, result.output
    assert f"harness conform --port {port}" in result.output


@on_trees
@pytest.mark.parametrize("arch", list(ARCHES))
@pytest.mark.parametrize("form", FORMS)
def test_a_real_tree(tree: Path, arch: str, form: Form, tmp_path: Path) -> None:
    try:
        judge_places(tree, tmp_path / "port", arch, form)
    except UsageError as error:
        assert "no call sites of the form" in error.message  # noqa: PT017
        return
    port = load_port(tmp_path / "port")
    assert {"FUNCTION_TRACER", "DYNAMIC_FTRACE", "FUNCTION_GRAPH_TRACER"} <= set(port.features)
    modern = {"DYNAMIC_FTRACE_WITH_ARGS", "DYNAMIC_FTRACE_WITH_REGS"} & set(port.features)
    assert bool(modern) == (form is Form.PATCHABLE_ENTRY)
    assert not port.kernel.nested_functions
    assert not port.kernel.floating_point
    assert port.kernel.call_target == "ftrace_caller"
