# SPDX-License-Identifier: MIT
"""Assembler syntax, for generated mutants only."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from harness.isa.code import Code


@dataclass(frozen=True, slots=True)
class Effect:
    """Registers and memory that an instruction reads and writes.

    Memory is a base register, an offset as a sum or product of numbers, and a size in bytes.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    loads: tuple[str, str, int] | None = None
    stores: tuple[str, str, int] | None = None


class AsmSyntax(ABC):
    """Instructions as text: a mnemonic, a blank, and operands separated by single blanks."""

    register: ClassVar[str]
    """A regular expression for a register."""
    jumps_delay: ClassVar[bool] = False
    """Whether the call or jump that a port writes into a slot has a delay slot."""

    def __init__(self, code: Code) -> None:
        self.code = code

    def delays(self, statement: str) -> bool:
        """Whether the next instruction is in the delay slot of this one."""
        return False

    @abstractmethod
    def ends(self, statement: str) -> bool:
        """Whether control never continues behind this instruction or its delay slot."""

    @abstractmethod
    def effect(self, statement: str) -> Effect | None:
        """The effect of an instruction; None if not known.

        None for branches, and for instructions that affect more than registers and memory.
        """

    @abstractmethod
    def another_register(self, register: str) -> str:
        """A different register of the same kind."""

    @abstractmethod
    def another_offset(self, operands: str) -> str | None:
        """Operands with the number in them increased by a word; None without a number."""
