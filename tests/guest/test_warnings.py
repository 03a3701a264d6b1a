# SPDX-License-Identifier: MIT
"""No installed compiler warns about the C files of the guests, the tests and the documents."""

import ast
import os
import re
import shlex
import subprocess
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from harness.config import list_modules, load_config
from harness.kbuild import GuestSpec, plan_build

ROOT = Path(__file__).parents[2]
FILES = [*ROOT.glob("guests/workloads/*.c"), *ROOT.glob("tests/*/workloads/*.c")]
WORKLOAD = re.compile(r"\bworkload\(void\)\s*{")
MODULE = re.compile(r"^module_(init|exit|run)\(", re.MULTILINE)
WRONG_ON_PURPOSE = re.compile(r"^test_build_|return undeclared")
WITH_HEADER = re.compile(r'^#include "', re.MULTILINE)

CONFIGS = ["mips-malta", "aarch64-virt-smp", "mips64el-malta"]


def compilers(name: str) -> Iterator[str]:
    """Every gcc with the config's prefix and every clang that is on the path, each once."""
    pattern = re.escape(load_config(name).build.cross_compile) + r"gcc(-\d+)?"
    if not name.startswith("mips64"):
        pattern += r"|clang(-\d+)?"  # of n64 it builds no guests
    found: dict[Path, str] = {}
    for directory in map(Path, os.get_exec_path()):
        for path in sorted(directory.iterdir()) if directory.is_dir() else ():
            if re.fullmatch(pattern, path.name):
                found.setdefault(path.resolve(), path.name)
    yield from found.values()


def texts() -> Iterator[tuple[str, str]]:
    """The strings of the tests and the indented blocks of the documents, with names for files."""
    for path in sorted(ROOT.glob("tests/*/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.stem}_{node.lineno}.c", node.value
    for path in sorted(ROOT.glob("docs/*.rst")):
        for number, block in enumerate(re.findall(r"(?:^(?:   .*)?\n)+", path.read_text(), re.M)):
            yield f"{path.stem}_{number}.c", textwrap.dedent(block)


def write_texts(kind: re.Pattern[str], directory: Path) -> list[Path]:
    """The workloads or the modules among the texts, as files."""
    files = []
    for name, text in texts():
        if WITH_HEADER.search(text) or WRONG_ON_PURPOSE.search(f"{name} {text}"):
            continue
        if kind.search(text):
            files.append(directory / name)
            files[-1].write_text(text)
    return files


def run(command: Sequence[str], directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("name", "compiler"), [(name, compiler) for name in CONFIGS for compiler in compilers(name)]
)
def test_nothing_warns(name: str, compiler: str, tmp_path: Path, thorough: bool) -> None:
    config = load_config(name)
    clang = compiler.startswith("clang")
    if name != CONFIGS[clang] and not thorough:
        pytest.skip("one gcc and one clang are enough (--all-configs runs it)")
    # Of MIPS clang builds no modules.
    modules = [] if clang and name.startswith("mips") else list_modules()
    make = [*plan_build(GuestSpec.of(config, modules=modules)).command(tmp_path / "out")]
    if clang:
        target = config.build.cross_compile.removesuffix("-")
        make += ["COMPILER=clang", f"CC={compiler} --target={target}"]
    else:
        make.append(f"CC={compiler}")
    objects = [f"{tmp_path}/out/modules/{module}.o" for module in modules]
    run([*make, f"{tmp_path}/out/vmlinux", *objects], tmp_path)

    workloads = [*FILES, *write_texts(WORKLOAD, tmp_path)]
    own_modules = write_texts(MODULE, tmp_path)
    assert len(workloads) > 40
    assert len(own_modules) > 4
    targets = [("workload/calls.o", workloads)]
    targets += [(f"modules/{module}.o", own_modules) for module in modules[:1]]
    for target, files in targets:
        shown = run([*make, "-nB", "V=1", "CCACHE=", f"{tmp_path}/out/{target}"], tmp_path)
        words = shlex.split(shown.splitlines()[-1])
        command = words[: words.index("-MMD")]
        run([*command, "-Werror", "-c", *map(str, files)], tmp_path)
