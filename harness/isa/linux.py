# SPDX-License-Identifier: MIT
"""Where an architecture's function tracer lies in a Linux tree, and what its files say of it."""

from dataclasses import dataclass

from harness.isa.sites import Form


@dataclass(frozen=True, slots=True)
class LinuxFiles:
    """Paths are below ``arch/<directory>``, patterns are regular expressions over one line."""

    directory: str
    entry: str
    """Its entry in its Kconfig."""
    sources: tuple[str, str, str]
    """What a port directory has as ``mcount.S``, ``ftrace.c`` and ``include/asm/ftrace.h``."""
    words: tuple[tuple[str, str, str], ...]
    """Lines of ``[kernel]`` in ``port.toml``, each with the file and the pattern it rests on."""
    more_entries: tuple[str, ...] = ()
    """Further entries that select features."""
    more: tuple[tuple[str, str], ...] = ()
    """Other files that these need, each with its name in a port directory."""
    patchable_if_dynamic: str = ""
    """A pattern over lines of its Makefile: call sites are patchable entries in dynamic kernels,
    and calls of ``_mcount`` in static ones."""
    of_patchable: tuple[tuple[str, str], ...] = ()
    """The same, with patchable entries only."""
    makefile_forms: tuple[tuple[str, Form], ...] = ()
    """Patterns over lines of its Makefile, each with the form of call sites that such a line asks
    for where the compiler has it."""
    features: tuple[tuple[str, str, str], ...] = ()
    """Features that it has by what its own code does, in the form of ``words``."""
