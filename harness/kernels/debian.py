# SPDX-License-Identifier: MIT
"""Debian's kernels, with the DWARF from a separate package."""

from collections.abc import Sequence
from pathlib import Path

from harness.errors import HostError
from harness.kbuild.cache import Cache
from harness.kbuild.contents import Digest
from harness.kbuild.make import Progress
from harness.kernels.apt import Apt, extract
from harness.kernels.catalogue import LinuxKernel
from harness.kernels.files import IMAGE, INITRD, VMLINUX, KernelFiles
from harness.kernels.initrd import make_initrd, sources, toolchain_answers

KERNELS = Cache("debian-kernels", VMLINUX, 4)
"""A vmlinux has 300 MB."""


def fetch_kernel(kernel: LinuxKernel, report: Progress) -> tuple[KernelFiles, str]:
    """Debian's kernel with our initial root file system, and the package's name and version.

    It is downloaded unless it is in the cache: some 800 MB.

    Raises:
        HostError: apt cannot get it, or there is no room.
    """
    debian = kernel.debian
    assert debian is not None
    apt = Apt(debian.architecture)
    apt.update(report)
    name = apt.show(debian.package).dependency(r"linux-image-\d[\w.+-]*")
    if name is None:
        raise HostError(f"The package {debian.package} names no kernel.", "Look at apt-cache show.")
    packages = [apt.show(name), apt.show(f"{name}-dbg")]
    answers = toolchain_answers(kernel.toolchain)

    def key() -> str:
        digest = Digest()
        for package in packages:
            digest.add("package", f"{package.name} {package.version} {debian.architecture}")
        digest.add("toolchain", kernel.toolchain.model_dump_json())
        for answer in answers:
            digest.add("tool", answer)
        for path in sources():
            digest.add(path.name, path.read_bytes())
        return digest.hex()

    def get(work: Path, _lock: int) -> Sequence[Path]:
        image, debug = apt.download(packages, work, report)
        vmlinux = extract(debug, "*/debug/boot/vmlinux-*", work / "unpacked-dbg", report)
        boots = extract(image, "./boot/vmlinu?-*", work / "unpacked", report)
        return [
            vmlinux.rename(work / VMLINUX),
            boots.rename(work / IMAGE),
            make_initrd(kernel.toolchain, work / INITRD),
        ]

    waiting = "waiting for another download of the same kernel"
    vmlinux = KERNELS.obtain(key(), key, lambda: report(waiting), get)
    return KernelFiles.beside(vmlinux), f"{name} {packages[0].version} of Debian"
