# SPDX-License-Identifier: MIT
"""From a GuestSpec to its image: the variables of make, and the cache."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.kbuild.cache import GUESTS, KERNELS, Cache, host_errors
from harness.kbuild.contents import guest_key, kernel_key
from harness.kbuild.failure import failure
from harness.kbuild.guest_sources import write_source_paths
from harness.kbuild.make import Progress, run_make
from harness.kbuild.plain_paths import PlainPaths
from harness.kbuild.spec import GuestSpec
from harness.kbuild.toolchain import toolchain_identity
from harness.units import escape

_NOT_OF_KERNEL = ("WORKLOAD", "MODULES", "WITHOUT", "FRAME_WARN")
"""Variables that ``kernel.a`` does not depend on."""

_WITHOUT = ("nested_functions", "floating_point")
"""Words of ``[kernel]`` that the sources of workloads and modules honour."""


@dataclass(frozen=True, slots=True)
class Build:
    """A guest that can be built, with all decisions made and nothing run yet."""

    spec: GuestSpec
    key: str
    variables: Mapping[str, str]
    """make's variables, except the output directory."""
    directory: Path
    """The directory where make runs: the guests' sources."""
    links: tuple[tuple[Path, Path], ...]
    """(link, target): plain names for paths that make cannot take."""
    cache: Cache
    """The cache of the image."""
    tools: tuple[str, ...]
    """The versions of the toolchain."""
    unique: bytes

    def current_key(self) -> str:
        """The key of the current sources."""
        return guest_key(self.spec, self.tools, self.unique)

    def current_kernel_key(self) -> str:
        """The key of the part that it shares with other guests."""
        return kernel_key(self.spec, self.tools, self.unique)

    def command(self, output: Path, *targets: str, **more: str) -> tuple[str, ...]:
        """The make command that builds it in a directory, or only some of make's targets.

        ``more`` are further variables, such as ``KERNEL``.
        """
        return self._make_command({**self.variables, **more, "O": str(output)}, targets)

    def kernel_command(self, output: Path) -> tuple[str, ...]:
        """The make command for ``kernel.a``, which it shares with other guests."""
        variables = {n: value for n, value in self.variables.items() if n not in _NOT_OF_KERNEL}
        return self._make_command({**variables, "O": str(output)}, ["kernel"])

    def _make_command(
        self, variables: Mapping[str, str], targets: Sequence[str]
    ) -> tuple[str, ...]:
        jobs = len(os.sched_getaffinity(0))
        words = (f"{name}={value}" for name, value in variables.items())
        make = ("make", "--no-print-directory", "-C", str(self.directory), f"-j{jobs}")
        return (*make, *words, *targets)

    @property
    def command_line(self) -> str:
        """The shell command that builds the same image by hand, from any directory."""
        steps: list[Sequence[str]] = [self.command(self._work / "out")]
        if self.links:
            steps = [
                ("mkdir", "-p", *sorted({str(link.parent) for link, _ in self.links})),
                *(("ln", "-sfn", str(target), str(link)) for link, target in self.links),
                *steps,
            ]
        return " && ".join(shlex.join(step) for step in steps)

    @property
    def _work(self) -> Path:
        return self.cache.work_directory(self.key)

    @property
    def cached(self) -> bool:
        """Whether the image is in the cache."""
        return self.cache.find(self.key) is not None

    def run(self, progress: Progress | None = None) -> Path:
        """The image, built if it is not in the cache.  Modules lie next to it: `module_beside`.

        ``progress`` gets the command line, each step of make (indented), and after success the
        warnings of the compiler; nothing if nothing is built.  Raises UsageError if the user's
        files do not compile, and HostError if the toolchain, the disk or the harness's own sources
        fail.
        """
        report = progress or _silent
        image = self.cache.obtain(
            self.key,
            self.current_key,
            lambda: report("waiting for another build of the same guest"),
            lambda work, lock: self._make_guest(work / "out", lock, report),
        )
        write_source_paths(self.spec, image)
        return image

    def preprocess(self) -> dict[str, str]:
        """The port's preprocessed assembly files, by their paths in the port.

        Those in subdirectories are of modules.  Errors are those of `run`.
        """
        port = self.spec.port.directory
        pattern = "**/*.S" if self.spec.module_sources else "*.S"
        with self.cache.locked(self.key, lambda: None) as (work, lock):
            targets = {
                path.relative_to(port).as_posix(): work
                / "out/port"
                / path.relative_to(port).with_suffix(".s")
                for path in sorted(port.glob(pattern))
            }
            for target in targets.values():
                target.parent.mkdir(parents=True, exist_ok=True)
            self._make_links()
            command = self.command(work / "out", *map(str, targets.values()))
            self._make(command, list(targets.values()), [lock], _silent)
            return {name: target.read_text() for name, target in targets.items()}

    def compile_port(self, edits: Sequence[Mapping[str, str]]) -> list[dict[str, str]]:
        """The compiler's assembly of the port's C files, of copies with other contents.

        For each of ``edits``, which are new contents by the names of files, it is of these files;
        with a header, or none, of all. A file that does not compile is not there. Comments name the
        file of inline assembly, without its copy's directory here.
        """
        port = self.spec.port.directory
        every = {path.name: path.read_text() for path in port.glob("*.[ch]")}
        with self.cache.locked(self.key, lambda: None) as (work, lock):
            self._make_links()
            targets = []
            for number, edit in enumerate(edits):
                copy = work / "out/port" / str(number)
                copy.mkdir(parents=True)
                for name, text in {**every, **edit}.items():
                    (copy / name).write_text(text)
                of_all = not edit or any(name.endswith(".h") for name in edit)
                names = (name for name in every if name.endswith(".c"))
                targets.append([copy / f"{n[:-2]}.s" for n in names if of_all or n in edit])
            files = [str(target) for of_one in targets for target in of_one]
            run_make(self.command(work / "out", "-k", *files), _silent, pass_fds=[lock])
            return [
                {
                    f"{path.stem}.c": path.read_text().replace(f"{path.parent}/", "")
                    for path in of_one
                    if path.is_file()
                }
                for of_one in targets
            ]

    def _make_links(self) -> None:
        with host_errors(self._work):
            for link, target in self.links:
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)

    def _make_guest(self, output: Path, lock: int, report: Progress) -> Sequence[Path]:
        self._make_links()
        report(self.command_line)
        kernel = KERNELS.obtain(
            self.current_kernel_key(),
            self.current_kernel_key,
            lambda: report("waiting for another build of the same kernel"),
            lambda work, its_lock: self._make(
                self.kernel_command(work), [work / "kernel.a"], [lock, its_lock], report
            ),
        )
        image, modules = output / "vmlinux", output / "modules"
        files = [image, *(modules / f"{path.stem}.ko" for path in self.spec.module_sources)]
        return self._make(self.command(output, KERNEL=str(kernel)), files, [lock], report)

    def _make(
        self,
        command: Sequence[str],
        files: Sequence[Path],
        locks: Sequence[int],
        report: Progress,
    ) -> Sequence[Path]:
        """Run make, which inherits the locks; returns the files that it made."""
        warnings: list[str] = []
        result = run_make(
            command, lambda line: _sort(line, report, warnings.append), pass_fds=locks
        )
        if result.status != 0 or not all(file.is_file() for file in files):
            text = "\n".join(result.complaints) or f"make ended with status {result.status}"
            for link, target in self.links:
                text = text.replace(str(link), escape(str(target), 500))
            raise failure(self.spec, text, self.command_line)
        for line in warnings:
            report(line)
        return files


