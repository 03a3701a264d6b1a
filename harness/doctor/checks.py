# SPDX-License-Identifier: MIT
"""The checks: programs, what each config needs, Python packages, the cache."""

import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import metadata

from packaging.requirements import Requirement

from harness.config import MachineConfig, list_configs, load_config, resources
from harness.doctor.programs import check_program
from harness.doctor.result import Diagnosis
from harness.doctor.versions import TESTED
from harness.errors import HarnessError, UsageError
from harness.files import ScratchDirectory
from harness.isa import cpu_of
from harness.units import escape

# (name, command that prints its version, Debian package)
TOOLS = (
    ("gdb-multiarch", ("gdb-multiarch", "--version"), "gdb-multiarch"),
    ("qemu-img", ("qemu-img", "--version"), "qemu-utils"),
    ("make", ("make", "--version"), "make"),
    ("setpriv", ("setpriv", "--pdeathsig", "KILL", "--", "setpriv", "--version"), "util-linux"),
    ("gcc", ("gcc", "--version"), "gcc"),
)

DISTRIBUTION = "ftrace-harness"

# Without -bios Malta needs a boot ROM that Debian does not package.
_QEMU_PROOF = ("-nodefaults", "-display", "none", "-bios", "/dev/null", "-S", "-qmp", "stdio")
_QMP = (
    '{"execute": "qmp_capabilities"}\n'
    '{"execute": "query-command-line-options", "arguments": {"option": "plugin"}}\n'
    '{"execute": "quit"}\n'
)
_NO_PLUGINS = "invalid option name: plugin"


def check_all(configs: Sequence[MachineConfig] | None = None) -> list[Diagnosis]:
    """Run all checks in parallel, by default for every config in ``qemu-configs/``.

    A config is checked by starting its machine, halted and without a guest, by compiling a line
    with its flags; its architecture must be complete.  Nothing is raised for what is missing.
    """
    waiting: list[Callable[[], Diagnosis]] = [check_python, check_python_packages, check_cache]
    waiting += [*(partial(check_tool, *tool) for tool in TOOLS), check_trace_cmd]
    broken: list[Diagnosis] = []
    if configs is None:
        configs, broken = _shipped_configs()
    for config in configs:
        waiting += [partial(check_machine, config), partial(check_compiler, config)]
        waiting.append(partial(check_architecture, config))
    with ThreadPoolExecutor() as pool:
        return [*pool.map(lambda check: check(), waiting), *broken]


def check_tool(name: str, command: Sequence[str], package: str) -> Diagnosis:
    """Whether a tool runs, and whether its version was tested."""
    return check_program(name, command, package, note=partial(_version_note, name))


def check_trace_cmd() -> Diagnosis:
    """Whether trace-cmd runs.  It prints its version above its usage, with status 255."""
    name = "trace-cmd"
    proof = check_program(name, (name, "list", "-P"), name)
    if not proof.ok:
        return proof
    note = partial(_version_note, name)
    return check_program(name, (name, "version"), name, statuses=(0, 255), note=note)


def check_machine(config: MachineConfig) -> Diagnosis:
    """Whether QEMU starts the config's machine with its CPU and memory, and supports plugins."""
    qemu = config.qemu
    name = f"{config.name}: machine"
    command = [qemu.binary, *_QEMU_PROOF, "-machine", qemu.machine, "-cpu", qemu.cpu]
    command += ["-m", qemu.memory, "-smp", str(qemu.smp), *qemu.arguments]
    proof = check_program(
        name, command, qemu.package, given=_QMP, note=partial(_plugin_note, qemu.binary)
    )
    if not proof.ok:
        return proof
    found = check_program(
        name, [qemu.binary, "--version"], qemu.package, note=partial(_version_note, "QEMU")
    )
    return replace(found, note="; ".join(filter(None, (found.note, proof.note))))


def check_compiler(config: MachineConfig) -> Diagnosis:
    """Whether the config's compiler compiles with the config's flags."""
    build = config.build
    name = f"{config.name}: compiler"
    gcc = f"{build.cross_compile}gcc"
    with ScratchDirectory() as directory:
        output = str(directory.path / "proof.o")
        command = [gcc, *build.cflags, "-ffreestanding", "-c", "-x", "c", "-o", output, "-"]
        proof = check_program(name, command, build.tools_package, given="int proof(void);\n")
    if not proof.ok:
        return proof
    return check_program(
        name, [gcc, "--version"], build.tools_package, note=partial(_version_note, "gcc")
    )


def check_architecture(config: MachineConfig) -> Diagnosis:
    """Whether the harness has all that it needs of the config's architecture."""
    name = f"{config.name}: architecture"
    try:
        cpu_of(config.architecture)
    except UsageError as error:
        return Diagnosis(name, False, error.message)
    return Diagnosis(name, True, config.architecture)


def check_python() -> Diagnosis:
    """Whether this version of Python is supported and was tested."""
    version = ".".join(map(str, sys.version_info[:3]))
    note = _version_note("Python", version)
    oldest = TESTED["Python"].oldest
    if sys.version_info < tuple(map(int, oldest.split("."))):
        return Diagnosis("Python", False, f"{version} is too old: {oldest} or newer is needed")
    return Diagnosis("Python", True, version, note=note)


def check_python_packages() -> Diagnosis:
    """Whether the required Python packages are installed in suitable versions."""
    name, advice = "Python packages", f"pip install {DISTRIBUTION}"
    try:
        declared = [Requirement(line) for line in metadata.requires(DISTRIBUTION) or ()]
    except metadata.PackageNotFoundError:
        return Diagnosis(name, False, f"{DISTRIBUTION} itself is not installed; {advice}")
    needed = [one for one in declared if one.marker is None or one.marker.evaluate({"extra": ""})]
    wrong = list(filter(None, map(_wrong_package, needed)))
    if wrong:
        return Diagnosis(name, False, f"{'; '.join(wrong)}; {advice}")
    return Diagnosis(name, True, f"{len(needed)} found")


def _wrong_package(needed: Requirement) -> str:
    try:
        version = metadata.version(needed.name)
    except metadata.PackageNotFoundError:
        return f"{needed.name} is missing"
    return "" if needed.specifier.contains(version, True) else f"{needed} is needed, not {version}"


def check_cache() -> Diagnosis:
    """Whether the cache is writable."""
    directory = resources.cache_directory()
    shown = escape(str(directory), 300)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=directory) as file:
            file.write(b"proof")
    except OSError as error:
        return Diagnosis(
            "cache", False, f"{shown} cannot be written: {error.strerror}; set XDG_CACHE_HOME"
        )
    return Diagnosis("cache", True, shown)


def _version_note(name: str, output: str) -> str:
    """A note about the version in the first line of a program's output."""
    program = "gdb" if name == "gdb-multiarch" else name
    lines = output.split("\n")
    first = next((line for line in lines if line.strip()), "")
    return TESTED[program].note(program, first) if program in TESTED else ""


def _plugin_note(binary: str, output: str) -> str:
    if _NO_PLUGINS not in output:
        return ""
    return f"{binary} is built without TCG plugins: conform and matrix cannot run"


def _shipped_configs() -> tuple[list[MachineConfig], list[Diagnosis]]:
    good = []
    bad = []
    try:
        names = list_configs()
    except HarnessError as error:
        return [], [Diagnosis("configs", False, error.message)]
    for name in names:
        try:
            good.append(load_config(name))
        except HarnessError as error:
            bad.append(Diagnosis(f"{name}: config", False, error.message))
    return good, bad
