# SPDX-License-Identifier: MIT
"""The initial root file system of a Linux kernel: one static program, and modules."""

from collections.abc import Sequence
from pathlib import Path

from harness.errors import HostError
from harness.kbuild.toolchain import tools_identity
from harness.kernels.catalogue import Toolchain, linux_directory
from harness.kernels.cpio import archive, character_device, directory, file
from harness.process import NotRun, run
from harness.units import escape

_DEADLINE = 60.0
_CONSOLE = (5, 1)

_CFLAGS = (
    *("-O2", "-static", "-nostdlib", "-nostdinc", "-ffreestanding", "-fno-builtin"),
    *("-fno-stack-protector", "-fno-pic", "-no-pie", "-fno-tree-loop-distribute-patterns"),
    *("-Wl,--build-id=none", "-Wl,-e,_start"),
)


def sources() -> list[Path]:
    """The C files of the first process."""
    return sorted(linux_directory().glob("*.[ch]"))


def toolchain_answers(toolchain: Toolchain) -> list[str]:
    """What compiler, assembler and linker say of themselves; HostError when one is missing."""
    prefix = toolchain.cross_compile
    return tools_identity(prefix, toolchain.package, f"{prefix}gcc", toolchain.package)


def make_initrd(toolchain: Toolchain, output: Path, modules: Sequence[Path] = ()) -> Path:
    """Compile the first process and write the archive, with ``modules`` in its root.

    The program is left beside it.  HostError when the compiler refuses.
    """
    program = output.with_name("init")
    compiler = f"{toolchain.cross_compile}gcc"
    source = str(linux_directory() / "init.c")
    command = [compiler, *_CFLAGS, *toolchain.cflags, "-o", str(program), source]
    try:
        result = run(command, _DEADLINE)
    except NotRun as error:
        raise HostError(f"{compiler} cannot be run: {error}.", "See `harness doctor`.") from error
    if result.returncode != 0:
        text = escape(result.stderr.decode(errors="replace").strip()[:2000])
        raise HostError(f"The first process does not build with {compiler}:\n{text}")
    entries = [
        *map(directory, ("dev", "proc", "sys")),
        character_device("dev/console", *_CONSOLE),
        file("init", program.read_bytes(), 0o755),
        *(file(module.name, module.read_bytes()) for module in modules),
    ]
    output.write_bytes(archive(entries))
    return output