def plan_build(spec: GuestSpec, cache: Cache = GUESTS) -> Build:
    """Plan the build of a guest; UsageError for a path or a file that make cannot take."""
    tools, unique = tuple(toolchain_identity(spec.config)), os.urandom(16)
    key = guest_key(spec, tools, unique)
    paths = PlainPaths(cache.work_directory(key))
    config, directory = spec.config, paths.guests()
    variables = {
        "ARCH": config.architecture,
        "CROSS_COMPILE": config.build.cross_compile,
        "COMPILER": spec.compiler,
        "CFLAGS_ABI": " ".join(config.build.cflags),
        "CFLAGS_EXTRA": " ".join(spec.cflags),
        "FORM": config.build.form,
        "SMP": str(config.qemu.smp),
        "FEATURES": " ".join(spec.features),
        "PORT": str(paths.directory(spec.port.directory, "port")),
        "WORKLOAD": str(paths.file(spec.workload, "workload")),
    }
    if spec.module_sources:
        files = [paths.file(path, f"module{n}") for n, path in enumerate(spec.module_sources)]
        variables["MODULES"] = " ".join(map(str, files))
    kernel = spec.port.kernel
    without = [word for word in _WITHOUT if not getattr(kernel, word)]
    if without:
        variables["WITHOUT"] = " ".join(word.replace("_", "-") for word in without)
    if kernel.FRAME_WARN:
        variables["FRAME_WARN"] = str(kernel.FRAME_WARN)
    variables["PYTHON"] = str(paths.python())
    return Build(spec, key, variables, directory, paths.links, cache, tools, unique)


def build_guest(spec: GuestSpec, progress: Progress | None = None) -> Path:
    """The image (``vmlinux``, an ELF file) of a guest, built if it is not in the cache.

    See :meth:`Build.run` for errors and ``progress``.
    """
    return plan_build(spec).run(progress)


def module_beside(image: Path, name: str) -> Path:
    """The path of the module of that name that was built with an image."""
    return image.with_name(f"{name}.ko")


def _sort(line: str, step: Progress, other: Progress) -> None:
    """Steps are indented by the makefile; other output is shown by the error, if there is one."""
    (step if line.startswith("  ") else other)(line)


def _silent(_line: str) -> None:
    pass
