# SPDX-License-Identifier: MIT
"""A port directory from a Linux tree: unchanged files, and a port.toml derived from the tree.

Version numbers are not used.  Features are those that the architecture's Kconfig selects; a word of
``[kernel]`` is written with the line of the tree that it is derived from.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from harness.config.loading import PORT_FILES
from harness.errors import HostError, UsageError
from harness.isa import Form, LinuxFiles, architectures, linux_files_of
from harness.kbuild.linux_tree import LinuxTree, SourcePlace
from harness.units import escape

SELECTED = (
    "FUNCTION_TRACER",
    "FTRACE_MCOUNT_RECORD",
    "DYNAMIC_FTRACE",
    "FUNCTION_GRAPH_TRACER",
)
"""Features for which there is a ``HAVE_`` symbol that an architecture selects."""

PATCHABLE = (
    "DYNAMIC_FTRACE_WITH_ARGS",
    "DYNAMIC_FTRACE_WITH_REGS",
    "DYNAMIC_FTRACE_WITH_CALL_OPS",
    "DYNAMIC_FTRACE_WITH_DIRECT_CALLS",
)
"""Likewise, with patchable entries; which entry of Kconfig selects it depends on the version."""

DEFINED = ("FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
"""Features for which its asm/ftrace.h defines a macro."""

FORMS = (Form.MCOUNT, Form.PATCHABLE_ENTRY)
"""Forms of which a tree may have both; the Makefile's are variants of the first."""

RESULTS = ("kernel/trace/Kconfig", r"^\s*depends on HAVE_FUNCTION_GRAPH_FREGS\b")
"""Of FUNCTION_GRAPH_RETVAL; earlier versions have results otherwise."""

PATCHABLE_SITES = r"FTRACE_MCOUNT_USE_PATCHABLE_FUNCTION_ENTRY\b"

GENERIC = "kernel/trace/ftrace.c"


def import_port(tree: Path, arch: str, directory: Path, form: Form | None = None) -> LinuxTree:
    """Make a port directory from a Linux tree; returns the tree, for its version.

    ``arch`` is its name in Linux, ``form`` one of ``FORMS``; by default the first that the tree
    has.  UsageError for an unknown architecture, for a directory without a Linux tree or without
    that architecture, for a form that it has not, and for an output directory that is not empty.
    """
    linux = LinuxTree(tree)
    architecture, known = _known(arch)
    chosen = _chosen_form(linux, known, form)
    files = _files(known, chosen)
    for file in files:
        if not linux.read(file):
            raise UsageError(
                f"{escape(str(tree), 500)} has no {arch} to import: {file} is missing.",
                "Give a tree that has it, or another --arch.",
            )
    toml = "\n".join(_port_toml(linux, architecture, known, chosen)) + "\n"
    try:
        if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
            raise UsageError(
                f"{escape(str(directory), 500)} is there already.",
                "Give the name of a directory that is not there, or is empty.",
            )
        contents = [toml.encode(), *((tree / file).read_bytes() for file in files)]
        for name, content in zip((PORT_FILES[0], *files.values()), contents, strict=True):
            target = directory / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    except OSError as error:
        raise HostError(
            f"{escape(str(directory), 500)} cannot be written: {error.strerror}.",
            "Give a directory that can be.",
        ) from error
    return linux


def missing_files(linux: LinuxTree) -> list[str]:
    """The files that every tree has, and this one not; its port is judged too strictly."""
    return sorted(file for file in linux.unread if not file.startswith("arch/"))


def _known(arch: str) -> tuple[str, LinuxFiles]:
    """Our name of an architecture of Linux, and its files in a tree."""
    known = [(name, linux_files_of(name)) for name in architectures()]
    files = {linux.directory: (name, linux) for name, linux in known if linux}
    if arch not in files:
        raise UsageError(
            f"The files of {escape(repr(arch), 200)} in a Linux tree cannot be imported.",
            f"Choose one of: {', '.join(files)}.",
        )
    return files[arch]


def _files(known: LinuxFiles, form: Form) -> dict[str, str]:
    """The files of the tree that are taken, each with its name in the port directory."""
    taken = dict(zip(known.sources, PORT_FILES[1:], strict=True)) | dict(known.more)
    if form is Form.PATCHABLE_ENTRY:
        taken |= dict(known.of_patchable)
    return {f"arch/{known.directory}/{source}": name for source, name in taken.items()}


def _chosen_form(linux: LinuxTree, known: LinuxFiles, form: Form | None) -> Form:
    """The form to import; UsageError for one that the tree does not have."""
    patchable = _patchable(linux, known)
    only = bool(patchable and _always_dynamic(linux, known))
    has = [one for one in FORMS if (patchable if one is Form.PATCHABLE_ENTRY else not only)]
    if form is not None and form not in has:
        raise UsageError(
            f"Linux {linux.version} has no call sites of the form {form} on {known.directory}.",
            f"It has {' and '.join(has)}.",
        )
    return form or has[0]


