# SPDX-License-Identifier: MIT
"""A port directory from a Linux tree: unchanged files, and a port.toml of what the tree says.

Version numbers are not used.  Features are those that the architecture's Kconfig selects; a word of
``[kernel]`` is written with the line of the tree that it is derived from.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from harness.config.loading import PORT_FILES
from harness.errors import HostError, UsageError
from harness.isa import Form, LinuxFiles, architectures, machine_of
from harness.kbuild.linux_tree import LinuxTree, SourcePlace
from harness.units import escape

SELECTED = (
    "FUNCTION_TRACER",
    "FTRACE_MCOUNT_RECORD",
    "DYNAMIC_FTRACE",
    "FUNCTION_GRAPH_TRACER",
)
"""Features for which there is a ``HAVE_`` symbol that an architecture selects."""

DEFINED = ("FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
"""Features for which its asm/ftrace.h defines a macro."""

GENERIC = "kernel/trace/ftrace.c"


def import_port(tree: Path, arch: str, directory: Path) -> LinuxTree:
    """Make a port directory from a Linux tree; returns the tree, for its version.

    ``arch`` is its name in Linux.  UsageError for an unknown one, for a directory without a Linux
    tree or without that architecture, for call sites that no check judges, and for an output
    directory that is not empty.
    """
    linux = LinuxTree(tree)
    architecture, known = _known(arch)
    files = [f"arch/{arch}/{source}" for source in known.sources]
    texts = [linux.read(file) for file in files]
    for file, text in zip(files, texts, strict=True):
        if not text:
            raise UsageError(
                f"{escape(str(tree), 500)} has no {arch} to import: {file} is missing.",
                "Give a tree that has it, or another --arch.",
            )
    toml = "\n".join(_port_toml(linux, architecture, known)) + "\n"
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


def _known(arch: str) -> tuple[str, LinuxFiles]:
    """Our name of an architecture of Linux, and its files in a tree."""
    known = [(name, machine_of(name).linux) for name in architectures()]
    files = {linux.directory: (name, linux) for name, linux in known if linux}
    if arch not in files:
        raise UsageError(
            f"The files of {escape(repr(arch), 200)} in a Linux tree cannot be imported.",
            f"Choose one of: {', '.join(files)}.",
        )
    return files[arch]


def _port_toml(linux: LinuxTree, architecture: str, known: LinuxFiles) -> Iterator[str]:
    """The lines of port.toml."""
    arch = known.directory
    kconfig = f"arch/{arch}/Kconfig"
    yield f"# Made by harness port import from Linux {linux.version}, arch/{arch}."
    yield "# Each line is followed by its source in that tree."
    yield f'name = "linux-{linux.version}-{arch}"'
    yield f'architecture = "{architecture}"'
    yield from _forms(linux, known)
    features = [
        (feature, place)
        for feature in SELECTED
        for place in _selects(linux, known, rf"HAVE_{feature}\b")[:1]
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
    yield "# SYSCALL_TRACEPOINTS is missing: the entry code of system calls is in other files."
    yield "features = ["
    yield from (f'    "{feature}",  # {place}' for feature, place in features)
    yield "]"
    words = [f"{word}  # {place}" for word, place in _words(linux, known)]
    if words:
        yield from ("", "[kernel]", *words)


def _forms(linux: LinuxTree, known: LinuxFiles) -> Iterator[str]:
    """The forms of call sites from the tree's compiler flags; UsageError for unsupported ones."""
    arch = known.directory
    patchable = _selects(linux, known, r"FTRACE_MCOUNT_USE_PATCHABLE_FUNCTION_ENTRY\b")
    if patchable and _always_dynamic(linux, known):
        raise UsageError(
            f"Linux {linux.version} of {arch} has only patchable call sites with registers saved "
            f"for a tracer ({patchable[0]}), a form that is not judged yet.",
            "Earlier versions, such as 6.1, have calls of _mcount there too.",
        )
    forms = []
    for pattern, form in known.makefile_forms:
        place = linux.find(f"arch/{arch}/Makefile", pattern)
        if place:
            yield f"# With a compiler that has it, and with others: {place}"
            forms.append(form)
    if patchable:
        yield "# Patchable call sites with registers for tracers need a port.toml of their own:"
        yield f"# {patchable[0]}"
    shown = ", ".join(f'"{form}"' for form in (*forms, Form.MCOUNT))
    yield f"forms = [{shown}]"


def _selects(linux: LinuxTree, known: LinuxFiles, symbol: str) -> list[SourcePlace]:
    kconfig = f"arch/{known.directory}/Kconfig"
    return linux.find_in_entry(kconfig, known.entry, rf"\bselect {symbol}")


def _always_dynamic(linux: LinuxTree, known: LinuxFiles) -> list[SourcePlace]:
    return _selects(linux, known, r"DYNAMIC_FTRACE if FUNCTION_TRACER\b")


def _words(linux: LinuxTree, known: LinuxFiles) -> Iterator[tuple[str, SourcePlace]]:
    """The words of [kernel], each with the line that it is derived from; docs/kernel-words.rst."""
    found: list[tuple[str, SourcePlace | None]] = [
        # It is built with clang too, which has no nested functions.
        ("nested_functions = false", linux.find("Makefile", r"^\s*CC\s*=.*clang")),
        *_largest_frame(linux),
        *(("DYNAMIC_FTRACE = true", place) for place in _always_dynamic(linux, known)),
        # The result of ftrace_get_addr_new and ftrace_get_addr_curr without saved registers.
        (
            'call_target = "ftrace_caller"',
            linux.find(GENERIC, r"return \(unsigned long\)\s?FTRACE_ADDR;"),
        ),
        # A module's tracer is called by ftrace_ops_list_func.
        ('tracers = "kernel"', linux.find(GENERIC, r"ops->flags & \(?FTRACE_OPS_FL_DYNAMIC\b")),
        (
            'syscall_numbers = "table"',
            linux.find(
                "kernel/trace/trace_syscalls.c", r"^\s*for \(i = 0; i < NR_syscalls; i\+\+\)"
            ),
        ),
    ]
    for word, file, pattern in known.words:
        found.append((word, linux.find(f"arch/{known.directory}/{file}", pattern)))
    return ((word, place) for word, place in found if place is not None)


def _largest_frame(linux: LinuxTree) -> Iterator[tuple[str, SourcePlace]]:
    """The largest of the defaults, which depend on other options."""
    places = linux.find_in_entry("lib/Kconfig.debug", "FRAME_WARN", r"^\s*default [1-9]\d{0,3}\b")
    sizes = [(int(re.findall(r"\d+", place.text)[0]), place) for place in places]
    if sizes:
        size, place = max(sizes, key=lambda one: (one[0], one[1].line))
        yield f"FRAME_WARN = {size}", place
