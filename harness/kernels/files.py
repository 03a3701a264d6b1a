# SPDX-License-Identifier: MIT
"""The files of a kernel in the cache, and its machine config."""

import json
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.files import atomic_file
from harness.kernels.catalogue import LinuxKernel
from harness.units import escape

VMLINUX, IMAGE, INITRD = "vmlinux", "image", "initrd.cpio"
WRITTEN = "Written by harness linux"
"""How a config of ours begins, behind the sign of a comment."""


@dataclass(frozen=True, slots=True)
class KernelFiles:
    """Their directory."""

    vmlinux: Path
    """With DWARF."""
    image: Path
    """What QEMU boots; vmlinux itself where it boots that."""
    initrd: Path

    @classmethod
    def beside(cls, vmlinux: Path) -> "KernelFiles":
        """Those of an entry of the cache."""
        image = vmlinux.with_name(IMAGE)
        return cls(vmlinux, image if image.exists() else vmlinux, vmlinux.with_name(INITRD))


def check_writable(path: Path) -> None:
    """UsageError for a file that is there and no config that was written here."""
    try:
        with path.open("rb") as stream:
            begin = stream.read(len(WRITTEN) + 2)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(
            f"{escape(str(path), 500)} cannot be read: {error.strerror}.", "Choose another file."
        ) from error
    if begin != f"# {WRITTEN}".encode():
        raise UsageError(
            f"{escape(str(path), 500)} is there, and harness linux has not written it.",
            "Remove it, or choose another file: -o FILE.toml.",
        )


def write_config(path: Path, kernel: LinuxKernel, files: KernelFiles, origin: str) -> None:
    """Write the machine config of a kernel; ``origin`` says where that comes from.

    Raises:
        UsageError: the file cannot be written, or is not ours to write over.
    """
    check_writable(path)
    with atomic_file(path) as stream:
        stream.write(config_text(kernel, files, f"{WRITTEN}: {origin}.").encode())


def config_text(kernel: LinuxKernel, files: KernelFiles, comment: str) -> str:
    """The machine config of the kernel with those files; ``comment`` is its first line."""
    linux = {"vmlinux": str(files.vmlinux)}
    if files.image != files.vmlinux:
        linux["image"] = str(files.image)
    linux |= {"initrd": str(files.initrd), "append": kernel.append}
    qemu = kernel.qemu.model_dump(exclude_defaults=True)
    top = {"description": kernel.description, "architecture": kernel.architecture}
    lines = [f"# {comment}"]
    for table, values in (("", top), ("qemu", qemu), ("linux", linux)):
        lines += ["", f"[{table}]"] if table else []
        lines += [
            f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in values.items()
        ]
    return "\n".join(lines) + "\n"
