# SPDX-License-Identifier: MIT
"""From a machine config, a port and a workload to the image of a guest."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from harness.build import cache
from harness.build.contents import guest_key, kernel_key
from harness.build.make import MakeResult, Progress, run_make
from harness.build.toolchain import toolchain_identity
from harness.build.workload import find_modules, find_workload
from harness.config import MachineConfig, Port, list_configs, load_config, load_port, resources
from harness.config.models import FLAG
from harness.errors import HarnessError, HostError, UsageError
from harness.units import escape

# Features of the older specification; they contradict what replaced them.
OLDER = frozenset({"FUNCTION_TRACE_MCOUNT_TEST", "FTRACE_NMI_ENTER"})

# What make and the shell below it take as one plain word.
_PLAIN = re.compile(r"[\w./+,@-]+")


@dataclass(frozen=True, slots=True)
class Build:
    """A guest that can be built: every decision made, nothing run yet."""

    config: MachineConfig
    port: Port
    workload: Path
    modules: tuple[Path, ...]
    features: tuple[str, ...]
    cflags: tuple[str, ...]
    key: str
    current_key: Callable[[], str]  # the key that the sources have now
    current_kernel_key: Callable[[], str]  # the same, of what it shares with other guests
    command: tuple[str, ...]
    # (link, target): plain names for paths that make cannot take
    links: tuple[tuple[Path, Path], ...]

    @property
    def command_line(self) -> str:
        """The shell line that builds the same image by hand, from any directory."""
        steps: list[Sequence[str]] = [self.command]
        if self.links:
            steps = [
                ("mkdir", "-p", *sorted({str(link.parent) for link, _ in self.links})),
                *(("ln", "-sfn", str(target), str(link)) for link, target in self.links),
                self.command,
            ]
        return " && ".join(shlex.join(step) for step in steps)

    @property
    def kernel_command(self) -> tuple[str, ...]:
        """What makes ``kernel.a``, which it shares with other guests; where to is not in it."""
        own = ("WORKLOAD=", "MODULES=", "O=")
        return (*(word for word in self.command if not word.startswith(own)), "kernel")

    @property
    def cached(self) -> bool:
        """Whether the image is there already."""
        return cache.GUESTS.find(self.key) is not None

    def run(self, progress: Progress | None = None) -> Path:
        """The image, built if it is not there yet.  Modules lie beside it: `module_beside`.

        ``progress`` gets the command line, each step of make (indented), and at the end, if all
        went well, what the compiler had to say; nothing when there is nothing to do.  Raises
        UsageError when what the user brought does not compile, and HostError when the toolchain,
        the disk or the harness's own sources fail.
        """
        report = progress or _silent
        return cache.GUESTS.obtain(
            self.key,
            self.current_key,
            lambda: report("waiting for another build of the same guest"),
            lambda work, lock: self._make_guest(work, lock, report),
        )

    def _make_guest(self, work: Path, lock: int, report: Progress) -> Sequence[Path]:
        with cache.host_errors(work):
            for link, target in self.links:
                link.parent.mkdir(exist_ok=True)
                link.symlink_to(target)
        report(self.command_line)
        kernel = cache.KERNELS.obtain(
            self.current_kernel_key(),
            self.current_kernel_key,
            lambda: report("waiting for another build of the same kernel"),
            lambda work, its_lock: self._make(
                [*self.kernel_command, f"O={work}"],
                [work / "kernel.a"],
                [lock, its_lock],
                report,
            ),
        )
        image, modules = work / "out" / "vmlinux", work / "out" / "modules"
        files = [image, *(modules / f"{path.stem}.ko" for path in self.modules)]
        return self._make([*self.command, f"KERNEL={kernel}"], files, [lock], report)

    def _make(
        self,
        command: Sequence[str],
        files: Sequence[Path],
        locks: Sequence[int],
        report: Progress,
    ) -> Sequence[Path]:
        """Run make, which holds the locks too; gives the files that it has to make."""
        warnings: list[str] = []
        result = run_make(
            command, lambda line: _sort(line, report, warnings.append), pass_fds=locks
        )
        if result.status != 0 or not all(file.is_file() for file in files):
            raise self.failure(result)
        for line in warnings:
            report(line)
        return files

    def failure(self, result: MakeResult) -> HarnessError:
        """What to say of a run of make that brought no image: whose fault it is, and why."""
        text = "\n".join(result.complaints) or f"make ended with status {result.status}"
        for link, target in self.links:
            text = text.replace(str(link), escape(str(target), 500))
        name = self.config.name
        advice = f"Repeat the build by hand with:\n{self.command_line}"
        workload = f"The workload {escape(str(self.workload), 500)}"
        port = f"The port {escape(str(self.port.directory), 500)}"
        if "No space left on device" in text:
            return HostError(
                f"The guest does not build for {name}:\n{text}",
                "Make room on the disk, then try again.",
            )
        if "undefined reference to `workload'" in text:
            return UsageError(
                f"{workload} does not define workload().", "Add a function: int workload(void)."
            )
        # (what, where, how the linker calls it: the guests' Makefile maps paths)
        brought = [
            (what, path, mapped)
            for what, path, mapped in (
                (workload, self.workload, f"workload/{self.workload.name}"),
                *(
                    (f"The module {escape(str(path), 500)}", path, f"module/{path.name}")
                    for path in self.modules
                ),
                (port, self.port.directory, "port/"),
            )
            if not path.is_relative_to(resources.guests_directory())
        ]
        for what, path, mapped in brought:
            if str(path) in text or mapped in text:
                return UsageError(f"{what} does not build for {name}:\n{text}", advice)
        message = f"The guest does not build for {name}:\n{text}"
        chosen = self.cflags or self.features != _choose_features(self.port, None)
        if brought or chosen or not _is_shipped(self.config):
            return UsageError(message, advice)
        return HostError(message, advice)


def plan_build(
    config: MachineConfig,
    workload: str | Path = "calls",
    port: str | Path | None = None,
    cflags: Sequence[str] = (),
    features: Sequence[str] | None = None,
    modules: Sequence[str | Path] = (),
) -> Build:
    """Decide how to build a guest; UsageError for a bad workload, module, port or flag.

    ``workload`` is a name in ``guests/workloads/`` or a C file; ``port`` a name in
    ``guests/ports/`` or a directory, by default the config's; ``cflags`` come behind the
    config's.  A relative path in a flag is relative to the guests' sources, where make runs.
    ``features`` are those of the port that are built in, in Kconfig's words; by default all that
    it has, but for those of the older specification, which are asked for by name.  ``modules``
    are names in ``guests/modules/`` or C files; the place of each in memory depends on its place
    in the list.
    """
    source = find_workload(workload)
    module_sources = find_modules(modules)
    chosen = load_port(config.port if port is None else port)
    if chosen.architecture != config.architecture:
        raise UsageError(
            f"The port {chosen.name} is for {chosen.architecture}, and the config {config.name} "
            f"is for {config.architecture}.",
            "Choose a config and a port of one architecture.",
        )
    if config.build.form not in chosen.forms:
        raise UsageError(
            f"The port {chosen.name} has no stub for the form {config.build.form}, "
            f"which the config {config.name} asks for.",
            f"The port has: {', '.join(chosen.forms)}.",
        )
    for flag in cflags:
        if not FLAG.fullmatch(flag):
            raise UsageError(
                f"{escape(repr(flag), 200)} is not a compiler flag that a guest can be built with.",
                "Flags begin with a dash and have no blanks or quotes; give each one separately.",
            )
    chosen_features = _choose_features(chosen, features)
    identity = toolchain_identity(config)
    current_kernel_key = partial(
        kernel_key,
        architecture=config.architecture,
        port=chosen.directory,
        flags=[*config.build.cflags, "", *cflags],
        settings=[
            *(config.architecture, config.build.form, f"smp={config.qemu.smp}"),
            config.build.compiler,
            *(*chosen_features, *identity),
        ],
        unique=os.urandom(16),
    )
    current_key = partial(
        guest_key, workload=source, modules=module_sources, **current_kernel_key.keywords
    )
    key = current_key()
    paths = _PlainPaths(cache.GUESTS.work_directory(key))
    command = (
        "make",
        "--no-print-directory",
        "-C",
        str(paths.guests()),
        f"-j{len(os.sched_getaffinity(0))}",
        f"ARCH={config.architecture}",
        f"CROSS_COMPILE={config.build.cross_compile}",
        f"COMPILER={config.build.compiler}",
        f"CFLAGS_ABI={' '.join(config.build.cflags)}",
        f"CFLAGS_EXTRA={' '.join(cflags)}",
        f"FORM={config.build.form}",
        f"SMP={config.qemu.smp}",
        f"FEATURES={' '.join(chosen_features)}",
        f"PORT={paths.directory(chosen.directory, 'port')}",
        f"WORKLOAD={paths.file(source, 'workload')}",
        *_module_words(paths, module_sources),
        f"PYTHON={paths.python()}",
        f"O={paths.work / 'out'}",
    )
    return Build(
        config=config,
        port=chosen,
        workload=source,
        modules=module_sources,
        features=chosen_features,
        cflags=tuple(cflags),
        key=key,
        current_key=current_key,
        current_kernel_key=current_kernel_key,
        command=command,
        links=paths.links,
    )


def build_guest(
    config: MachineConfig,
    workload: str | Path = "calls",
    port: str | Path | None = None,
    cflags: Sequence[str] = (),
    features: Sequence[str] | None = None,
    modules: Sequence[str | Path] = (),
    progress: Progress | None = None,
) -> Path:
    """The image (``vmlinux``, an ELF file) of a guest, built if it is not in the cache yet.

    See :func:`plan_build` for the arguments and :meth:`Build.run` for errors and ``progress``.
    """
    return plan_build(config, workload, port, cflags, features, modules).run(progress)


def module_beside(image: Path, name: str) -> Path:
    """Where the module of that name lies that was built with an image."""
    return image.with_name(f"{name}.ko")


def _module_words(paths: "_PlainPaths", sources: Sequence[Path]) -> Iterator[str]:
    """make's word for them; none where there are none, as it was before there were modules."""
    if sources:
        files = [paths.file(path, f"module{slot}") for slot, path in enumerate(sources)]
        yield f"MODULES={' '.join(map(str, files))}"


