# SPDX-License-Identifier: MIT
"""One architecture: its machine code and the five interfaces."""

from collections.abc import Mapping
from inspect import get_annotations, isclass
from typing import ClassVar, get_origin

from harness.errors import UsageError
from harness.isa.abi import Abi
from harness.isa.asm_syntax import AsmSyntax
from harness.isa.code import Code
from harness.isa.cpu import Cpu
from harness.isa.linux import Linux
from harness.isa.sites import Sites
from harness.units import ByteOrder

ADVICE = "docs/adding-an-architecture.rst has all that an architecture provides."

PARTS = ("sites_type", "abi_type", "asm_syntax_type", "cpu_type", "linux_type")
"""The members of an `Isa` with the classes of its five interfaces."""


def require_members(package: str, *parts: object) -> None:
    """UsageError if a class or an instance lacks the value of a member; instances may set some."""
    missing = [name for part in parts for name in _missing_in(part)]
    if missing:
        raise UsageError(f"{package} is incomplete; it has no {', '.join(missing)}", ADVICE)


def _missing_in(part: object) -> list[str]:
    kind = part if isclass(part) else type(part)
    missing = set(getattr(kind, "__abstractmethods__", ()))
    for base in kind.__mro__:
        for name, annotation in get_annotations(base).items():
            origin: object = get_origin(annotation)
            if not hasattr(part, name) and (origin is ClassVar or part is not kind):
                missing.add(name)
    return [f"{kind.__name__}.{name}" for name in sorted(missing)]


class Isa(Code):
    """One instruction set in one word size and byte order."""

    name: ClassVar[str]
    """The architecture's name in ``guests/arch/`` and in the machine configs."""
    elf_machine: ClassVar[int]
    """``e_machine`` of its ELF files."""
    elf_flags_refused: ClassVar[Mapping[int, str]] = {}
    """Bits of ``e_flags`` of unsupported ABIs, and their names."""
    elf_flags: ClassVar[Mapping[int, "type[Isa]"]] = {}
    """Bits of ``e_flags`` of the architecture's other instruction sets, and these."""
    marked: ClassVar["type[Isa] | None"] = None
    """The architecture's other instruction set, if pointers to its code have bit 0 set."""
    sites_type: ClassVar[type[Sites]]
    abi_type: ClassVar[type[Abi]]
    asm_syntax_type: ClassVar[type[AsmSyntax]]
    cpu_type: ClassVar[type[Cpu]]
    linux_type: ClassVar[type[Linux]] = Linux

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        super().__init__(bits, byteorder)
        self.sites = self.sites_type(self)
        self.abi = self.abi_type(self)
        self.asm_syntax = self.asm_syntax_type(self)
        self.cpu = self.cpu_type(self)
        self.linux = self.linux_type(self, self.sites, self.cpu)
        parts = (self.sites, self.abi, self.asm_syntax, self.cpu, self.linux)
        require_members(type(self).__module__, *parts)

    def __repr__(self) -> str:
        return f"<Isa {self.name} {self.bits} bits, {self.byteorder} endian>"
