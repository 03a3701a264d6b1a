# SPDX-License-Identifier: MIT
"""The Linux kernels that can be built or fetched, from the files of ``guests/linux/kernels``."""

import tomllib
from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from harness.config import resources
from harness.config.loading import validated
from harness.config.models import Flag, Model, Package, Program, QemuConfig
from harness.config.names import unknown_name

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]


class Toolchain(Model):
    """The compiler of the kernel and of its first process."""

    cross_compile: Program = Field(description='what stands before "gcc"')
    package: Package = Field(description="the Debian package that has the compiler")
    cflags: tuple[Flag, ...] = Field(default=(), description="flags for a static program")


class LinuxBuild(Model):
    """How a small kernel is built from a source tree."""

    arch: Name = Field(description="ARCH of Linux's Makefile")
    options: tuple[Name, ...] = Field(description="names of files in guests/linux/options")
    image: str | None = Field(default=None, description="what QEMU boots, in the build directory")


class DebianKernel(Model):
    """Debian's own kernel for the machine."""

    architecture: Name = Field(description="Debian's name of the architecture")
    package: Package = Field(description="the package that depends on the newest kernel")


class LinuxKernel(Model):
    """A file of ``guests/linux/kernels``."""

    description: str = Field(description="one line of text")
    architecture: str = Field(description="the name of a directory in guests/arch")
    append: str = Field(description="a kernel command line")
    qemu: QemuConfig = Field(description="a table [qemu]")
    toolchain: Toolchain = Field(description="a table [toolchain]")
    build: LinuxBuild | None = Field(default=None, description="a table [build]")
    debian: DebianKernel | None = Field(default=None, description="a table [debian]")


def linux_directory() -> Path:
    """The directory of the guests' sources for Linux."""
    return resources.guests_directory() / "linux"


def list_kernels(table: str) -> list[str]:
    """The kernels that have a table, ``build`` or ``debian``, sorted."""
    files = sorted((linux_directory() / "kernels").glob("*.toml"))
    return [file.stem for file in files if table in tomllib.loads(file.read_text())]


def load_kernel(name: str, table: str) -> LinuxKernel:
    """The kernel of a name, which has that table; UsageError for an unknown name."""
    known = list_kernels(table)
    if name not in known:
        raise unknown_name("kernel", name, known, path_hint="docs/linux.rst describes them.")
    file = linux_directory() / "kernels" / f"{name}.toml"
    return validated(LinuxKernel, tomllib.loads(file.read_text()), file)
