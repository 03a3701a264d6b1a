# SPDX-License-Identifier: MIT
"""What generated mutants need of the assembler's syntax; nothing else reads assembly."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from harness.isa.code import Code


@dataclass(frozen=True, slots=True)
class Effect:
    """All that an instruction of an assembly file does: registers and memory read and written.

    Memory is a base register, an offset as a sum or product of numbers, and a size in bytes.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    loads: tuple[str, str, int] | None = None
    stores: tuple[str, str, int] | None = None


class AsmSyntax(ABC):
    """Instructions as text: a mnemonic, a blank, and operands with single blanks in between."""

    register: ClassVar[str]
    """A regular expression for a register."""
    jumps_delay: ClassVar[bool] = False
    """Whether what a port writes into a slot, a call or a jump, has a delay slot."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def delays(self, statement: str) -> bool:
        """Whether what stands behind this instruction is its delay slot."""
        return False

    @abstractmethod
    def ends(self, statement: str) -> bool:
        """Whether this instruction never goes on behind itself, or behind its delay slot."""

    @abstractmethod
    def effect(self, statement: str) -> Effect | None:
        """What an instruction does; None where that is not known.

        It is not for whatever goes elsewhere, nor for what acts on more than registers and memory.
        """

    @abstractmethod
    def another_register(self, register: str) -> str:
        """A register that can stand where ``register`` stands, and is another one."""

    @abstractmethod
    def another_offset(self, operands: str) -> str | None:
        """Operands with a word added to the number in them; None without one."""
