# SPDX-License-Identifier: MIT
"""Call sites as machine code: encode, decode, recognise and disassemble, per architecture.

Every module of this package but ``base`` defines one architecture as a subclass of ``Isa``; a new
architecture is a new module and nothing else.  Pure functions, no input or output.
"""

import pkgutil
from functools import cache
from importlib import import_module

from harness.errors import FormatError
from harness.isa.base import (
    MCOUNT,
    Abi,
    AtSite,
    CallSite,
    Effect,
    FlowKind,
    FlowPattern,
    Form,
    Instruction,
    Isa,
    SiteState,
)
from harness.units import ByteOrder

__all__ = [
    "MCOUNT",
    "Abi",
    "AtSite",
    "CallSite",
    "Effect",
    "FlowKind",
    "FlowPattern",
    "Form",
    "Instruction",
    "Isa",
    "SiteState",
    "architectures",
    "for_elf",
]


@cache
def _classes() -> dict[str, type[Isa]]:
    for module in pkgutil.iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return {isa.name: isa for isa in Isa.__subclasses__()}


def architectures() -> list[str]:
    """Names of the architectures that can be traced, sorted."""
    return sorted(_classes())


@cache
def for_elf(e_machine: int, bits: int, byteorder: ByteOrder, e_flags: int = 0) -> Isa:
    """The instruction set of an ELF file; FormatError when it is none that can be traced.

    ``e_machine`` and ``e_flags`` are the fields of the ELF header, ``bits`` is 32 or 64.
    """
    for isa in _classes().values():
        if isa.elf_machine == e_machine:
            refused = [name for flag, name in isa.elf_flags_refused.items() if e_flags & flag]
            if refused:
                raise FormatError(f"the {refused[0]} ABI of {isa.name} is not supported")
            return isa(bits, byteorder)
    raise FormatError(
        f"ELF machine {e_machine} is not supported", f"Supported: {', '.join(architectures())}."
    )
