# SPDX-License-Identifier: MIT
"""A port directory made out of a Linux tree: its files as they are, and what the tree says of them.

Nothing is concluded from a version number.  A feature is what the architecture's Kconfig selects, a
word of ``[kernel]`` is written where the line was found that it rests on, and that line is named.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.config.loading import PORT_FILES
from harness.errors import HostError, UsageError
from harness.kbuild.linux_tree import LinuxTree, Place
from harness.units import escape


@dataclass(frozen=True, slots=True)
class LinuxArch:
    """Where an architecture's files lie in a Linux tree."""

    name: str
    """As the harness has it."""
    entry: str
    """Its entry in its Kconfig."""
    sources: tuple[str, str, str]
    """What becomes `PORT_FILES` but for port.toml, below ``arch/<its name in Linux>``."""
    no_floating_point: str
    """The flag that keeps the compiler from it."""


ARCHES = {
    "mips": LinuxArch(
        "mips",
        "MIPS",
        ("kernel/mcount.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
        r"-msoft-float",
    ),
    "arm64": LinuxArch(
        "aarch64",
        "ARM64",
        ("kernel/entry-ftrace.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
        r"-mgeneral-regs-only",
    ),
}
"""By their names in Linux."""

SELECTED = (
    "FUNCTION_TRACER",
    "FTRACE_MCOUNT_RECORD",
    "DYNAMIC_FTRACE",
    "FUNCTION_GRAPH_TRACER",
)
"""Features for which there is a ``HAVE_`` symbol that an architecture selects."""

DEFINED = ("FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
"""Features for which its asm/ftrace.h defines one."""

GENERIC = "kernel/trace/ftrace.c"


def import_port(tree: Path, arch: str, directory: Path) -> LinuxTree:
    """Make a port directory of a Linux tree's files; the tree, for its version.

    ``arch`` is a name of `ARCHES`.  UsageError for another one, for a tree that is none, has no
    such architecture or has call sites that no check judges, and for a directory that is not empty.
    """
    linux = LinuxTree(tree)
    known = _known(arch)
    files = [f"arch/{arch}/{source}" for source in known.sources]
    texts = [linux.read(file) for file in files]
    for file, text in zip(files, texts, strict=True):
        if not text:
            raise UsageError(
                f"{escape(str(tree), 500)} has no {arch} to import: {file} is missing.",
                "Give a tree that has it, or another --arch.",
            )
    toml = "\n".join(_port_toml(linux, arch)) + "\n"
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise UsageError(
                f"{escape(str(directory), 500)} is there already.",
                "Give the name of a directory that is not there, or is empty.",
            )
        contents = [toml.encode(), *((tree / file).read_bytes() for file in files)]
        for name, content in zip(PORT_FILES, contents, strict=True):
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise HostError(
            f"{escape(str(directory), 500)} cannot be written: {error.strerror}.",
            "Give a directory that can be.",
        ) from error
    return linux


def _known(arch: str) -> LinuxArch:
    known = ARCHES.get(arch)
    if known is None:
        raise UsageError(
            f"The files of {escape(repr(arch), 200)} in a Linux tree cannot be imported.",
            f"Choose one of: {', '.join(ARCHES)}.",
        )
    return known


def _port_toml(linux: LinuxTree, arch: str) -> Iterator[str]:
    """The lines of port.toml."""
    known, kconfig = ARCHES[arch], f"arch/{arch}/Kconfig"
    yield f"# Made by harness port import from Linux {linux.version}, arch/{arch}."
    yield "# What is said below is followed by the place in that tree where it was read."
    yield f'name = "linux-{linux.version}-{arch}"'
    yield f'architecture = "{known.name}"'
    yield from _forms(linux, arch)
    features = [
        (feature, place)
        for feature in SELECTED
        for place in linux.find_in_entry(kconfig, known.entry, rf"\bselect HAVE_{feature}\b")[:1]
    ]
    header = f"arch/{arch}/include/asm/ftrace.h"
    features += [
        (feature, place)
        for feature in DEFINED
        if (place := linux.find(header, rf"^#\s*define\s+HAVE_{feature}\b"))
    ]
    if not any(feature == "FUNCTION_TRACER" for feature, _ in features):
        raise UsageError(
            f"Linux {linux.version} has no function tracer on {arch}: {kconfig} does not select "
            "HAVE_FUNCTION_TRACER.",
            "Give a tree that has it, or another --arch.",
        )
    yield "# SYSCALL_TRACEPOINTS is not here: the way into a system call lies in other files."
    yield "features = ["
    yield from (f'    "{feature}",  # {place}' for feature, place in features)
    yield "]"
    words = [f"{word}  # {place}" for word, place in _words(linux, arch)]
    if words:
        yield from ("", "[kernel]", *words)


def _forms(linux: LinuxTree, arch: str) -> Iterator[str]:
    """The forms of call sites that the tree's compiler flags ask for; UsageError for others."""
    kconfig, makefile = f"arch/{arch}/Kconfig", f"arch/{arch}/Makefile"
    entry = ARCHES[arch].entry
    patchable = linux.find_in_entry(
        kconfig, entry, r"\bselect FTRACE_MCOUNT_USE_PATCHABLE_FUNCTION_ENTRY\b"
    )
    if patchable and _always_dynamic(linux, arch):
        raise UsageError(
            f"Linux {linux.version} of {arch} has only patchable call sites with registers saved "
            f"for a tracer ({patchable[0]}), a form that is not judged yet.",
            "Linux 6.1 has calls of _mcount there too.",
        )
    ra_address = linux.find(makefile, r"^[^#]*-mmcount-ra-address\b")
    if ra_address:
        yield f"# With a compiler that has -mmcount-ra-address, and with others: {ra_address}"
        yield 'forms = ["mcount-ra-address", "mcount"]'
        return
    if patchable:
        yield "# Of patchable call sites with registers saved for a tracer nothing is judged yet:"
        yield f"# {patchable[0]}"
    yield 'forms = ["mcount"]'


def _always_dynamic(linux: LinuxTree, arch: str) -> list[Place]:
    pattern = r"\bselect DYNAMIC_FTRACE if FUNCTION_TRACER\b"
    return linux.find_in_entry(f"arch/{arch}/Kconfig", ARCHES[arch].entry, pattern)


def _words(linux: LinuxTree, arch: str) -> Iterator[tuple[str, Place]]:
    """The words of [kernel], each with the line that it rests on; docs/kernel-words.rst."""
    source, makefile = f"arch/{arch}/kernel/ftrace.c", f"arch/{arch}/Makefile"
    found: list[tuple[str, Place | None]] = [
        # It is built with clang too, which has none.
        ("nested_functions = false", linux.find("Makefile", r"^\s*CC\s*=.*clang")),
        ("floating_point = false", linux.find(makefile, ARCHES[arch].no_floating_point)),
        *_largest_frame(linux),
        *(("DYNAMIC_FTRACE = true", place) for place in _always_dynamic(linux, arch)),
        # What ftrace_get_addr_new and ftrace_get_addr_curr give without saved registers.
        (
            'call_target = "ftrace_caller"',
            linux.find(GENERIC, r"return \(unsigned long\)\s?FTRACE_ADDR;"),
        ),
        # A module's tracer is called by ftrace_ops_list_func.
        ('tracers = "kernel"', linux.find(GENERIC, r"ops->flags & \(?FTRACE_OPS_FL_DYNAMIC\b")),
        ('sites_told_by = "address"', linux.find(source, r"core_kernel_text\(ip\) \?")),
        ('retp = "cookie"', linux.find(source, r"\(void \*\)frame_pointer\)")),
        (
            "mips_sites = 2013",
            linux.find(source, r"ftrace_modify_code\(MCOUNT_ADDR, INSN_NOP\)"),
        ),
    ]
    return ((word, place) for word, place in found if place is not None)


def _largest_frame(linux: LinuxTree) -> Iterator[tuple[str, Place]]:
    """The largest of the defaults, which depend on what else is configured."""
    places = linux.find_in_entry("lib/Kconfig.debug", "FRAME_WARN", r"^\s*default [1-9]\d{0,3}\b")
    sizes = [(int(re.findall(r"\d+", place.text)[0]), place) for place in places]
    if sizes:
        size, place = max(sizes, key=lambda one: (one[0], one[1].line))
        yield f"FRAME_WARN = {size}", place
