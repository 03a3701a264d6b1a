# SPDX-License-Identifier: MIT
"""A small tree of sources and a compiler that is a shell script, to build from in no time."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.config import MachineConfig, load_config, resources

# "Builds" by putting the sources one behind the other, and counts how often it ran.
MAKEFILE = """\
sources := $(PORT)/ftrace.c $(WORKLOAD)
KERNEL = $(O)/kernel.a
all: $(KERNEL)
	@test -n "$(PYTHON)" -a -x "$(PYTHON)"
	@if grep -q bad $(WORKLOAD) $(PORT)/ftrace.c; then \\
		for i in 1 2 3 4 5 6 7 8 9 10 11 12; do \\
			printf '%s:%d: error: \\033[31mbad %s\\n' $(WORKLOAD) $$i $(CFLAGS_EXTRA); \\
		done; exit 1; fi
	@if grep -q lacks $(WORKLOAD); then \\
		echo "start.c:1: undefined reference to \\`workload'"; exit 1; fi
	@if grep -q full $(WORKLOAD); then echo 'as: No space left on device'; exit 1; fi
	@if grep -q hang $(WORKLOAD); then sleep 600; fi
	mkdir -p $(O)
	cat $(KERNEL) $(sources) >$(O)/image
	echo '$(CC) $(CROSS_COMPILE) $(FORM) $(CFLAGS_ABI) $(CFLAGS_EXTRA)' >>$(O)/image
	@grep -q nothing $(WORKLOAD) || mv $(O)/image $(O)/vmlinux
	@mkdir $(O)/modules; for module in $(MODULES); do \\
		if grep -q bad $$module; then echo "$$module:1: error: bad"; exit 1; fi; \\
		grep -q nothing $$module || cp $$module $(O)/modules/$$(basename $$module .c).ko; done
	@echo build >>$(COUNT)
kernel: $(KERNEL)
$(O)/kernel.a:
	@if grep -q bad $(PORT)/include/asm/ftrace.h; then \\
		echo "$(PORT)/include/asm/ftrace.h:1: error: bad"; exit 1; fi
	mkdir -p $(O)
	cat kernel/start.c arch/$(ARCH)/head.S >$@
	@echo kernel >>$(KERNELS)
"""

CONFIG = """\
description = "a machine"
architecture = "mips"
port = "plain"
[qemu]
binary = "qemu-system-mips"
machine = "malta"
cpu = "24Kf"
[build]
cross_compile = "fake-"
package = "gcc-fake"
cflags = ["-mabi=32"]
form = "mcount"
"""


class Sources:
    """The small tree, and how often a guest was built from it."""

    def __init__(self, root: Path, programs: Path) -> None:
        self.guests = root / "guests"
        self.count = programs.parent / "count"
        self.kernel_count = programs.parent / "kernels"
        self.programs = programs
        files = {
            "Makefile": MAKEFILE.replace("$(COUNT)", f"'{self.count}'").replace(
                "$(KERNELS)", f"'{self.kernel_count}'"
            ),
            "kernel/start.c": "kernel\n",
            "arch/mips/head.S": "mips\n",
            "arch/aarch64/head.S": "aarch64\n",
            "workloads/calls.c": "calls\n",
            "workloads/sort.c": '#include "sort.h"\n',
            "workloads/sort.h": "sort\n",
            "modules/Makefile": "# how\n",
            "modules/one.c": '#include "one.h"\n',
            "modules/one.h": "one\n",
            "modules/two.c": "two\n",
        }
        for port, architecture in (("plain", "mips"), ("other", "aarch64")):
            toml = f'architecture = "{architecture}"\nfeatures = []\nforms = ["mcount"]\n'
            files[f"ports/{port}/port.toml"] = toml
            for name in ("mcount.S", "ftrace.c", "include/asm/ftrace.h"):
                files[f"ports/{port}/{name}"] = f"{name}\n"
        for name, content in files.items():
            self.write(name, content)
        (root / "qemu-configs").mkdir()
        (root / "qemu-configs/fake.toml").write_text(CONFIG)
        programs.mkdir()
        for tool in ("gcc", "as", "ld"):
            self.install(f"fake-{tool}", "echo version 1")

    def write(self, name: str, content: str) -> None:
        file = self.guests / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def install(self, program: str, script: str) -> None:
        (self.programs / program).write_text(f"#!/bin/sh\n{script}\n")
        (self.programs / program).chmod(0o755)

    @property
    def builds(self) -> int:
        return _lines(self.count)

    @property
    def kernels(self) -> int:
        return _lines(self.kernel_count)


def _lines(file: Path) -> int:
    return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Sources]:
    """Lays the tree out in a directory of that name, and makes it the harness's installation."""

    def lay_out(name: str) -> Sources:
        sources = Sources(tmp_path / name, tmp_path / "bin")
        monkeypatch.setattr(resources, "root", lambda: tmp_path / name)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        return sources

    return lay_out


@pytest.fixture
def sources(install: Callable[[str], Sources]) -> Sources:
    return install("installation")


@pytest.fixture
def config(sources: Sources) -> MachineConfig:
    return load_config("fake")


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache/ftrace-harness/guests"
