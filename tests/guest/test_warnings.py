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
from harness.isa import architectures
from harness.kbuild import GuestSpec, plan_build
from tests.support.configs import others

ROOT = Path(__file__).parents[2]
FILES = [*ROOT.glob("guests/workloads/*.c"), *ROOT.glob("tests/*/workloads/*.c")]
WORKLOAD = re.compile(r"\bworkload\(void\)\s*{")
MODULE = re.compile(r"^module_(init|exit|run)\(", re.MULTILINE)
WRONG_ON_PURPOSE = re.compile(r"^test_build_|return undeclared")
WITH_HEADER = re.compile(r'^#include "', re.MULTILINE)

CONFIGS = ["mips-malta", "aarch64-virt-smp", "mips64el-malta", *others()]


def compilers(name: str) -> Iterator[str]:
    """Every gcc for the config, then every clang that is on the path, each once: as gcc-12."""
    prefix = load_config(name).build.cross_compile
    pattern = re.escape(prefix) + r"gcc(-\d+)?|clang(-\d+)?"
    found: dict[Path, str] = {}
    for directory in map(Path, os.get_exec_path()):
        for path in sorted(directory.iterdir()) if directory.is_dir() else ():
            if re.fullmatch(pattern, path.name):
                found.setdefault(path.resolve(), path.name.removeprefix(prefix))
    yield from sorted(found.values(), reverse=True)


def texts() -> Iterator[tuple[str, str]]:
    """The strings of the tests and the indented blocks of the documents, with names for files."""
    for path in sorted(ROOT.glob("tests/*/*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield f"{path.stem}_{node.lineno}.c", node.value
    for path in sorted(ROOT.glob("docs/*.rst")):
        for number, block in enumerate(re.findall(r"(?:^(?:   .*)?\n)+", path.read_text(), re.M)):
            yield f"{path.stem}_{number}.c", textwrap.dedent(block)


def write_texts(kind: re.Pattern[str], architecture: str, directory: Path) -> list[Path]:
    """The workloads or the modules among the texts, as files; none in another's assembly."""
    foreign = re.compile("|".join(f"_{one}_" for one in architectures() if one != architecture))
    files = []
    for name, text in texts():
        if WITH_HEADER.search(text) or WRONG_ON_PURPOSE.search(f"{name} {text}"):
            continue
        if "__asm__" in text and foreign.search(name):
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


def refusal(command: Sequence[str], directory: Path) -> str:
    """What the Makefile of the guests says against clang; empty if it has nothing against it."""
    done = subprocess.run(
        [*command, "-n"], cwd=directory, capture_output=True, text=True, check=False
    )
    said = re.search(r"\*\*\* (.*\bclang\b.*)\.  Stop\.", done.stderr)
    return said[1] if said else ""


@pytest.mark.builds
@pytest.mark.parametrize(
    ("name", "compiler"), [(name, compiler) for name in CONFIGS for compiler in compilers(name)]
)
def test_nothing_warns(name: str, compiler: str, tmp_path: Path) -> None:
    config = load_config(name)

    def make_with(modules: Sequence[str]) -> list[str]:
        make = [*plan_build(GuestSpec.of(config, modules=modules)).command(tmp_path / "out")]
        if not compiler.startswith("clang"):
            return [*make, f"CC={config.build.cross_compile}{compiler}"]
        target = config.build.cross_compile.removesuffix("-")
        return [*make, "COMPILER=clang", f"CC={compiler} --target={target}"]

    modules = list_modules()
    if compiler.startswith("clang"):
        if refused := refusal(make_with([]), tmp_path):
            pytest.skip(refused)
        if refusal(make_with(modules), tmp_path):
            modules = []
    make = make_with(modules)
    objects = [f"{tmp_path}/out/modules/{module}.o" for module in modules]
    run([*make, f"{tmp_path}/out/vmlinux", *objects], tmp_path)

    workloads = [*FILES, *write_texts(WORKLOAD, config.architecture, tmp_path)]
    own_modules = write_texts(MODULE, config.architecture, tmp_path)
    assert len(workloads) > 40
    assert len(own_modules) > 4
    targets = [("workload/calls.o", workloads)]
    targets += [(f"modules/{module}.o", own_modules) for module in modules[:1]]
    for target, files in targets:
        shown = run([*make, "-nB", "V=1", "CCACHE=", f"{tmp_path}/out/{target}"], tmp_path)
        words = shlex.split(shown.splitlines()[-1])
        command = words[: words.index("-MMD")]
        run([*command, "-Werror", "-c", *map(str, files)], tmp_path)
