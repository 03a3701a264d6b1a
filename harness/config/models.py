# SPDX-License-Identifier: MIT
"""The models of machine configs and ports.

Each field's description is the text after "allowed:" in an error, so it says what may be written;
docs/configs.rst says what the field is for.
"""

import platform
import re
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    field_validator,
)

from harness.config import resources
from harness.isa import Form, Injection, Property, cpu_of

# make and its shell see these words without quotes, so special characters are not allowed.
FLAG = re.compile(r"-[\w./=,+:@-]+", re.ASCII)
PROGRAM = re.compile(r"[\w./+-]+", re.ASCII)

COMPILER = "(gcc|clang)(-[1-9][0-9]{0,2})?"

# A word of QEMU's command line, without a shell; a leading dash would be an option.
_QEMU_WORD = r"^[^\s\x00-\x1f\x7f-][^\s\x00-\x1f\x7f]*$"
_NAME = r"^[A-Za-z0-9][A-Za-z0-9._+-]*$"

Feature = Literal[
    "FUNCTION_TRACER",
    "FUNCTION_GRAPH_TRACER",
    "FUNCTION_GRAPH_FP_TEST",
    "FUNCTION_GRAPH_RET_ADDR_PTR",
    "FUNCTION_GRAPH_FREGS",
    "FUNCTION_GRAPH_RETVAL",
    "SYSCALL_TRACEPOINTS",
    "FTRACE_MCOUNT_RECORD",
    "DYNAMIC_FTRACE",
    "DYNAMIC_FTRACE_WITH_ARGS",
    "DYNAMIC_FTRACE_WITH_REGS",
    "DYNAMIC_FTRACE_WITH_CALL_OPS",
    "DYNAMIC_FTRACE_WITH_DIRECT_CALLS",
    "FUNCTION_TRACE_MCOUNT_TEST",
    "FTRACE_NMI_ENTER",
]

MAX_CPUS = 8
"""What every interrupt controller here supports; a guest needs memory for each CPU."""

SMALLEST_FRAME = 512
"""Bytes; functions of the guests' own kernel need as much."""

# The forms of a kernel; the long call is a form of modules only.
ConfigForm = Literal[Form.MCOUNT, Form.MCOUNT_RA_ADDRESS, Form.PATCHABLE_ENTRY]


def one_of(choices: object) -> str:
    """The values of an enumeration as in a TOML file."""
    return ", ".join(f'"{choice!s}"' for choice in get_args(choices))


def _known_architecture(name: str) -> str:
    known = resources.architectures()
    if name not in known:
        raise ValueError(", ".join(f'"{architecture}"' for architecture in known))
    return name


def _flag(text: str) -> str:
    if not FLAG.fullmatch(text):
        raise ValueError(
            "compiler flags that begin with a dash, one a string, without blanks or quotes"
        )
    return text


def _argument(text: str) -> str:
    # QEMU would go to the background and outlive the harness.
    if text.lstrip("-") == "daemonize":
        raise ValueError("arguments of QEMU that leave it in the foreground")
    return text


def _file_path(path: Path) -> Path:
    if not str(path).isprintable() or not path.name:
        raise ValueError("the path of a file, without control characters")
    return path


Word = Annotated[str, StringConstraints(pattern=_QEMU_WORD, max_length=200)]
Program = Annotated[str, StringConstraints(pattern=f"^{PROGRAM.pattern}$", max_length=200)]
CompilerName = Annotated[str, StringConstraints(pattern=f"^{COMPILER}$")]
COMPILERS = '"gcc" or "clang", or a version of one, such as "gcc-13"'
Package = Annotated[str, StringConstraints(pattern=r"^([a-z0-9][a-z0-9+.-]+)?$", max_length=100)]
Argument = Annotated[
    str,
    StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$", max_length=1000),
    AfterValidator(_argument),
]
FilePath = Annotated[Path, AfterValidator(_file_path)]
Addresses = Annotated[str, StringConstraints(pattern=r"^0x[0-9a-f]{1,16}-0x[0-9a-f]{1,16}$")]
Architecture = Annotated[str, AfterValidator(_known_architecture)]
Flag = Annotated[str, AfterValidator(_flag)]