def _choose_features(port: Port, features: Sequence[str] | None) -> tuple[str, ...]:
    if features is None:
        return tuple(feature for feature in port.features if feature not in OLDER)
    missing = [feature for feature in features if feature not in port.features]
    if missing:
        raise UsageError(
            f"The port {port.name} does not have {escape(', '.join(missing), 200)}.",
            f"It has: {', '.join(port.features)}.",
        )
    return tuple(feature for feature in port.features if feature in features)


class _PlainPaths:
    """Paths as make can take them: those with blanks and the like by links without."""

    def __init__(self, work: Path) -> None:
        if not _PLAIN.fullmatch(str(work)):
            raise UsageError(
                f"make cannot work in {escape(str(work.parent), 500)}: the path has blanks or "
                "signs that make acts upon.",
                "Set XDG_CACHE_HOME to a directory with a plain path.",
            )
        self.work = work
        self._links: dict[Path, Path] = {}

    @property
    def links(self) -> tuple[tuple[Path, Path], ...]:
        return tuple(self._links.items())

    def _link(self, link: Path, target: Path) -> Path:
        self._links[link] = target
        return link

    def directory(self, path: Path, name: str) -> Path:
        if _PLAIN.fullmatch(str(path)):
            return path
        guests = resources.guests_directory()
        if path.is_relative_to(guests):
            return self.guests() / path.relative_to(guests)
        return self._link(self.work / name, path)

    def file(self, path: Path, name: str) -> Path:
        # The directory is what gets the link, so that the file finds what it includes.
        if not _PLAIN.fullmatch(path.name):
            raise UsageError(
                f"make cannot take a file called {escape(repr(path.name), 300)}.",
                "Give the file a name of letters, digits, dots, dashes and underscores.",
            )
        return self.directory(path.parent, name) / path.name

    def guests(self) -> Path:
        guests = resources.guests_directory()
        if _PLAIN.fullmatch(str(guests)):
            return guests
        # make finds the true path of its directory out, so that must be plain itself.
        plain = self.work / "guests"
        for path in sorted(guests.iterdir()):
            self._link(plain / path.name, path)
        # The guests' Makefile looks for a source tree's package beside them.
        self._link(self.work / "harness", resources.PACKAGE)
        return plain

    def python(self) -> Path:
        python = Path(sys.executable or "/usr/bin/python3")
        # Python knows its virtual environment by the directory above the program's.
        return self.directory(python.parent.parent, "python") / python.parent.name / python.name


def _is_shipped(config: MachineConfig) -> bool:
    return config.name in list_configs() and load_config(config.name) == config


def _sort(line: str, step: Progress, other: Progress) -> None:
    """The makefile indents its steps.  What else is said is the error's to say, if there is one."""
    (step if line.startswith("  ") else other)(line)


def _silent(_line: str) -> None:
    pass