def _port_toml(linux: LinuxTree, architecture: str, known: LinuxFiles, form: Form) -> Iterator[str]:
    """The lines of port.toml."""
    arch = known.directory
    kconfig = f"arch/{arch}/Kconfig"
    yield f"# Made by harness port import from Linux {linux.version}, arch/{arch}."
    yield "# Each line is followed by its source in that tree."
    yield f'name = "linux-{linux.version}-{arch}"'
    yield f'architecture = "{architecture}"'
    yield from _forms(linux, known, form)
    features = _features(linux, known, form)
    if "FUNCTION_TRACER" not in features:
        raise UsageError(
            f"Linux {linux.version} has no function tracer on {arch}: {kconfig} does not select "
            "HAVE_FUNCTION_TRACER.",
            "Give a tree that has it, or another --arch.",
        )
    yield "# SYSCALL_TRACEPOINTS is missing: the entry code of system calls is in other files."
    yield "features = ["
    yield from (f'    "{feature}",  # {place}' for feature, place in features.items())
    yield "]"
    words = [f"{word}  # {place}" for word, place in _words(linux, known, form)]
    if words:
        yield from ("", "[kernel]", *words)
    for file in missing_files(linux):
        yield f"# What {file} rules out is missing: the tree does not have it."


def _features(linux: LinuxTree, known: LinuxFiles, form: Form) -> dict[str, SourcePlace]:
    """The features of the port, each with the line that says so."""
    kconfig = f"arch/{known.directory}/Kconfig"
    header = f"arch/{known.directory}/include/asm/ftrace.h"
    found: list[tuple[str, SourcePlace | None]] = [
        (feature, place)
        for feature in SELECTED
        if feature != "DYNAMIC_FTRACE" or not _is_static(linux, known, form)
        for place in _selects(linux, known, rf"HAVE_{feature}\b")[:1]
    ]
    if form is Form.PATCHABLE_ENTRY:
        found += [
            (feature, linux.find(kconfig, rf"\bselect HAVE_{feature}\b")) for feature in PATCHABLE
        ]
        found += [
            (feature, place)
            for fregs in _selects(linux, known, r"HAVE_FUNCTION_GRAPH_FREGS\b")
            for feature, place in (
                ("FUNCTION_GRAPH_FREGS", fregs),
                ("FUNCTION_GRAPH_RETVAL", linux.find(*RESULTS)),
            )
        ]
    found += [
        (feature, linux.find(header, rf"^#\s*define\s+HAVE_{feature}\b")) for feature in DEFINED
    ]
    found += [
        (feature, linux.find(f"arch/{known.directory}/{file}", pattern))
        for feature, file, pattern in known.features
    ]
    features: dict[str, SourcePlace] = {}
    for feature, place in found:
        if place is not None:
            features.setdefault(feature, place)
    return features


def _forms(linux: LinuxTree, known: LinuxFiles, form: Form) -> Iterator[str]:
    """The forms of call sites, from the tree's compiler flags."""
    patchable = _patchable(linux, known)
    forms = [form]
    if form is Form.PATCHABLE_ENTRY:
        yield f"# {patchable}"
    else:
        for pattern, variant in known.makefile_forms:
            place = linux.find(f"arch/{known.directory}/Makefile", pattern)
            if place:
                yield f"# With a compiler that has it, and with others: {place}"
                forms.insert(-1, variant)
        if patchable:
            yield f"# Patchable call sites need a port.toml of their own: {patchable}"
    shown = ", ".join(f'"{one}"' for one in forms)
    yield f"forms = [{shown}]"


def _selects(linux: LinuxTree, known: LinuxFiles, symbol: str) -> list[SourcePlace]:
    kconfig = f"arch/{known.directory}/Kconfig"
    return [
        place
        for entry in (known.entry, *known.more_entries)
        for place in linux.find_in_entry(kconfig, entry, rf"\bselect {symbol}")
    ]


def _patchable(linux: LinuxTree, known: LinuxFiles) -> SourcePlace | None:
    """The line that says that it has patchable call sites; None if it has none."""
    selected = _selects(linux, known, PATCHABLE_SITES)
    if selected or not known.patchable_if_dynamic:
        return selected[0] if selected else None
    return linux.find(f"arch/{known.directory}/Makefile", known.patchable_if_dynamic)


def _is_static(linux: LinuxTree, known: LinuxFiles, form: Form) -> bool:
    """Whether only static kernels have call sites of this form."""
    patchable = bool(known.patchable_if_dynamic) and _patchable(linux, known) is not None
    return patchable and form is Form.MCOUNT


def _always_dynamic(linux: LinuxTree, known: LinuxFiles) -> list[SourcePlace]:
    return _selects(linux, known, r"DYNAMIC_FTRACE if FUNCTION_TRACER\b")


def _words(linux: LinuxTree, known: LinuxFiles, form: Form) -> Iterator[tuple[str, SourcePlace]]:
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
    if form is Form.PATCHABLE_ENTRY:
        # Only rec->ip itself is refused.
        found.append(
            ("KPROBES = true", linux.find("kernel/kprobes.c", r"ftrace_location\(addr\) == addr"))
        )
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