class Model(BaseModel):
    """Frozen; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class QemuConfig(Model):
    """The machine of QEMU."""

    binary: Program = Field(description='a program, such as "qemu-system-mips"')
    package: Package = Field(default="", description="the Debian package that has the program")
    machine: Word = Field(description='a machine of QEMU, such as "malta" or "virt"')
    cpu: Word = Field(description='a CPU of that machine, such as "24Kf"')
    memory: Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,5}[MG]$")] = Field(
        default="128M", description='a size in M or G, such as "128M"'
    )
    smp: int = Field(
        default=1, ge=1, le=MAX_CPUS, strict=True, description=f"a number from 1 to {MAX_CPUS}"
    )
    inject: Word | None = Field(
        default=None, description='one of the architecture, such as "software-interrupt"'
    )
    unreadable: tuple[Addresses, ...] = Field(
        default=(), description='first and last address, such as ["0xbfbf8000-0xbfbfffff"]'
    )
    snapshots: bool = Field(
        default=True, strict=True, description="true, or false where QEMU cannot go back to one"
    )
    arguments: tuple[Argument, ...] = Field(
        default=(), description='more arguments of QEMU, one a string, such as ["-semihosting"]'
    )


class BuildConfig(Model):
    """How a guest for the machine is compiled."""

    cross_compile: Annotated[
        str, StringConstraints(pattern=f"^({PROGRAM.pattern})?$", max_length=200)
    ] = Field(description='what stands before "gcc", such as "mips-linux-gnu-"; may be empty')
    package: Package = Field(
        default="", description="the Debian package that has the compiler on other hosts"
    )
    compiler: CompilerName = Field(default="gcc", description=COMPILERS)
    cflags: tuple[Flag, ...] = Field(default=(), description='strings, such as ["-mabi=32"]')
    form: ConfigForm = Field(description=one_of(ConfigForm))

    @property
    def compiler_program(self) -> str:
        """The program: gcc has the prefix, clang is one program for all targets."""
        prefix = "" if self.compiler.startswith("clang") else self.cross_compile
        return f"{prefix}{self.compiler}"

    @property
    def tools_package(self) -> str:
        """The Debian package of gcc and its binutils: a host has those for itself from ``gcc``."""
        own = f"{platform.machine()}-linux-gnu-"
        return "gcc" if self.cross_compile == own else self.package

    @property
    def compiler_package(self) -> str:
        """The compiler's Debian package; a version such as gcc-13-mips-linux-gnu has its own."""
        if self.compiler.startswith("clang"):
            return self.compiler
        return self.tools_package.replace("gcc", self.compiler, 1)


class LinuxTable(Model):
    """A Linux kernel: its files, and how it is booted."""

    vmlinux: FilePath = Field(description="the path of a vmlinux with DWARF")
    image: FilePath | None = Field(default=None, description="the path of a file that QEMU boots")
    append: Annotated[str, StringConstraints(pattern=r"^[\x20-\x7e]*$", max_length=2000)] = Field(
        default="", description="a kernel command line of printable ASCII, at most 2000 characters"
    )
    initrd: FilePath | None = Field(default=None, description="the path of an initramfs")
    until: Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][\w.]*$", max_length=200)] = Field(
        default="free_initmem", description='the name of a function, such as "free_initmem"'
    )

    @property
    def boot_file(self) -> Path:
        """What QEMU loads."""
        return self.image or self.vmlinux


class MachineFile(Model):
    """The keys of all machine configs."""

    description: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$")] = Field(
        description="one line of text"
    )
    architecture: Architecture = Field(description="the name of a directory in guests/arch")
    qemu: QemuConfig = Field(description="a table [qemu]")

    @property
    def injection(self) -> Injection | None:
        """How the host raises an interrupt, if the config says how."""
        name = self.qemu.inject
        return None if name is None else cpu_of(self.architecture).injections[name]


class ConfigFile(MachineFile):
    """The keys of a TOML file in ``qemu-configs/``."""

    port: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$")] = Field(
        description="the name of a directory in guests/ports, or a path with a slash"
    )
    build: BuildConfig = Field(description="a table [build]")


