# SPDX-License-Identifier: MIT
"""Small Linux kernels for tracing, built from sources and kept in the cache."""

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from harness.errors import HarnessError, HostError, UsageError
from harness.kbuild.cache import Cache, host_errors
from harness.kbuild.contents import Digest
from harness.kbuild.make import Progress, run_make
from harness.kbuild.plain_paths import PlainPaths
from harness.kernels.catalogue import LinuxBuild, LinuxKernel, linux_directory
from harness.kernels.files import IMAGE, INITRD, VMLINUX, KernelFiles
from harness.kernels.initrd import make_initrd, sources, toolchain_answers
from harness.kernels.source import Source
from harness.process import find_program
from harness.units import MIB, escape

KERNELS = Cache("linux-kernels", VMLINUX, 12)
"""A small kernel takes about 60 MB, most of it DWARF."""

DEADLINE = 4 * 3600.0
"""Seconds; a kernel takes two and a half minutes on two idle CPUs."""

ROOM = 3000 * MIB
"""Bytes for the unpacked sources and the object files."""

REQUIRED = "tracing"
"""The options that tracing needs."""

_HOST_TOOLS = (("flex", "flex"), ("bison", "bison"), ("bc", "bc"), ("gcc", "gcc"))
_REPRODUCIBLE = {
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_USER": "harness",
    "KBUILD_BUILD_HOST": "harness",
}
_OPTION = re.compile(r"(?:# )?(CONFIG_\w+)(?:=(.*)| is not set)")
_SHOWN = 20


def build_kernel(name: str, kernel: LinuxKernel, source: Source, report: Progress) -> KernelFiles:
    """A kernel with its initial root file system, built unless it is in the cache.

    ``report`` gets a line for each step; those of make are indented.

    Raises:
        UsageError: the sources do not compile, or lack an option that tracing needs.
        HostError: a tool is missing, or there is no room.
    """
    assert kernel.build is not None
    build = kernel.build
    for program, package in _HOST_TOOLS:
        find_program(program, package)
    answers = toolchain_answers(kernel.toolchain)

    def key() -> str:
        digest = Digest()
        digest.add("source", source.key())
        digest.add("kernel", kernel.toolchain.model_dump_json() + build.model_dump_json())
        for answer in answers:
            digest.add("tool", answer)
        for path in [*map(_options_file, build.options), *sources()]:
            digest.add(path.name, path.read_bytes())
        return digest.hex()

    def make(work: Path, lock: int) -> Sequence[Path]:
        PlainPaths(work)
        if shutil.disk_usage(work).free < ROOM:
            raise HostError(
                f"A kernel cannot be built in {escape(str(KERNELS.directory), 500)}: there are "
                f"less than {ROOM // MIB} MiB free.",
                "Make room there, or set XDG_CACHE_HOME to another directory.",
            )
        with host_errors(KERNELS.directory):
            tree = source.tree(work, report)
            return _Build(name, kernel, build, tree, work, lock, report).run()

    first = key()
    waiting = "waiting for another build of the same kernel"
    return KernelFiles.beside(KERNELS.obtain(first, key, lambda: report(waiting), make))


class _Build:
    """One build, in an empty directory."""

    def __init__(
        self,
        name: str,
        kernel: LinuxKernel,
        build: LinuxBuild,
        tree: Path,
        work: Path,
        lock: int,
        report: Progress,
    ) -> None:
        self.name = name
        self.kernel = kernel
        self.build = build
        self.tree = tree
        self.work = work
        self.output = work / "out"
        self.lock = lock
        self.report = report
        self.log = KERNELS.directory / f"{name}.log"
        """The output of make; kept after a failed build."""

    def run(self) -> list[Path]:
        self.log.unlink(missing_ok=True)
        self._configure()
        target = Path(self.build.image).name if self.build.image else VMLINUX
        self.report(f"compiling {self.name}: some minutes")
        self._make(target, "modules")
        modules = sorted(self.output.rglob("*.ko"))
        files = [
            self.output / VMLINUX,
            # Not in the output, where Linux has a directory init.
            make_initrd(self.kernel.toolchain, self.work / INITRD, modules),
        ]
        if self.build.image:
            files.append((self.output / self.build.image).rename(self.output / IMAGE))
        self.log.unlink(missing_ok=True)
        return files

    def _configure(self) -> None:
        self.output.mkdir()
        wanted = self.output / "harness.config"
        files = [_options_file(one) for one in self.build.options]
        wanted.write_text("".join(file.read_text() for file in files))
        # allnoconfig takes the options of this file, and sets all others to n.
        self._make(f"KCONFIG_ALLCONFIG={wanted}", "allnoconfig")
        made = options((self.output / ".config").read_text())
        for file in files:
            refused = differing(options(file.read_text()), made)
            if refused and file.stem == REQUIRED:
                raise UsageError(
                    f"The sources have no kernel for {self.name} with {', '.join(refused)}.",
                    "Give the tree of a kernel whose port of ftrace has it.",
                )
            if refused:
                self.report(f"not in these sources: {', '.join(refused)}")

    def _make(self, *words: str) -> None:
        jobs = len(os.sched_getaffinity(0))
        variables = {
            "O": str(self.output),
            "ARCH": self.build.arch,
            "CROSS_COMPILE": self.kernel.toolchain.cross_compile,
            **_REPRODUCIBLE,
        }
        command = ["make", "--no-print-directory", "-C", str(self.tree), f"-j{jobs}"]
        command += [f"{name}={value}" for name, value in variables.items()]
        complaints: list[str] = []
        with self.log.open("a") as log:

            def tell(line: str) -> None:
                log.write(f"{line}\n")
                if line.startswith("  "):
                    self.report(line)
                elif len(complaints) < _SHOWN:
                    complaints.append(line)

            result = run_make([*command, *words], tell, DEADLINE, pass_fds=[self.lock])
        if result.status != 0:
            raise self._failure("\n".join(complaints or result.complaints))

    def _failure(self, text: str) -> HarnessError:
        message = f"The kernel {self.name} does not build:\n{text}"
        if "No space left on device" in text:
            return HostError(message, "Make room on the disk, then try again.")
        return UsageError(message, f"All that make said is in {self.log}.")


def options(text: str) -> dict[str, str]:
    """The options of a file in Kconfig's format; "n" for those that are not set."""
    lines = (_OPTION.fullmatch(line) for line in text.splitlines())
    return {line[1]: "n" if line[2] is None else line[2] for line in lines if line}


def differing(wanted: dict[str, str], made: dict[str, str]) -> list[str]:
    """The options that differ from the wanted ones; one that does not exist is not set."""
    return [name for name, value in wanted.items() if made.get(name, "n") != value]


def _options_file(name: str) -> Path:
    return linux_directory() / "options" / f"{name}.config"
