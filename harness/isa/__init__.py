# SPDX-License-Identifier: MIT
"""Architectures: five interfaces, and one package for each architecture.

``sites``: call sites as byte strings.  ``abi``: registers by class.  ``asm_syntax``: the text of
instructions, for mutants only.  ``cpu``: transfers of control, exceptions, interrupts.  ``linux``:
real Linux kernels.  An architecture is a package that defines a subclass of ``Isa``.  Pure
functions, no I/O.
"""

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module

from harness.errors import FormatError, UsageError
from harness.isa.abi import Abi, AtSite, FrameRecord
from harness.isa.asm_syntax import AsmSyntax, Effect
from harness.isa.base import ADVICE, PARTS, Isa, require_members
from harness.isa.code import Instruction
from harness.isa.cpu import (
    Computes,
    Cpu,
    FlowKind,
    FlowPattern,
    Injection,
    Injector,
    Processor,
    Property,
)
from harness.isa.linux import LinuxFiles
from harness.isa.sites import CallSite, Form, SiteState
from harness.units import ByteOrder

__all__ = [
    "Abi",
    "AsmSyntax",
    "AtSite",
    "CallSite",
    "Computes",
    "Cpu",
    "Effect",
    "FlowKind",
    "FlowPattern",
    "Form",
    "FrameRecord",
    "Injection",
    "Injector",
    "Instruction",
    "Isa",
    "LinuxFiles",
    "Processor",
    "Property",
    "SiteState",
    "architectures",
    "cpu_of",
    "for_elf",
    "linux_files_of",
    "mcount_of",
]


@cache
def _classes() -> dict[str, type[Isa] | UsageError]:
    """The class of each package; for one that is incomplete, what is missing."""
    found: dict[str, type[Isa] | UsageError] = {}
    for package in (module.name for module in pkgutil.iter_modules(__path__) if module.ispkg):
        try:
            found[package] = _class_of(package)
        except UsageError as error:
            found[package] = error
    return found


def _class_of(package: str) -> type[Isa]:
    where = f"{__name__}.{package}"
    try:
        import_module(where)
    except Exception as error:
        raise UsageError(f"{where} cannot be imported: {error!r}", ADVICE) from error
    classes = [one for one in _and_below(Isa.__subclasses__()) if one.__module__ == where]
    if len(classes) != 1:
        raise UsageError(f"{where} has {len(classes)} subclasses of Isa, and not one", ADVICE)
    [isa] = classes
    require_members(where, isa, *(getattr(isa, part) for part in PARTS if hasattr(isa, part)))
    return isa


def _and_below(classes: list[type[Isa]]) -> Iterator[type[Isa]]:
    for one in classes:
        yield one
        yield from _and_below(one.__subclasses__())


def architectures() -> list[str]:
    """The names of the supported architectures, sorted; without those that are incomplete."""
    return sorted(name for name, isa in _classes().items() if not isinstance(isa, UsageError))


def cpu_of(architecture: str) -> type[Cpu]:
    """The `Cpu` class of an architecture; UsageError says what an incomplete one lacks."""
    return _isa_of(architecture).cpu_type


def mcount_of(architecture: str) -> str:
    """The symbol that gcc's ``-pg`` calls on an architecture; UsageError as of `cpu_of`."""
    return _isa_of(architecture).sites_type.mcount


def linux_files_of(architecture: str) -> LinuxFiles | None:
    """An architecture's function tracer in a Linux tree; UsageError as of `cpu_of`."""
    return _isa_of(architecture).linux_type.files


def _isa_of(architecture: str) -> type[Isa]:
    isa = _classes()[architecture]
    if isinstance(isa, UsageError):
        raise isa
    return isa


@cache
def for_elf(
    e_machine: int, bits: int, byteorder: ByteOrder, e_flags: int = 0, marked: bool = False
) -> Isa:
    """The instruction set of an ELF file; FormatError if it is not supported.

    ``e_machine`` and ``e_flags`` are the fields of the ELF header, ``bits`` is 32 or 64.
    ``marked``: the addresses of functions in its symbol table have bit 0 set.
    """
    for isa in _classes().values():
        if not isinstance(isa, UsageError) and isa.elf_machine == e_machine:
            refused = [name for flag, name in isa.elf_flags_refused.items() if e_flags & flag]
            if refused:
                raise FormatError(f"the {refused[0]} ABI of {isa.name} is not supported")
            others = [other for flag, other in isa.elf_flags.items() if e_flags & flag]
            if marked and isa.marked:
                others.append(isa.marked)
            return (others or [isa])[0](bits, byteorder)
    incomplete = [one.message for one in _classes().values() if isinstance(one, UsageError)]
    supported = f"Supported: {', '.join(architectures())}."
    raise FormatError(
        f"ELF machine {e_machine} is not supported", " ".join([supported, *incomplete])
    )