class LinuxFile(MachineFile):
    """The keys of a TOML file with a table ``[linux]``."""

    linux: LinuxTable = Field(description="a table [linux]")


class MachineConfig(ConfigFile):
    """A machine config: the file's keys, and its name (the file's, without ``.toml``)."""

    name: Annotated[str, StringConstraints(pattern=_NAME)]

    @property
    def saves_clock(self) -> bool:
        """Whether the clock is in QEMU's snapshots, as it has to be for a replay."""
        return cpu_of(self.architecture).unsaved_clock is None

    @property
    def properties(self) -> frozenset[Property]:
        """The properties of its guests that clauses depend on."""
        nmi = self.injection is not None and self.injection.nmi
        of_machine = cpu_of(self.architecture).properties(self.build.cflags)
        return of_machine if nmi else of_machine | {Property.NO_NMI}


class LinuxConfig(LinuxFile):
    """The machine config of a Linux kernel: the paths are absolute, and name regular files."""

    name: Annotated[str, StringConstraints(pattern=_NAME)]


class KernelFile(Model):
    """The table ``[kernel]`` of ``port.toml``: properties of the port's own kernel that exclude
    clauses.  Without the table no clause is excluded.  docs/kernel-words.rst describes each word.
    """

    nested_functions: bool = Field(
        default=True, strict=True, description="true, or false where no C code has nested functions"
    )
    floating_point: bool = Field(
        default=True, strict=True, description="true, or false where no C code has floating point"
    )
    FRAME_WARN: int = Field(
        default=0,
        ge=0,
        le=8192,
        strict=True,
        description="the bytes of the largest stack frame, up to 8192, or 0 for no limit",
    )
    DYNAMIC_FTRACE: bool = Field(
        default=False, strict=True, description="false, or true where FUNCTION_TRACER selects it"
    )
    PREEMPTION: bool = Field(
        default=True, strict=True, description="true, or false where no kernel code is preempted"
    )
    call_target: Literal["any", "ftrace_caller"] = Field(
        default="any", description='"any" or "ftrace_caller"'
    )
    tracers: Literal["any", "kernel"] = Field(default="any", description='"any" or "kernel"')
    sites_told_by: Literal["words", "address"] = Field(
        default="words", description='"words" or "address"'
    )
    KPROBES: bool = Field(
        default=False,
        strict=True,
        description="false, or true where a kprobe may be in front of rec->ip",
    )
    retp: Literal["place", "cookie"] = Field(default="place", description='"place" or "cookie"')
    graph_tracer: Literal["ops", "slot"] = Field(default="ops", description='"ops" or "slot"')
    syscall_numbers: Literal["any", "table"] = Field(default="any", description='"any" or "table"')
    mips_sites: Literal[2009, 2013] = Field(default=2009, description="2009 or 2013")

    @field_validator("FRAME_WARN")
    @classmethod
    def _has_room(cls, value: int) -> int:
        if 0 < value < SMALLEST_FRAME:
            raise ValueError(f"0, or from {SMALLEST_FRAME} to 8192")
        return value


class PortFile(Model):
    """The keys of ``port.toml``."""

    name: Annotated[str, StringConstraints(pattern=f"({_NAME})|^$")] = Field(
        default="", description="letters, digits, dots, dashes, plus signs and underscores"
    )
    description: Annotated[str, StringConstraints(pattern=r"^[^\x00-\x1f\x7f]+$")] = Field(
        default="a port of ftrace", description="one line of text"
    )
    architecture: Architecture = Field(description="the name of a directory in guests/arch")
    forms: tuple[ConfigForm, ...] = Field(
        default=get_args(ConfigForm), description=one_of(ConfigForm)
    )
    features: tuple[Feature, ...] = Field(description=one_of(Feature))
    kernel: KernelFile = Field(default=KernelFile(), description="a table [kernel]")


class Port(PortFile):
    """A port: the contents of ``port.toml``, and its directory."""

    directory: Path

    def fits(self, config: MachineConfig) -> bool:
        """Whether it supports the config's architecture and form of call sites."""
        return config.architecture == self.architecture and config.build.form in self.forms
